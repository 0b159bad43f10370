/**
 * The library's daemon: all its options and callbacks, in one place for every way in which its connections are served.
 */
#ifndef SERVER_DAEMON_H
#define SERVER_DAEMON_H

#include "server/http/http.h"

struct MHD_Daemon;

/**
 * @param http  closure of the callbacks; outlives the daemon
 * @return NULL when memory, files or threads do not suffice
 */
struct MHD_Daemon *srv_daemon_start(struct srv_http *http, const struct srv_options *options, enum srv_http_mode mode);

/* One round of SRV_HTTP_ROUNDS: whatever can be done without waiting. @return false when the daemon fails */
bool srv_daemon_round(struct MHD_Daemon *daemon);

#endif
