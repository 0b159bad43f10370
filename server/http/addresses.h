/**
 * Counts the connections of each client address. IPv6 addresses count by their /64, all of which belongs to one client;
 * over Unix-domain sockets each user counts as one address. Safe from any thread.
 */
#ifndef SERVER_ADDRESSES_H
#define SERVER_ADDRESSES_H

#include "server/listen/peer.h"

#include <stdbool.h>
#include <stddef.h>

struct srv_addresses;

/* @return NULL if memory runs out */
struct srv_addresses *srv_addresses_create(size_t most_each);
void srv_addresses_free(struct srv_addresses *addresses);

/* Adds a connection. @return false if that exceeds the limit or memory runs out */
bool srv_addresses_add(struct srv_addresses *addresses, const struct srv_peer *peer);
/* Removes a connection that was added. */
void srv_addresses_remove(struct srv_addresses *addresses, const struct srv_peer *peer);

#endif
