/**
 * Allocates large arrays, from the context's memory or from the system. The first access to a fresh page costs far more
 * than the writes to it; huge pages cut that cost by an order of magnitude, and reused memory avoids it.
 */
#ifndef FRIC_MEMORY_H
#define FRIC_MEMORY_H

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "core/fric.h"

enum { FRIC_ALIGNMENT = 64, FRIC_HUGE_PAGE = 2 << 20 };

/* Release the result with free. The request for huge pages is a hint that the system may ignore. */
static inline void *memory_from_system(size_t bytes)
{
	const size_t alignment = bytes < 2 * (size_t)FRIC_HUGE_PAGE ? FRIC_ALIGNMENT : FRIC_HUGE_PAGE;
	const size_t whole = (bytes / alignment + 1) * alignment;
	void *block = whole < bytes ? NULL : aligned_alloc(alignment, whole);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
	if (block && alignment == FRIC_HUGE_PAGE)
		(void)madvise(block, whole, MADV_HUGEPAGE);
#endif
	return block;
}

/* @return [bytes], 64-byte aligned; NULL when out of memory */
static inline void *memory_take(const struct fric_memory *memory, size_t bytes)
{
	return memory ? memory->take(memory->pool, bytes) : memory_from_system(bytes);
}

/* As memory_take, zeroed. */
static inline void *memory_take_zeroed(const struct fric_memory *memory, size_t bytes)
{
	void *block = memory_take(memory, bytes);
	return block ? memset(block, 0, bytes) : NULL;
}

/* block: NULL, or taken from the same memory with the same bytes */
static inline void memory_give(const struct fric_memory *memory, void *block, size_t bytes)
{
	if (memory && block)
		memory->give(memory->pool, block, bytes);
	else
		free(block);
}

#endif
