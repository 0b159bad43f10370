/**
 * Warm memory for benchmarks: malloc never maps blocks separately and never gives memory back, so that after the first
 * runs no fresh page is touched; large arrays are in huge pages. The server has a pool for the same purposes.
 */
#ifndef BENCH_WARM_H
#define BENCH_WARM_H

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static inline void keep_memory_warm(void)
{
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_TOP_PAD, 256 << 20);
}

/* All zero; exits if memory runs out. */
static inline void *warm_array(size_t n, size_t size)
{
	const size_t page = n * size < 2 << 20 ? 64 : 2 << 20, bytes = (n * size / page + 1) * page;
	void *array = aligned_alloc(page, bytes);
	if (!array) {
		fprintf(stderr, "bench: not enough memory\n");
		exit(1);
	}
	if (page > 64)
		(void)madvise(array, bytes, MADV_HUGEPAGE);
	return memset(array, 0, bytes);
}

#endif
