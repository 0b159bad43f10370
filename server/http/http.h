/**
 * HTTP/1.1 over TCP and Unix-domain sockets: connections, bodies, responses. The only wing that depends on
 * libmicrohttpd.
 */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include "server/access/gate.h"
#include "server/http/daemon.h"
#include "server/listen/listeners.h"
#include "server/observe/metrics.h"
#include "server/settings/options.h"

#include <stdbool.h>
#include <sys/socket.h>

struct srv_http;

/**
 * Serves connections. All threads have been started when it returns.
 * @param listeners  listening, non-blocking; borrowed until srv_http_close closes them; NULL: none
 * @param gate       judges heads; borrowed
 * @param on_idle    called on any thread when the last request under way is over while draining
 * @return NULL on failure, which is logged
 */
struct srv_http *srv_http_start(const struct srv_options *options, const struct srv_gate *gate, enum srv_http_mode mode,
                                struct srv_listeners *listeners, void (*on_idle)(void));

/**
 * Enters a new connection in the table or sends it away. Call it on one thread only: the acceptor's, or in
 * SRV_HTTP_ROUNDS the one that runs the rounds.
 * @param fd       connected, non-blocking; ownership is taken
 * @param address  of the client; borrowed
 */
void srv_http_add(struct srv_http *http, int fd, const struct sockaddr *address, socklen_t bytes);
struct srv_gauges srv_http_gauges(const struct srv_http *http);
/* SRV_HTTP_ROUNDS: does all work that needs no waiting. @return false if the library fails */
bool srv_http_round(struct srv_http *http);

/* The number of threads of a large evaluation; fewer than --threads if a limit forbids more. */
int srv_http_threads(const struct srv_http *http);

/* From now on /readyz and POST return 503, and every connection closes after its response. */
void srv_http_drain(struct srv_http *http);
/* Whether a response has been sent to every request whose head has arrived. */
bool srv_http_is_idle(const struct srv_http *http);
/* Stops accepting connections and gives up large evaluations under way or waiting, which get a 503. Call it once,
 * before srv_http_stop; responses under way may still be sent until then. */
void srv_http_close(struct srv_http *http);
/* Closes all connections and frees the server. */
void srv_http_stop(struct srv_http *http);

#endif
