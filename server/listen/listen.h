/** TCP sockets that listen, and the addresses of a host. */
#ifndef SERVER_LISTEN_H
#define SERVER_LISTEN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/un.h>

struct addrinfo;

/* An address at which the server may listen. */
union srv_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un path;
};

/* Why there is no socket. */
struct srv_listen_fault {
	const char *text; /* static, or from strerror */
	int error;        /* errno; 0: the host has no address */
};

/**
 * @param host       address or name; IPv6 without brackets
 * @param addresses  to be freed by freeaddrinfo
 * @return 0, or an error for gai_strerror
 */
int srv_find_addresses(const char *host, int port, struct addrinfo **addresses);

/**
 * Opens a non-blocking socket at an address. It does not listen yet.
 * @param host   address or name; IPv6 without brackets
 * @param port   in: 0 for a free one; out: the one taken
 * @param fault  set on failure
 * @return the socket, or -1
 */
int srv_bind(const char *host, int *port, struct srv_listen_fault *fault);

/* Starts to accept connections. @return false after a fault */
bool srv_listen(int fd, struct srv_listen_fault *fault);

/* Whether the socket's address can only be reached from this machine. */
bool srv_is_on_loopback(int fd);

#endif
