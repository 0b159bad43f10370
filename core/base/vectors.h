/**
 * Short vectors: two doubles or four integers, which every processor has; four doubles with AVX.
 */
#ifndef FRIC_VECTORS_H
#define FRIC_VECTORS_H

#include <stdint.h>
#include <string.h>

#include "core/base/inline.h"

typedef double double2 __attribute__((vector_size(16)));
typedef int32_t int4 __attribute__((vector_size(16)));
#ifdef __AVX__
typedef double double4 __attribute__((vector_size(32)));
#endif

INLINE double2 load_double2(const double *from)
{
	double2 x;
	memcpy(&x, from, sizeof(x));
	return x;
}

/* Two components at once halve the loads and stores. */
INLINE void add_double2(double *to, double2 x)
{
	const double2 sum = load_double2(to) + x;
	memcpy(to, &sum, sizeof(sum));
}

#endif
