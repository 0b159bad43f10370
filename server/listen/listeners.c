#include "server/listen/listeners.h"

#include "server/listen/activation.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Takes ownership of fd. */
static struct srv_listener *add(struct srv_listeners *listeners, int fd, const char *host)
{
	struct srv_listener *listener = &listeners->list[listeners->n++];
	*listener = (struct srv_listener){.fd = fd};
	snprintf(listener->host, sizeof listener->host, "%s", host);
	return listener;
}

bool srv_listeners_bind(struct srv_listeners *listeners, const char *host, int port, struct srv_listen_fault *fault)
{
	const int fd = srv_bind(host, &port, fault);
	if (fd >= 0)
		add(listeners, fd, host)->port = port;
	return fd >= 0;
}

bool srv_listeners_add_unix(struct srv_listeners *listeners, const char *path, mode_t mode,
                            struct srv_listen_fault *fault)
{
	struct srv_socket_file file;
	const int fd = srv_unix_listen(path, mode, &file, fault);
	if (fd < 0)
		return false;
	struct srv_listener *listener = add(listeners, fd, path);
	listener->is_unix = listener->listens = true;
	listener->file = file;
	return true;
}

/* ---- sockets passed in ---- */

static bool has_value(int fd, int option, int expected)
{
	int value;
	socklen_t bytes = sizeof value;
	return getsockopt(fd, SOL_SOCKET, option, &value, &bytes) == 0 && value == expected;
}

/* An abstract name begins with a zero byte, which is printed as @, as systemd does. */
static void print_path(const struct sockaddr_un *address, size_t bytes, char host[SRV_HOST_BYTES])
{
	const size_t n = bytes - offsetof(struct sockaddr_un, sun_path);
	memcpy(host, address->sun_path, n);
	host[n] = '\0';
	if (n > 0 && host[0] == '\0')
		host[0] = '@';
}

static bool read_place(const union srv_address *address, socklen_t bytes, struct srv_listener *listener)
{
	char port[8];
	listener->is_unix = address->any.sa_family == AF_UNIX;
	if (listener->is_unix) {
		print_path(&address->path, bytes, listener->host);
		return true;
	}
	if ((address->any.sa_family != AF_INET && address->any.sa_family != AF_INET6) ||
	    getnameinfo(&address->any, bytes, listener->host, sizeof listener->host, port, sizeof port,
	                NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return false;
	listener->port = atoi(port);
	return true;
}

static bool read_listener(int fd, struct srv_listener *listener)
{
	union srv_address address = {0};
	socklen_t bytes = sizeof address;
	*listener = (struct srv_listener){.fd = fd, .listens = true};
	return has_value(fd, SO_TYPE, SOCK_STREAM) && has_value(fd, SO_ACCEPTCONN, 1) &&
	       getsockname(fd, &address.any, &bytes) == 0 && read_place(&address, bytes, listener) &&
	       fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

static bool refuse_number(int n, FILE *err)
{
	if (n < 0)
		fputs("frictiond: LISTEN_FDS is not a valid number of sockets\n", err);
	else
		fprintf(err, "frictiond: %d sockets are passed in (LISTEN_FDS), but the limit is %d\n", n,
		        SRV_MOST_LISTENERS - 2);
	return false;
}

bool srv_listeners_take_over(struct srv_listeners *listeners, FILE *err)
{
	const int n = srv_handed_over();
	if (n < 0 || n > SRV_MOST_LISTENERS - 2) /* leaves room for --port and --unix */
		return refuse_number(n, err);
	for (int i = 0; i < n; i++) {
		const int fd = SRV_FIRST_HANDED_OVER + i;
		if (!read_listener(fd, &listeners->list[i])) {
			fprintf(err,
			        "frictiond: file descriptor %d, which is passed in (LISTEN_FDS), is neither a listening TCP "
			        "socket nor a listening Unix-domain stream socket\n",
			        fd);
			return false;
		}
		listeners->n = i + 1;
	}
	return true;
}

bool srv_listeners_listen(const struct srv_listeners *listeners, const struct srv_listener **culprit,
                          struct srv_listen_fault *fault)
{
	for (int i = 0; i < listeners->n; i++) {
		*culprit = &listeners->list[i];
		if (!(*culprit)->listens && !srv_listen((*culprit)->fd, fault))
			return false;
	}
	return true;
}

const struct srv_listener *srv_listeners_open_most(const struct srv_listeners *listeners)
{
	const struct srv_listener *first = NULL;
	for (int i = listeners->n - 1; i >= 0; i--) {
		const struct srv_listener *listener = &listeners->list[i];
		if (!listener->is_unix && (!first || srv_is_on_loopback(first->fd) || !srv_is_on_loopback(listener->fd)))
			first = listener;
	}
	return first;
}

bool srv_listeners_have_unix(const struct srv_listeners *listeners)
{
	bool have = false;
	for (int i = 0; i < listeners->n; i++)
		have |= listeners->list[i].is_unix;
	return have;
}

const struct srv_listener *srv_listeners_at(const struct srv_listeners *listeners, const char *path)
{
	for (int i = 0; i < listeners->n; i++)
		if (listeners->list[i].is_unix && strcmp(listeners->list[i].host, path) == 0)
			return &listeners->list[i];
	return NULL;
}

const struct srv_listener *srv_listeners_of_port(const struct srv_listeners *listeners, int port)
{
	for (int i = 0; i < listeners->n; i++)
		if (!listeners->list[i].is_unix && listeners->list[i].port == port)
			return &listeners->list[i];
	return NULL;
}

static void announce(const struct srv_listener *listener, bool tls, FILE *out)
{
	const char *host = listener->host, *colon = strchr(host, ':');
	if (listener->is_unix)
		fprintf(out, "frictiond listening on http+unix://%s\n", host);
	else
		fprintf(out, "frictiond listening on http%s://%s%s%s:%d\n", tls ? "s" : "", colon ? "[" : "", host,
		        colon ? "]" : "", listener->port);
}

void srv_listeners_announce(const struct srv_listeners *listeners, bool tls, FILE *out)
{
	for (int unix_ones = 0; unix_ones <= 1; unix_ones++)
		for (int i = 0; i < listeners->n; i++)
			if (listeners->list[i].is_unix == unix_ones)
				announce(&listeners->list[i], tls, out);
	fflush(out);
}

void srv_listeners_close(struct srv_listeners *listeners)
{
	for (int i = 0; i < listeners->n; i++) {
		if (listeners->list[i].is_unix)
			srv_unix_remove(&listeners->list[i].file);
		close(listeners->list[i].fd);
	}
	listeners->n = 0;
}
