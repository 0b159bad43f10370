/**
 * How many connections each client address has. IPv6 addresses count by their /64, which one client has whole; over
 * Unix-domain sockets each user counts as one address. Safe from any thread.
 */
#ifndef SERVER_ADDRESSES_H
#define SERVER_ADDRESSES_H

#include "server/listen/peer.h"

#include <stdbool.h>
#include <stddef.h>

struct srv_addresses;

/* @return NULL if memory does not suffice */
struct srv_addresses *srv_addresses_create(size_t most_each);
void srv_addresses_free(struct srv_addresses *addresses);

/* One connection more, or false: it would be one too many, or memory does not suffice. */
bool srv_addresses_add(struct srv_addresses *addresses, const struct srv_peer *peer);
/* A connection that was added is over. */
void srv_addresses_remove(struct srv_addresses *addresses, const struct srv_peer *peer);

#endif
