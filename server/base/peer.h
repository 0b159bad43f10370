/** The other end of a connection, for the log. */
#ifndef SERVER_PEER_H
#define SERVER_PEER_H

#include <netinet/in.h>
#include <sys/socket.h>

enum { SRV_PEER = INET6_ADDRSTRLEN };

/**
 * The address without the port: 192.0.2.1, 2001:db8::1; a mapped IPv4 address as IPv4.
 * @param address  NULL or of another family: "-"
 * @return text
 */
const char *srv_peer_print(const struct sockaddr *address, char text[SRV_PEER]);

#endif
