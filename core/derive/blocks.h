/**
 * Spans of contacts to sums, some at a time: columns of numbers are computed for a block of spans, and then added up, at
 * vertices by whichever thread has them, and over contacts by one thread. All sums are formed in the order of the sweep
 * (order/sweep.h), whatever the number of threads and the size of a block, and no more is kept than one block.
 */
#ifndef FRIC_DERIVE_BLOCKS_H
#define FRIC_DERIVE_BLOCKS_H

#include "core/contacts/span.h"

/* Columns of a span: number m of contact j at columns[m][j]. */
typedef double span_columns[FRIC_SPAN];

/* Sums at vertices. */
struct vertex_sums {
	double *out;    /* [n_vertices, width]; overwritten */
	int width;      /* numbers of a vertex */
	int first;      /* its first column */
	int per_member; /* columns from one member of a stencil to the next; 0: the same numbers times stencil weights, which
	                   makes them DOFs */
};

enum { MOST_VERTEX_SUMS = 6 };

struct blocks {
	const struct fric_context *context;
	const struct fric_contacts *contacts;
	size_t n_columns;
	/* Computes the columns of a span; on a fault sets *fault to that of the first contact that has one. */
	void (*fill)(void *task, struct span span, span_columns *columns, struct fault *fault);
	/* Adds them up over contacts; called for one span after the other, in the order of the sweep. */
	void (*tally)(void *task, struct span span, span_columns *columns);
	void *task;
	int n_sums;
	struct vertex_sums sums[MOST_VERTEX_SUMS];
};

/**
 * @return as fricp_parallel_phases, also FRIC_E_MEMORY; FRIC_E_NOT_FINITE at no contact if only a sum at a vertex overflows
 * Allocates a block's columns while it runs, from the context's memory.
 */
struct fault fricp_blocks_run(const struct blocks *blocks);

#endif
