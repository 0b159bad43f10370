/**
 * The scalar coefficients of a contact that has none of its own (docs/physics.md 3).
 */
#ifndef FRIC_COEFFICIENTS_H
#define FRIC_COEFFICIENTS_H

#include "core/fric.h"

/**
 * A coefficient that is below zero by no more than rounding can explain is set to zero.
 * @param friction       its source is not FRIC_MU_NONE
 * @param stencil        [k] vertices
 * @param closest_point  [2] as in lagged contacts
 * @param uncertainty    [2] how far off the closest point's coordinates may be
 * @param mu             set to (mu_s, mu_k)
 * @return FRIC_OK, FRIC_E_NEGATIVE_COEFFICIENT or FRIC_E_NOT_FINITE
 */
enum fric_code fricp_contact_coefficients(const struct fric_friction *friction, enum fric_type type,
                                          const int32_t *stencil, const double closest_point[2],
                                          const double uncertainty[2], double mu[2]);

#endif
