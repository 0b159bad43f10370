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

/* What a coefficient changes with. It is made of up to four numbers: vertex coefficients of the stencil's members, or
 * entries of the pair table, or the one scalar coefficient. */
struct coefficient_slopes {
	int n;
	size_t at[FRIC_MAX_STENCIL];      /* where they stand: vertices; row * n_materials + column, as they are read; 0 */
	long double by[FRIC_MAX_STENCIL]; /* infinite: a geometric mean with one side that is zero */
	long double by_closest_point[2];
};

/**
 * How one coefficient of a contact changes that fricp_contact_coefficients gives. Of two equal sides, minimum and maximum
 * follow the first; geometric and harmonic means of two zeros follow both alike.
 * @param values  of the source: vertex_mu_s or vertex_mu_k, material_mu_s or material_mu_k; not read with a scalar
 */
void fricp_coefficient_slopes(const struct fric_friction *friction, enum fric_type type, const int32_t *stencil,
                              const double closest_point[2], const double *values, struct coefficient_slopes *slopes);

/**
 * How `by` changes along a tangent of the values, [FRIC_MAX_STENCIL]: the second derivatives of blends. Everything else is
 * linear in the values. May be infinite where one side is zero.
 * @param tangent  of the values; NULL: zeros
 */
void fricp_coefficient_bends(const struct fric_friction *friction, enum fric_type type, const int32_t *stencil,
                             const double closest_point[2], const double *values, const double *tangent,
                             long double by[FRIC_MAX_STENCIL]);

/* What a slope makes of a change: nothing of none, even if it is infinite. */
static inline long double coefficient_share(long double slope, long double change)
{
	return slope == 0 || change == 0 ? 0 : slope * change;
}

/* The tangent of the coefficient. @param tangent  of the source's numbers; NULL: zeros */
static inline long double coefficient_tangent(const struct coefficient_slopes *slopes, const double *tangent,
                                              const long double closest_point[2])
{
	long double sum = coefficient_share(slopes->by_closest_point[0], closest_point[0]) +
	                  coefficient_share(slopes->by_closest_point[1], closest_point[1]);
	for (int k = 0; k < slopes->n && tangent; k++)
		sum += coefficient_share(slopes->by[k], tangent[slopes->at[k]]);
	return sum;
}

#endif
