/**
 * The library's daemon: all its options and callbacks, in one place for every way in which its connections are served.
 */
#ifndef SERVER_DAEMON_H
#define SERVER_DAEMON_H

#include "server/settings/options.h"

struct MHD_Daemon;
struct srv_http;

/* How connections are served. */
enum srv_http_mode {
	SRV_HTTP_THREADS, /* those of the listeners, by threads of the library's that wait for them (epoll; poll under TLS) */
	SRV_HTTP_ROUNDS, /* those of srv_http_add, in each srv_http_round: by the same callbacks, on the caller's thread */
};

/**
 * @param http  closure of the callbacks; outlives the daemon
 * @param tls   whether connections speak it
 * @return NULL when memory, files or threads do not suffice
 */
struct MHD_Daemon *srv_daemon_start(struct srv_http *http, const struct srv_options *options, enum srv_http_mode mode,
                                    bool tls);

#endif
