#include "server/http/selftest.h"

#include "server/access/certificate.h"
#include "server/access/tls_client.h"
#include "server/http/reader.h"
#include "server/observe/log.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Limit on rounds. No round waits for the network, because everything sent before it has arrived. A handshake takes
 * about three rounds. */
enum { MOST_TURNS = 100 };

static const char target[] = "/smuggled";
static const char request[] =
	"POST /smuggled HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab";

/* A client and the library, connected by a pair of sockets. */
struct trial {
	bool tls;
	int client, server; /* -1: owned by the library */
	struct srv_reader *reader;
	struct MHD_Daemon *daemon;
	struct srv_tls_client caller;
	bool passed_by; /* the library received the request unfiltered */
};

static enum MHD_Result on_request(void *trial, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *bytes, size_t *n, void **context)
{
	(void)connection, (void)method, (void)version, (void)bytes, (void)n, (void)context;
	((struct trial *)trial)->passed_by |= strcmp(url, target) == 0;
	return MHD_NO;
}

static bool start_daemon(struct trial *trial)
{
	const struct MHD_OptionItem end = {MHD_OPTION_END, 0, NULL};
	struct MHD_OptionItem items[] = {{MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)(uintptr_t)srv_certificate_hand_out},
	                                 {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)SRV_TLS_PRIORITIES},
	                                 end};
	if (!trial->tls)
		items[0] = end;
	const unsigned flags = MHD_USE_NO_LISTEN_SOCKET | MHD_USE_EPOLL | (trial->tls ? MHD_USE_TLS : 0u);
	trial->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_request, trial, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
	return trial->daemon;
}

/* MHD_add_connection closes its descriptor even on failure. */
static bool connect_them(struct trial *trial)
{
	const struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0)
		return false;
	trial->client = fds[0];
	trial->server = fds[1];
	trial->reader = srv_reader_open(trial->server, trial->tls, 60, NULL);
	if (!trial->reader)
		return false;
	const int fd = trial->server;
	trial->server = -1;
	return MHD_add_connection(trial->daemon, fd, (const void *)&from, sizeof from) == MHD_YES;
}

static bool start_client(struct trial *trial)
{
	return !trial->tls || srv_tls_client_open(&trial->caller, trial->client, GNUTLS_NONBLOCK);
}

/* A failure here is unlikely to be the filter's; a bad certificate, for instance, affects clients as well. */
static bool greet(const struct trial *trial)
{
	int code = GNUTLS_E_AGAIN;
	if (!trial->tls)
		return true;
	for (int i = 0; i < MOST_TURNS && code < 0 && !gnutls_error_is_fatal(code); i++) {
		code = gnutls_handshake(trial->caller.session);
		MHD_run(trial->daemon);
	}
	if (code < 0)
		srv_log(SRV_WARNING, "a TLS handshake with the server's own certificate fails: %s", gnutls_strerror(code));
	return code == 0;
}

static bool say(const struct trial *trial)
{
	const size_t n = strlen(request);
	return (trial->tls ? gnutls_record_send(trial->caller.session, request, n)
	                   : send(trial->client, request, n, MSG_NOSIGNAL)) == (ssize_t)n;
}

static bool is_filtered(const struct trial *trial)
{
	const char *detail;
	for (int i = 0; i < MOST_TURNS && !srv_reader_fault(trial->reader, 1, &detail) && !trial->passed_by; i++)
		MHD_run(trial->daemon);
	return srv_reader_fault(trial->reader, 1, &detail) && !trial->passed_by;
}

static void end(struct trial *trial)
{
	if (trial->reader)
		srv_reader_close(trial->reader);
	if (trial->daemon)
		MHD_stop_daemon(trial->daemon);
	srv_tls_client_close(&trial->caller);
	if (trial->client >= 0)
		close(trial->client);
	if (trial->server >= 0)
		close(trial->server);
}

static bool refuse(const char *what)
{
	srv_log(SRV_ERROR,
	        "the filter in front of the HTTP library is not in its place (%s): this program was linked so "
	        "that the library does not read through it, and must not serve",
	        what);
	return false;
}

static bool try_it(bool tls)
{
	struct trial trial = {.tls = tls, .client = -1, .server = -1};
	bool ok = start_daemon(&trial) && connect_them(&trial) && start_client(&trial);
	if (!ok)
		srv_log(SRV_ERROR, "the filter in front of the HTTP library cannot be tried: not enough memory or files");
	else if (greet(&trial))
		ok = (say(&trial) && is_filtered(&trial)) ||
		     refuse(tls ? "a request sent through TLS passed it by" : "a request passed it by");
	end(&trial);
	return ok;
}

bool srv_selftest(bool tls)
{
	if (!srv_readers_start()) {
		srv_log(SRV_ERROR, "there is no memory for the readers of connections");
		return false;
	}
	const char *missing = srv_readers_missing();
	return missing ? refuse(missing) : try_it(false) && (!tls || try_it(true));
}
