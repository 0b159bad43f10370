/**
 * Returns idle memory to the system, from the pools and from malloc, and expires idle collision sets, on a thread that
 * runs once a second.
 */
#ifndef SERVER_TRIMMER_H
#define SERVER_TRIMMER_H

#include "api/base/pool.h"
#include "api/sets/store.h"

enum { SRV_TRIMMED_POOLS = 2 };

struct srv_trimmer;

/* @param sets  or NULL. @return NULL if memory or threads run out */
struct srv_trimmer *srv_trimmer_start(struct api_pool *const pools[SRV_TRIMMED_POOLS], struct api_sets *sets,
                                      long long idle_seconds);
void srv_trimmer_stop(struct srv_trimmer *trimmer);

#endif
