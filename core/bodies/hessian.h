/**
 * The bodies' part of the Hessian: inner matrices A, factors, products, and the blocks J^T A J of contacts. Functions
 * report faults like the public ones.
 */
#ifndef FRIC_BODIES_HESSIAN_H
#define FRIC_BODIES_HESSIAN_H

#include "core/bodies/twist.h"

/* The number of entries of an inner matrix, which stores the upper triangle by rows. */
static inline size_t body_inner_size(int dim)
{
	return (size_t)(n_body_slip(dim) * (n_body_slip(dim) + 1) / 2);
}

/* The index of the first inner matrix of bodies in an array of all inner matrices. */
static inline size_t first_body_inner(const struct fric_contacts *contacts)
{
	return contacts->n * (size_t)fric_inner_size(contacts->dim);
}

/* The block J^T A J of contact i, exactly symmetric: [k * n_body_dofs] rows of MOST_BLOCK numbers.
 * @param inner  of the contacts of bodies
 * @return whether the block is finite */
bool fricp_body_block(const struct fric_contacts *b, const double *inner, enum fric_type type, size_t i,
                      double block[MOST_BLOCK][MOST_BLOCK]);

/* @param inner    of all contacts; the bodies' part is overwritten. NULL: only factors are wanted
 * @param factors  the bodies' part is overwritten; may be NULL */
enum fric_code fricp_bodies_inner(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const struct fric_query *query, enum fric_projection projection, double *inner,
                                  const struct fric_factors *factors, struct fric_error *error);
/* @param products  [n_vectors, n_dofs]; the DOFs of bodies are overwritten */
enum fric_code fricp_bodies_products(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_query *query, enum fric_projection projection, size_t n_vectors,
                                     const double *vectors, double *products, struct fric_error *error);

#endif
