/**
 * One vertex of one contact: what a block row adds up.
 */
#ifndef FRIC_INCIDENCE_H
#define FRIC_INCIDENCE_H

#include "core/fric.h"

/* Outside the triangle. */
#define PATTERN_NOWHERE UINT32_MAX

/* One vertex of one contact. */
struct incidence {
	uint32_t contact;
	uint16_t corner, size;            /* which vertex of the stencil, of how many */
	uint32_t place[FRIC_MAX_STENCIL]; /* of each vertex of the stencil among the block row's neighbours */
};

#endif
