/**
 * Memory of one request: allocated piece by piece, freed in one call. {0} is an empty arena that allocates with malloc.
 */
#ifndef API_ARENA_H
#define API_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "api/base/pool.h"

struct api_arena {
	struct api_pool *pool; /* source of large arrays, or NULL */
	struct arena_block *blocks;
	char *at; /* end of the last small array; `left` bytes of its block remain */
	size_t left;
};

/* @return [n * size] bytes, 64-byte aligned, uninitialised; NULL when out of memory or if n * size overflows */
void *api_arena_array(struct api_arena *arena, size_t n, size_t size);
/* Frees all blocks for which `needed` returns false. No pointer into them may be used afterwards. */
void api_arena_drop(struct api_arena *arena, bool (*needed)(const void *of, const void *block, size_t n),
                    const void *of);
/* Frees all blocks. The arena is then empty and may be used again. */
void api_arena_free(struct api_arena *arena);

#endif
