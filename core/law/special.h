/**
 * e^-t and the integral of e^-s^2 (erf up to a factor), because libm's versions differ from machine to machine. One
 * implementation for double and long double (suffix _l); in doubles it has no branches or calls, so that loops over it
 * vectorise and give the same bits with every instruction set. Accurate to an ulp of a double, the integral to two,
 * from 0 to where they underflow. The coefficients are minimax polynomials from tests/reference/make_special.py
 * --minimax.
 */
#ifndef FRIC_SPECIAL_H
#define FRIC_SPECIAL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/base/inline.h"

/* left = e^-t; lost = 1 - e^-t, with all its digits near t = 0. */
struct decayed {
	double left, lost;
};

struct decayed_l {
	long double left, lost;
};

/* t = n ln 2 - (high + low): the product of n with the first part of ln 2 is exact. */
#define FRIC_LN2_HIGH 0x1.62e42fefa38p-1
#define FRIC_LN2_LOW 0x1.ef35793c7673p-45
#define FRIC_PER_LN2 0x1.71547652b82fep+0

/* (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, with an error below 2^-58 of e^r. This and the following tables start with
 * the coefficient of power 0. */
static const double exp_rest[] = {
	0x1.000000000000bp-1,  0x1.5555555555561p-3,  0x1.555555555003ap-5,  0x1.111111110d651p-7,  0x1.6c16c185a5260p-10,
	0x1.a01a01baddc8ap-13, 0x1.a019969912cabp-16, 0x1.71dddfcf990fep-19, 0x1.28b044c8b4fcfp-22, 0x1.af858a248fc93p-26};

/* The integral over x, as a function of u = x^2 <= 1, with a relative error below 2^-57. */
static const double gauss_near[] = {1,
                                    -0x1.5555555555534p-2,
                                    0x1.99999999980f9p-4,
                                    -0x1.86186185a4b17p-6,
                                    0x1.2f684bc88423dp-8,
                                    -0x1.8d3015ad29751p-11,
                                    0x1.c01ba601ba6eap-14,
                                    -0x1.bbd0942c3cff3p-17,
                                    0x1.87471c9a02ac0p-20,
                                    -0x1.347c79c65a283p-23,
                                    0x1.a1df4192decfcp-27,
                                    -0x1.7c14d258858adp-31};

/* The integral from x >= 1 on, divided by e^-x^2, as a function of s = 1/(x + 3) - 13/72. Multiplied by e^-x^2, its
 * error is below 2^-57. */
static const double gauss_far[] = {0x1.797cf85951909p-3, 0x1.f84bc2bbdac2cp+0,  0x1.24416912f3f57p+3,
                                   0x1.0d2367495d78dp+5, 0x1.79e88d2993e9bp+6,  0x1.6beb865d6d7c4p+7,
                                   0x1.352b680032436p+7, -0x1.140faccaa6308p+8, -0x1.c44396836f67ap+9,
                                   0x1.00f839b24cbefp+5, 0x1.2a1ce267b5a4bp+12, -0x1.3177fd12afc03p+12};
#define FRIC_GAUSS_MIDDLE 0x1.71c71c71c71c7p-3

/* sqrt(pi)/2 in two parts */
#define FRIC_GAUSS_ALL 0x1.c5bf891b4ef6bp-1
#define FRIC_GAUSS_REST (-0x1.618f13eb7ca89p-55)

#define FRIC_POLYNOMIAL_DEFINE(real, suffix) \
	INLINE real special_polynomial##suffix(const double *c, int degree, real x) \
	{ \
		real sum = c[degree]; \
		UNROLL \
		for (int k = degree - 1; k >= 0; k--) \
			sum = sum * x + c[k]; \
		return sum; \
	}

FRIC_POLYNOMIAL_DEFINE(double, )
FRIC_POLYNOMIAL_DEFINE(long double, _l)

INLINE uint64_t special_bits(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* 2^-n for 0 <= n <= 1022 */
INLINE double special_power(uint64_t n)
{
	const uint64_t bits = (1023 - n) << 52;
	double x;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

/**
 * @param t  >= 0, may be infinite
 * Adding 1.5 * 2^52 rounds a number to an integer and leaves that integer in the last bits. The power of two is applied
 * in two steps: a subnormal result is then rounded only once, by the second product.
 */
INLINE struct decayed decay(double t)
{
	const double shift = 0x1.8p52, up_to = t < 750 ? t : 750, shifted = up_to * FRIC_PER_LN2 + shift,
				 k = shifted - shift;
	const double high = k * FRIC_LN2_HIGH - up_to, low = k * FRIC_LN2_LOW, r = high + low;
	const double rest = high + (low + (r * r) * special_polynomial(exp_rest, 9, r));
	const uint64_t n = special_bits(shifted) & 0x7ff, half = n >> 1;
	const double first = special_power(half), second = special_power(n - half), scale = first * second;
	return (struct decayed){((1 + rest) * first) * second, (1 - scale) - scale * rest};
}

INLINE struct decayed_l decay_l(long double t)
{
	const long double up_to = t < 11400 ? t : 11400, k = rintl(up_to * FRIC_PER_LN2);
	const long double high = k * FRIC_LN2_HIGH - up_to, low = k * FRIC_LN2_LOW, r = high + low;
	const long double rest = high + (low + (r * r) * special_polynomial_l(exp_rest, 9, r)), scale = ldexpl(1, -(int)k);
	return (struct decayed_l){ldexpl(1 + rest, -(int)k), (1 - scale) - scale * rest};
}

/**
 * The integral of e^-s^2 over s from 0 to x, sqrt(pi)/2 erf x.
 * @param x     >= 0
 * @param left  e^-x^2
 */
#define FRIC_GAUSS_DEFINE(real, suffix) \
	INLINE real gauss_integral##suffix(real x, real left) \
	{ \
		const real u = x < 1 ? x * x : 1, s = 1 / (x + 3) - FRIC_GAUSS_MIDDLE; \
		const real beyond = left * special_polynomial##suffix(gauss_far, 11, s); \
		const real near = x * special_polynomial##suffix(gauss_near, 11, u), \
				   far = FRIC_GAUSS_ALL - (beyond - FRIC_GAUSS_REST); \
		return x < 1 ? near : far; \
	}

FRIC_GAUSS_DEFINE(double, )
FRIC_GAUSS_DEFINE(long double, _l)

#endif
