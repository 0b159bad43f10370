/**
 * Time limits of connections, for TLS handshakes and for sending responses. One thread checks all of them a few times a
 * second, so that setting a limit costs a single store.
 */
#ifndef SERVER_WATCH_H
#define SERVER_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>

struct srv_watch;

/* One connection. Allocated by the caller; its members are private. */
struct srv_watched {
	struct srv_watched *before, *after;
	int fd;
	atomic_llong due; /* 2 * srv_clock_ms, plus 1 for SRV_LATE_CUTS; 0: no limit */
	atomic_bool was_cut;
};

/* Action on a connection that is late. */
enum srv_lateness {
	SRV_LATE_ENDS, /* its input ends, but a response can still be sent */
	SRV_LATE_CUTS, /* both directions are closed, and unsent data is dropped */
};

/* @return NULL if memory or threads run out */
struct srv_watch *srv_watch_start(void);

/* Watches fd, which must stay open until srv_watch_remove. Both are safe from any thread. */
void srv_watch_add(struct srv_watch *watch, struct srv_watched *watched, int fd);
void srv_watch_remove(struct srv_watch *watch, struct srv_watched *watched);

/* Sets a limit from now on, replacing an earlier one. */
void srv_watch_allow(struct srv_watched *watched, long long milliseconds, enum srv_lateness lateness);
/* Removes the limit. */
void srv_watch_relieve(struct srv_watched *watched);
bool srv_watch_was_cut(const struct srv_watched *watched);

/* Stops the thread. NULL is allowed. */
void srv_watch_stop(struct srv_watch *watch);

#endif
