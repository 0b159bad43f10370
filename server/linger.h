/**
 * Closing a connection whose client is still sending. Closing at once would make the kernel reset the connection, and
 * the client could lose the answer that says why. So the rest is read and dropped for a bounded time.
 */
#ifndef SERVER_LINGER_H
#define SERVER_LINGER_H

/* Takes ownership of `fd`, returns at once. With too many of them at a time it is closed directly. */
void srv_linger(int fd);

#endif
