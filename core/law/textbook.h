/**
 * The published formulas of the tails beyond eps_v, in 113 bits, for gradcheck. Independent of tail.h: plain series,
 * and the curve evaluated from its points.
 */
#ifndef FRIC_LAW_TEXTBOOK_H
#define FRIC_LAW_TEXTBOOK_H

#include <math.h>

#include "core/base/quad.h"
#include "core/law/law.h"

/* Constants of 113 bits, as sums of three doubles. */
#define FRIC_LN2 ((quad)0x1.62e42fefa39efp-1 + 0x1.abc9e3b39803fp-56 + 0x1.7b57a079a1934p-111)
#define FRIC_HALF_SQRT_PI ((quad)0x1.c5bf891b4ef6bp-1 - 0x1.618f13eb7ca89p-55 - 0x1.b1f0071b7aae4p-111)

/* e^-t for t >= 0, from the series of e^r, |r| <= ln 2 / 2. */
static inline quad textbook_exp(quad t)
{
	if (t > 11000)
		return 0;
	const int n = (int)(t / FRIC_LN2 + 0.5);
	const quad r = n * FRIC_LN2 - t;
	quad sum = 1;
	for (int i = 26; i > 0; i--)
		sum = 1 + sum * r / i;
	return sum * ldexpl(1, -n);
}

/* 1 - e^-t, from its own series where the difference would lose digits. */
static inline quad textbook_lost(quad t)
{
	quad sum = 1;
	if (t > 0.25)
		return 1 - textbook_exp(t);
	for (int i = 26; i > 1; i--)
		sum = 1 - sum * t / i;
	return sum * t;
}

/* The integral of e^-s^2 up to x >= 0: e^-x^2 times the sum of x (2 x^2)^n / (2n + 1)!!, whose terms are positive. */
static inline quad textbook_gauss(quad x)
{
	quad term = x, sum = x;
	if (x > 9) /* the remainder is below 1e-36 */
		return FRIC_HALF_SQRT_PI;
	for (int n = 1; term > sum * 0x1p-116L; n++) {
		term *= 2 * x * x / (2 * n + 1);
		sum += term;
	}
	return textbook_exp(x * x) * sum;
}

/* The piece of a curve that contains a speed beyond eps_v. */
static inline size_t textbook_find(const struct fric_curve *curve, quad speed)
{
	size_t low = 0, high = curve->n;
	while (high - low > 1) {
		const size_t middle = (low + high) / 2;
		*(curve->speeds[middle] <= speed ? &low : &high) = middle;
	}
	return low;
}

static inline quad textbook_secant(const struct fric_curve *c, size_t k)
{
	return ((quad)c->factors[k + 1] - c->factors[k]) / ((quad)c->speeds[k + 1] - c->speeds[k]);
}

/* The curve's derivative at point k (docs/physics.md 2). */
static inline quad textbook_derivative(const struct fric_curve *c, size_t k)
{
	if (k == 0 || k + 1 == c->n)
		return 0;
	const quad h0 = (quad)c->speeds[k] - c->speeds[k - 1], h1 = (quad)c->speeds[k + 1] - c->speeds[k];
	const quad d0 = textbook_secant(c, k - 1), d1 = textbook_secant(c, k), w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
	if (d0 == 0 || d1 == 0 || (d0 < 0) != (d1 < 0))
		return 0;
	return (w0 + w1) / (w0 / d0 + w1 / d1);
}

/* The integral of piece k up to its fraction t, from the four Hermite polynomials. */
static inline quad textbook_area(const struct fric_curve *c, size_t k, quad t)
{
	const quad h = (quad)c->speeds[k + 1] - c->speeds[k], t2 = t * t, t3 = t2 * t, t4 = t3 * t;
	return h * (c->factors[k] * (t - t3 + t4 / 2) + c->factors[k + 1] * (t3 - t4 / 2) +
	            h * (textbook_derivative(c, k) * (t2 / 2 - 2 * t3 / 3 + t4 / 4) +
	                 textbook_derivative(c, k + 1) * (t4 / 4 - t3 / 3)));
}

/* Computes the curve's integral up to each point. @param areas  [n] */
static inline void textbook_areas(const struct fric_curve *c, quad *areas)
{
	areas[0] = 0;
	for (size_t k = 0; k + 1 < c->n; k++)
		areas[k + 1] = areas[k] + textbook_area(c, k, 1);
}

