/**
 * Plain stiction below eps_v, shared by the laws that differ only beyond it: mu f0, mu f1 and mu f2.
 */
#ifndef FRIC_LAW_RISING_H
#define FRIC_LAW_RISING_H

#include "core/law/point.h"

#define FRIC_RISING_DEFINE(real, suffix) \
	INLINE real rising_g0##suffix(struct law_point##suffix a) \
	{ \
		return a.mu_s * ((real)1 / 3 + a.z * a.z * (1 - a.z * ((real)1 / 3))); \
	} \
	INLINE real rising_g1##suffix(struct law_point##suffix a) /* divided by z */ \
	{ \
		return a.mu_s * (2 - a.z); \
	} \
	INLINE real rising_g2##suffix(struct law_point##suffix a) \
	{ \
		return 2 * a.mu_s * a.r; \
	} \
	INLINE struct law_derivatives##suffix rising_derivatives##suffix(struct law_point##suffix a) \
	{ \
		const real z = a.z, r = a.r; \
		return (struct law_derivatives##suffix){.s0 = (real)1 / 3 + z * z * (1 - z * ((real)1 / 3)), \
		                                        .e0 = a.mu_s * (r * r * (1 - r * ((real)2 / 3))), \
		                                        .s1 = 2 - z, \
		                                        .e1 = -2 * a.mu_s * r}; \
	}

FRIC_RISING_DEFINE(double, )
FRIC_RISING_DEFINE(long double, _l)

INLINE quad rising_textbook(quad s, quad z, quad subtracted)
{
	return s * (z * z - z * z * z / 3) + (s / 3 - subtracted);
}

/* Table entries of a law with a tail; textbook.h computes its blur more accurately. */
#define FRIC_TAIL_TEXTBOOK(name) \
	INLINE quad name##_textbook_rest(quad s, quad k) \
	{ \
		(void)k; \
		return s / 3; \
	} \
	FRIC_NO_BLUR(name)

#endif
