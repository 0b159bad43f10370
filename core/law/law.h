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
	/* Peak: G1, its derivative by z, and G0 / eps_v - mu_k */ \
	static inline real peak_g1##suffix(real s, real k, real z, real r) \
	{ \
		const real top = s > k ? s : k, w = top > 0 ? (top - (s < k ? s : k)) / (2 * top) : 0, p = 1 - w; \
		if (z <= p) \
			return s * (z / p * (2 - z / p)); \
		return r > w / 2 ? s + 2 * (k - s) * ((w - r) / w * ((w - r) / w)) : k - 2 * (k - s) * (r / w * (r / w)); \
	} \
	static inline real peak_g2##suffix(real s, real k, real z, real r) \
	{ \
		const real top = s > k ? s : k, w = top > 0 ? (top - (s < k ? s : k)) / (2 * top) : 0, p = 1 - w; \
		if (z <= p) \
			return 2 * s * ((p - z) / p) / p; \
		return 4 * (k - s) * ((r > w / 2 ? w - r : r) / w) / w; \
	} \
	static inline real peak_g0##suffix(real s, real k, real z, real r) \
	{ \
		const real top = s > k ? s : k, w = top > 0 ? (top - (s < k ? s : k)) / (2 * top) : 0, p = 1 - w; \
		const real t = z / p, u = z <= p || w == 0 ? 0 : (w - r) / w, at_p = k - (s + k) * w / 2; \
		if (z <= p) \
			return at_p - s * p * ((real)2 / 3 - t * t * (1 - t / 3)); \
		return r > w / 2 ? at_p + w * u * (s + (real)2 / 3 * (k - s) * u * u) \
		                 : k - r * (k - (real)2 / 3 * (k - s) * (r / w) * (r / w)); \
	} \
	static inline real law_mu##suffix(enum fric_transition t, real mu_s, real mu_k, real z, real r) \
	{ \
		if (t == FRIC_PEAK) \
			return z > 0 ? peak_g1##suffix(mu_s, mu_k, z, r) / (z * (2 - z)) : peak_g2##suffix(mu_s, mu_k, z, r) / 2; \
		if (t == FRIC_CUBIC) \
			return mu_k * (z * z * (3 - 2 * z)) + mu_s * (r * r * (1 + 2 * z)); \
		if (2 * z < 1) \
			return mu_s * (1 - 2 * z * z) + mu_k * (2 * z * z); \
		return mu_k * (1 - 2 * r * r) + mu_s * (2 * r * r); \
	} \
	static inline real law_mu_derivative##suffix(enum fric_transition t, real mu_s, real mu_k, real z, real r) \
	{ \
		if (t == FRIC_PEAK) { \
			const real fall = 2 * r * law_mu##suffix(t, mu_s, mu_k, z, r); \
			return z > 0 ? (peak_g2##suffix(mu_s, mu_k, z, r) - fall) / (z * (2 - z)) : 0; \
		} \
		if (t == FRIC_CUBIC) \
			return 6 * (mu_k - mu_s) * (z * r); \
		return 4 * (mu_k - mu_s) * (2 * z < 1 ? z : r); \
	} \
	static inline real law_g0##suffix(enum fric_transition t, real mu_s, real mu_k, real z, real r) \
	{ \
		const real z2 = z * z, r2 = r * r; \
		if (t == FRIC_PEAK) \
			return peak_g0##suffix(mu_s, mu_k, z, r); \
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
