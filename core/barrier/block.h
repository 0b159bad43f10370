/**
 * The barrier's block of one contact: the plain form of the kernels' block loops.
 */
#ifndef FRIC_BARRIER_BLOCK_H
#define FRIC_BARRIER_BLOCK_H

#include <math.h>

#include "core/base/inline.h"
#include "core/motion/stencil.h"

INLINE double block_larger(double x, double y)
{
	return x > y ? x : y;
}

#define real double
#define NAMED(name) block_##name
#define real_root(x) sqrt(x)
#define real_larger(x, y) block_larger(x, y)
#define real_size(x) fabs(x)
#define real_signed(x, y) copysign(x, y)
#define real_all_below(x, y) ((x) < (y))
#include "core/barrier/block.inc"
#undef real
#undef NAMED
#undef real_root
#undef real_larger
#undef real_size
#undef real_signed
#undef real_all_below

#endif
