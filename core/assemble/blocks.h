/**
 * Whole blocks of contacts at vertices: sums of friction blocks and barrier blocks. A block is symmetric and does not
 * change when all members move alike, so it is stored without the rows and columns of the first member, unless that is
 * the only one: for each other member, its blocks with the members before it, row by row, then the lower triangle of
 * its own block. Arrays of blocks have those of all types in contact order.
 */
#ifndef FRIC_BLOCKS_H
#define FRIC_BLOCKS_H

#include "core/contacts/contacts.h"

/* The first member that is stored. */
INLINE int first_stored(int k)
{
	return k > 1 ? 1 : 0;
}

enum { MOST_BLOCK_NUMBERS = 45 };

/* The number of numbers of a block of k members. */
INLINE size_t n_block_numbers(int dim, int k)
{
	const size_t n = (size_t)(dim * (k - first_stored(k))), d = (size_t)dim;
	return (n * n - n * d) / 2 + n / d * (d * (d + 1) / 2);
}

/* Index of the first number of contact i, which is of this type. */
INLINE size_t block_at(const struct fric_contacts *c, enum fric_type type, size_t i)
{
	size_t n = 0;
	for (enum fric_type before = 0; before < type; before++)
		n += group_size(c, before) * n_block_numbers(c->dim, fric_stencil_size(before));
	return n + (i - c->start[type]) * n_block_numbers(c->dim, fric_stencil_size(type));
}

static inline size_t n_all_blocks(const struct fric_contacts *c)
{
	return block_at(c, FRIC_N_VERTEX_TYPES - 1, c->start[FRIC_N_VERTEX_TYPES]);
}

/* Numbers behind the blocks: whether these are whole blocks, and one that vectors read beyond the last block. */
enum { N_BEHIND_BLOCKS = 2 };

/* Whether an array of fric_n_inner numbers has whole blocks. */
static inline bool has_blocks(const struct fric_contacts *c, const double *inner)
{
	return (c->terms & FRIC_TERM_BARRIER) && inner[n_all_blocks(c)] != 0;
}

/**
 * Computes the blocks of all contacts for a query with the barrier term.
 * @param inner  [fric_n_inner]; overwritten
 */
struct fault fricp_blocks(const struct fric_context *context, const struct fric_contacts *contacts,
                          const struct fric_query *query, enum fric_projection projection, double *inner);

/* Writes a block of k members in full: [k * dim] rows of `pitch` numbers. */
INLINE void expand_block(int dim, int k, const double *from, size_t pitch, double *block)
{
	const size_t d = (size_t)dim;
	const int first = first_stored(k);
	for (int i = first; i < k; i++)
		for (int j = first; j <= i; j++)
			for (size_t x = 0; x < d; x++)
				for (size_t y = 0; y < (i == j ? x + 1 : d); y++) {
					block[((size_t)i * d + x) * pitch + (size_t)j * d + y] = *from;
					block[((size_t)j * d + y) * pitch + (size_t)i * d + x] = *from++;
				}
	if (first == 0)
		return;
	for (int i = first; i < k; i++)
		for (size_t x = 0; x < d; x++)
			for (size_t y = 0; y < d; y++) {
				double sum = 0;
				for (int j = first; j < k; j++)
					sum -= block[((size_t)i * d + x) * pitch + (size_t)j * d + y];
				block[((size_t)i * d + x) * pitch + y] = block[y * pitch + (size_t)i * d + x] = sum;
			}
	for (size_t x = 0; x < d; x++)
		for (size_t y = 0; y <= x; y++) {
			double sum = 0;
			for (int j = first; j < k; j++)
				sum -= block[x * pitch + (size_t)j * d + y];
			block[x * pitch + y] = block[y * pitch + x] = sum;
		}
}

#endif
