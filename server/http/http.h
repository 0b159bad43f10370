/** HTTP/1.1 over TCP and Unix-domain sockets: connections, bodies, answers. This wing alone knows libmicrohttpd. */
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
 * Serves connections. All threads are there when it returns.
 * @param listeners  listening, non-blocking; borrowed until srv_http_close closes them; NULL: none
 * @param gate       judges heads; borrowed
 * @param on_idle    called on any thread when the last request under way is over while draining
 * @return NULL on failure, which is logged
 */
struct srv_http *srv_http_start(const struct srv_options *options, const struct srv_gate *gate, enum srv_http_mode mode,
                                struct srv_listeners *listeners, void (*on_idle)(void));

/**
 * One connection more, which is entered in the table or sent away. On one thread: the acceptor's, or in SRV_HTTP_ROUNDS
 * that of the rounds.
 * @param fd       connected, non-blocking; no longer the caller's
 * @param address  of the client; borrowed
 */
void srv_http_add(struct srv_http *http, int fd, const struct sockaddr *address, socklen_t bytes);
struct srv_gauges srv_http_gauges(const struct srv_http *http);
/* SRV_HTTP_ROUNDS: does what can be done without waiting. @return false when the library fails */
bool srv_http_round(struct srv_http *http);

/* Threads of a large evaluation: no more than --threads. */
int srv_http_threads(const struct srv_http *http);

/* From now on /readyz answers 503, POST answers 503, and every connection closes after its answer. */
void srv_http_drain(struct srv_http *http);
/* No request whose head has arrived waits for the end of its answer. */
bool srv_http_is_idle(const struct srv_http *http);
/* Accepts no connection any more, and gives up the large evaluations under way or waiting: they are answered 503. Once,
 * before srv_http_stop; what is under way then has a moment left for its answer. */
void srv_http_close(struct srv_http *http);
/* Closes all connections and frees. */
void srv_http_stop(struct srv_http *http);

#endif
