/**
 * `stribeck` and `exponential`: plain stiction with mu_s up to eps_v, then a decay from mu_s to mu_k (docs/physics.md
 * 2). The shape is the remaining fraction of mu_s - mu_k, e^-x^2 or e^-x (tail.h). `stribeck` is C1. The force of
 * `exponential` has a kink at eps_v, where G2 is the derivative on the decaying side.
 */
#ifndef FRIC_LAW_DECAYING_H
#define FRIC_LAW_DECAYING_H

#include "core/law/rising.h"

/* mu_k + (mu_s - mu_k) may be rounded past mu_s, which the force must not exceed. */
#define FRIC_DECAYING_DEFINE(real, suffix) \
	INLINE bool decaying_low##suffix(struct law_point##suffix a) \
	{ \
		return !a.slides; \
	} \
	INLINE real decaying_g1##suffix(struct law_point##suffix a) \
	{ \
		const real beyond = a.mu_k + (a.mu_s - a.mu_k) * a.shape.a, top = a.mu_s > a.mu_k ? a.mu_s : a.mu_k; \
		return a.slides ? (beyond < top ? beyond : top) : rising_g1##suffix(a); \
	} \
	INLINE real decaying_g2##suffix(struct law_point##suffix a) \
	{ \
		const real beyond = (a.mu_s - a.mu_k) * a.shape.b; \
		return a.slides ? beyond : rising_g2##suffix(a); \
	} \
	INLINE real decaying_g0##suffix(struct law_point##suffix a) \
	{ \
		const real beyond = a.mu_s + ((a.mu_s - a.mu_k) * a.shape.c - a.mu_k * a.r); \
		return a.slides ? beyond : rising_g0##suffix(a); \
	} \
	INLINE struct law_derivatives##suffix decaying_derivatives##suffix(struct law_point##suffix a, \
	                                                                   struct law_reach##suffix beyond) \
	{ \
		const struct law_derivatives##suffix rising = rising_derivatives##suffix(a); \
		const real change = a.mu_s - a.mu_k; \
		return (struct law_derivatives##suffix){a.slides ? 1 + a.shape.c : rising.s0, \
		                                        a.slides ? beyond.lost_integral : 0, \
		                                        a.slides ? change * beyond.lost : rising.e0, \
		                                        a.slides ? change * beyond.ahead : 0, \
		                                        a.slides ? a.shape.a : rising.s1, \
		                                        a.slides ? beyond.lost : 0, \
		                                        a.slides ? -(change * a.shape.b) : rising.e1, \
		                                        a.slides ? change * (a.r * a.shape.b) : 0}; \
	}

FRIC_DECAYING_DEFINE(double, )
FRIC_DECAYING_DEFINE(long double, _l)

/* The formula of one piece, chosen by `slides`; differences may continue it past z = 1. */
INLINE quad decaying_textbook_piece(quad s, quad k, quad z, quad tail, bool slides, quad subtracted)
{
	return slides ? s + k * (z - 1) + (s - k) * tail - subtracted : rising_textbook(s, z, subtracted);
}

INLINE quad decaying_textbook(quad s, quad k, quad z, quad tail, quad subtracted)
{
	return decaying_textbook_piece(s, k, z, tail, z >= 1, subtracted);
}

FRIC_TAIL_TEXTBOOK(decaying)

#endif
