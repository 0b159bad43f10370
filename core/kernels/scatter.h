/**
 * Adding the contacts' forces up at the vertices, one after the other: gradient += w (x) force.
 */
#ifndef FRIC_SCATTER_H
#define FRIC_SCATTER_H

#include "core/kernels/block.h"

/* Forces of a block, for its span. gradient: [n_vertices, dim] */
void scatter_block(const struct fric_contacts *contacts, struct span span, const struct kernel_block *block,
                   double *gradient);

/* The same at vertices [first, last) only; there is at least one. */
void scatter_block_part(const struct fric_contacts *contacts, struct span span, const struct kernel_block *block,
                        int32_t first, int32_t last, double *gradient);

/* Both from rows of the span's forces, [n, dim]. */
void scatter_rows(const struct fric_contacts *contacts, struct span span, const double *forces, double *gradient);
void scatter_rows_part(const struct fric_contacts *contacts, struct span span, const double *forces, int32_t first,
                       int32_t last, double *gradient);

#endif
