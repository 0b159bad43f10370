/**
 * The library's daemon: all its options and callbacks in one place, for each way of serving connections.
 */
#ifndef SERVER_DAEMON_H
#define SERVER_DAEMON_H

#include "server/settings/options.h"

struct MHD_Daemon;
struct srv_http;

/* The way in which connections are served. */
enum srv_http_mode {
	SRV_HTTP_THREADS, /* on threads of the library, by epoll, or by poll under TLS */
	SRV_HTTP_ROUNDS,  /* on the caller's thread, in each srv_http_round, with the same callbacks */
};

/**
 * @param http  closure of the callbacks; must outlive the daemon
 * @param tls   whether connections use TLS
 * @return NULL if memory, descriptors or threads run out
 */
struct MHD_Daemon *srv_daemon_start(struct srv_http *http, const struct srv_options *options, enum srv_http_mode mode,
                                    bool tls);

#endif
