/**
 * The potential of one contact by its plain formula in 113-bit arithmetic (NAME_textbook in the laws' files), and its
 * central differences. It is slow and independent of the rest of the library: it shares no code with it and contains no
 * derivative.
 */
#ifndef FRIC_DIFFERENCES_H
#define FRIC_DIFFERENCES_H

#include <math.h>

#include "core/base/quad.h"
#include "core/fric.h"

/* The step relative to the slip, or to eps_v if that is larger. A second difference then loses 2^-113 / 2^-72, about
 * 1e-12, to rounding, and at most about 1e-10 to truncation where the third derivative jumps. */
#define DIFFERENCES_STEP 0x1p-36L

/* The largest absolute value. */
static inline long double largest_size_of(const long double *x, int n)
{
	long double most = 0;
	for (int e = 0; e < n; e++)
		most = fmaxl(most, fabsl(x[e]));
	return most;
}

enum { MOST_DIRECTIONS = 5, MOST_PAIRS = MOST_DIRECTIONS * (MOST_DIRECTIONS + 1) / 2 };

/* The friction law at x = diag(mu_aniso) u, or S for bodies; lengths in units of eps_v, forces in units of weight *
 * normal force. */
struct differences {
	bool slides;                           /* the contact slides at x and at all points of the differences */
	double mu;                             /* the largest coefficient that the law uses there */
	long double z;                         /* |x| / eps_v */
	long double potential;                 /* D / (s eps_v) */
	long double gradient[MOST_DIRECTIONS]; /* dD/dx_t / s */
	long double hessian[MOST_PAIRS];       /* d2D/dx2 * eps_v / s: the upper triangle, row by row */
	long double blur;                      /* possible change of the Hessian within a step */
	long double known;                     /* change of the gradient within the rounding of z */
};

/**
 * @param law    with the contact's own stribeck_speed
 * @param areas  for FRIC_CURVE: textbook_areas (core/law/textbook.h) of its curve
 * @param n      slip directions, at most MOST_DIRECTIONS; results for the others are zero
 * @param x      [n] finite
 */
void fricp_differences_at(const struct fric_law *law, const quad *areas, double mu_s, double mu_k, double eps_v, int n,
                          const long double *x, struct differences *out);

/**
 * Adds a drag, viscous/2 |bare|^2, at the slip without the anchor. Its differences have their own step, because this
 * slip may be much larger than the law's.
 * @param bare  [n] finite
 */
void fricp_differences_of_drag(double viscous, double eps_v, int n, const long double *bare, struct differences *out);

#endif
