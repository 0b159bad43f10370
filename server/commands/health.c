#include "server/commands/health.h"

#include "core/fric.h"
#include "server/access/tls_client.h"
#include "server/listen/listen.h"
#include "server/listen/unix_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_PLACES = 16, HEAD_BYTES = 16 << 10, NAME_BYTES = SRV_MOST_PATH + 16 };
_Static_assert((int)NAME_BYTES >= INET6_ADDRSTRLEN + 8, "an address with its port fits as well");

struct place {
	union srv_address address;
	socklen_t bytes;
};

struct query {
	const struct srv_options *options;
	FILE *err;
	const char *path;
	struct place places[MOST_PLACES];
	int n_places;
	char name[NAME_BYTES]; /* name of the place being contacted, as in a URL */
	int fd;
	struct srv_tls_client tls; /* closed: without TLS */
	char head[HEAD_BYTES + 1]; /* [n] head of the response */
	size_t n;
};

static bool fail(const struct query *q, const char *what, const char *why)
{
	fprintf(q->err, "frictiond: not healthy: %s%s%s\n", what, *why ? ": " : "", why);
	return false;
}

static bool fail_there(const struct query *q, const char *what, const char *why)
{
	char text[128 + NAME_BYTES];
	snprintf(text, sizeof text, "%s %s", q->name, what);
	return fail(q, text, why);
}

/* ---- time limit ---- */

static char late[128 + SRV_MOST_PATH];

static void on_late(int number)
{
	(void)number;
	const ssize_t written = write(STDERR_FILENO, late, strlen(late));
	(void)written;
	_exit(SRV_CODE_FAILED);
}

static void print_late(const struct srv_options *options)
{
	char where[32 + SRV_MOST_PATH];
	if (options->unix_path)
		snprintf(where, sizeof where, "at %s", options->unix_path);
	else
		snprintf(where, sizeof where, "on port %lld", options->port);
	snprintf(late, sizeof late, "frictiond: not healthy: no answer %s within %lld s\n", where,
	         options->timeout_seconds);
}

/* SIGALRM covers everything that may block: name resolution, connecting, the handshake, a response that trickles in. */
static void start_clock(const struct srv_options *options)
{
	struct sigaction action = {.sa_handler = on_late};
	sigset_t alarms;
	print_late(options);
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL); /* a parent may have blocked the signal */
	alarm((unsigned)options->timeout_seconds);
}

/* ---- addresses ---- */

static void add_v4(struct query *q, struct in_addr address)
{
	struct place *place = &q->places[q->n_places++];
	*place = (struct place){.bytes = sizeof place->address.v4};
	place->address.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = address};
	if (address.s_addr == htonl(INADDR_ANY))
		place->address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	place->address.v4.sin_port = htons((uint16_t)q->options->port);
}

/* On a machine whose loopback lacks IPv6, a server on :: can be reached by IPv4 only. */
static void add_v6(struct query *q, const struct sockaddr_in6 *address)
{
	const bool any = IN6_IS_ADDR_UNSPECIFIED(&address->sin6_addr);
	const struct in_addr any_v4 = {htonl(INADDR_ANY)};
	struct place *place = &q->places[q->n_places++];
	*place = (struct place){.address.v6 = *address, .bytes = sizeof *address};
	if (any) {
		place->address.v6.sin6_addr = in6addr_loopback;
		add_v4(q, any_v4);
	}
}

static void add(struct query *q, const struct sockaddr *address)
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	struct in_addr v4;
	if (address->sa_family == AF_INET) {
		add_v4(q, ((const struct sockaddr_in *)(const void *)address)->sin_addr);
	} else if (address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
		memcpy(&v4, &v6->sin6_addr.s6_addr[12], sizeof v4);
		add_v4(q, v4);
	} else if (address->sa_family == AF_INET6) {
		add_v6(q, v6);
	}
}

static bool is_unix(const struct place *place)
{
	return place->address.any.sa_family == AF_UNIX;
}

/* A running server always has this socket open, even if it has no port. */
static bool add_unix(struct query *q)
{
	struct place *place = &q->places[q->n_places++];
	place->bytes = sizeof place->address.path;
	return srv_unix_address(q->options->unix_path, &place->address.path);
}

static bool find_places(struct query *q)
{
	const struct srv_options *o = q->options;
	struct addrinfo *found;
	if (o->unix_path)
		return add_unix(q);
	if (o->port < 0)
		return fail(q, "--port none needs --unix PATH", "");
	if (o->port == 0)
		return fail(q, "--port 0 takes a free port, whose number only the server has", "");
	const int failure = srv_find_addresses(o->host, (int)o->port, &found);
	if (failure)
		return fail(q, o->host, gai_strerror(failure));
	for (const struct addrinfo *one = found; one && q->n_places < MOST_PLACES - 1; one = one->ai_next)
		add(q, one->ai_addr);
	freeaddrinfo(found);
	return q->n_places > 0 || fail(q, o->host, "it has no IP address");
}

static void set_name(struct query *q, const struct place *place)
{
	char text[INET6_ADDRSTRLEN] = "";
	if (is_unix(place)) {
		strcpy(q->name, place->address.path.sun_path);
		return;
	}
	const bool v6 = place->address.any.sa_family == AF_INET6;
	inet_ntop(place->address.any.sa_family,
	          v6 ? (const void *)&place->address.v6.sin6_addr : (const void *)&place->address.v4.sin_addr, text,
	          sizeof text);
	snprintf(q->name, sizeof q->name, "%s%s%s:%lld", v6 ? "[" : "", text, v6 ? "]" : "", q->options->port);
}

/* ---- connecting ---- */

