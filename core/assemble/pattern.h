/**
 * The CSR pattern of contacts, with the places of all incidences, so that adding up values needs no search.
 *
 * A block row is the rows of one member of contacts, a vertex or a body, and its blocks have as many rows and columns
 * as a member has DOFs (motion/dofs.h). The block rows of all vertices come first, then the block rows of all bodies;
 * no contact has members of both kinds. Work is counted in incidences, one for every contact of a member. Loops go over
 * chunks of incidences; a chunk consists of the block rows that begin in it, so that one thread adds up each row and
 * all threads get equal work.
 */
#ifndef FRIC_PATTERN_H
#define FRIC_PATTERN_H

#include "core/assemble/incidence.h"
#include "core/base/parallel.h"
#include "core/contacts/contacts.h"

/* The block rows of one kind of member. */
struct block_rows {
	size_t n_members, n_incidences;
	int width; /* DOFs of a member */
	enum fric_triangle triangle;
	size_t *first_incidence;      /* [n_members + 1] index of each member's first incidence */
	struct incidence *incidences; /* by member, in contact order */
	uint32_t *diagonal;           /* [n_members] place of the member itself among its neighbours */
	int64_t *indptr;              /* [n_members*width + 1] the part of the pattern's indptr for these rows */
};

struct fric_pattern {
	const struct fric_memory *memory; /* the allocator of the arrays */
	size_t n_rows;
	int64_t *indptr;  /* [n_rows + 1] */
	int32_t *indices; /* neighbours ascend in a block row; in a triangle the diagonal block is cut */
	struct block_rows vertices, bodies;
};

/* The first member whose incidences begin at or after index `incidence`. */
size_t fricp_first_member(const struct block_rows *rows, size_t incidence);

/* The number of blocks in the block row of member v. It follows from the length of the first row, which in the lower
 * triangle has one entry of the diagonal block. width: rows->width, as a constant in fast code */
INLINE size_t n_row_blocks(const struct block_rows *rows, int width, size_t v)
{
	const int64_t *start = rows->indptr + (size_t)width * v;
	const size_t length = (size_t)(start[1] - start[0]);
	return (length + (rows->triangle == FRIC_LOWER && length > 0 ? (size_t)width - 1 : 0)) / (size_t)width;
}

/* Computes the places of all members of an incidence, in the order of the stencil. @param diagonal  place of its own
 * member */
INLINE void places_of(const struct incidence *e, uint32_t diagonal, uint32_t places[FRIC_MAX_STENCIL])
{
	const unsigned corner = corner_of(e);
	places[corner] = diagonal;
	UNROLL
	for (unsigned j = 0; j < N_OTHERS; j++)
		places[other_member(corner, j)] = e->place[j];
}

#endif
