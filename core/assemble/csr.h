/**
 * Blocks of any kind in rows, one contact's row of blocks at a time.
 */
#ifndef FRIC_CSR_H
#define FRIC_CSR_H

#include "core/assemble/pattern.h"

/* Writes row `corner` of contact i's k x k blocks: blocks[j] is the [dim, dim] block (corner, j), row-major. */
typedef void block_row(void *task, size_t contact, int corner, double blocks[FRIC_MAX_STENCIL][9]);

/* data := sum of the blocks of all contacts at vertices, every entry summed in contact order. @param data [n_entries] */
struct fault fricp_pattern_accumulate(const struct fric_context *context, const struct fric_pattern *pattern,
                                      block_row *row, void *task, double *data);

/* The vertices' part of fric_hessian_csr by fricp_pattern_accumulate: the plain form that the fast one is tested against. */
struct fault fricp_csr_plain(const struct fric_context *context, const struct fric_contacts *contacts,
                             const double *inner, const struct fric_pattern *pattern, double *data);

#endif
