/**
 * Solves the open problem of the tutorial: static friction peaks at exactly mu_s, kinetic friction applies from eps_v
 * on, and the force is piecewise quadratic and C1; for mu_s = mu_k it is mu_s f1. With top the larger and low the
 * smaller coefficient, w = (top - low)/(2 top), p = 1 - w, m = (p + 1)/2, change = mu_k - mu_s (docs/physics.md 2):
 *
 *     z <= p:      G1 = mu_s (2t - t^2)          t = z/p
 *     p <= z <= m: G1 = mu_s + 2 change t^2      t = (z - p)/w
 *     m <= z <= 1: G1 = mu_k - 2 change t^2      t = (1 - z)/w
 *
 * change/w = 2 top in absolute value, so the derivative stays bounded as mu_s and mu_k approach each other.
 */
#ifndef FRIC_LAW_PEAK_H
#define FRIC_LAW_PEAK_H

#include "core/law/point.h"

/* z - p is computed as w - r, which keeps its digits as mu_s and mu_k approach each other. rise is the distance to the
 * peak, 0 beyond it; fall is the distance from the peak or to eps_v, whichever is smaller, 0 outside: minima and maxima
 * are cheaper than selects. Divided by the lengths of their pieces they are 1 - t and t. The shape is w, 1/p and 1/w;
 * if only one of the quotients has a nonzero factor, one division gives both. G1/z is used only well below the peak:
 * near it, rounding could push it above the peak, which is impossible for mu_s minus a square.
 *
 * Derivatives have two parts: at fixed w, and with respect to w (w0, w1, multiplied by the larger coefficient, which
 * removes the pole of change/w) times the derivative of w with respect to mu_s and mu_k (divided by that coefficient).
 * The latter is least/2 for the larger coefficient and -1/2 for the smaller one, least = low/top. If they are equal,
 * mu_s counts as the larger one. If both are zero, w is held fixed, so that the derivatives add up to the derivatives
 * of mu_s f1, the law of one coefficient. */
