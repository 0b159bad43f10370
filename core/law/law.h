/**
 * The friction law of one contact in the dimensionless speed z = |u| / eps_v (docs/physics.md 2). The expanded
 * polynomials of the literature cancel near z = 1; written in both z and r = 1 - z, mu_s and mu_k each multiply terms
 * without cancellation. The macro defines the same functions for double (kernels) and for long double (scalar
 * functions).
 */
#ifndef FRIC_LAW_H
#define FRIC_LAW_H

#include "core/fric.h"

/* For 0 <= z <= 1, r = 1 - z:
 * mu, its derivative by z, G0 / eps_v (the integral of mu f1, equal to mu_k |u| / eps_v from z = 1 on), and
 * (G2 u - G1)/u^3 * eps_v^3 * z. Factors rather than divisors, as a division is expensive. */
#define FRIC_LAW_DEFINE(real, suffix) \
	static inline real law_mu##suffix(enum fric_transition t, real mu_s, real mu_k, real z, real r) \
	{ \
		if (t == FRIC_CUBIC) \
			return mu_k * (z * z * (3 - 2 * z)) + mu_s * (r * r * (1 + 2 * z)); \
		if (2 * z < 1) \
			return mu_s * (1 - 2 * z * z) + mu_k * (2 * z * z); \
		return mu_k * (1 - 2 * r * r) + mu_s * (2 * r * r); \
	} \
	static inline real law_mu_derivative##suffix(enum fric_transition t, real mu_s, real mu_k, real z, real r) \
	{ \
		if (t == FRIC_CUBIC) \
			return 6 * (mu_k - mu_s) * (z * r); \
		return 4 * (mu_k - mu_s) * (2 * z < 1 ? z : r); \
	} \
	static inline real law_g0##suffix(enum fric_transition t, real mu_s, real mu_k, real z, real r) \
	{ \
		const real z2 = z * z, r2 = r * r; \
		if (t == FRIC_CUBIC) { \
			const real h = r * ((real)1 / 2 + r * ((real)3 / 5 - r * ((real)1 / 3))); \
			const real a = 1 - r * (1 - r2 * ((real)4 / 3 - h)), b = r * r2 * (1 - h); \
			return mu_k * a - mu_s * b; \
		} \
		if (2 * z < 1) { \
			const real h = 1 - z * ((real)2 / 5), a = (real)9 / 16 + z2 * z2 * h; \
			const real b = (real)11 / 48 - z2 * (1 - z * ((real)1 / 3 + z * h)); \
			return mu_k * a - mu_s * b; \
		} \
		const real a = 1 - r * (1 - r2 * (1 - r2 * ((real)2 / 5))); \
		const real b = 2 * r * r2 * ((real)1 / 3 - r2 * ((real)1 / 5)); \
		return mu_k * a - mu_s * b; \
	} \
	static inline real law_curvature##suffix(enum fric_transition t, real mu_s, real mu_k, real z, real r) \
	{ \
		if (t == FRIC_CUBIC) \
			return mu_k * (z * (12 - z * (21 - 8 * z))) - mu_s * (r * (1 + z * (13 - 8 * z))); \
		if (2 * z < 1) \
			return mu_k * (z * (8 - 6 * z)) - mu_s * (1 + z * (8 - 6 * z)); \
		return mu_k * (9 - z * (16 - 6 * z)) - mu_s * (2 * r * (5 - 3 * z)); \
	}

FRIC_LAW_DEFINE(double, )
FRIC_LAW_DEFINE(long double, _l)

#endif
