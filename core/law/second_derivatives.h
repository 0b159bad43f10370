/**
 * Second derivatives of the friction laws with respect to mu_s, mu_k and eps_v, in long double, at a fixed speed |u|
 * and unit: derivatives of the results of derivatives.h. The mixed derivatives with respect to |u| are s1, k1, e1 and
 * G2.
 *
 * All laws but `peak` are linear in the coefficients: the factor of a coefficient is the law with that coefficient 1
 * and the other 0. The potential of a law without a tail is homogeneous in |u| and eps_v, so its second derivative with
 * respect to eps_v is z^2 G2. A tail depends on y - eps_v only, so with a tail it is G2 beyond eps_v.
 */
#ifndef FRIC_LAW_SECOND_DERIVATIVES_H
#define FRIC_LAW_SECOND_DERIVATIVES_H

#include "core/law/derivatives.h"

/* ss, sk, kk: derivatives of g0; es, ek: of e0 with respect to mu_s and mu_k; ee: of e0 with respect to eps_v, times
 * eps_v. */
struct law_second_derivatives_l {
	long double ss, sk, kk, es, ek, ee;
};

/* First derivatives of a law with other coefficients, which must not change its shape. */
INLINE struct law_derivatives_l derivatives_of_mu_l(enum law t, struct law_point_l a, struct law_reach_l beyond,
                                                    long double mu_s, long double mu_k)
{
	a.mu_s = mu_s;
	a.mu_k = mu_k;
	return law_derivatives_l(t, a, beyond);
}

/* Dividing both coefficients by the larger one, top, with least = low/top = 1 - 2w, makes g0/top and e0/top functions
 * of w only. curve: second derivative of g0/top with respect to w; fall: first derivative of e0/top. Their signs and
 * terms depend on whether mu_s or mu_k is larger. */
struct peak_by_width {
	long double curve, fall;
};

/* Up to the peak, where d = 1 - t. */
INLINE struct peak_by_width peak_rising_l(bool above, long double w, long double b, long double d)
{
	const long double p = 1 - w, q = 2 * b * d * (1 - d) * (1 - d);
	const long double e = p * d * d * (1 - 2 * d / 3), e_by_w = -d * (2 - d * (3 - 4 * d / 3));
	if (above)
		return (struct peak_by_width){2 + q, e_by_w - 2 * p};
	return (struct peak_by_width){(1 - 2 * w) * q + 4 * d * d * (3 - 2 * d) / 3 - 2,
	                              2 * p - 2 * e + (1 - 2 * w) * e_by_w};
}

/* From the peak on, where the two cases differ in sign only. early: nearer to the peak than to eps_v */
INLINE struct peak_by_width peak_falling_l(bool above, long double w, bool early, long double fall, long double t)
{
	const long double third = 8 * t * t * t / 3;
	const long double curve = early ? 8 * t * (1 - t) + third - 2 : third;
	const long double e = early ? 2 * (1 - w) * (1 - t * (4 - 2 * t)) - fall * t * (4 - 8 * t / 3)
	                            : -4 * t * t * (1 - 2 * fall / 3);
	return above ? (struct peak_by_width){-curve, -e} : (struct peak_by_width){curve, e};
}

/* g0 and e0 are homogeneous of degree one in the coefficients, so all second derivatives of g0 follow from the one with
 * respect to the smaller coefficient. */
INLINE struct law_second_derivatives_l peak_second_derivatives_l(struct law_point_l a, long double e0)
{
	const bool above = a.mu_s >= a.mu_k, early = a.r > a.shape.a / 2;
	const long double top = above ? a.mu_s : a.mu_k, w = a.shape.a, least = 1 - 2 * w;
	const long double rise = peak_rise_l(a), fall = peak_fall_l(a);
	const struct peak_by_width by = rise > 0 ? peak_rising_l(above, w, a.shape.b, rise * a.shape.b)
	                                         : peak_falling_l(above, w, early, fall, fall * a.shape.c);
	const long double low_low = by.curve / (4 * top), both = -least * low_low, top_top = -least * both;
	const long double e_low = -by.fall / 2, e_top = e0 / top - least * e_low;
	return above ? (struct law_second_derivatives_l){top_top, both, low_low, e_top, e_low, 0}
	             : (struct law_second_derivatives_l){low_low, both, top_top, e_low, e_top, 0};
}

/* @param beyond  as for law_derivatives_l */
INLINE struct law_second_derivatives_l law_second_derivatives_l(enum law t, struct law_point_l a,
                                                                struct law_reach_l beyond)
{
	const long double g2 = law_g2_l(t, a), ee = a.slides && law_has_tail(t) ? g2 : g2 == 0 ? 0 : a.z * a.z * g2;
	struct law_second_derivatives_l second = {.ee = ee};
	if (t == LAW_PEAK && (a.mu_s > 0 || a.mu_k > 0)) {
		second = peak_second_derivatives_l(a, law_derivatives_l(t, a, beyond).e0);
		second.ee = ee;
		return second;
	}
	second.es = derivatives_of_mu_l(t, a, beyond, 1, 0).e0;
	second.ek = derivatives_of_mu_l(t, a, beyond, 0, 1).e0;
	return second;
}

#endif
