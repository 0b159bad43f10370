/**
 * Arithmetic in at least 113 bits, in which products of two doubles are exact and their sums nearly so.
 */
#ifndef FRIC_QUAD_H
#define FRIC_QUAD_H

#include <float.h>
#include <math.h>

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 quad;
#else /* such as AArch64 */
typedef long double quad;
_Static_assert(LDBL_MANT_DIG >= 113, "quad needs 113 bits");
#endif

/* One Newton step doubles the digits of the root in long double. */
static inline quad quad_root(quad x)
{
	const quad guess = sqrtl((long double)x);
	return guess > 0 ? (guess + x / guess) / 2 : guess;
}

#endif
