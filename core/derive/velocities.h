/**
 * A jvp with respect to velocities only: computes the product with the Hessian in one pass with potential and gradient.
 * Does not read the batch.
 */
#ifndef FRIC_DERIVE_VELOCITIES_H
#define FRIC_DERIVE_VELOCITIES_H

#include "core/fric.h"

/**
 * The vertices' part. The contribution of a contact is bitwise equal to fric_hessian_products.
 * @param velocities  [n_dofs] tangent
 * @param potential, gradient  as from fric_evaluate, without bodies
 * @param potential_tangent, gradient_tangent  the same shapes
 * @return FRIC_E_NOT_FINITE also if only an intermediate result does not fit a double: the general form may succeed
 * Allocates what fric_evaluate allocates, and one double per span from the context's memory.
 */
enum fric_code fricp_jvp_by_velocities(const struct fric_context *context, const struct fric_derivation *derivation,
                                       const double *velocities, double *potential, double *gradient,
                                       long double *potential_tangent, double *gradient_tangent,
                                       struct fric_error *error);

#endif
