/**
 * The potential of one contact by its plain formula in 113-bit arithmetic (NAME_textbook in the laws' files), and its
 * central differences. Slow, and independent of everything else in the library: it shares no code and contains no
 * derivative.
 */
#ifndef FRIC_DIFFERENCES_H
#define FRIC_DIFFERENCES_H

#include "core/fric.h"

/* The step relative to the slip, or to eps_v where that is larger. A second difference then loses 2^-113 / 2^-72, about
 * 1e-12, to rounding, and at most some 1e-10 to truncation where the third derivative jumps. */
#define DIFFERENCES_STEP 0x1p-36L

/* The friction law at x = diag(mu_aniso) u; lengths in units of eps_v, forces in units of weight * normal force. */
struct differences {
	bool slides;             /* and so do all points of the differences: the static coefficient has no influence */
	long double z;           /* |x| / eps_v */
	long double potential;   /* D / (s eps_v) */
	long double gradient[2]; /* dD/dx_t / s */
	long double hessian[3];  /* d2D/dx2 * eps_v / s: 00, 01, 11 */
	long double blur;        /* how much the Hessian may change within a step */
};

/**
 * @param n  slip directions, 1 or 2; with 1, whatever belongs to the second one is zero
 * @param x  [n] finite
 */
void fricp_differences_at(const struct fric_law *law, double mu_s, double mu_k, double eps_v, int n,
                          const long double *x, struct differences *out);

#endif
