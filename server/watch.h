/**
 * Connections that have to get somewhere in time: whoever is still watched then finds the end of its input. A thread of
 * its own, which sleeps until the first is due.
 */
#ifndef SERVER_WATCH_H
#define SERVER_WATCH_H

struct srv_watch;
struct srv_watched;

/* @return NULL if there is no memory or no thread */
struct srv_watch *srv_watch_start(long long seconds);

/* From now on fd has its time; it must stay open while it is watched. @return NULL if memory does not suffice */
struct srv_watched *srv_watch_add(struct srv_watch *watch, int fd);
/* Frees; NULL is allowed. */
void srv_watch_remove(struct srv_watch *watch, struct srv_watched *watched);

/* Nothing is watched any more. NULL is allowed. */
void srv_watch_stop(struct srv_watch *watch);

#endif
