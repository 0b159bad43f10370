/**
 * The tutorial's open problem: static friction peaks at exactly mu_s, kinetic friction holds from eps_v on, and the force
 * is piecewise quadratic and C1; for mu_s = mu_k it is mu_s f1. With top the larger and low the smaller coefficient,
 * w = (top - low)/(2 top), p = 1 - w, m = (p + 1)/2, change = mu_k - mu_s (docs/physics.md 2):
 *
 *     z <= p:      G1 = mu_s (2t - t^2)          t = z/p
 *     p <= z <= m: G1 = mu_s + 2 change t^2      t = (z - p)/w
 *     m <= z <= 1: G1 = mu_k - 2 change t^2      t = (1 - z)/w
 *
 * |change|/w = 2 top, so that the slope stays bounded as mu_s and mu_k become one.
 */
#ifndef FRIC_LAW_PEAK_H
#define FRIC_LAW_PEAK_H

#include "core/law/point.h"

/* z - p is w - r, which keeps its digits as mu_s and mu_k become one. Up to the peak, x is the way left to it; from there
 * on, the way from p or to 1, whichever is nearer. u is x over the length of its piece: 1 - t up to the peak, then t.
 * The shape is w, 1/p and 1/w; where w = 0, the law is mu_s f1 to the last bit. */
#define FRIC_PEAK_DEFINE(real, suffix) \
	INLINE struct law_shape##suffix peak_shape##suffix(real mu_s, real mu_k) \
	{ \
		const real top = mu_s > mu_k ? mu_s : mu_k, drop = mu_s > mu_k ? mu_s - mu_k : mu_k - mu_s; \
		const real twice = top > 0 ? 2 * top : 1; \
		return (struct law_shape##suffix){drop / twice, twice / (twice - drop), twice / (drop > 0 ? drop : 1)}; \
	} \
	INLINE bool peak_low##suffix(struct law_point##suffix a) \
	{ \
		return (a.r >= a.shape.a) & !a.slides; \
	} \
	INLINE bool peak_early##suffix(struct law_point##suffix a) \
	{ \
		return 2 * a.r > a.shape.a; \
	} \
	INLINE real peak_x##suffix(struct law_point##suffix a) \
	{ \
		const real left = a.r - a.shape.a, after = peak_early##suffix(a) ? -left : a.r; \
		return peak_low##suffix(a) ? left : after; \
	} \
	INLINE real peak_g1##suffix(struct law_point##suffix a) \
	{ \
		const real x = peak_x##suffix(a), d = x * a.shape.b, t = x * a.shape.c; \
		const real change = 2 * (a.mu_k - a.mu_s) * (t * t); \
		const real rise = a.mu_s * (1 + d) * a.shape.b, early = a.mu_s + change, late = a.mu_k - change; \
		const real fall = peak_early##suffix(a) ? early : late, inside = peak_low##suffix(a) ? rise : fall; \
		return a.slides ? a.mu_k : inside; \
	} \
	INLINE real peak_g2##suffix(struct law_point##suffix a) \
	{ \
		const bool low = peak_low##suffix(a); \
		const real over = low ? a.shape.b : a.shape.c, c = low ? a.mu_s : 2 * (a.mu_k - a.mu_s); \
		const real inside = 2 * c * over * (peak_x##suffix(a) * over); \
		return a.slides ? 0 : inside; \
	} \
	INLINE real peak_g0##suffix(struct law_point##suffix a) \
	{ \
		const bool low = peak_low##suffix(a), early = peak_early##suffix(a); \
		const real change = a.mu_k - a.mu_s, x = peak_x##suffix(a), u = x * (low ? a.shape.b : a.shape.c); \
		const real bend = (low ? a.mu_s : 2 * change) * ((real)1 / 3) * (x * (u * u)); \
		const real line = (early ? a.mu_s : a.mu_k) * a.r + (early ? change * a.shape.a * ((real)1 / 2) : 0); \
		const real inside = (a.mu_k - line) + bend; \
		return a.slides ? a.mu_k * a.z : inside; \
	}

enum { peak_has_shape = true };
FRIC_PEAK_DEFINE(double, )
FRIC_PEAK_DEFINE(long double, _l)

/* The same, integrated from t on each piece. */
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

INLINE quad peak_textbook(quad s, quad k, quad z, quad subtracted)
{
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
