/**
 * An incidence: one vertex of one contact. A block row is the sum over the incidences of its vertex.
 */
#ifndef FRIC_INCIDENCE_H
#define FRIC_INCIDENCE_H

#include "core/fric.h"

/* The place of a vertex outside the triangle. */
#define PATTERN_NOWHERE UINT32_MAX

/* One vertex of one contact. */
struct incidence {
	uint32_t contact;
	uint16_t corner, size;            /* which vertex of the stencil, and the stencil's size */
	uint32_t place[FRIC_MAX_STENCIL]; /* of each vertex of the stencil: its index among the block row's neighbours */
};

#endif
