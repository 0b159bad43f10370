/**
 * Stores that go past the caches. A plain store fetches its line first; of results that no cache holds, that is twice as many
 * bytes to move. Without such instructions they are plain stores.
 */
#ifndef FRIC_STREAM_H
#define FRIC_STREAM_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Whole lines go past the caches, the ends of `to` through them. To be followed by stream_end. */
static inline void stream_doubles(double *to, const double *from, size_t n)
{
#ifdef __SSE2__
	enum { LINE = 64, PER_LINE = LINE / sizeof(double) };
	const size_t before = (LINE - (uintptr_t)to % LINE) % LINE / sizeof(double);
	size_t i = before < n ? before : n;
	memcpy(to, from, i * sizeof(double));
	for (; i + PER_LINE <= n; i += PER_LINE)
		for (size_t e = 0; e < PER_LINE; e += 2)
			_mm_stream_pd(to + i + e, _mm_loadu_pd(from + i + e));
	memcpy(to + i, from + i, (n - i) * sizeof(double));
#else
	memcpy(to, from, n * sizeof(double));
#endif
}

/* Before other threads are told that the stores are done: they are in no order with others. */
static inline void stream_end(void)
{
#ifdef __SSE2__
	_mm_sfence();
#endif
}

#endif
