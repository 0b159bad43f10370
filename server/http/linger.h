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

/* Takes ownership of `fd`, returns at once; -1: nothing. It is closed at the client's end, and after SRV_LINGER_MS at the
 * latest. If there are SRV_MOST_LINGERING already, the one that has lingered longest is closed in its place; without the
 * thread, fd itself. */
void srv_linger(int fd);

/* Closes those that are left. */
void srv_linger_stop(void);

#endif
