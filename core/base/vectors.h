/**
 * Short vectors: two doubles or four integers, which every processor supports; four doubles with AVX. Also a fast test
 * of many numbers for infinities and NaNs.
 */
#ifndef FRIC_VECTORS_H
#define FRIC_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
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

/* Two components at once halve the number of loads and stores. */
INLINE void add_double2(double *to, double2 x)
{
	const double2 sum = load_double2(to) + x;
	memcpy(to, &sum, sizeof(sum));
}

/* Whether no number is infinite or NaN: the product with 0 is 0 for all others. The partial sums are independent of
 * each other. */
INLINE bool all_finite(const double *x, size_t n)
{
	double2 sum[4] = {{0}};
	size_t i = 0;
	for (; i + 8 <= n; i += 8)
		for (size_t s = 0; s < 4; s++)
			sum[s] += load_double2(x + i + 2 * s) * 0; /* NOLINT: the caller has written all n */
	for (; i < n; i++)
		sum[0][0] += x[i] * 0; /* as above */
	const double2 all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
	return all[0] + all[1] == 0;
}

#endif
