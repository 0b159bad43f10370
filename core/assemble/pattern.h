/**
 * The CSR pattern of contacts, with what is needed to place values without searching, and the sum of any local blocks
 * in it.
 *
 * A block row is the rows of one vertex, and a block has as many rows and columns as a vertex has DOFs (motion/dofs.h).
 * Work is counted in incidences, one for every contact at a vertex. Loops go over chunks of incidences; a chunk has the
 * block rows that begin in it, so that one thread adds up each row and all get equal work.
 */
#ifndef FRIC_PATTERN_H
#define FRIC_PATTERN_H

#include "core/assemble/incidence.h"
#include "core/base/parallel.h"
#include "core/bodies/rows.h"
#include "core/contacts/contacts.h"

struct fric_pattern {
	const struct fric_memory *memory; /* where the arrays are from */
	size_t n_vertices, n_incidences, n_body_rows;
	int dim;
	enum fric_triangle triangle;
	size_t *first_incidence;      /* [n_vertices + 1] into incidences */
	struct incidence *incidences; /* by vertex, in contact order */
	int64_t *indptr;              /* [n_rows + 1] */
	int32_t *indices;             /* neighbours ascend in a block row; in a triangle the diagonal block is cut */
	struct body_pattern *bodies;  /* the rows of bodies, after those of all vertices; or NULL */
};

/* The first vertex whose incidences begin at or after `incidence`. */
size_t fricp_pattern_first_vertex(const struct fric_pattern *pattern, size_t incidence);

/* The number of blocks in the block row of vertex v. */
size_t fricp_pattern_n_blocks(const struct fric_pattern *pattern, size_t v);

/* Writes row `corner` of contact i's k x k blocks: blocks[j] is the [dim, dim] block (corner, j), row-major. */
typedef void block_row(void *task, size_t contact, int corner, double blocks[FRIC_MAX_STENCIL][9]);

/* data := sum of the blocks of all contacts, every entry summed in contact order. @param data [n_entries] */
struct fault fricp_pattern_accumulate(const struct fric_context *context, const struct fric_pattern *pattern,
                                      block_row *row, void *task, double *data);

/* fric_hessian_csr by fricp_pattern_accumulate: the plain form that the fast one is tested against. */
struct fault fricp_csr_plain(const struct fric_context *context, const struct fric_contacts *contacts,
                             const double *inner, const struct fric_pattern *pattern, double *data);

#endif
