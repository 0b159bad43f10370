#include "barrier.h"

#include <math.h>

/* -b'(D; Dhat) = (Dhat - D) [2 ln(Dhat/D) + (Dhat - D)/D]: a product of positive terms. Both differences of squares are taken
 * as products of sums and differences of lengths, which keeps their digits near dmin and near dmin + dhat.
 * long double: lengths of 1e-150 must not underflow when squared and cubed. */
enum fric_code fric_barrier_force(const struct fric_barrier *barrier, double distance, double *force)
{
	const long double d = distance, dmin = barrier->dmin, reach = dmin + barrier->dhat;
	*force = 0;
	if (d <= dmin)
		return FRIC_E_PENETRATION;
	if (d >= reach)
		return FRIC_OK;
	const long double below = (reach - d) * (reach + d), above = (d - dmin) * (d + dmin), q = below / above;
	*force = (double)(barrier->stiffness * below * (2 * log1pl(q) + q) * 2 * d);
	return FRIC_OK;
}
