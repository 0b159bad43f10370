#include "core/prepare/barrier.h"

#include <math.h>

/* -b'(sigma; sigma^) = (sigma^ - sigma) [2 ln(sigma^/sigma) + (sigma^ - sigma)/sigma], sigma = d^2 - dmin^2: a product
 * of positive terms. Both differences of squares are computed as products of sums and differences of lengths, which
 * keeps their digits near dmin and near dmin + dhat. There `left`, dmin + dhat - d, is the difference of sums: what
 * rounding takes from dmin + dhat (TwoSum; Knuth) is given back to it, so that it is rounded only once. */
#define BARRIER_FORCE(real, log1p, barrier, distance) \
	const real d = (distance), dmin = (barrier)->dmin, dhat = (barrier)->dhat, gap = d - dmin; \
	const real end = dmin + dhat, added = end - dmin, lost = (dmin - (end - added)) + (dhat - added); \
	const real left = (end - d) + lost, below = left * (end + d), q = below / (gap * (d + dmin)); \
	return left > 0 ? (double)((barrier)->stiffness * (below * (2 * log1p(q) + q)) * (2 * d)) : 0

static double force_in_doubles(const struct fric_barrier *barrier, double distance)
{
	BARRIER_FORCE(double, log1p, barrier, distance);
}

/* Lengths of 1e-150 must not underflow when squared and cubed. */
static double force_in_range(const struct fric_barrier *barrier, double distance)
{
	BARRIER_FORCE(long double, log1pl, barrier, distance);
}

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
	*force = ordinary_size ? force_in_doubles(barrier, distance) : force_in_range(barrier, distance);
	return FRIC_OK;
}
