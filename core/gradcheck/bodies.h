/**
 * What is expected of a contact of bodies beside its law.
 */
#ifndef FRIC_GRADCHECK_BODIES_H
#define FRIC_GRADCHECK_BODIES_H

#include "core/gradcheck/expected.h"

/* The slip's derivatives with respect to the twists. @param pairs  set to 1: inner matrices are those of the slip */
void fricp_expect_jacobian(struct reference *r, long double *pairs);

/* As fricp_expect_vertex_slip. */
struct expected fricp_expect_body_slip(const struct reference *r, const double *velocities, int t, bool anchored);

/* Wrenches, blocks and sums, when the Jacobian and the inner matrix are there. */
void fricp_expect_wrenches(const struct response *at, struct reference *r);

#endif
