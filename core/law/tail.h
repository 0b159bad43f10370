/**
 * Tails of laws: the shape (point.h) beyond eps_v, as a function of x = (y - eps_v)/unit >= 0 and q = eps_v/unit. A
 * decay falls from 1:
 *
 *     stribeck      e^-x^2     exponential   e^-x     curve   the measured curve (table.h)
 *
 * Derivatives and integrals are with respect to z = y/eps_v: dx = q dz. over_q is 1/q.
 */
#ifndef FRIC_LAW_TAIL_H
#define FRIC_LAW_TAIL_H

#include "core/law/law.h"
#include "core/law/special.h"
#include "core/law/table.h"

#define FRIC_TAIL_DEFINE(real, suffix) \
	INLINE real tail_argument##suffix(real r, real q) \
	{ \
		return r < 0 ? -(r * q) : 0; \
	} \
	INLINE struct law_shape##suffix stribeck_tail##suffix(real x, real q, real over_q) \
	{ \
		const real left = decay##suffix(x * x).left; \
		return (struct law_shape##suffix){left, -2 * x * left * q, gauss_integral##suffix(x, left) * over_q}; \
	} \
	INLINE struct law_shape##suffix exponential_tail##suffix(real x, real q, real over_q) \
	{ \
		const struct decayed##suffix d = decay##suffix(x); \
		return (struct law_shape##suffix){d.left, -(d.left * q), d.lost * over_q}; \
	} \
	INLINE struct law_shape##suffix curve_tail##suffix(const struct law_table *table, real x, real q, real over_q) \
	{ \
		const struct law_shape##suffix at = table_at##suffix(table, x); \
		return (struct law_shape##suffix){at.a, at.b * q, at.c * over_q}; \
	} \
	INLINE struct law_shape##suffix law_tail##suffix(enum law t, const struct law_table *table, real r, real q, \
	                                                 real over_q) \
	{ \
		const real x = tail_argument##suffix(r, q); \
		return t == LAW_STRIBECK      ? stribeck_tail##suffix(x, q, over_q) \
		       : t == LAW_EXPONENTIAL ? exponential_tail##suffix(x, q, over_q) \
		                              : curve_tail##suffix(table, x, q, over_q); \
	}

FRIC_TAIL_DEFINE(double, )
FRIC_TAIL_DEFINE(long double, _l)

#endif
