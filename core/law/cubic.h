/**
 * The default transition: mu = mu_s + (mu_k - mu_s) (3 z^2 - 2 z^3) (the IPC toolkit's tutorial; docs/physics.md 2).
 * The expanded polynomials cancel near z = 1; written in both z and r, the factors of mu_s and mu_k do not.
 */
#ifndef FRIC_LAW_CUBIC_H
#define FRIC_LAW_CUBIC_H

#include "core/law/curve.h"

#define FRIC_CUBIC_DEFINE(real, suffix) \
	INLINE real cubic_mu##suffix(struct law_point##suffix a) \
	{ \
		return a.mu_k * (a.z * a.z * (3 - 2 * a.z)) + a.mu_s * (a.r * a.r * (1 + 2 * a.z)); \
	} \
	INLINE real cubic_mu_derivative##suffix(struct law_point##suffix a) \
	{ \
		return 6 * (a.mu_k - a.mu_s) * (a.z * a.r); \
	} \
	INLINE real cubic_curvature_without_mu_s##suffix(real z) \
	{ \
		return 12 - z * (21 - 8 * z); \
	} \
	INLINE real cubic_curvature##suffix(struct law_point##suffix a) \
	{ \
		const real k = a.z * cubic_curvature_without_mu_s##suffix(a.z), s = a.r * (1 + a.z * (13 - 8 * a.z)); \
		return a.mu_k * k - a.mu_s * s; \
	} \
	INLINE struct law_derivatives##suffix cubic_derivatives_inside##suffix(struct law_point##suffix a) \
	{ \
		const real z = a.z, r = a.r, r2 = r * r, h = r * ((real)1 / 2 + r * ((real)3 / 5 - r * ((real)1 / 3))); \
		const real k = 1 - r * (1 - r2 * ((real)4 / 3 - h)), s = r * r2 * (1 - h), left = 2 - z; \
		const real rest = r2 * ((real)3 / 2 - r * ((real)22 / 5 - r * ((real)5 / 3))); \
		const real ek = r2 * (4 - (r * ((real)14 / 3) + rest)), es = r2 * (3 - (4 * r + rest)); \
		return (struct law_derivatives##suffix){ \
			-s, k, a.mu_k * ek - a.mu_s * es, 0, r2 * (1 + 2 * z) * left, z * z * (3 - 2 * z) * left, 0, 0}; \
	} \
	FRIC_CURVE_DEFINE(cubic, real, suffix)

FRIC_CUBIC_DEFINE(double, )
FRIC_CUBIC_DEFINE(long double, _l)

/* The formula in docs/physics.md 2, in powers of z. */
INLINE quad cubic_textbook_rest(quad s, quad k)
{
	return (17 * k - 7 * s) / 30;
}

INLINE quad cubic_textbook(quad s, quad k, quad z, quad tail, quad subtracted)
{
	(void)tail;
	const quad z2 = z * z, z3 = z2 * z, z4 = z2 * z2, z5 = z4 * z;
	if (z >= 1)
		return k * z - subtracted;
	return s * (z2 - z3 / 3) + (k - s) * (3 * z4 / 2 - 7 * z5 / 5 + z5 * z / 3) +
	       (cubic_textbook_rest(s, k) - subtracted);
}

FRIC_NO_BLUR(cubic)

#endif
