#include "server/http/http.h"

#include "server/http/connection.h"
#include "server/http/linger.h"
#include "server/http/selftest.h"
#include "server/observe/log.h"

#include <stdlib.h>

enum { N_LATER_THREADS = 1 }; /* the acceptor's, which starts after all others */

static void add(void *http, int fd, const struct sockaddr *address, socklen_t bytes)
{
	srv_connections_add(http, fd, address, bytes);
}

_Static_assert((int)SRV_MOST_LISTENERS <= (int)SRV_ACCEPTOR_MOST, "the acceptor takes from all of them");

static bool start_acceptor(struct srv_http *http)
{
	const struct srv_acceptor_target target = {add, http};
	int fds[SRV_MOST_LISTENERS], n = http->listeners ? http->listeners->n : 0;
	for (int i = 0; i < n; i++)
		fds[i] = http->listeners->list[i].fd;
	http->acceptor = srv_acceptor_start(fds, n, &target);
	return http->acceptor;
}

/* TLS is for the network, but the library applies it to all connections of a daemon or to none, so Unix-domain sockets
 * get a daemon of their own. */
static bool start_daemons(struct srv_http *http, const struct srv_options *options, enum srv_http_mode mode)
{
	http->daemon = srv_daemon_start(http, options, mode, http->is_tls);
	if (http->daemon && http->is_tls && http->listeners && srv_listeners_have_unix(http->listeners)) {
		http->unix_daemon = srv_daemon_start(http, options, mode, false);
		return http->unix_daemon;
	}
	return http->daemon;
}

static void stop_daemons(const struct srv_http *http)
{
	if (http->unix_daemon)
		MHD_stop_daemon(http->unix_daemon);
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
}

static void destroy(struct srv_http *http)
{
	srv_linger_stop();
	srv_connections_stop(http);
	srv_addresses_free(http->addresses);
	srv_watch_stop(http->watch);
	srv_server_close(&http->server);
	free(http);
}

static bool make_tables(struct srv_http *http, const struct srv_options *options)
{
	http->addresses = srv_addresses_create((size_t)options->connections_per_address);
	const bool made = http->addresses && srv_readers_start();
	if (!made)
		srv_log(SRV_ERROR, "there is not enough memory to start");
	return made;
}

/* Starts every thread there will ever be; clients cannot cause more. The team starts late, because it can work with as
 * few threads as a limit leaves, and the acceptor last. */
static bool start_threads(struct srv_http *http, const struct srv_options *options, enum srv_http_mode mode)
{
	http->watch = srv_watch_start();
	if (!http->watch || !srv_server_start(&http->server, options) || !srv_linger_start())
		return false;
	return start_daemons(http, options, mode) && srv_server_start_team(&http->server, N_LATER_THREADS) &&
	       (mode == SRV_HTTP_ROUNDS || start_acceptor(http));
}

static bool start(struct srv_http *http, const struct srv_options *options, enum srv_http_mode mode)
{
	if (!make_tables(http, options))
		return false;
	if (start_threads(http, options, mode))
		return true;
	srv_log(SRV_ERROR, "the server's threads cannot be started: a limit on threads (ulimit -u, pids.max), on files or "
	                   "on memory; with fewer --io-threads it needs fewer");
	return false;
}

struct srv_http *srv_http_start(const struct srv_options *options, const struct srv_gate *gate, enum srv_http_mode mode,
                                struct srv_listeners *listeners, void (*on_idle)(void))
{
	struct srv_http *http = calloc(1, sizeof *http);
	if (!http)
		return NULL;
	http->server.on_idle = on_idle;
	http->is_tls = options->gate.tls_cert;
	http->listeners = listeners;
	http->most_connections = (size_t)options->connections;
	http->receive_seconds = options->receive_seconds;
	http->send_seconds = options->send_seconds;
	if (srv_server_open(&http->server, options, gate) && srv_selftest(http->is_tls) && start(http, options, mode))
		return http;
	stop_daemons(http);
	srv_server_stop(&http->server);
	destroy(http);
	return NULL;
}

void srv_http_add(struct srv_http *http, int fd, const struct sockaddr *address, socklen_t bytes)
{
	srv_connections_add(http, fd, address, bytes);
}

bool srv_http_round(struct srv_http *http)
{
	return MHD_run(http->daemon) == MHD_YES && (!http->unix_daemon || MHD_run(http->unix_daemon) == MHD_YES);
}

struct srv_gauges srv_http_gauges(const struct srv_http *http)
{
	return srv_server_gauges(&http->server);
}

int srv_http_threads(const struct srv_http *http)
{
	return http->server.large.n_threads;
}

void srv_http_drain(struct srv_http *http)
{
	srv_server_drain(&http->server);
}

bool srv_http_is_idle(const struct srv_http *http)
{
	return srv_server_is_idle(&http->server);
}

void srv_http_close(struct srv_http *http)
{
	srv_acceptor_stop(http->acceptor);
	if (http->listeners)
		srv_listeners_close(http->listeners);
	srv_server_stop(&http->server);
}

/* By now every suspended connection has been resumed: srv_http_close has waited for that. */
void srv_http_stop(struct srv_http *http)
{
	stop_daemons(http);
	destroy(http);
}
