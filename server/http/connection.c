#include "server/http/connection.h"

#include "server/base/clock.h"
#include "server/exchange/answer.h"
#include "server/exchange/steps.h"
#include "server/http/answer.h"
#include "server/http/linger.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	IDLE_SECONDS = 60,        /* between requests */
	UNSENT_BYTES = 256 << 10, /* unsent bytes that the system may buffer for one connection, besides those in flight */
};

static int socket_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/* A Unix-domain socket cannot be overheard, so it needs no TLS. */
static bool speaks_tls(const struct srv_http *http, const struct srv_peer *peer)
{
	return http->is_tls && !srv_peer_is_unix(peer);
}

gnutls_session_t srv_session_of(const struct connection *own, struct MHD_Connection *connection)
{
	if (!own->is_tls)
		return NULL;
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session;
}

void srv_set_patience(struct MHD_Connection *connection, unsigned seconds)
{
	MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/* A connection may not be idle for longer than a whole request may take. */
unsigned srv_idle_seconds(const struct srv_http *http)
{
	return http->receive_seconds < IDLE_SECONDS ? (unsigned)http->receive_seconds : IDLE_SECONDS;
}

/* ---- responses without a request of the library ---- */

/* Without a TLS session nothing can be sent to a client that expects TLS. */
static void answer_unseen(struct srv_exchange *exchange, const struct srv_http *http, int fd, const char *aborted)
{
	if (exchange->response && !speaks_tls(http, exchange->client))
		srv_answer_past_library(exchange, fd, NULL);
	srv_exchange_end(exchange, aborted);
}

/* The library closes an idle connection without knowing that part of a head has arrived. A TLS session is over by
 * now. */
static void say_late(struct srv_http *http, const struct connection *own)
{
	const int fd = own->watched.fd;
	struct srv_exchange exchange = {.client = &own->peer};
	srv_exchange_open(&exchange, &http->server, "-");
	srv_exchange_reject_late(&exchange);
	answer_unseen(&exchange, http, fd, "timeout");
	srv_linger(dup(fd));
}

/* Sends one response and closes the connection, without reading a request. */
static void send_away(struct srv_http *http, int fd, const struct srv_peer *peer, enum api_code code,
                      const char *detail)
{
	struct srv_exchange exchange = {.client = peer};
	srv_exchange_open(&exchange, &http->server, "-");
	srv_exchange_reject(&exchange, SRV_REJECTED_CONNECTIONS, code, detail);
	answer_unseen(&exchange, http, fd, NULL);
	srv_linger(fd);
}

/* ---- the table of connections, shared with the readers ---- */

static struct connection *enter(struct srv_http *http, int fd, const struct srv_peer *peer)
{
	struct connection *own = calloc(1, sizeof *own);
	const bool tls = speaks_tls(http, peer);
	if (own)
		own->reader = srv_reader_open(fd, tls, http->receive_seconds, own);
	if (!own || !own->reader) {
		free(own);
		return NULL;
	}
	own->peer = *peer;
	own->is_tls = tls;
	own->quiet_ms = srv_clock_ms();
	srv_watch_add(http->watch, &own->watched, fd);
	atomic_fetch_add(&http->server.n_connections, 1);
	return own;
}

static void leave(struct srv_http *http, struct connection *own)
{
	srv_addresses_remove(http->addresses, &own->peer); /* before n_connections admits another */
	atomic_fetch_sub(&http->server.n_connections, 1);
	srv_watch_remove(http->watch, &own->watched);
	srv_reader_close(own->reader);
	free(own);
}

/* The library closes a connection without calling back if it finds no memory for it. */
static void sweep_out(struct srv_http *http, int fd)
{
	struct connection *stale = srv_reader_owner(fd);
	if (stale)
		leave(http, stale);
}

void srv_connections_stop(struct srv_http *http)
{
	for (size_t fd = 0; fd < srv_readers_most(); fd++)
		sweep_out(http, (int)fd);
}

/* ---- accepting ---- */

static struct MHD_Daemon *daemon_of(const struct srv_http *http, const struct srv_peer *peer)
{
	return http->unix_daemon && srv_peer_is_unix(peer) ? http->unix_daemon : http->daemon;
}

static void enter_or_send_away(struct srv_http *http, int fd, const struct srv_peer *peer, socklen_t bytes)
{
	if (!enter(http, fd, peer)) {
		srv_addresses_remove(http->addresses, peer);
		send_away(http, fd, peer, API_E_OUT_OF_MEMORY, "There is no memory for another connection; try again soon.");
	} else if (MHD_add_connection(daemon_of(http, peer), fd, (const struct sockaddr *)&peer->address, bytes) !=
	           MHD_YES) {
		sweep_out(http, fd); /* the library has already closed fd */
	}
}

/* Keeps unread responses in this process, where they count and have a time limit, rather than in the system's buffers,
 * which grow to megabytes each. Only TCP sockets have this option. */
static void bound_system_buffer(int fd)
{
	const int bytes = UNSENT_BYTES;
	setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
}

static const char *too_many_of(const struct srv_peer *peer)
{
	return srv_peer_is_unix(peer) ? "This user has as many connections as the server allows."
	                              : "This address has as many connections as the server allows.";
}

/* The library distributes connections among its threads by descriptor. */
void srv_connections_add(struct srv_http *http, int fd, const struct sockaddr *address, socklen_t bytes)
{
	struct srv_peer peer;
	sweep_out(http, fd);
	srv_peer_read(fd, address, bytes, &peer);
	bound_system_buffer(fd);
	if (atomic_load(&http->server.n_connections) >= http->most_connections)
		send_away(http, fd, &peer, API_E_TOO_MANY_CONNECTIONS,
		          "The server has as many connections as it allows; try again soon.");
	else if (!srv_addresses_add(http->addresses, &peer))
		send_away(http, fd, &peer, API_E_ADDRESS_HAS_TOO_MANY_CONNECTIONS, too_many_of(&peer));
	else
		enter_or_send_away(http, fd, &peer, bytes);
}

/* ---- events of a connection ---- */

/* If libmicrohttpd 0.9.75 times out a connection in the middle of a TLS handshake, it never closes it and keeps a CPU
 * busy. The library therefore has no time limit during the handshake; a late client's input is ended instead. */
static void await_handshake(const struct srv_http *http, struct MHD_Connection *connection, struct connection *own)
{
	srv_set_patience(connection, 0);
	srv_watch_allow(&own->watched, 1000 * http->receive_seconds, SRV_LATE_ENDS);
}

static void end_handshake(const struct srv_http *http, struct MHD_Connection *connection, struct connection *own)
{
	srv_watch_relieve(&own->watched);
	srv_set_patience(connection, srv_idle_seconds(http));
}

void srv_connection_begin_request(const struct srv_http *http, struct MHD_Connection *connection,
                                  struct connection *own)
{
	if (own->is_tls && own->n_requests == 0)
		end_handshake(http, connection, own);
	own->n_requests++;
}

/* Every connection that was given to the library is in the table. */
struct connection *srv_connection_open(const struct srv_http *http, struct MHD_Connection *connection)
{
	const int fd = socket_of(connection);
	struct connection *own = srv_reader_owner(fd);
	if (!own)
		shutdown(fd, SHUT_RDWR);
	else if (own->is_tls)
		await_handshake(http, connection, own);
	return own;
}

/* The library does not report why it closes a connection: after the last response, for lack of memory, or at shutdown.
 * The tolerance covers the different ticks of its clock. */
static bool was_silent(const struct srv_http *http, const struct connection *own)
{
	enum { TICKS_MS = 100 };
	return srv_clock_ms() - own->quiet_ms >= 1000LL * srv_idle_seconds(http) - TICKS_MS;
}

void srv_connection_close(struct srv_http *http, struct connection *own)
{
	if (was_silent(http, own) && srv_reader_holds_head(own->reader) && !srv_reader_ended(own->reader))
		say_late(http, own);
	leave(http, own);
}
