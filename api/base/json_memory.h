/**
 * Memory of jansson's trees. While a request is handled, nodes lie side by side in blocks that are freed all at once;
 * larger nodes are allocated separately. Both come from the service's pool and count against its budget. Once the
 * client no longer waits for the request, allocations fail, which ends jansson's work.
 *
 * jansson has one allocator for the whole process, which is these functions from the start of the program. Outside of
 * requests they use malloc. A tree must be freed on the thread, and within the request, that made it. With
 * AddressSanitizer every node is separate, so that overruns are detected.
 */
#ifndef API_JSON_MEMORY_H
#define API_JSON_MEMORY_H

#include <jansson.h>

#include "api/base/arena.h"

enum {
	API_JSON_MEMORY_STEP = 16,
	API_JSON_MEMORY_LONGEST = 256,   /* longest node that shares a block, header included */
	API_JSON_MEMORY_FIRST = 8 << 10, /* first block: enough for a small request and its answer */
};

struct api_json_memory {
	struct api_arena arena;
	char *at; /* address of the next node; `left` bytes remain */
	size_t left;
	size_t arena_bytes;
	/* Lists of freed nodes, one for each size in steps. */
	void *free[API_JSON_MEMORY_LONGEST / API_JSON_MEMORY_STEP + 1];
	_Alignas(API_JSON_MEMORY_STEP) char first[API_JSON_MEMORY_FIRST];
};

/* From now on, until it is closed, this thread's trees are allocated here. @param pool  outlives it; NULL: malloc */
void api_json_memory_open(struct api_json_memory *trees, struct api_pool *pool);
/* Frees the memory. Call it after all trees have been freed. */
void api_json_memory_close(struct api_json_memory *trees);

/* Until it is resumed, this thread's trees are allocated with malloc, as outside of requests. Trees from before may be
 * freed meanwhile. @return for api_json_memory_resume */
struct api_json_memory *api_json_memory_pause(void);
void api_json_memory_resume(struct api_json_memory *trees);

/* Replacements for malloc and free in jansson. */
void *api_json_memory_take(size_t bytes);
void api_json_memory_give(void *node);

/**
 * Prints a tree. Detects a defect of json_dumps (2.14), which silently leaves out a key when out of memory.
 * @param root   NULL: there was no memory for it
 * @param bytes  set to the length of the text
 * @return malloc'd, with a zero byte at its end; NULL when out of memory
 */
char *api_json_print(const json_t *root, size_t flags, size_t *bytes);

#endif
