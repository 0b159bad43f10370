/**
 * Accepts connections on a thread of its own and hands them out. If each serving thread accepted for itself, the first
 * to wake up would take every connection of a burst and serve them alone for as long as they last.
 */
#ifndef SERVER_ACCEPTOR_H
#define SERVER_ACCEPTOR_H

#include <sys/socket.h>

struct srv_acceptor;

/* The receiver of accepted connections. */
struct srv_acceptor_target {
	/* Called on the acceptor's thread. Takes ownership of fd, which is non-blocking; the address is borrowed. */
	void (*add)(void *closure, int fd, const struct sockaddr *address, socklen_t bytes);
	void *closure;
};

enum { SRV_ACCEPTOR_MOST = 16 };

/**
 * @param listen_fds  [n], n <= SRV_ACCEPTOR_MOST: listening, non-blocking; borrowed until srv_acceptor_stop. Sockets
 *                    with pending connections take turns
 * @return NULL if memory, descriptors or threads run out
 */
struct srv_acceptor *srv_acceptor_start(const int *listen_fds, int n, const struct srv_acceptor_target *target);
/* Hands out no more connections once it returns. acceptor: NULL, or started */
void srv_acceptor_stop(struct srv_acceptor *acceptor);

#endif
