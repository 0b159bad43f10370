/**
 * The transition of the toolkit's C++ releases: mu is piecewise quadratic, mu_s + 2 (mu_k - mu_s) z^2 up to z = 1/2 and
 * mu_k - 2 (mu_k - mu_s) r^2 from there on (docs/physics.md 2). Written in z and r for the reason given in cubic.h.
 */
#ifndef FRIC_LAW_QUADRATIC_H
#define FRIC_LAW_QUADRATIC_H

#include "core/law/curve.h"

#define FRIC_QUADRATIC_DEFINE(real, suffix) \
	INLINE real quadratic_mu##suffix(struct law_point##suffix a) \
	{ \
		if (2 * a.z < 1) \
			return a.mu_s * (1 - 2 * a.z * a.z) + a.mu_k * (2 * a.z * a.z); \
		return a.mu_k * (1 - 2 * a.r * a.r) + a.mu_s * (2 * a.r * a.r); \
	} \
	INLINE real quadratic_mu_derivative##suffix(struct law_point##suffix a) \
	{ \
		return 4 * (a.mu_k - a.mu_s) * (2 * a.z < 1 ? a.z : a.r); \
	} \
	INLINE real quadratic_curvature_without_mu_s##suffix(real z) \
	{ \
		return 2 * z < 1 ? 8 - 6 * z : (9 - z * (16 - 6 * z)) / z; \
	} \
	INLINE real quadratic_curvature##suffix(struct law_point##suffix a) \
	{ \
		if (2 * a.z < 1) \
			return a.mu_k * (a.z * (8 - 6 * a.z)) - a.mu_s * (1 + a.z * (8 - 6 * a.z)); \
		return a.mu_k * (9 - a.z * (16 - 6 * a.z)) - a.mu_s * (2 * a.r * (5 - 3 * a.z)); \
	} \
	INLINE struct law_derivatives##suffix quadratic_derivatives_below##suffix(struct law_point##suffix a) \
	{ \
		const real z = a.z, z2 = z * z, h = 1 - z * ((real)2 / 5), f = 3 - z * ((real)8 / 5), left = 2 - z; \
		const real k = (real)9 / 16 + z2 * z2 * h, s = (real)11 / 48 - z2 * (1 - z * ((real)1 / 3 + z * h)); \
		const real ek = (real)9 / 16 - z2 * z2 * f, es = (real)11 / 48 + z2 * (1 - z * ((real)2 / 3 + z * f)); \
		return (struct law_derivatives##suffix){ \
			-s, k, a.mu_k * ek - a.mu_s * es, 0, (1 - 2 * z2) * left, 2 * z2 * left, 0, 0}; \
	} \
	INLINE struct law_derivatives##suffix quadratic_derivatives_above##suffix(struct law_point##suffix a) \
	{ \
		const real r = a.r, r2 = r * r, h = r * (2 - r * ((real)8 / 5)), left = 2 - a.z; \
		const real k = 1 - r * (1 - r2 * (1 - r2 * ((real)2 / 5))), \
				   s = 2 * r * r2 * ((real)1 / 3 - r2 * ((real)1 / 5)); \
		const real ek = r2 * (3 - r * (2 + h)), es = r2 * (2 - r * ((real)4 / 3 + h)); \
		return (struct law_derivatives##suffix){ \
			-s, k, a.mu_k * ek - a.mu_s * es, 0, 2 * r2 * left, (1 - 2 * r2) * left, 0, 0}; \
	} \
	INLINE struct law_derivatives##suffix quadratic_derivatives_inside##suffix(struct law_point##suffix a) \
	{ \
		const struct law_derivatives##suffix low = quadratic_derivatives_below##suffix(a); \
		const struct law_derivatives##suffix high = quadratic_derivatives_above##suffix(a); \
		const bool below = 2 * a.z < 1; \
		return (struct law_derivatives##suffix){.s0 = below ? low.s0 : high.s0, \
		                                        .k0 = below ? low.k0 : high.k0, \
		                                        .e0 = below ? low.e0 : high.e0, \
		                                        .s1 = below ? low.s1 : high.s1, \
		                                        .k1 = below ? low.k1 : high.k1}; \
	} \
	FRIC_CURVE_DEFINE(quadratic, real, suffix)

FRIC_QUADRATIC_DEFINE(double, )
FRIC_QUADRATIC_DEFINE(long double, _l)

/* The formula in docs/physics.md 2, in powers of z. */
INLINE quad quadratic_textbook_rest(quad s, quad k)
{
	return (27 * k - 11 * s) / 48;
}

INLINE quad quadratic_textbook(quad s, quad k, quad z, quad tail, quad subtracted)
{
	(void)tail;
	const quad change = k - s, rest = quadratic_textbook_rest(s, k), z2 = z * z, z3 = z2 * z, z4 = z2 * z2, z5 = z4 * z;
	if (z >= 1)
		return k * z - subtracted;
	if (2 * z < 1)
		return s * (z2 - z3 / 3) + change * (z4 - 2 * z5 / 5) + (rest - subtracted);
	return (9 * k - 4 * s) / 15 - rest + (2 * s - k) * z2 + (3 * k - 10 * s / 3) * z3 - 2 * change * z4 +
	       2 * change * z5 / 5 + (rest - subtracted);
}

FRIC_NO_BLUR(quadratic)

#endif
