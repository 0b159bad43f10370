/**
 * Time limits of connections: for a handshake to end, for an answer to be taken. One thread looks at all of them a few
 * times a second, so that setting a limit costs a store.
 */
#ifndef SERVER_WATCH_H
#define SERVER_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>

struct srv_watch;

/* One connection. Its memory is the caller's, its contents are private. */
struct srv_watched {
	struct srv_watched *before, *after;
	int fd;
	atomic_llong due; /* twice srv_clock_ms, plus 1 if it is then cut; 0: no limit */
	atomic_bool was_cut;
};

/* What happens to a connection that is late. */
enum srv_lateness {
	SRV_LATE_ENDS, /* it finds the end of its input, and can still say something */
	SRV_LATE_CUTS, /* it is closed in both directions, and what the client has not taken is dropped */
};

/* @return NULL if there is no memory or no thread */
struct srv_watch *srv_watch_start(void);

/* From now on fd can have a time limit; it must stay open while it is watched. Safe from any thread, as
 * srv_watch_remove. */
void srv_watch_add(struct srv_watch *watch, struct srv_watched *watched, int fd);
void srv_watch_remove(struct srv_watch *watch, struct srv_watched *watched);

/* A limit of so long from now on replaces the one before. */
void srv_watch_allow(struct srv_watched *watched, long long milliseconds, enum srv_lateness lateness);
/* It has no limit any more. */
void srv_watch_relieve(struct srv_watched *watched);
bool srv_watch_was_cut(const struct srv_watched *watched);

/* Nothing is watched any more. NULL is allowed. */
void srv_watch_stop(struct srv_watch *watch);

#endif
