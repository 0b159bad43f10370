/** The other end of a connection. */
#ifndef SERVER_PEER_H
#define SERVER_PEER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

enum { SRV_PEER = INET6_ADDRSTRLEN };

struct srv_peer {
	struct sockaddr_storage address;
	uid_t uid; /* over a Unix-domain socket: of the process that connected */
};

/**
 * @param fd       connected
 * @param address  of accept: [bytes]
 */
void srv_peer_read(int fd, const struct sockaddr *address, socklen_t bytes, struct srv_peer *peer);

/* It came through a Unix-domain socket, whose file says who may. @param peer  NULL: not known, and false */
bool srv_peer_is_unix(const struct srv_peer *peer);

/**
 * Whether each user has a uid of its own here. In a user namespace those that it does not map have all the same.
 * @param uid_map  a file like /proc/self/uid_map; where it cannot be read, there are no such namespaces
 */
bool srv_peers_are_told_apart(const char *uid_map);

/**
 * For the log: the address without the port, as 192.0.2.1 or 2001:db8::1, a mapped IPv4 address as IPv4; over a
 * Unix-domain socket the user, as uid:1000. No name of a token has a colon.
 * @param peer  NULL or of another family: "-"
 * @return text
 */
const char *srv_peer_print(const struct srv_peer *peer, char text[SRV_PEER]);

#endif
