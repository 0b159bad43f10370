/**
 * The CSR pattern of contacts, and the accumulation of any local blocks into it.
 */
#ifndef FRIC_PATTERN_H
#define FRIC_PATTERN_H

#include "contacts.h"
#include "parallel.h"

/* One vertex of one contact. */
struct incidence {
	uint32_t contact;
	uint32_t corner; /* which vertex of the stencil */
};

struct fric_pattern {
	size_t dim, n_vertices, n_incidences, n_neighbours;
	enum fric_triangle triangle;
	size_t *first_incidence;     /* [n_vertices + 1] into incidences */
	struct incidence *incidences; /* by vertex, in contact order */
	size_t *first_neighbour;     /* [n_vertices + 1] into neighbours */
	int32_t *neighbours;         /* by vertex: the vertices of its block row, sorted */
	int64_t *indptr;             /* [n_vertices*dim + 1] */
	int32_t *indices;
};

/* Writes row `corner` of contact i's k x k blocks: blocks[j] is the [dim, dim] block (corner, j), row-major. */
typedef void block_row(void *task, size_t contact, int corner, double blocks[FRIC_MAX_STENCIL][9]);

/* data := sum of the blocks of all contacts, each entry in contact order. @param data [n_entries] */
struct fault pattern_accumulate(const struct fric_context *context, const struct fric_pattern *pattern,
                        const struct fric_contacts *contacts, block_row *row, void *task, double *data);

#endif
