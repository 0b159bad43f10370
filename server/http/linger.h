/**
 * Closes connections whose client is still sending. An immediate close would make the kernel reset the connection, and
 * the client could lose the response that explains the refusal. The rest is therefore read and dropped for a bounded
 * time, by one thread for all such connections, which starts with the server.
 */
#ifndef SERVER_LINGER_H
#define SERVER_LINGER_H

#include <stdbool.h>

enum { SRV_MOST_LINGERING = 64, SRV_LINGER_MS = 5000 };

/* Starts the thread. @return false if it, or a descriptor for it, cannot be created */
bool srv_linger_start(void);

/* Takes ownership of fd, and returns at once; -1 is ignored. fd is closed when the client closes, or after
 * SRV_LINGER_MS. If SRV_MOST_LINGERING connections linger already, the oldest is closed to make room; without the
 * thread, fd itself is closed at once. */
void srv_linger(int fd);

/* Closes the remaining connections. */
void srv_linger_stop(void);

#endif
