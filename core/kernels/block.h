/**
 * Blocks of up to FRIC_BLOCK contacts of one type on their way through a kernel.
 */
#ifndef FRIC_BLOCK_H
#define FRIC_BLOCK_H

#include "core/contacts/contacts.h"
#include "core/base/parallel.h"

/* What a kernel is wanted to fill in. */
enum block_result { BLOCK_POTENTIAL, BLOCK_FORCE, BLOCK_INNER };

struct block_task {
	const struct fric_contacts *contacts;
	const struct fric_kernels *kernels;
	const double *velocities;
	bool potentials;                 /* BLOCK_FORCE: potentials too, or they are not looked at */
	enum block_result result;
	enum fric_projection projection; /* BLOCK_INNER */
};

/* Contacts [begin, begin + n) of one type. */
struct span {
	enum fric_type type;
	size_t begin, n;
};

/* The first block of [begin, end): all of one type. */
struct span next_span(const struct fric_contacts *contacts, size_t begin, size_t end);

/* Spans end where chunks do; so they are always the same, and what is kept for one has a slot of its own, in contact order.
 * Some slots belong to no span. */
static inline size_t span_slot(struct span span)
{
	return span.begin / FRIC_BLOCK + span.type;
}

static inline size_t span_slots(size_t n)
{
	return n / FRIC_BLOCK + FRIC_N_TYPES + 1;
}

/* The span that begins at contact i. */
static inline struct span span_at(const struct fric_contacts *contacts, size_t i)
{
	const size_t end = (i / FRIC_CHUNK + 1) * FRIC_CHUNK;
	return next_span(contacts, i, end < contacts->n ? end : contacts->n);
}

/* Fills in the block's results for a span. @return false with *fault set when a result is not finite */
bool block_run(const struct block_task *task, struct span span, struct kernel_block *block, struct fault *fault);

/* Rows [n, dim] of the span's forces. */
static inline void block_forces(size_t dim, struct span span, const struct kernel_block *block, double *out)
{
	for (size_t j = 0; j < span.n; j++)
		for (size_t d = 0; d < dim; d++)
			out[j * dim + d] = block->force[d][j];
}

/* The kernels of a context: the ones asked for, or the best of this processor. */
const struct fric_kernels *kernels_of(const struct fric_context *context);

#endif