/* A name may also resolve to other machines. Binding to the address first rules them out, because neither the server
 * nor this process can bind to it. */
static bool bind_there(int fd, const struct place *place)
{
	struct place from = *place;
	if (is_unix(place))
		return true;
	if (from.address.any.sa_family == AF_INET6)
		from.address.v6.sin6_port = 0;
	else
		from.address.v4.sin_port = 0;
	return bind(fd, &from.address.any, from.bytes) == 0;
}

static bool connect_to(struct query *q, const struct place *place)
{
	set_name(q, place);
	q->fd = socket(place->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (q->fd >= 0 && bind_there(q->fd, place) && connect(q->fd, &place->address.any, place->bytes) == 0)
		return true;
	const int error = errno;
	if (q->fd >= 0)
		close(q->fd);
	q->fd = -1;
	errno = error;
	return false;
}

static bool connect_somewhere(struct query *q)
{
	for (int i = 0; i < q->n_places; i++)
		if (connect_to(q, &q->places[i]))
			return true;
	return fail_there(q, "cannot be reached", strerror(errno));
}

static bool greet(struct query *q)
{
	int code;
	if (!q->options->gate.tls_cert || q->options->unix_path)
		return true;
	if (!srv_tls_client_open(&q->tls, q->fd, 0))
		return fail(q, "TLS cannot be used", "not enough memory");
	do
		code = gnutls_handshake(q->tls.session);
	while (code < 0 && !gnutls_error_is_fatal(code));
	return code == 0 || fail_there(q, "does not complete a TLS handshake", gnutls_strerror(code));
}

/* ---- request and response ---- */

static ssize_t put(const struct query *q, const char *bytes, size_t n)
{
	return q->tls.session ? gnutls_record_send(q->tls.session, bytes, n) : send(q->fd, bytes, n, MSG_NOSIGNAL);
}

static ssize_t get(const struct query *q, char *bytes, size_t n)
{
	return q->tls.session ? gnutls_record_recv(q->tls.session, bytes, n) : recv(q->fd, bytes, n, 0);
}

static bool is_passing(const struct query *q, ssize_t code)
{
	return q->tls.session ? !gnutls_error_is_fatal((int)code) : errno == EINTR;
}

static const char *reason(const struct query *q, ssize_t code)
{
	return q->tls.session ? gnutls_strerror((int)code) : strerror(errno);
}

/* Servers that check Host always accept localhost. */
static bool ask(const struct query *q)
{
	char text[256], port[32] = "";
	if (!q->options->unix_path)
		snprintf(port, sizeof port, ":%lld", q->options->port);
	const int n = snprintf(text, sizeof text,
	                       "GET %s HTTP/1.1\r\nHost: localhost%s\r\nUser-Agent: frictiond-health/" FRIC_VERSION
	                       "\r\nConnection: close\r\n\r\n",
	                       q->path, port);
	ssize_t sent;
	do
		sent = put(q, text, (size_t)n);
	while (sent < 0 && is_passing(q, sent));
	return sent == n || fail_there(q, "does not accept the request", sent < 0 ? reason(q, sent) : "it is full");
}

static bool hear(struct query *q)
{
	ssize_t n = 1;
	while (n > 0 && q->n < HEAD_BYTES && !strstr(q->head, "\r\n\r\n")) {
		do
			n = get(q, q->head + q->n, HEAD_BYTES - q->n);
		while (n < 0 && is_passing(q, n));
		q->n += n > 0 ? (size_t)n : 0;
		q->head[q->n] = '\0';
	}
	if (n < 0)
		return fail_there(q, "breaks off", reason(q, n));
	return q->n > 0 || fail_there(q, "closes without an answer", "");
}

int srv_health_status(const char *text, size_t n)
{
	static const char pattern[] = "HTTP/1.d ddd";
	int status = 0;
	for (size_t i = 0; i + 1 < sizeof pattern; i++) {
		const bool digit = i < n && text[i] >= '0' && text[i] <= '9';
		if (i >= n || (pattern[i] == 'd' ? !digit : text[i] != pattern[i]))
			return 0;
		if (i > strlen("HTTP/1.d"))
			status = 10 * status + (text[i] - '0');
	}
	return n >= sizeof pattern && (text[sizeof pattern - 1] == ' ' || text[sizeof pattern - 1] == '\r') ? status : 0;
}

static bool judge(const struct query *q, FILE *out)
{
	char found[64 + NAME_BYTES];
	const int status = srv_health_status(q->head, q->n);
	if (status == 0)
		return fail_there(q, "does not speak HTTP", "");
	snprintf(found, sizeof found, "http%s://%s%s returned %d",
	         q->options->unix_path ? "+unix"
	         : q->tls.session      ? "s"
	                               : "",
	         q->name, q->path, status);
	if (status != 200)
		return fail(q, found, "");
	if (!strstr(q->head, "\r\n\r\n"))
		return fail(q, found, "with a head that does not end");
	fprintf(out, "healthy: %s\n", found);
	return true;
}

static void leave(struct query *q)
{
	srv_tls_client_close(&q->tls);
	if (q->fd >= 0)
		close(q->fd);
}

int srv_health(const struct srv_options *options, FILE *out, FILE *err)
{
	struct query q = {.options = options, .err = err, .path = options->ready ? "/readyz" : "/healthz", .fd = -1};
	start_clock(options);
	const bool ok = find_places(&q) && connect_somewhere(&q) && greet(&q) && ask(&q) && hear(&q) && judge(&q, out);
	leave(&q);
	alarm(0);
	return ok && fflush(out) == 0 ? SRV_CODE_OK : SRV_CODE_FAILED;
}
