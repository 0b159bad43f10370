/**
 * Derivatives of a friction law with respect to its parameters: mu_s, mu_k, eps_v, the unit of its tail (point.h), and
 * the factors of a measured curve.
 *
 * Let D/s = eps_v g0(z) be the potential of a contact divided by s, and G1 its derivative with respect to |u|. At fixed
 * |u|, the results of law_derivatives give:
 *
 *     wrt mu_s  dD/s = eps_v s0    dG1 = s1          wrt eps_v  dD/s = e0                 dG1 = e1 / eps_v
 *     wrt mu_k  dD/s = eps_v k0    dG1 = k1          wrt unit   dD/s = eps_v u0 / unit    dG1 = u1 / unit
 *
 * where s1, k1, e1 and u1 are divided by z where law_low, like g1. The unit of a curve belongs to its table and is not
 * a parameter of the law.
 */
#ifndef FRIC_LAW_DERIVATIVES_H
#define FRIC_LAW_DERIVATIVES_H

#include "core/law/tail.h"

/* Both tails keep their digits for small x. x minus the integral of e^-s^2 up to x is -x u times the polynomial
 * gauss_near without its first coefficient, which is 1. Up to ln 2 / 2, e^-x is 1 - x + x^2 exp_rest(-x). */
#define FRIC_REACH_OF_DEFINE(real, suffix) \
	INLINE struct law_reach##suffix reach_of##suffix(real x, real left, real lost, real kept, real rest, real over_q) \
	{ \
		const real ahead = x < 1 ? x * lost - rest : kept - x * left; \
		return (struct law_reach##suffix){lost, rest * over_q, ahead * over_q}; \
	} \
	INLINE struct law_reach##suffix stribeck_reach##suffix(real x, real over_q) \
	{ \
		const struct decayed##suffix d = decay##suffix(x * x); \
		const real u = x < 1 ? x * x : 1, kept = gauss_integral##suffix(x, d.left); \
		const real near = -(x * u) * special_polynomial##suffix(gauss_near + 1, 10, u); \
		return reach_of##suffix(x, d.left, d.lost, kept, x < 1 ? near : x - kept, over_q); \
	} \
	INLINE struct law_reach##suffix exponential_reach##suffix(real x, real over_q) \
	{ \
		const struct decayed##suffix d = decay##suffix(x); \
		const real y = x < (real)0.34 ? x : 0, near = (y * y) * special_polynomial##suffix(exp_rest, 9, -y); \
		return reach_of##suffix(x, d.left, d.lost, d.lost, x < (real)0.34 ? near : x - d.lost, over_q); \
	} \
	INLINE struct law_reach##suffix curve_reach##suffix(const struct law_table *table, real x) \
	{ \
		return (struct law_reach##suffix){lost_at##suffix(table_piece_at##suffix(table, x), x), 0, 0}; \
	} \
	/* Parameters as for law_tail. */ \
	INLINE struct law_reach##suffix law_reach##suffix(enum law t, const struct law_table *table, real r, real q, \
	                                                  real over_q) \
	{ \
		const real x = tail_argument##suffix(r, q); \
		return t == LAW_STRIBECK      ? stribeck_reach##suffix(x, over_q) \
		       : t == LAW_EXPONENTIAL ? exponential_reach##suffix(x, over_q) \
		                              : curve_reach##suffix(table, x); \
	}

FRIC_REACH_OF_DEFINE(double, )
FRIC_REACH_OF_DEFINE(long double, _l)

#endif
