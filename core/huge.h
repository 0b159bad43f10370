/**
 * Memory for large arrays. A fresh page costs far more than what is then written to it, and a large array is all fresh
 * pages: malloc takes it from the system and gives it back. In huge pages that cost goes down by an order of magnitude.
 */
#ifndef FRIC_HUGE_H
#define FRIC_HUGE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { HUGE_PAGE = 2 << 20 };

/* As malloc, to be freed with free; huge pages are a hint that the system may not take. */
static inline void *large_malloc(size_t n, size_t size)
{
	if (size && n > (SIZE_MAX - HUGE_PAGE) / size)
		return NULL;
	const size_t bytes = n * size;
	if (bytes < 2 * (size_t)HUGE_PAGE)
		return malloc(bytes + (bytes == 0));
	const size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *memory = aligned_alloc(HUGE_PAGE, whole);
#ifdef MADV_HUGEPAGE
	if (memory)
		(void)madvise(memory, whole, MADV_HUGEPAGE);
#endif
	return memory;
}

static inline void *large_calloc(size_t n, size_t size)
{
	void *memory = large_malloc(n, size);
	return memory ? memset(memory, 0, n * size) : NULL;
}

#endif
