/**
 * Accepts connections and hands them out, on a thread of its own. If each thread that serves connections accepted for
 * itself, the first one to wake up would take all that arrive together, and serve them alone for as long as they last.
 */
#ifndef SERVER_ACCEPTOR_H
#define SERVER_ACCEPTOR_H

#include <sys/socket.h>

struct srv_acceptor;

/* Where connections go. */
struct srv_acceptor_target {
	/* Called on the acceptor's thread. Takes ownership of fd, which is non-blocking; the address is borrowed. */
	void (*add)(void *closure, int fd, const struct sockaddr *address, socklen_t bytes);
	void *closure;
};

enum { SRV_ACCEPTOR_MOST = 16 };

/**
 * @param listen_fds  [n], n <= SRV_ACCEPTOR_MOST: listening, non-blocking; borrowed until srv_acceptor_stop. Where
 *                    connections wait at several, they are taken in turn
 * @return NULL when memory, files or threads do not suffice
 */
struct srv_acceptor *srv_acceptor_start(const int *listen_fds, int n, const struct srv_acceptor_target *target);
/* No connection is handed out any more. acceptor: NULL, or started */
void srv_acceptor_stop(struct srv_acceptor *acceptor);

#endif
