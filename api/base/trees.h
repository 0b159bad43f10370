/**
 * Memory of jansson's trees. While a request is handled its nodes lie side by side in blocks that go back all at once,
 * and what is larger lies by itself; both come from the service's pool and count against its budget. Once the request is
 * no longer wanted there is no more memory for its trees, which ends jansson's work.
 *
 * jansson has one allocator for the whole process: these functions, from the start of the program on. A tree that is made
 * while its thread handles no request lies in malloc's memory. A tree must be freed on the thread and within the request
 * that made it. Built with AddressSanitizer every node lies by itself: overruns are seen.
 */
#ifndef API_TREES_H
#define API_TREES_H

#include "api/base/arena.h"

enum {
	API_TREES_STEP = 16,
	API_TREES_LONGEST = 256,     /* of a node among others; its header included */
	API_TREES_FIRST = 8 << 10,   /* enough for a small request and its answer */
};

struct api_trees {
	struct api_arena arena;
	char *at; /* where the next node goes, and how much room is left */
	size_t left;
	size_t arena_bytes;
	void *free[API_TREES_LONGEST / API_TREES_STEP + 1]; /* freed nodes by their size in steps, each with a link to the next */
	_Alignas(API_TREES_STEP) char first[API_TREES_FIRST];
};

/* From here on this thread's trees lie there, until closed. @param pool  outlives it; NULL: malloc */
void api_trees_open(struct api_trees *trees, struct api_pool *pool);
/* When all of them have been freed. */
void api_trees_close(struct api_trees *trees);

/* As malloc and free; what jansson calls. */
void *api_trees_take(size_t bytes);
void api_trees_give(void *node);

#endif
