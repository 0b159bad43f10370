#include "core/prepare/barrier.h"

#include <math.h>

#define real double
#define LOG1P log1p
#define NAMED(name) name##_in_doubles
#include "core/prepare/barrier.inc"
#undef real
#undef LOG1P
#undef NAMED

/* Lengths of 1e-150 must not underflow when squared and cubed. */
#define real long double
#define LOG1P log1pl
#define NAMED(name) name##_in_range
#include "core/prepare/barrier.inc"

static bool of_ordinary_size(double x)
{
	return x == 0 || (x > 0x1p-100 && x < 0x1p+100);
}

enum fric_code fricp_barrier_force(const struct fric_barrier *barrier, double distance, double *force)
{
	*force = 0;
	if (distance <= barrier->dmin)
		return FRIC_E_PENETRATION;
	const bool ordinary_size = of_ordinary_size(distance) && of_ordinary_size(barrier->dmin) &&
	                           of_ordinary_size(barrier->dhat) && of_ordinary_size(barrier->stiffness);
	*force = ordinary_size ? force_in_doubles(barrier, distance) : (double)force_in_range(barrier, distance);
	return FRIC_OK;
}
