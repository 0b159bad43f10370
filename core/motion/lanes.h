/**
 * Several vectors over all DOFs at once: a row of LANES numbers for each DOF, one of each vector. What is done to a vector
 * does not depend on the others, and has the bits that it would have alone.
 *
 * Rows lie in a ring: those of a vertex have the place that its number gives them, so that a sweep over the vertices passes
 * through the caches once and no row is moved.
 */
#ifndef FRIC_LANES_H
#define FRIC_LANES_H

#include <stddef.h>
#include <stdint.h>

enum {
	LANES = 8,
	RING = 4096, /* vertices, a power of two: rows of vectors and sums fit the second-level cache */
};

/* The rows of up to RING consecutive 3D vertices. */
struct lanes_ring {
	const double *from;    /* [RING * 3, LANES] vectors */
	double *to;            /* the same, sums */
	const int32_t *places; /* of the span (order/schedule.h); NULL: it defers nothing */
	double *deferred;      /* [n_deferred * 3, LANES] */
};

/* Where the rows of a vertex begin. */
static inline size_t ring_row(int32_t vertex)
{
	return (size_t)LANES * 3 * ((size_t)vertex % RING);
}

#endif
