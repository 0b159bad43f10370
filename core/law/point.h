/**
 * The functions that define a friction law, and their argument. Every law is one file of this wing, with two
 * independent implementations.
 *
 * NAME_g0, NAME_g1 and NAME_g2 cover all z >= 0 without cancellation, loops or calls, for double and for long double
 * (suffix _l). The kernels of all instruction sets, the scalar form and the scalar functions are built from them:
 *
 *     g0 = G0 / eps_v      g1 = G1/z where NAME_low (near rest), else G1      g2 = G2 eps_v
 *
 * This avoids a pole at rest and underflow far beyond eps_v, and needs one division for both cases. Of a law with the
 * trait LAW_SHAPED, NAME_shape is first computed from the coefficients; NAME_shape_at is cheaper, valid at one r only,
 * and gives the same bits.
 *
 * NAME_derivatives are the derivatives of g0 and g1 with respect to the law's parameters. They cancel no more than g0
 * and g1 do (e0, which is g0 - z G1, is written in r). At a knot they belong to the piece to its right.
 *
 * NAME_textbook is G0 as published, in 113 bits. gradcheck compares its differences with the results of the other
 * implementation. z >= 0, s = mu_s, k = mu_k:
 *
 *     NAME_textbook(s, k, z, tail, subtracted)    G0 / eps_v - subtracted
 *     NAME_textbook_rest(s, k)                    G0(0) / eps_v; subtracted to keep the digits of small differences
 *     NAME_textbook_blur(s, k, z, step)           how much G2 eps_v may change within `step` of z, if more than
 *                                                 1e-10 max(s, k): the accuracy of second differences
 *
 * A law with a tail also changes beyond eps_v, on a speed scale `unit`: the tail is a function of x = (y - eps_v)/unit
 * = -r q, with q = eps_v / unit. tail.h computes the shape of such a law from x and q. Its textbook takes `tail`, the
 * integral of the tail over z from 1 on (textbook.h, which also computes its blur).
 */
#ifndef FRIC_LAW_POINT_H
#define FRIC_LAW_POINT_H

#include <stdbool.h>

#include "core/base/inline.h"
#include "core/base/quad.h"

/* Defines the blur of a law whose G2 has no corners, or whose blur textbook.h computes. */
#define FRIC_NO_BLUR(name) \
	INLINE quad name##_textbook_blur(quad s, quad k, quad z, quad step) \
	{ \
		(void)s, (void)k, (void)z, (void)step; \
		return 0; \
	}

/* The speed at which bonds break, over eps_v. */
enum { LAW_REACH = 2 };

#define FRIC_POINT_DEFINE(real, suffix) \
	/* Values that a law derives from its coefficients, in any units; computed once if these are the same for all \
	 * contacts. For a law with a tail: the tail's value, its derivative with respect to z, and its integral over z from \
	 * 1 on. */ \
	struct law_shape##suffix { \
		real a, b, c; \
	}; \
	/* z = |u| / eps_v; r = 1 - z, which may have more digits than z; slides: |u| >= eps_v; broken: |u| >= LAW_REACH \
	 * eps_v, used by `adhesion` only. Both flags are decided exactly; a rounded z may be on the other side. */ \
	struct law_point##suffix { \
		real mu_s, mu_k, z, r; \
		bool slides; \
		struct law_shape##suffix shape; \
		bool broken; \
	}; \
	/* Values that the derivatives of a law with a tail need besides its shape (a, b, c): 1 - a with all its digits; its \
	 * integral over z from 1 on; and c - (z - 1) a, the derivative of c with respect to the unit, times the unit. For a \
	 * curve only the first is set. */ \
	struct law_reach##suffix { \
		real lost, lost_integral, ahead; \
	}; \
	/* Derivatives of a law at fixed speed |u|: of g0 (index 0; e0: of eps_v g0) and of G1 (index 1; over z where \
	 * NAME_low), with respect to mu_s, mu_k, eps_v (e1: times eps_v) and the unit (times the unit). */ \
	struct law_derivatives##suffix { \
		real s0, k0, e0, u0, s1, k1, e1, u1; \
	};

FRIC_POINT_DEFINE(double, )
FRIC_POINT_DEFINE(long double, _l)

/* For a z that is not within rounding of 1 or 2. */
INLINE struct law_point law_point_at(double mu_s, double mu_k, double z, struct law_shape shape)
{
	return (struct law_point){mu_s, mu_k, z, 1 - z, z >= 1, shape, z >= LAW_REACH};
}

#endif
