/**
 * Incidences. An incidence is one member of one contact, and a block row is the sum over the incidences of its member.
 */
#ifndef FRIC_INCIDENCE_H
#define FRIC_INCIDENCE_H

#include <stddef.h>

#include "core/base/inline.h"
#include "core/fric.h"

enum { N_OTHERS = FRIC_MAX_STENCIL - 1 };

/* The place of a member without a block in the row: one outside the triangle or beyond the stencil. */
#define PATTERN_NOWHERE UINT32_MAX

/* incidence.member holds FRIC_MAX_STENCIL * contact + corner in 32 bits. */
#define PATTERN_MOST_CONTACTS ((size_t)UINT32_MAX / FRIC_MAX_STENCIL)

/* 16 bytes, because adding up rows reads every incidence and is limited by memory bandwidth. */
struct incidence {
	uint32_t member;          /* FRIC_MAX_STENCIL * contact + index in its stencil */
	uint32_t place[N_OTHERS]; /* for each other member: its index among the block row's neighbours */
};

INLINE size_t contact_of(const struct incidence *e)
{
	return e->member / FRIC_MAX_STENCIL;
}

INLINE unsigned corner_of(const struct incidence *e)
{
	return e->member % FRIC_MAX_STENCIL;
}

/* The index in the stencil of the member that place[j] belongs to. */
INLINE unsigned other_member(unsigned corner, unsigned j)
{
	return corner ^ (j + 1);
}

#endif
