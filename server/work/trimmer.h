/**
 * Returns warm memory to the system once it has been idle for a while, that of the pools and what malloc keeps, and
 * forgets collision sets that are idle: a thread that looks once a second.
 */
#ifndef SERVER_TRIMMER_H
#define SERVER_TRIMMER_H

#include "api/base/pool.h"
#include "api/sets/store.h"

enum { SRV_TRIMMED_POOLS = 2 };

struct srv_trimmer;

/* @param sets  or NULL. @return NULL when memory or threads do not suffice */
struct srv_trimmer *srv_trimmer_start(struct api_pool *const pools[SRV_TRIMMED_POOLS], struct api_sets *sets,
                                      long long idle_seconds);
void srv_trimmer_stop(struct srv_trimmer *trimmer);

#endif
