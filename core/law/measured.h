/**
 * `curve`: plain stiction up to eps_v, then the coefficient times a measured curve (docs/physics.md 2). The shape
 * consists of the curve's value, derivative and integral, from table.h. G2 has corners at the curve's points.
 */
#ifndef FRIC_LAW_MEASURED_H
#define FRIC_LAW_MEASURED_H

#include "core/law/rising.h"

#define FRIC_MEASURED_DEFINE(real, suffix) \
	INLINE bool measured_low##suffix(struct law_point##suffix a) \
	{ \
		return !a.slides; \
	} \
	INLINE real measured_g1##suffix(struct law_point##suffix a) \
	{ \
		return a.slides ? a.mu_s * a.shape.a : rising_g1##suffix(a); \
	} \
	INLINE real measured_g2##suffix(struct law_point##suffix a) \
	{ \
		return a.slides ? a.mu_s * a.shape.b : rising_g2##suffix(a); \
	} \
	INLINE real measured_g0##suffix(struct law_point##suffix a) \
	{ \
		return a.slides ? a.mu_s * (1 + a.shape.c) : rising_g0##suffix(a); \
	} \
	INLINE struct law_derivatives##suffix measured_derivatives##suffix(struct law_point##suffix a, \
	                                                                   struct law_reach##suffix beyond) \
	{ \
		const struct law_derivatives##suffix rising = rising_derivatives##suffix(a); \
		return (struct law_derivatives##suffix){ \
			a.slides ? 1 + a.shape.c : rising.s0, 0, a.slides ? a.mu_s * beyond.lost : rising.e0,  0, \
			a.slides ? a.shape.a : rising.s1,     0, a.slides ? -(a.mu_s * a.shape.b) : rising.e1, 0}; \
	}

FRIC_MEASURED_DEFINE(double, )
FRIC_MEASURED_DEFINE(long double, _l)

INLINE quad measured_textbook(quad s, quad k, quad z, quad tail, quad subtracted)
{
	(void)k;
	return z < 1 ? rising_textbook(s, z, subtracted) : s * (1 + tail) - subtracted;
}

FRIC_TAIL_TEXTBOOK(measured)

#endif