static inline quad textbook_curve(const struct fric_curve *c, const quad *areas, quad speed)
{
	const size_t k = textbook_find(c, speed);
	const quad u = speed - c->speeds[k];
	if (k + 1 == c->n)
		return areas[k] + u * c->factors[k];
	return areas[k] + textbook_area(c, k, u / ((quad)c->speeds[k + 1] - c->speeds[k]));
}

/* The integral of the tail over z from 1 on, q = eps_v / unit; the unit of a curve is 1. */
static inline quad textbook_tail(enum law t, const struct fric_curve *curve, const quad *areas, quad z, quad q)
{
	const quad x = (z - 1) * q;
	if (!law_has_tail(t) || z <= 1)
		return 0;
	return (t == LAW_STRIBECK      ? textbook_gauss(x)
	        : t == LAW_EXPONENTIAL ? textbook_lost(x)
	                               : textbook_curve(curve, areas, x)) /
	       q;
}

/* The length of the shortest piece that contains a speed or is next to it; 0 beyond the last one. */
static inline quad textbook_shortest(const struct fric_curve *c, quad speed)
{
	const size_t k = textbook_find(c, speed), last = k + 2 < c->n ? k + 2 : c->n - 1;
	quad shortest = 0;
	for (size_t i = k > 0 ? k - 1 : 0; i < last; i++) {
		const quad h = (quad)c->speeds[i + 1] - c->speeds[i];
		shortest = shortest == 0 || h < shortest ? h : shortest;
	}
	return shortest;
}

/* The largest second derivative of a curve on piece k, which is at one of its ends. */
static inline quad textbook_second_derivative(const struct fric_curve *c, size_t k)
{
	if (k + 1 >= c->n)
		return 0;
	const quad h = (quad)c->speeds[k + 1] - c->speeds[k], m0 = textbook_derivative(c, k),
			   m1 = textbook_derivative(c, k + 1);
	const quad d = 6 * textbook_secant(c, k), a = (d - 4 * m0 - 2 * m1) / h, b = (2 * m0 + 4 * m1 - d) / h;
	const quad size_a = a < 0 ? -a : a, size_b = b < 0 ? -b : b;
	return size_a > size_b ? size_a : size_b;
}

/* How much G2 eps_v may change within `step` of z, for the difference d of the coefficients or the only coefficient: at
 * most the largest derivative of stribeck or a curve times the step, and for exponential its kink, unless its pieces
 * are evaluated separately. In addition, 1 - z has an error of up to `known`. */
static inline quad textbook_tail_blur(enum law t, const struct fric_curve *curve, quad d, quad z, quad q, quad step,
                                      quad known)
{
	const bool near = z + step >= 1 && z <= 1 + step;
	const quad x = (z - 1) * q, size = d < 0 ? -d : d;
	if (!law_has_tail(t) || z + step < 1)
		return 0;
	if (t == LAW_STRIBECK)
		return size * q * q * (near ? 2 * step : x < 8 ? 2 * known : 0);
	if (t == LAW_EXPONENTIAL)
		return size * q * (near ? 1 : x < 60 ? q * known : 0);
	const quad first = x - q * step, last = x + q * step;
	const size_t low = textbook_find(curve, first > 0 ? first : 0), high = textbook_find(curve, last);
	quad bend = 0;
	for (size_t k = low; k <= high; k++)
		bend = textbook_second_derivative(curve, k) > bend ? textbook_second_derivative(curve, k) : bend;
	return size * q * q * bend * (low < high || near ? step : known);
}

struct textbook {
	enum law law;
	quad mu_s, mu_k;
	quad decay; /* eps_v over the unit of the tail; for a curve, eps_v */
	const struct fric_curve *curve;
	const quad *areas;   /* textbook_areas of the curve */
	bool slides, broken; /* decided exactly, so that differences stay on the contact's side of a jump of G2 */
	quad subtracted;     /* constant that is left out of the potential, so that it does not hide small differences */
};

