/**
 * The scalar coefficients of contacts without their own (docs/physics.md 3).
 */
#ifndef FRIC_COEFFICIENTS_H
#define FRIC_COEFFICIENTS_H

#include "core/fric.h"

/**
 * A coefficient that is negative by no more than rounding errors is set to zero.
 * @param friction       with a source other than FRIC_MU_NONE
 * @param stencil        [k] vertices
 * @param closest_point  [2] as in lagged contacts
 * @param uncertainty    [2] error bounds of the closest point's coordinates
 * @param mu             set to (mu_s, mu_k)
 * @return FRIC_OK, FRIC_E_NEGATIVE_COEFFICIENT or FRIC_E_NOT_FINITE
 */
enum fric_code fricp_contact_coefficients(const struct fric_friction *friction, enum fric_type type,
                                          const int32_t *stencil, const double closest_point[2],
                                          const double uncertainty[2], double mu[2]);

/* The derivatives of a coefficient with respect to its sources: up to four vertex coefficients, or entries of the pair
 * table, or the one scalar coefficient. */
struct coefficient_derivatives {
	int n;
	size_t at[FRIC_MAX_STENCIL];      /* index of the source: a vertex; row * n_materials + column in the table; or 0 */
	long double by[FRIC_MAX_STENCIL]; /* derivatives; infinite for a geometric mean with one zero side */
	long double by_closest_point[2];
};

/**
 * Computes the derivatives of one coefficient of fricp_contact_coefficients. If both sides are equal, minimum and
 * maximum use the derivative of the first; geometric and harmonic means of two zeros give half to each.
 * @param values  the source's values: vertex_mu_s or vertex_mu_k, material_mu_s or material_mu_k; not read for a scalar
 */
void fricp_coefficient_derivatives(const struct fric_friction *friction, enum fric_type type, const int32_t *stencil,
                                   const double closest_point[2], const double *values,
                                   struct coefficient_derivatives *derivatives);

/**
 * Computes the change of `by` along a tangent of the values, [FRIC_MAX_STENCIL], that is, second derivatives of blends.
 * All other steps are linear in the values. May be infinite if one side is zero.
 * @param tangent  of the values; NULL: zeros
 */
void fricp_coefficient_second_derivatives(const struct fric_friction *friction, enum fric_type type,
                                          const int32_t *stencil, const double closest_point[2], const double *values,
                                          const double *tangent, long double by[FRIC_MAX_STENCIL]);

/* derivative * change, but 0 for a change of 0 even if the derivative is infinite. */
static inline long double coefficient_share(long double derivative, long double change)
{
	return derivative == 0 || change == 0 ? 0 : derivative * change;
}

/* The tangent of the coefficient. @param tangent  of the source's values; NULL: zeros */
static inline long double coefficient_tangent(const struct coefficient_derivatives *derivatives, const double *tangent,
                                              const long double closest_point[2])
{
	long double sum = coefficient_share(derivatives->by_closest_point[0], closest_point[0]) +
	                  coefficient_share(derivatives->by_closest_point[1], closest_point[1]);
	for (int k = 0; k < derivatives->n && tangent; k++)
		sum += coefficient_share(derivatives->by[k], tangent[derivatives->at[k]]);
	return sum;
}

#endif
