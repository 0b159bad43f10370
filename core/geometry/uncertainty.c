#include <float.h>
#include <math.h>

#include "core/geometry/derivative.h"
#include "core/geometry/geometry.h"

/* Bound on the relative error of eight roundings. */
static const long double uncertain = 0x1p-50L;

double fricp_given_uncertainty(double coordinate)
{
	return (double)(uncertain * (1 + fabsl(coordinate)));
}

/* The change of a number if every coordinate of every vertex is rounded, over the relative size of a rounding.
 * @param derivatives  derivatives of the number with respect to the positions */
static long double moved_by(enum fric_type type, int dim, const double *const p[],
                            const struct geometry_inputs *derivatives)
{
	long double sum = 0;
	for (int v = 0; v < fric_stencil_size(type); v++)
		for (int d = 0; d < dim; d++)
			sum += p[v][d] == 0 ? 0 : fabsl(p[v][d] * derivatives->position[v][d]);
	return sum;
}

void fricp_derived_uncertainty(enum fric_type type, int dim, const double *const p[FRIC_MAX_STENCIL],
                               const double closest_point[2], double uncertainty[2])
{
	const struct geometry_case contact = {.type = type, .dim = dim};
	struct geometry_inputs at = {.normal = {0}}, derivatives;
	for (int v = 0; v < fric_stencil_size(type); v++)
		for (int d = 0; d < dim; d++)
			at.position[v][d] = p[v][d];
	uncertainty[0] = uncertainty[1] = 0;
	for (int m = 0; m < fric_closest_point_size(type); m++) {
		struct geometry_values one = {.distance = 0};
		one.closest_point[m] = 1;
		fricp_geometry_cotangent(&contact, &at, &one, NULL, &derivatives);
		const long double moved = 1 + fabsl(closest_point[m]) + moved_by(type, dim, p, &derivatives);
		uncertainty[m] = (double)fminl(uncertain * moved, DBL_MAX);
	}
}
