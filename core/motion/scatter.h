/**
 * From the forces of contacts to forces at vertices, in contact order: gradient += w (x) force.
 */
#ifndef FRIC_SCATTER_H
#define FRIC_SCATTER_H

#include "core/contacts/span.h"

/* Adds the forces of a span, an array of [n] for each axis, at the vertices. gradient: [n_vertices, dim] */
void fricp_scatter_columns(const struct fric_contacts *contacts, struct span span, const double *const forces[3],
                           double *gradient);

/* The same from rows of forces, [n, dim]. */
void fricp_scatter_rows(const struct fric_contacts *contacts, struct span span, const double *forces, double *gradient);

/* The same at vertices [first, last) only; there is at least one. */
void fricp_scatter_rows_part(const struct fric_contacts *contacts, struct span span, const double *forces,
                             int32_t first, int32_t last, double *gradient);

#endif
