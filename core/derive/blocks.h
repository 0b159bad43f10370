/**
 * Computes columns of numbers for each span of contacts and adds them at vertices at once (order/sums.h). Columns for
 * sums over all contacts are kept until all spans are done if several parts compute them. All sums are formed in the
 * order of the sweep (order/sweep.h), whatever the number of threads.
 */
#ifndef FRIC_DERIVE_BLOCKS_H
#define FRIC_DERIVE_BLOCKS_H

#include "core/order/schedule.h"

/* Columns of a span: number m of contact j at columns[m][j]. */
typedef double span_columns[FRIC_SPAN];

struct vertex_sums {
	double *out;    /* [n_vertices, width]; overwritten */
	int width;      /* numbers per vertex */
	int first;      /* index of its first column */
	int per_member; /* columns from one member of a stencil to the next; 0: all members have the same numbers, which
	                   are multiplied by stencil weights, so that they are DOFs */
};

enum { MOST_VERTEX_SUMS = 6 };

struct blocks {
	const struct fric_context *context;
	const struct fric_contacts *contacts;
	const struct fric_schedule *schedule; /* the query's schedule, or NULL */
	size_t n_columns;
	size_t first_kept, n_kept; /* columns that are kept for the tally */
	/* Computes the columns of a span. On a fault it sets *fault to the fault of the span's lowest contact. */
	void (*fill)(void *task, struct span span, span_columns *columns, struct fault *fault);
	/* Sums the kept columns over contacts; columns[0] is the first kept one. Called for one span after the other, in
	 * the order of the sweep, except for spans with a fault. */
	void (*tally)(void *task, struct span span, span_columns *columns);
	void *task;
	int n_sums;
	struct vertex_sums sums[MOST_VERTEX_SUMS];
};

/**
 * @return as fricp_parallel_phases; also FRIC_E_MEMORY, and FRIC_E_NOT_FINITE without a contact if only a sum at a
 *         vertex overflows
 * Allocates while it runs the kept columns, the columns of a span for each part, and the memory of fricp_sums_run.
 */
struct fault fricp_blocks_run(const struct blocks *blocks);

#endif
