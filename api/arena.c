#include "api/arena.h"

#include <stdint.h>
#include <stdlib.h>

enum { ALIGNMENT = 64 };

/* The header takes a whole alignment step, so that what follows it is aligned too. */
struct arena_block {
	struct arena_block *next;
};

void *api_arena_array(struct api_arena *arena, size_t n, size_t size)
{
	if (size && n > (SIZE_MAX - 2 * ALIGNMENT) / size)
		return NULL;
	const size_t bytes = (n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct arena_block *block = aligned_alloc(ALIGNMENT, ALIGNMENT + bytes);
	if (!block)
		return NULL;
	block->next = arena->blocks;
	arena->blocks = block;
	return (char *)block + ALIGNMENT;
}

void api_arena_free(struct api_arena *arena)
{
	while (arena->blocks) {
		struct arena_block *block = arena->blocks;
		arena->blocks = block->next;
		free(block);
	}
}
