/**
 * The barrier's block of one contact: the plain form of the kernels' block loops.
 */
#ifndef FRIC_BARRIER_BLOCK_H
#define FRIC_BARRIER_BLOCK_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/base/inline.h"
#include "core/motion/stencil.h"

INLINE double block_larger(double x, double y)
{
	return x > y ? x : y;
}

/* Negligible beside 1. */
#define BLOCK_DUST 0x1p-46

#define BLOCK_GUESS 0x5fe6eb50c7b537a9 /* minus half of the bits of x */

INLINE double block_guess(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	bits = BLOCK_GUESS - (bits >> 1);
	memcpy(&x, &bits, sizeof(x));
	return x;
}

#define real double
#define real_guess(x) block_guess(x)
#define real_where(x, y, z) ((x) > 0 ? (y) : (z))
#define real_unless_dust(x, y, z) (fabs(x) < BLOCK_DUST ? (z) : (y))
#define NAMED(name) block_##name
#define real_root(x) sqrt(x)
#define real_larger(x, y) block_larger(x, y)
#define real_size(x) fabs(x)
#define real_signed(x, y) copysign(x, y)
#define real_without_dust(x) (fabs(x) < BLOCK_DUST ? 0 : (x))
#define real_all_below(x, y) ((x) < (y))
#include "core/barrier/block.inc"

#endif
