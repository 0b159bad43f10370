#include "api/base/arena.h"

#include <stdint.h>

enum {
	ALIGNMENT = 64,
	SHARED_BYTES = 4096 - ALIGNMENT, /* size of a block for small arrays */
	SMALL = 512,
};

/* The header takes a whole alignment step, so that the data after it is aligned too. */
struct arena_block {
	struct arena_block *next;
	size_t bytes;
};

static char *add_block(struct api_arena *arena, size_t bytes)
{
	struct arena_block *block = api_pool_take(arena->pool, ALIGNMENT + bytes);
	if (!block)
		return NULL;
	*block = (struct arena_block){arena->blocks, ALIGNMENT + bytes};
	arena->blocks = block;
	return (char *)block + ALIGNMENT;
}

static void *share(struct api_arena *arena, size_t bytes)
{
	/* Adding 1 gives empty arrays distinct addresses. */
	const size_t step = (bytes / ALIGNMENT + 1) * ALIGNMENT;
	if (step > arena->left) {
		char *block = add_block(arena, SHARED_BYTES);
		if (!block)
			return NULL;
		arena->at = block;
		arena->left = SHARED_BYTES;
	}
	void *array = arena->at;
	arena->at += step;
	arena->left -= step;
	return array;
}

void *api_arena_array(struct api_arena *arena, size_t n, size_t size)
{
	if (size && n > (SIZE_MAX - 2 * ALIGNMENT) / size)
		return NULL;
	/* With the emulated pool even small arrays are separate, so that sanitizers detect overruns. */
	return n * size > SMALL || API_POOL_EMULATED ? add_block(arena, n * size) : share(arena, n * size);
}

void api_arena_drop(struct api_arena *arena, bool (*needed)(const void *of, const void *block, size_t n),
                    const void *of)
{
	for (struct arena_block **link = &arena->blocks; *link;) {
		struct arena_block *block = *link;
		if (needed(of, block, block->bytes)) {
			link = &block->next;
			continue;
		}
		*link = block->next;
		api_pool_give(arena->pool, block, block->bytes);
	}
	arena->at = NULL;
	arena->left = 0;
}

static bool is_never_needed(const void *of, const void *block, size_t n)
{
	(void)of, (void)block, (void)n;
	return false;
}

void api_arena_free(struct api_arena *arena)
{
	api_arena_drop(arena, is_never_needed, NULL);
}
