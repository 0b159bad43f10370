/**
 * A jvp by velocities alone: the product with the Hessian, in one pass with potential and gradient. No batch is looked at.
 */
#ifndef FRIC_DERIVE_VELOCITIES_H
#define FRIC_DERIVE_VELOCITIES_H

#include "core/fric.h"

/**
 * At vertices alone. What a contact adds has the bits of fric_hessian_products.
 * @param velocities  [n_dofs] tangent
 * @param potential, gradient  as fric_evaluate gives them, without bodies
 * @param potential_tangent, gradient_tangent  the same shapes
 * @return FRIC_E_NOT_FINITE also where only numbers on the way did not fit a double: another form may say more
 * Allocates as fric_evaluate does, and a number per span, from the context's memory.
 */
enum fric_code fricp_jvp_by_velocities(const struct fric_context *context, const struct fric_derivation *derivation,
                                       const double *velocities, double *potential, double *gradient,
                                       long double *potential_tangent, double *gradient_tangent,
                                       struct fric_error *error);

#endif
