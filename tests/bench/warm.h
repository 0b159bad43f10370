/**
 * Warm memory for benchmarks: malloc never maps a block of its own and never gives memory back, so that after the first
 * runs no fresh page is touched. The server has a pool for the same purpose.
 */
#ifndef BENCH_WARM_H
#define BENCH_WARM_H

#include <malloc.h>

static inline void keep_memory_warm(void)
{
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_TOP_PAD, 256 << 20);
}

#endif
