/**
 * Sums at vertices over all contacts: spans are evaluated part by part, their contributions are added at once or
 * deferred, and the deferred ones are added afterwards (order/schedule.h). Gradient, products and derivatives are
 * summed here.
 */
#ifndef FRIC_SUMS_H
#define FRIC_SUMS_H

#include "core/order/scatter.h"

struct summation {
	const struct fric_context *context;
	const struct fric_contacts *contacts;
	const struct fric_schedule *schedule; /* the query's, or NULL, which fricp_sums_scheduled replaces */
	struct scatter *sums;                 /* [n_sums]; context, contacts, schedule and deferred are filled in */
	size_t n_sums;
	size_t n_lanes; /* 0 or 1, or up to LANES: number of sums with interleaved places, which must have the same width */
	/* Evaluates the span at a position of the sweep and scatters its contributions. On a fault it sets *fault to the
	 * fault of the span's lowest contact, and may leave the span out. */
	void (*span)(const struct summation *summation, struct part part, size_t position, struct fault *fault);
	/* NULL, or a function that replaces `span`: processes a whole part, from opening blocks for its first span to the
	 * end of its last one. */
	void (*part)(const struct summation *summation, struct part part, struct fault *fault);
	void *task;
	atomic_size_t *n_left; /* number of parts that are not done; set by fricp_sums_run */
};

/**
 * Calls a function with a schedule: the summation's, or a new one if it has none. It is NULL if there is only one part,
 * as on one thread, where several parts would only cost time.
 * @return what the function returns; FRIC_E_MEMORY
 */
struct fault fricp_sums_scheduled(struct summation *summation, struct fault (*run)(struct summation *summation));

/* The number of parts, in that function. */
static inline size_t sums_n_parts(const struct summation *summation)
{
	return summation->schedule ? summation->schedule->n_parts : 1;
}

/**
 * Call it with fricp_sums_scheduled, or in its function.
 * @return as fricp_parallel_phases, with the lowest fault of all spans; FRIC_E_MEMORY; or FRIC_E_NOT_FINITE without a
 *         contact (position contacts->n) if there is no other fault and a sum overflows
 * Allocates the deferred values.
 */
struct fault fricp_sums_run(struct summation *summation);

#endif
