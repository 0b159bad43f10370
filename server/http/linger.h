/**
 * Closing a connection whose client is still sending. Closing at once would make the kernel reset the connection, and
 * the client could lose the answer that says why. So the rest is read and dropped for a bounded time, by one thread for
 * all of them, which is there before the first: none is started for what a client does.
 */
#ifndef SERVER_LINGER_H
#define SERVER_LINGER_H

#include <stdbool.h>

enum { SRV_MOST_LINGERING = 64, SRV_LINGER_MS = 5000 };

/* Starts the thread. @return false when it, or a file for it, is not to be had */
bool srv_linger_start(void);

/* Takes ownership of fd, and returns at once; -1: nothing. fd is closed when the client closes, or after SRV_LINGER_MS.
 * If SRV_MOST_LINGERING connections linger already, the one that has lingered longest is closed to make room; without
 * the thread, fd itself is. */
void srv_linger(int fd);

/* Closes those that are left. */
void srv_linger_stop(void);

#endif
