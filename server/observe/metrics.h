/**
 * What GET /metrics tells: counters and histograms that requests add to, and gauges that are read for each answer.
 * Prometheus text format 0.0.4; names by its conventions.
 *
 * Labels come from closed lists, never from a client, so that the number of series has a ceiling. Adding takes no lock:
 * a thread adds to one of a fixed number of shards, which are summed for the answer. One set of them in a process.
 */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "api/api.h"
#include "api/sets/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a request or a connection was rejected: for what the server has or does, not for what the request asks. */
enum srv_rejection {
	SRV_NOT_REJECTED,
	SRV_REJECTED_QUEUE_FULL,
	SRV_REJECTED_MEMORY,       /* none left for its body, or to compute it */
	SRV_REJECTED_DRAINING,     /* came, or still waited, while the server was stopping */
	SRV_REJECTED_CONNECTIONS,  /* too many of them */
	SRV_REJECTED_DEADLINE,     /* was not computed in time */
	SRV_REJECTED_SLOW,         /* did not arrive in time */
	SRV_REJECTED_NOT_TAKEN,    /* its answer was not taken in time */
	SRV_REJECTED_UNAUTHORIZED, /* no token, or one that is not known */
	SRV_REJECTED_FORBIDDEN,    /* sent by a web page that may not use the service */
	SRV_REJECTED_MISDIRECTED,  /* the service was called by a name that is not its own */
	SRV_N_REJECTIONS
};

/* A request that is over. */
struct srv_outcome {
	const struct api_match *match; /* where it led */
	enum srv_rejection rejection;
	int status;                        /* 0: no answer was sent */
	int64_t nanoseconds;               /* from the first line of the request to the last byte of the answer */
	int64_t waited_nanoseconds;        /* of these, in the queue; -1: was not in it */
	size_t bytes_in, bytes_out;        /* of the bodies */
	const struct api_measure *measure; /* NULL: nothing was evaluated */
};

/* How things stand now. */
struct srv_gauges {
	uint64_t queue_requests, queue_bytes;
	uint64_t connections, threads;
	uint64_t memory_requests_bytes, memory_pool_bytes;
	uint64_t memory_limit_bytes; /* 0: there is none */
	bool draining;
	const char *instruction_set;
	struct api_sets_counts sets;
	uint64_t sets_limit, sets_limit_bytes; /* 0: no sets are kept */
};

/* As in the label: the path of the row, "/v1/functions/{name}"; "other" if there is nothing at the path, or it came
 * with escapes that it does not need. */
const char *srv_route_name(const struct api_match *match);
/* As in the label; NULL for SRV_NOT_REJECTED. */
const char *srv_rejection_name(enum srv_rejection rejection);

void srv_metrics_add(const struct srv_outcome *outcome);

extern const char srv_metrics_type[]; /* the Content-Type */

/**
 * @param bytes  set to the length of the text
 * @return malloc'd, for the caller to free; NULL when out of memory
 */
char *srv_metrics_print(const struct srv_gauges *gauges, size_t *bytes);

#endif
