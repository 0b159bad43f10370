/**
 * `firm`: one coefficient, with a force that rises three times as fast as its chord and is C2 at eps_v: G1 =
 * mu_s (1 - r^3), r = 1 - z, and mu_s from eps_v on (docs/physics.md 2). Written in z and r, all terms are positive.
 */
#ifndef FRIC_LAW_FIRM_H
#define FRIC_LAW_FIRM_H

#include "core/law/point.h"

#define FRIC_FIRM_DEFINE(real, suffix) \
	FRIC_NO_SHAPE(firm, real, suffix) \
	INLINE bool firm_low##suffix(struct law_point##suffix a) \
	{ \
		return !a.slides; \
	} \
	INLINE real firm_g1##suffix(struct law_point##suffix a) /* over z where it is low */ \
	{ \
		return a.slides ? a.mu_s : a.mu_s * (1 + a.r * (1 + a.r)); \
	} \
	INLINE real firm_g2##suffix(struct law_point##suffix a) \
	{ \
		return a.slides ? 0 : 3 * a.mu_s * (a.r * a.r); \
	} \
	INLINE real firm_g0##suffix(struct law_point##suffix a) \
	{ \
		const real r2 = a.r * a.r; \
		return a.mu_s * (a.slides ? a.z : a.z + r2 * r2 * ((real)1 / 4)); \
	} \
	INLINE struct law_derivatives##suffix firm_derivatives##suffix(struct law_point##suffix a, \
	                                                               struct law_reach##suffix beyond) \
	{ \
		const real r = a.r, r2 = r * r; \
		(void)beyond; \
		return (struct law_derivatives##suffix){a.slides ? a.z : a.z + r2 * r2 * ((real)1 / 4), \
		                                        0, \
		                                        a.slides ? 0 : a.mu_s * (r * r2 * (1 - r * ((real)3 / 4))), \
		                                        0, \
		                                        a.slides ? 1 : 1 + r * (1 + r), \
		                                        0, \
		                                        a.slides ? 0 : -3 * a.mu_s * r2, \
		                                        0}; \
	}

enum { firm_has_shape = false };
FRIC_FIRM_DEFINE(double, )
FRIC_FIRM_DEFINE(long double, _l)

INLINE quad firm_textbook_rest(quad s, quad k)
{
	(void)k;
	return s / 4;
}

/* docs/physics.md 2, in powers of z */
INLINE quad firm_textbook(quad s, quad k, quad z, quad tail, quad subtracted)
{
	(void)tail, (void)k;
	const quad z2 = z * z;
	return z >= 1 ? s * z - subtracted : s * (3 * z2 / 2 - z2 * z + z2 * z2 / 4) + (s / 4 - subtracted);
}

INLINE quad firm_textbook_blur(quad s, quad k, quad z, quad step)
{
	(void)s, (void)k, (void)z, (void)step;
	return 0;
}

#endif
