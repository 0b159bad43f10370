/** The listening socket. */
#ifndef SERVER_LISTEN_H
#define SERVER_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Binds and listens, non-blocking.
 * @param host   address or name; IPv6 without brackets
 * @param port   in: 0 for a free one; out: the one taken
 * @param fault  on failure set to what is wrong, in words; static or of strerror
 * @return the socket, or -1
 */
int srv_listen(const char *host, int *port, const char **fault);

/* Whether a listening socket can be reached from this machine alone. */
bool srv_is_on_loopback(int fd);

#endif
