/**
 * Expected values of a contact at vertices, except for its law.
 */
#ifndef FRIC_GRADCHECK_VERTICES_H
#define FRIC_GRADCHECK_VERTICES_H

#include "core/gradcheck/expected.h"

/* Weights of the stencil. @param pairs  set to the products of mu_aniso, in the order of inner matrices */
void fricp_expect_weights(struct reference *r, long double *pairs);

/* A component of the slip, or of the slip without its anchor. The scale is its possible rounding error. */
struct expected fricp_expect_vertex_slip(const struct reference *r, const double *velocities, int t, bool anchored);

/* Forces, blocks and sums. Requires the expected weights and inner matrix. */
void fricp_expect_forces(const struct response *at, struct reference *r);

#endif
