/**
 * Local Hessian blocks: w_i w_j M with M = P A P^T (docs/physics.md 3).
 */
#ifndef FRIC_HESSIAN_H
#define FRIC_HESSIAN_H

#include "core/contacts/contacts.h"

/* Computes the inner matrices of contacts at vertices. */
struct fault fricp_friction_inner(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const struct fric_query *query, enum fric_projection projection, double *inner);

/* Computes M of contact i, [dim, dim] row-major, exactly symmetric. */
void fricp_core_block(const struct fric_contacts *contacts, const double *inner, size_t i, double block[9]);

#endif
