/**
 * The barrier's part of potential, gradient and products, and of both terms where they cannot be told apart.
 */
#ifndef FRIC_ASSEMBLE_BARRIER_H
#define FRIC_ASSEMBLE_BARRIER_H

#include "core/contacts/contacts.h"

/* As fric_evaluate, for the barrier alone. */
struct fault fricp_barrier_evaluate(const struct fric_context *context, const struct fric_contacts *contacts,
                                    const struct fric_query *query, double *potential, double *gradient);

/* The barrier's potential of one contact, divided by the time step, and its gradient with respect to the members. */
double fricp_barrier_member(const struct fric_query *query, enum fric_type type, size_t i, double *gradient);

/* As fric_hessian_products, for a query with the barrier term. */
struct fault fricp_block_products(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const struct fric_query *query, enum fric_projection projection, size_t n_vectors,
                                  const double *vectors, double *products);

#endif
