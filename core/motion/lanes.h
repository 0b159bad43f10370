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

/* The rows of up to RING consecutive 3D vertices; sums are added up at vertices [first, last) alone. */
struct lanes_ring {
	int32_t first, last;
	const double *from; /* [RING * 3, LANES] vectors */
	double *to;         /* the same, sums */
};

/* Where the rows of a vertex begin. */
static inline size_t ring_row(int32_t vertex)
{
	return (size_t)LANES * 3 * ((size_t)vertex % RING);
}

#endif
