/**
 * Memory of one request: handed out piece by piece, given back in one call.
 */
#ifndef API_ARENA_H
#define API_ARENA_H

#include <stddef.h>

struct api_arena {
	struct arena_block *blocks;
};

/* @return [n * size] bytes, 64-byte aligned, uninitialised; NULL when memory or size_t does not suffice */
void *api_arena_array(struct api_arena *arena, size_t n, size_t size);
void api_arena_free(struct api_arena *arena);

#endif
