/**
 * The metrics of GET /metrics: counters and histograms to which requests add, and gauges read for each response.
 * Prometheus text format 0.0.4; names follow its conventions.
 *
 * Labels come from closed lists, never from a client, so the number of series is bounded. Adding takes no lock: each
 * thread adds to one of a fixed number of shards, which are summed for the response. The process has one set of
 * metrics.
 */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "api/sets/store.h"
#include "server/observe/log.h"

/* The current values of gauges. */
struct srv_gauges {
	uint64_t queue_requests, queue_bytes;
	uint64_t connections, threads;
	uint64_t memory_requests_bytes, memory_pool_bytes;
	uint64_t memory_limit_bytes; /* 0: no limit */
	bool draining;
	const char *instruction_set;
	struct api_sets_counts sets;
	uint64_t sets_limit, sets_limit_bytes; /* 0: no sets are kept */
};

/* Route label: the path of the row, "/v1/functions/{name}"; "other" if no row matches, or the path has needless
 * escapes. */
const char *srv_route_name(const struct api_match *match);
/* Label of a rejection; NULL for SRV_NOT_REJECTED. */
const char *srv_rejection_name(enum srv_rejection rejection);

void srv_metrics_add(const struct srv_outcome *outcome);

extern const char srv_metrics_type[]; /* the Content-Type */

/**
 * @param bytes  set to the length of the text
 * @return malloc'd, for the caller to free; NULL when out of memory
 */
char *srv_metrics_print(const struct srv_gauges *gauges, size_t *bytes);

#endif
