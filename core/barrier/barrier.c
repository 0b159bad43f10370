#include "core/barrier/barrier.h"

#include <math.h>

#define real double
#define LOG1P log1p
#define NAMED(name) name##_in_doubles
#include "core/barrier/barrier.inc"
#undef real
#undef LOG1P
#undef NAMED

/* Long double, because the squares and cubes of lengths of 1e-150 must not underflow. */
#define real long double
#define LOG1P log1pl
#define NAMED(name) name##_in_range
#include "core/barrier/barrier.inc"

static bool of_ordinary_size(double x)
{
	return x == 0 || (x > 0x1p-100 && x < 0x1p+100);
}

static bool all_of_ordinary_size(const struct fric_barrier *barrier, double distance)
{
	return of_ordinary_size(distance) && of_ordinary_size(barrier->dmin) && of_ordinary_size(barrier->dhat) &&
	       of_ordinary_size(barrier->stiffness);
}

enum fric_code fricp_barrier_force(const struct fric_barrier *barrier, double distance, double *force)
{
	*force = 0;
	if (distance <= barrier->dmin)
		return FRIC_E_PENETRATION;
	*force = all_of_ordinary_size(barrier, distance) ? force_in_doubles(barrier, distance)
	                                                 : (double)force_in_range(barrier, distance);
	return FRIC_OK;
}

void fricp_barrier_derivatives(const struct fric_barrier *barrier, long double distance,
                               struct barrier_derivatives *derivatives)
{
	const struct derivatives_in_range exact = derivatives_in_range(barrier, distance);
	*derivatives =
		(struct barrier_derivatives){exact.force, exact.by_distance, exact.by_dhat, exact.by_stiffness, exact.by_dmin};
}

/* Sets rates from derivatives in doubles or in long doubles. */
#define RATES(of, rates) \
	do { \
		(rates)->by_distance = (double)((of).by_distance / (of).force); \
		(rates)->by_dhat = (double)((of).by_dhat / (of).force); \
		(rates)->by_stiffness = (double)((of).by_stiffness / (of).force); \
		(rates)->by_dmin = (double)((of).by_dmin / (of).force); \
	} while (0)

void fricp_barrier_rates(const struct fric_barrier *barrier, double distance, struct barrier_rates *rates)
{
	*rates = (struct barrier_rates){0};
	if (all_of_ordinary_size(barrier, distance)) {
		const struct derivatives_in_doubles of = derivatives_in_doubles(barrier, distance);
		if (of.force > 0)
			RATES(of, rates);
		return;
	}
	const struct derivatives_in_range of = derivatives_in_range(barrier, distance);
	if (of.force > 0)
		RATES(of, rates);
}
