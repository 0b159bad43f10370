/**
 * Memory of jansson's trees. While a request is handled, nodes lie side by side in blocks that are given back all at
 * once, and larger ones by themselves; both come from the service's pool and count against its budget. Once the request
 * is no longer wanted, its trees get no more memory, which ends jansson's work.
 *
 * jansson has one allocator for the whole process: these functions, from the start of the program on. A tree that is
 * made while its thread handles no request is in malloc's memory. A tree must be freed on the thread, and within the
 * request, that made it. With AddressSanitizer every node is separate, so that overruns are seen.
 */
#ifndef API_TREES_H
#define API_TREES_H

#include "api/base/arena.h"

enum {
	API_TREES_STEP = 16,
	API_TREES_LONGEST = 256,   /* of a node that lies among others, header included */
	API_TREES_FIRST = 8 << 10, /* enough for a small request and its answer */
};

struct api_trees {
	struct api_arena arena;
	char *at; /* where the next node goes, and the room that is left */
	size_t left;
	size_t arena_bytes;
	/* Freed nodes by their size in steps, each with a link to the next. */
	void *free[API_TREES_LONGEST / API_TREES_STEP + 1];
	_Alignas(API_TREES_STEP) char first[API_TREES_FIRST];
};

/* From now on this thread's trees lie here, until closed. @param pool outlives it; NULL: malloc */
void api_trees_open(struct api_trees *trees, struct api_pool *pool);
/* After all of them have been freed. */
void api_trees_close(struct api_trees *trees);

/* What jansson calls in place of malloc and free. */
void *api_trees_take(size_t bytes);
void api_trees_give(void *node);

#endif