#define FRIC_PEAK_DEFINE(real, suffix) \
	INLINE struct law_shape##suffix peak_shape_at##suffix(real mu_s, real mu_k, real r) \
	{ \
		const real top = mu_s > mu_k ? mu_s : mu_k, low = mu_s > mu_k ? mu_k : mu_s, drop = top - low; \
		const real twice = top > 0 ? 2 * top : 1, w = drop / twice; \
		const real over = twice / (r > w ? twice - drop : drop > 0 ? drop : 1); \
		return (struct law_shape##suffix){w, over, over}; \
	} \
	INLINE struct law_shape##suffix peak_shape##suffix(real mu_s, real mu_k) \
	{ \
		const struct law_shape##suffix first = peak_shape_at##suffix(mu_s, mu_k, 1); \
		return (struct law_shape##suffix){first.a, first.b, peak_shape_at##suffix(mu_s, mu_k, 0).c}; \
	} \
	INLINE bool peak_low##suffix(struct law_point##suffix a) \
	{ \
		return a.r > (real)0.625; \
	} \
	INLINE real peak_rise##suffix(struct law_point##suffix a) \
	{ \
		const real left = a.r - a.shape.a; \
		return left > 0 ? left : 0; \
	} \
	INLINE real peak_fall##suffix(struct law_point##suffix a) \
	{ \
		const real from = a.shape.a - a.r, nearer = from < a.r ? from : a.r; \
		return nearer > 0 ? nearer : 0; \
	} \
	INLINE real peak_g1##suffix(struct law_point##suffix a) \
	{ \
		const real d = peak_rise##suffix(a) * a.shape.b, t = peak_fall##suffix(a) * a.shape.c; \
		const real bend = 2 * (a.mu_k - a.mu_s) * (t * t) - a.mu_s * (d * d); \
		const real early = a.mu_s + bend, late = a.mu_k - bend; \
		const real over_z = a.mu_s * a.shape.b * (1 + d), g1 = a.r > a.shape.a * ((real)1 / 2) ? early : late; \
		return peak_low##suffix(a) ? over_z : g1; \
	} \
	INLINE real peak_g2##suffix(struct law_point##suffix a) \
	{ \
		const real b = a.shape.b, c = a.shape.c; \
		return 2 * a.mu_s * b * (peak_rise##suffix(a) * b) + 4 * (a.mu_k - a.mu_s) * c * (peak_fall##suffix(a) * c); \
	} \
	INLINE real peak_g0##suffix(struct law_point##suffix a) \
	{ \
		const real change = a.mu_k - a.mu_s, rise = peak_rise##suffix(a), fall = peak_fall##suffix(a); \
		const real d = rise * a.shape.b, t = fall * a.shape.c; \
		const real bend = a.mu_s * ((real)1 / 3) * (rise * (d * d)) + change * ((real)2 / 3) * (fall * (t * t)); \
		const real early = a.mu_s * a.z + (change - change * ((real)1 / 2) * a.shape.a), late = a.mu_k * a.z; \
		return (a.r > a.shape.a * ((real)1 / 2) ? early : late) + bend; \
	} \
	INLINE struct law_derivatives##suffix peak_derivatives##suffix(struct law_point##suffix a, \
	                                                               struct law_reach##suffix beyond) \
	{ \
		const real rise = peak_rise##suffix(a), fall = peak_fall##suffix(a), b = a.shape.b, w = a.shape.a; \
		const real d = rise * b, t = fall * a.shape.c, t2 = t * t, change = a.mu_k - a.mu_s; \
		const bool above = a.mu_s >= a.mu_k, early = a.r > w * ((real)1 / 2), low = peak_low##suffix(a); \
		const real top = above ? a.mu_s : a.mu_k, least = 1 - 2 * w, side = above ? -1 : 1, share = above ? 1 : least; \
		const real by_top = top > 0 ? least * ((real)1 / 2) : 0, by_low = top > 0 ? -(real)1 / 2 : 0; \
		const real by_s = above ? by_top : by_low, by_k = above ? by_low : by_top; \
		const real bend = ((real)2 / 3) * (fall * t2), rest = w * ((real)1 / 2) + rise * (1 - d * d * ((real)1 / 3)); \
		const real s0 = early ? (rise > 0 ? -rest : -((a.r - w * ((real)1 / 2)) + bend)) : -bend; \
		const real k0 = early ? 1 - w * ((real)1 / 2) + bend : a.z + bend; \
		const real mid = early ? (real)1 / 2 - t2 * (2 - t * ((real)4 / 3)) : t2 * t * ((real)4 / 3); \
		const real w0 = -(2 * side * w * mid) - share * (d * d) * (1 - d * ((real)2 / 3)); \
		const real e_early = (1 - w * ((real)1 / 2)) - t2 * (2 * (1 - w) + fall * ((real)4 / 3)); \
		const real e0 = change * (early ? e_early : 2 * t2 * (1 - fall * ((real)2 / 3))) + \
		                a.mu_s * (d * d) * ((1 - w) - rise * ((real)2 / 3)); \
		const real s1 = low ? b * (1 + d) : early ? 1 - (d * d + 2 * t2) : 2 * t2; \
		const real k1 = low ? 0 : early ? 2 * t2 : 1 - 2 * t2; \
		const real bent = 8 * side * t * (early ? 1 - t : t) + 2 * share * d * (1 - d) * b; \
		const real w1 = low ? 2 * share * d * b * b : bent; \
		const real g2 = peak_g2##suffix(a); \
		(void)beyond; \
		return (struct law_derivatives##suffix){s0 + by_s * w0, \
		                                        k0 + by_k * w0, \
		                                        e0, \
		                                        0, \
		                                        s1 + by_s * w1, \
		                                        k1 + by_k * w1, \
		                                        a.slides ? 0 : low ? -g2 : -(a.z * g2), \
		                                        0}; \
	}

FRIC_PEAK_DEFINE(double, )
FRIC_PEAK_DEFINE(long double, _l)

/* The textbook form integrates G1, as given at the top of this file, piece by piece in t. */
INLINE quad peak_textbook_width(quad s, quad k)
{
	const quad top = s > k ? s : k, low = s > k ? k : s;
	return top > 0 ? (1 - low / top) / 2 : 0;
}

INLINE quad peak_textbook_rest(quad s, quad k)
{
	const quad w = peak_textbook_width(s, k);
	return k - 2 * s * (1 - w) / 3 - (s + k) * w / 2;
}

INLINE quad peak_textbook(quad s, quad k, quad z, quad tail, quad subtracted)
{
	(void)tail;
	const quad w = peak_textbook_width(s, k), p = 1 - w, rest = peak_textbook_rest(s, k);
	if (z >= 1)
		return k * z - subtracted;
	if (z <= p)
		return s * (z * z / p - z * z * z / (3 * p * p)) + (rest - subtracted);
	const quad t = (z - p) / w, q = (1 - z) / w;
	if (z <= 1 - w / 2)
		return 2 * s * p / 3 + w * (s * t + 2 * (k - s) * t * t * t / 3) + (rest - subtracted);
	return k - w * (k * q - 2 * (k - s) * q * q * q / 3) - subtracted;
}

INLINE quad peak_textbook_blur(quad s, quad k, quad z, quad step)
{
	const quad top = s > k ? s : k, w = peak_textbook_width(s, k);
	if (z + step < 1 - w || z > 1 + step || w == 0)
		return 0;
	return 8 * top * (step < w ? step / w : 1);
}

#endif
