/**
 * An incidence: one member of one contact. A block row is the sum over the incidences of its member.
 */
#ifndef FRIC_INCIDENCE_H
#define FRIC_INCIDENCE_H

#include <stddef.h>

#include "core/base/inline.h"
#include "core/fric.h"

enum { N_OTHERS = FRIC_MAX_STENCIL - 1 };

/* The place of a member without a block in the row: outside the triangle, or beyond the stencil. */
#define PATTERN_NOWHERE UINT32_MAX

/* The members' numbers have room for this many contacts. */
#define PATTERN_MOST_CONTACTS ((size_t)UINT32_MAX / FRIC_MAX_STENCIL)

/* 16 bytes: summing rows reads every incidence, and is bound by memory. */
struct incidence {
	uint32_t member;          /* FRIC_MAX_STENCIL * contact + which member of its stencil */
	uint32_t place[N_OTHERS]; /* of each other member: its index among the block row's neighbours */
};

INLINE size_t contact_of(const struct incidence *e)
{
	return e->member / FRIC_MAX_STENCIL;
}

INLINE unsigned corner_of(const struct incidence *e)
{
	return e->member % FRIC_MAX_STENCIL;
}

/* Which member of the stencil place[j] belongs to. */
INLINE unsigned other_member(unsigned corner, unsigned j)
{
	return corner ^ (j + 1);
}

#endif
