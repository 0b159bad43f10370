/**
 * Memory of one request: handed out piece by piece, given back in one call. {0} is an empty arena that takes its memory
 * from malloc.
 */
#ifndef API_ARENA_H
#define API_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "api/base/pool.h"

struct api_arena {
	struct api_pool *pool; /* where large arrays come from, or NULL */
	struct arena_block *blocks;
	char *at; /* small arrays share a block: where the next one goes, and the room that is left */
	size_t left;
};

/* @return [n * size] bytes, 64-byte aligned, uninitialised; NULL when there is not enough memory, or size_t
 * overflows */
void *api_arena_array(struct api_arena *arena, size_t n, size_t size);
/* Gives back all blocks of which `needed` says no: no pointer into them may be used any more. */
void api_arena_drop(struct api_arena *arena, bool (*needed)(const void *of, const void *block, size_t n),
                    const void *of);
/* The arena is then empty and may be used again. */
void api_arena_free(struct api_arena *arena);

#endif
