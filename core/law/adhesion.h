/**
 * `adhesion`: the force of a bond is largest at eps_v, and the bond breaks at 2 eps_v: G1 = mu_s (2z - z^2) for z < 2
 * and 0 beyond (docs/physics.md 2). G2 has a corner at z = 2.
 */
#ifndef FRIC_LAW_ADHESION_H
#define FRIC_LAW_ADHESION_H

#include "core/law/rising.h"

#define FRIC_ADHESION_DEFINE(real, suffix) \
	INLINE bool adhesion_low##suffix(struct law_point##suffix a) \
	{ \
		(void)a; \
		return true; \
	} \
	INLINE real adhesion_g1##suffix(struct law_point##suffix a) \
	{ \
		const real left = 2 - a.z; \
		return a.mu_s * ((!a.broken & (left > 0)) ? left : 0); \
	} \
	INLINE real adhesion_g2##suffix(struct law_point##suffix a) \
	{ \
		return a.broken ? 0 : rising_g2##suffix(a); \
	} \
	INLINE real adhesion_g0##suffix(struct law_point##suffix a) \
	{ \
		const real whole = a.mu_s * ((real)4 / 3), held = a.mu_s * (a.z * a.z * (1 - a.z * ((real)1 / 3))); \
		return a.broken ? whole : held; \
	} \
	INLINE struct law_derivatives##suffix adhesion_derivatives##suffix(struct law_point##suffix a, \
	                                                                   struct law_reach##suffix beyond) \
	{ \
		const real z = a.z, z2 = z * z, left = 2 - z; \
		const bool held = !a.broken; \
		(void)beyond; \
		const real e = held ? -(z2 * (3 - 2 * z)) * ((real)1 / 3) : (real)4 / 3; \
		return (struct law_derivatives##suffix){.s0 = held ? z2 * (1 - z * ((real)1 / 3)) : (real)4 / 3, \
		                                        .e0 = a.mu_s * e, \
		                                        .s1 = (held & (left > 0)) ? left : 0, \
		                                        .e1 = held ? -2 * a.mu_s * a.r : 0}; \
	}

FRIC_ADHESION_DEFINE(double, )
FRIC_ADHESION_DEFINE(long double, _l)

INLINE quad adhesion_textbook_rest(quad s, quad k)
{
	(void)s, (void)k;
	return 0;
}

/* The formula of one piece, chosen by `broken`; differences may continue it past z = 2. */
INLINE quad adhesion_textbook_piece(quad s, quad z, bool broken, quad subtracted)
{
	return (broken ? 4 * s / 3 : s * (z * z - z * z * z / 3)) - subtracted;
}

INLINE quad adhesion_textbook(quad s, quad k, quad z, quad tail, quad subtracted)
{
	(void)tail, (void)k;
	return adhesion_textbook_piece(s, z, z >= 2, subtracted);
}

INLINE quad adhesion_textbook_blur(quad s, quad k, quad z, quad step)
{
	(void)k;
	return z + step >= 2 && z <= 2 + step ? 2 * s : 0;
}

#endif
