/**
 * What a friction law says, and where. Every law is one file of this wing, with two texts that share nothing:
 *
 * NAME_g0, NAME_g1 and NAME_g2, over all z >= 0, written so that nothing cancels and without loops or calls, for double
 * and for long double (suffix _l). The kernels of all instruction sets, the scalar form and the scalar functions are
 * made from them:
 *
 *     g0 = G0 / eps_v      g1 = G1/z where NAME_low, from rest on, elsewhere G1      g2 = G2 eps_v
 *
 * So there is no pole at rest, no underflow far beyond eps_v, and one division for both. NAME_shape is computed from the
 * coefficients first, if NAME_has_shape; NAME_shape_at, which costs less, will do at one r alone, for the same bits.
 *
 * NAME_slopes, how g0 and g1 change with the law's numbers, in the same style: nothing cancels there that does not in g0 and
 * g1 (e0, which is g0 - z G1, is written in r). At a knot they are those of the piece to its right.
 *
 * NAME_textbook, G0 as it is published, in 113 bits, of which gradcheck takes differences to compare them with what the
 * other text gives. z >= 0, s = mu_s, k = mu_k:
 *
 *     NAME_textbook(s, k, z, tail, subtracted)    G0 / eps_v - subtracted
 *     NAME_textbook_rest(s, k)                    G0(0) / eps_v; subtracted, it leaves small differences their digits
 *     NAME_textbook_blur(s, k, z, step)           how much G2 eps_v may change within `step` of z, if more than
 *                                                 1e-10 max(s, k): second differences know no better
 *
 * Laws that go on changing beyond eps_v do so over a speed of their own, `unit`, and see x = (y - eps_v)/unit, which is -r q,
 * q the ratio eps_v / unit. They are given their shape, which tail.h computes from x and q; their textbooks, `tail`, the
 * integral of what they follow there over z from 1 on (textbook.h, which also knows their blur).
 */
#ifndef FRIC_LAW_POINT_H
#define FRIC_LAW_POINT_H

#include <stdbool.h>

#include "core/base/inline.h"
#include "core/base/quad.h"

/* What a law needs to know of its coefficients, in any units: computed once where they are the same for all contacts. Of a
 * law that goes on beyond eps_v: what it follows there, its slope by z, and its integral over z from 1 on. */
struct law_shape {
	double a, b, c;
};

struct law_shape_l {
	long double a, b, c;
};

/* What a law without a shape of its coefficients has in its place. */
#define FRIC_NO_SHAPE(name, real, suffix) \
	INLINE struct law_shape##suffix name##_shape##suffix(real mu_s, real mu_k) \
	{ \
		(void)mu_s, (void)mu_k; \
		return (struct law_shape##suffix){0}; \
	} \
	INLINE struct law_shape##suffix name##_shape_at##suffix(real mu_s, real mu_k, real r) \
	{ \
		(void)mu_s, (void)mu_k, (void)r; \
		return (struct law_shape##suffix){0}; \
	}

/* The speed at which bonds break, over eps_v. */
enum { LAW_REACH = 2 };

/* z = |u| / eps_v; r = 1 - z, which may have more digits than z; slides: |u| >= eps_v; broken: |u| >= LAW_REACH eps_v, read
 * by `adhesion` alone. Both are decided exactly, where a rounded z may be on the other side. */
struct law_point {
	double mu_s, mu_k, z, r;
	bool slides;
	struct law_shape shape;
	bool broken;
};

struct law_point_l {
	long double mu_s, mu_k, z, r;
	bool slides;
	struct law_shape_l shape;
	bool broken;
};

/* What slopes by the numbers of a law that goes on beyond eps_v need besides its shape there: 1 - a, all its digits; the
 * integral of that over z from 1 on; and how far the integral of a is ahead of (z - 1) a, which is how it changes with the
 * unit. Of a curve, the first alone. */
#define FRIC_REACH_DEFINE(real, suffix) \
	struct law_reach##suffix { \
		real lost, lost_integral, ahead; \
	}; \
	/* How a law changes with its numbers at a fixed speed |u|: derivatives of g0 (index 0; e0: of eps_v g0) and of G1 (index \
	 * 1; over z where NAME_low) by mu_s, mu_k, eps_v (e1: times eps_v) and the unit (times the unit). */ \
	struct law_slopes##suffix { \
		real s0, k0, e0, u0, s1, k1, e1, u1; \
	};

FRIC_REACH_DEFINE(double, )
FRIC_REACH_DEFINE(long double, _l)

/* Where z alone is known, and is not within rounding of 1 or 2. */
INLINE struct law_point law_point_at(double mu_s, double mu_k, double z, struct law_shape shape)
{
	return (struct law_point){mu_s, mu_k, z, 1 - z, z >= 1, shape, z >= LAW_REACH};
}

#endif
