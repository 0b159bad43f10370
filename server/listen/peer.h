/** The other end of a connection. */
#ifndef SERVER_PEER_H
#define SERVER_PEER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

enum { SRV_PEER = INET6_ADDRSTRLEN };

struct srv_peer {
	struct sockaddr_storage address;
	uid_t uid; /* user of the process that connected over a Unix-domain socket */
};

/**
 * @param fd       connected
 * @param address  from accept: [bytes]
 */
void srv_peer_read(int fd, const struct sockaddr *address, socklen_t bytes, struct srv_peer *peer);

/* Whether the client connected over a Unix-domain socket, whose file restricts access. @param peer  NULL: unknown,
 * false */
bool srv_peer_is_unix(const struct srv_peer *peer);

/**
 * Whether each user has a uid of its own here. In a user namespace all unmapped users share one uid.
 * @param uid_map  a file like /proc/self/uid_map; if it cannot be read, the kernel has no user namespaces
 */
bool srv_peers_are_told_apart(const char *uid_map);

/**
 * Prints the client for the log: the address without the port, as 192.0.2.1 or 2001:db8::1, an IPv4-mapped one as IPv4;
 * over a Unix-domain socket the user, as uid:1000, which cannot be the name of a token because of the colon.
 * @param peer  NULL or of another family: "-"
 * @return text
 */
const char *srv_peer_print(const struct srv_peer *peer, char text[SRV_PEER]);

#endif
