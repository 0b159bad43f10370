/**
 * Laws whose coefficient follows a curve mu(z) from mu_s at rest to mu_k at eps_v: G1 = mu f1, f1 = 2z - z^2. Their
 * files define, for z < 1 only, mu, its derivative with respect to z, the derivatives of the law except e1, and a
 * curvature, (G2 u - G1)/u^3 eps_v^3 z. Without mu_s there is no pole at rest; that variant omits the factor z, and
 * mu_k. The potential is linear in the coefficients, so it follows from its derivatives.
 */
#ifndef FRIC_LAW_CURVE_H
#define FRIC_LAW_CURVE_H

#include "core/law/point.h"

/* Defines NAME_g1 and NAME_g2 from NAME_mu and NAME_mu_derivative, NAME_g0 and NAME_derivatives from
 * NAME_derivatives_inside.
 * Computes both branches and selects, so that loops vectorise. */
#define FRIC_CURVE_DEFINE(name, real, suffix) \
	INLINE bool name##_low##suffix(struct law_point##suffix a) \
	{ \
		return !a.slides; \
	} \
	INLINE real name##_g1##suffix(struct law_point##suffix a) \
	{ \
		const real inside = name##_mu##suffix(a) * (2 - a.z); \
		return a.slides ? a.mu_k : inside; \
	} \
	INLINE real name##_g2##suffix(struct law_point##suffix a) \
	{ \
		const real mu = name##_mu##suffix(a), derivative = name##_mu_derivative##suffix(a); \
		const real inside = 2 * a.r * mu + derivative * (a.z * (2 - a.z)); \
		return a.slides ? 0 : inside; \
	} \
	INLINE real name##_g0##suffix(struct law_point##suffix a) \
	{ \
		const struct law_derivatives##suffix by = name##_derivatives_inside##suffix(a); \
		const real inside = a.mu_k * by.k0 + a.mu_s * by.s0; \
		return a.slides ? a.mu_k * a.z : inside; \
	} \
	INLINE struct law_derivatives##suffix name##_derivatives##suffix(struct law_point##suffix a, \
	                                                                 struct law_reach##suffix beyond) \
	{ \
		const struct law_derivatives##suffix inside = name##_derivatives_inside##suffix(a); \
		const real g2 = name##_g2##suffix(a); \
		(void)beyond; \
		return (struct law_derivatives##suffix){ \
			a.slides ? 0 : inside.s0, a.slides ? a.z : inside.k0, a.slides ? 0 : inside.e0, 0, \
			a.slides ? 0 : inside.s1, a.slides ? 1 : inside.k1,   a.slides ? 0 : -g2,       0}; \
	}

#endif
