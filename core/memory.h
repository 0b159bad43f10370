/**
 * Large blocks, from the context's memory or from malloc.
 */
#ifndef FRIC_MEMORY_H
#define FRIC_MEMORY_H

#include <stdlib.h>

#include "fric.h"

enum { FRIC_ALIGNMENT = 64 };

/* @return [bytes], 64-byte aligned; NULL when out of memory */
static inline void *memory_take(const struct fric_memory *memory, size_t bytes)
{
	if (memory)
		return memory->take(memory->pool, bytes);
	return aligned_alloc(FRIC_ALIGNMENT, (bytes / FRIC_ALIGNMENT + 1) * FRIC_ALIGNMENT);
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