static inline struct textbook textbook_of(const struct fric_law *law, const quad *areas, double mu_s, double mu_k,
                                          double eps_v)
{
	const double unit = law_has(law_of(law), LAW_DECAYS) ? law->stribeck_speed : 1;
	return (struct textbook){law_of(law), mu_s, mu_k, (quad)eps_v / unit, &law->curve, areas, false, false, 0};
}

/* G0 / eps_v - subtracted, by the formula of the contact's piece. */
static inline quad textbook_potential(const struct textbook *p, quad z)
{
	const quad tail = textbook_tail(p->law, p->curve, p->areas, z, p->decay);
	if (law_has(p->law, LAW_BREAKS))
		return adhesion_textbook_piece(p->mu_s, z, p->broken, p->subtracted);
	if (law_has_tail(p->law) && !p->slides)
		return rising_textbook(p->mu_s, z, p->subtracted);
	if (p->law == LAW_EXPONENTIAL) {
		const quad lost = p->mu_s == p->mu_k ? 0 : textbook_lost((z - 1) * p->decay) / p->decay;
		return decaying_textbook_piece(p->mu_s, p->mu_k, z, lost, true, p->subtracted);
	}
	return law_textbook(p->law, p->mu_s, p->mu_k, z, tail, p->subtracted);
}

/* How much G2 eps_v may change within `step` of z; z has an error of up to `known`. */
static inline quad textbook_blur(const struct textbook *p, quad z, quad step, quad known)
{
	const quad d = law_has(p->law, LAW_ONE_MU) ? p->mu_s : p->mu_s - p->mu_k, q = p->decay, x = (z - 1) * q;
	if (law_has(p->law, LAW_BREAKS) || (law_has_tail(p->law) && !p->slides))
		return 0;
	if (p->law == LAW_EXPONENTIAL) /* only the rounding of z */
		return p->slides && x < 60 ? (d < 0 ? -d : d) * q * q * known : 0;
	return law_textbook_blur(p->law, p->mu_s, p->mu_k, z, step) +
	       textbook_tail_blur(p->law, p->curve, d, z, q, step * (z > 1 ? z : 1), known);
}

/* How much the derivatives of G1 with respect to z and the coefficients may change within `step` of z, or of the
 * coefficients relative to themselves. Where mu_s and mu_k nearly agree, both move the narrow pieces of the law
 * `peak`. */
static inline quad textbook_unresolved(const struct textbook *p, quad z, quad step)
{
	const quad top = p->mu_s > p->mu_k ? p->mu_s : p->mu_k;
	if (p->law != LAW_PEAK || z >= 1)
		return textbook_blur(p, z, step, step * (z > 1 ? z : 1));
	const quad width = peak_textbook_width(p->mu_s, p->mu_k), before = 1 - width - z,
			   reach = before > width ? before : width;
	return 8 * top * (step < reach ? step / reach : 1);
}

/* The range of z over which a decay changes. Beyond the decay, steps are limited only by the distance to its start. */
static inline quad textbook_extent_of_decay(const struct textbook *p, quad z)
{
	const bool over = (z - 1) * p->decay > (p->law == LAW_STRIBECK ? 6 : 30);
	return p->mu_s == p->mu_k ? 0 : over ? (z - 1) * 0x1p+12 : 1 / p->decay;
}

/* The range of z over which a tail changes; 0: there is no tail here.
 * @param near  margin beyond a curve's last point */
static inline quad textbook_extent(const struct textbook *p, quad z, quad near)
{
	const quad x = (z - 1) * p->decay;
	if (!law_has_tail(p->law) || !p->slides)
		return 0;
	if (law_has(p->law, LAW_DECAYS))
		return textbook_extent_of_decay(p, z);
	if (x > p->curve->speeds[p->curve->n - 1] + near * p->decay)
		return 0;
	return textbook_shortest(p->curve, x > 0 ? x : 0) / p->decay;
}

/* The largest coefficient that a law may use at a contact. From eps_v on the smooth law uses only mu_k. */
static inline double textbook_largest(const struct fric_law *law, double mu_s, double mu_k, bool slides)
{
	double factor = 1;
	for (size_t k = 0; law->type == FRIC_CURVE && k < law->curve.n; k++)
		factor = law->curve.factors[k] > factor ? law->curve.factors[k] : factor;
	return (law->type == FRIC_SMOOTH && slides) || mu_k > mu_s ? mu_k : mu_s * factor;
}

#endif
