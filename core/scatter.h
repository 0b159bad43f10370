/**
 * Adding the contacts' forces up at the vertices, in contact order: gradient += w (x) force.
 */
#ifndef FRIC_SCATTER_H
#define FRIC_SCATTER_H

#include "block.h"

/* Forces of a block, for its span. gradient: [n_vertices, dim] */
void scatter_block(const struct fric_contacts *contacts, struct span span, const struct kernel_block *block,
                   double *gradient);

/* The same from rows of the span's forces, [n, dim]. */
void scatter_rows(const struct fric_contacts *contacts, struct span span, const double *forces, double *gradient);

/* The same for vertices in [first, last) only. */
void scatter_part(const struct fric_contacts *contacts, struct span span, const double *forces, int32_t first,
                  int32_t last, double *gradient);

#endif
