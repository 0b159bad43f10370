/**
 * Several vectors over all DOFs at once: each DOF has a row of LANES numbers, one per vector. The result for a vector
 * does not depend on the others and is bitwise equal to the result for that vector alone.
 *
 * Rows lie in a ring: the position of a vertex's rows follows from its number, so that a sweep over the vertices passes
 * through the caches once and no row is moved.
 */
#ifndef FRIC_LANES_H
#define FRIC_LANES_H

#include <stddef.h>
#include <stdint.h>

enum {
	LANES = 8,
	RING = 4096, /* vertices, a power of two: rows of vectors and sums fit into the second-level cache */
};

/* The rows of up to RING consecutive 3D vertices. */
struct lanes_ring {
	const double *from;    /* [RING * 3, LANES] vectors */
	double *to;            /* [RING * 3, LANES] sums */
	const int32_t *places; /* the span's places (order/schedule.h); NULL: it defers nothing */
	double *deferred;      /* [n_deferred * 3, LANES] */
};

/* The first row of a vertex. */
static inline size_t ring_row(int32_t vertex)
{
	return (size_t)LANES * 3 * ((size_t)vertex % RING);
}

#endif
