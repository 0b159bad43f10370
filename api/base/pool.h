/**
 * Warm memory, and how it is counted. A fresh page costs more than computing what goes into it, so large blocks that
 * were given back stay mapped for the next request, and return to the system when they have not been needed for a while
 * (api_pool_trim).
 *
 * Blocks of API_POOL_LEAST bytes and more are mapped, in size classes a quarter of a power of two apart, with huge
 * pages where that pays; only pages that are written to take memory, so a generous size costs nothing. Smaller blocks
 * lie inside malloc's, one step after their beginning: free() must not be called on them, unless there is no pool. With
 * AddressSanitizer every block is malloc's, of exactly the size asked for, so that overruns are seen.
 *
 * Every function may be called from several threads at once. pool NULL: malloc for all.
 */
#ifndef API_POOL_H
#define API_POOL_H

#include <stddef.h>

#include "api/base/budget.h"
#include "core/fric.h"

/* 1: every block is malloc's */
#if defined(__SANITIZE_ADDRESS__)
#define API_POOL_EMULATED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define API_POOL_EMULATED 1
#endif
#endif
#ifndef API_POOL_EMULATED
#define API_POOL_EMULATED 0
#endif

enum {
	API_POOL_LEAST = 128 << 10,
};

struct api_pool;

struct api_pool_counts {
	size_t used_bytes; /* mapped blocks in use */
	size_t idle_bytes; /* mapped blocks that are kept */
	size_t n_fresh;    /* blocks that had to be mapped, so far */
	size_t n_warm;     /* blocks that were taken from those kept */
};

/**
 * @param ceiling_bytes  the most that is kept
 * @param budget         what blocks in use count against, mapped ones as api_pool_block_bytes says; blocks that are
 *                       kept do not count. Goes through the thread's account (account.h) if it has one. NULL: nothing
 *                       is counted. Borrowed
 * @return NULL when out of memory
 */
struct api_pool *api_pool_create(size_t ceiling_bytes, struct api_budget *budget);
/* After everything was given back. */
void api_pool_free(struct api_pool *pool);

/* What a block of this size takes once all of it has been touched, as a warm one has been: what it counts as where the
 * pool has no budget of its own. SIZE_MAX: there is no such block */
size_t api_pool_block_bytes(const struct api_pool *pool, size_t bytes);

/* @return [bytes], 64-byte aligned, uninitialised; NULL when out of memory or over the budget */
void *api_pool_take(struct api_pool *pool, size_t bytes);
/* block: NULL or from take or resize of the same pool, with the same bytes. */
void api_pool_give(struct api_pool *pool, void *block, size_t bytes);
/**
 * As realloc: what fits of the contents is kept. Large blocks are moved by their page tables, not copied.
 * @param block  NULL (bytes 0) for a new one
 * @return aligned as from take; without a pool, as malloc's; NULL: out of memory, block is as it was
 */
void *api_pool_resize(struct api_pool *pool, void *block, size_t bytes, size_t new_bytes);

/* NULL for NULL, and if there is none. */
struct api_budget *api_pool_budget(const struct api_pool *pool);

/* The same for calls into the core; lives as long as the pool. NULL for NULL. */
const struct fric_memory *api_pool_memory(struct api_pool *pool);

/**
 * Returns to the system what has been idle for this long.
 * @return bytes returned
 */
size_t api_pool_trim(struct api_pool *pool, long long idle_ms);

struct api_pool_counts api_pool_counts(struct api_pool *pool);

#endif
