/** A socket that listens for TCP, and the addresses that a host has. */
#ifndef SERVER_LISTEN_H
#define SERVER_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

struct addrinfo;

/* Why there is no socket. */
struct srv_listen_fault {
	const char *text; /* static or of strerror */
	int error;        /* of errno; 0: the host has no address */
};

/**
 * @param host       address or name; IPv6 without brackets
 * @param addresses  for freeaddrinfo
 * @return 0, or a failure for gai_strerror
 */
int srv_find_addresses(const char *host, int port, struct addrinfo **addresses);

/**
 * A socket at an address, non-blocking, that does not listen yet.
 * @param host   address or name; IPv6 without brackets
 * @param port   in: 0 for a free one; out: the one taken
 * @param fault  set on failure
 * @return the socket, or -1
 */
int srv_bind(const char *host, int *port, struct srv_listen_fault *fault);

/* From now on connections are accepted. @return false with a fault as above */
bool srv_listen(int fd, struct srv_listen_fault *fault);

/* Whether the socket's address can be reached from this machine alone. */
bool srv_is_on_loopback(int fd);

#endif
