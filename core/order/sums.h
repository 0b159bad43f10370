/**
 * Sums at vertices over all contacts: spans are evaluated part by part, what they give is added up or deferred, and what
 * was deferred is added up afterwards (order/schedule.h). Gradient, products and derivatives are formed here.
 */
#ifndef FRIC_SUMS_H
#define FRIC_SUMS_H

#include "core/order/scatter.h"

struct summation {
	const struct fric_context *context;
	const struct fric_contacts *contacts;
	const struct fric_schedule *schedule; /* that of a question, or NULL; then what fricp_sums_begin makes of it */
	struct scatter *sums;                 /* [n_sums]; context, contacts, schedule and deferred are filled in */
	size_t n_sums;
	size_t n_lanes; /* 0 or 1, or at most LANES: so many sums have what they defer side by side, and the same width */
	/* Evaluates the span at a position of the sweep, and scatters what it gives; on a fault sets *fault to that of the
	 * first contact that has one, and may leave the span out. */
	void (*span)(const struct summation *summation, struct part part, size_t position, struct fault *fault);
	/* NULL, or instead: does all of a part, from reaching the first span to the end of the last one. */
	void (*part)(const struct summation *summation, struct part part, struct fault *fault);
	void *task;
	atomic_size_t *n_left; /* parts that are not through; fricp_sums_run fills it in */
};

/**
 * Sets the schedule: that of the summation, or one that is made if it has none; NULL if there is one part, as always on
 * one thread, where several would cost something and gain nothing.
 * @param own  what is made; to be given back with fricp_schedule_clear, even on failure
 * @return false when out of memory
 */
bool fricp_sums_begin(struct summation *summation, struct fric_schedule *own);

/* After that. */
static inline size_t sums_n_parts(const struct summation *summation)
{
	return summation->schedule ? summation->schedule->n_parts : 1;
}

/**
 * After fricp_sums_begin.
 * @return as fricp_parallel_phases, with the lowest fault of all spans; FRIC_E_MEMORY; FRIC_E_NOT_FINITE at no contact
 * (contacts->n) if there is no other fault and a sum overflows
 * Allocates the numbers that are deferred.
 */
struct fault fricp_sums_run(struct summation *summation);

#endif
