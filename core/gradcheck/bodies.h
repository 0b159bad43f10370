/**
 * Expected values of a contact of bodies, except for its law.
 */
#ifndef FRIC_GRADCHECK_BODIES_H
#define FRIC_GRADCHECK_BODIES_H

#include "core/gradcheck/expected.h"

/* Derivatives of the slip with respect to the twists.
 * @param pairs  set to 1: inner matrices refer to the slip after mu_aniso scaling */
void fricp_expect_jacobian(struct reference *r, long double *pairs);

/* As fricp_expect_vertex_slip. */
struct expected fricp_expect_body_slip(const struct reference *r, const double *velocities, int t, bool anchored);

/* Wrenches, blocks and sums. Requires the expected Jacobian and inner matrix. */
void fricp_expect_wrenches(const struct response *at, struct reference *r);

#endif
