/**
 * The inner loops of finding, compiled from overlap.inc once per instruction set: which boxes overlap, and which of
 * these pairs may be close. They leave out no close pair; which others they leave out depends on rounding.
 */
#ifndef FRIC_OVERLAP_H
#define FRIC_OVERLAP_H

#include "core/find/tree.h"

/* Pairs of primitives, as numbers in two trees. */
struct sink {
	uint32_t *first, *second;         /* [capacity] */
	size_t n, capacity;               /* capacity >= 72 */
	bool (*drain)(struct sink *sink); /* takes all pairs when there may be no room. @return whether to go on */
	void *task;
};

struct overlap_kernels {
	/* Adds pairs of the primitives of a block of `first` and those of `second` whose boxes are not further apart than
	 * `reach` along any axis, and which have no vertex in common. If both are the same tree, each pair once.
	 * @return whether to go on */
	bool (*collect)(const struct tree *first, const struct tree *second, size_t block, double reach, struct sink *sink);
	/* Keeps those of the first n pairs whose primitives, where they are, may be closer than reach + slope * (the sum of
	 * their motions), in their order. With a long sweep, of their relative motion instead, and not those that may become
	 * closer than reach + keep * distance only after (1 - keep) * slope. @return their number */
	size_t (*keep_near)(const struct tree *first, const struct tree *second, const double *place, double reach,
	                    double slope, struct sink *sink, size_t n);
};

extern const struct overlap_kernels fricp_overlap_baseline;
#ifdef __x86_64__
extern const struct overlap_kernels fricp_overlap_avx2, fricp_overlap_avx512;
#endif

/* The overlap kernels for the instruction set of the context's kernels. */
const struct overlap_kernels *fricp_overlap_of(const struct fric_context *context);

#endif
