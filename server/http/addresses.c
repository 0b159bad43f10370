#include "server/http/addresses.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { N_BUCKETS = 1024 };

/* An IPv4 address as its IPv4-mapped form, the first half of an IPv6 address, or a user. */
struct key {
	uint64_t high, low;
};

struct entry {
	struct entry *next;
	struct key key;
	size_t n;
};

struct srv_addresses {
	pthread_mutex_t lock;
	size_t most_each;
	struct entry *buckets[N_BUCKETS];
};

struct srv_addresses *srv_addresses_create(size_t most_each)
{
	struct srv_addresses *addresses = calloc(1, sizeof *addresses);
	if (!addresses)
		return NULL;
	pthread_mutex_init(&addresses->lock, NULL);
	addresses->most_each = most_each;
	return addresses;
}

void srv_addresses_free(struct srv_addresses *addresses)
{
	if (!addresses)
		return;
	for (size_t b = 0; b < N_BUCKETS; b++)
		for (struct entry *entry = addresses->buckets[b], *next; entry; entry = next) {
			next = entry->next;
			free(entry);
		}
	pthread_mutex_destroy(&addresses->lock);
	free(addresses);
}

/* Cannot be the first half of a client's IPv6 address: it would be multicast. */
static const uint64_t of_user = UINT64_MAX;

static struct key key_of_v6(const struct in6_addr *v6)
{
	struct key key = {.low = UINT64_MAX};
	uint32_t v4;
	if (IN6_IS_ADDR_V4MAPPED(v6)) {
		memcpy(&v4, v6->s6_addr + 12, sizeof v4);
		return (struct key){.low = v4};
	}
	memcpy(&key.high, v6->s6_addr, sizeof key.high);
	return key;
}

static bool key_of(const struct srv_peer *peer, struct key *key)
{
	const struct sockaddr_in *v4 = (const void *)&peer->address;
	const struct sockaddr_in6 *v6 = (const void *)&peer->address;
	switch (peer->address.ss_family) {
	case AF_INET: *key = (struct key){.low = v4->sin_addr.s_addr}; return true;
	case AF_INET6: *key = key_of_v6(&v6->sin6_addr); return true;
	case AF_UNIX: *key = (struct key){of_user, peer->uid}; return true;
	default: return false;
	}
}

/* The link to the entry, or the end of its chain. */
static struct entry **find(struct srv_addresses *addresses, struct key key)
{
	const uint64_t hash = (key.high ^ (key.low + 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
	struct entry **link = &addresses->buckets[hash >> 32 & (N_BUCKETS - 1)];
	while (*link && ((*link)->key.high != key.high || (*link)->key.low != key.low))
		link = &(*link)->next;
	return link;
}

static bool add(struct srv_addresses *addresses, struct key key)
{
	struct entry **link = find(addresses, key);
	if (!*link && !(*link = calloc(1, sizeof **link)))
		return false;
	if ((*link)->n >= addresses->most_each)
		return false;
	(*link)->key = key;
	(*link)->n++;
	return true;
}

bool srv_addresses_add(struct srv_addresses *addresses, const struct srv_peer *peer)
{
	struct key key;
	if (!key_of(peer, &key))
		return true;
	pthread_mutex_lock(&addresses->lock);
	const bool added = add(addresses, key);
	pthread_mutex_unlock(&addresses->lock);
	return added;
}

void srv_addresses_remove(struct srv_addresses *addresses, const struct srv_peer *peer)
{
	struct key key;
	if (!key_of(peer, &key))
		return;
	pthread_mutex_lock(&addresses->lock);
	struct entry **link = find(addresses, key), *entry = *link;
	if (entry && --entry->n == 0) {
		*link = entry->next;
		free(entry);
	}
	pthread_mutex_unlock(&addresses->lock);
}
