/**
 * A pool of warm memory, and its accounting. A fresh page costs more than computing its contents, so large blocks stay
 * mapped for the next request when they are freed, and return to the system after they have been idle for a while
 * (api_pool_trim).
 *
 * Blocks of API_POOL_LEAST bytes and more are mapped, in size classes a quarter of a power of two apart, with huge
 * pages where that pays. Only pages that are written to take memory, so a generous size costs nothing. Smaller blocks
 * lie inside malloc'd ones, one step after their beginning: do not pass them to free() unless there is no pool. With
 * AddressSanitizer every block is malloc'd with exactly the requested size, so that overruns are detected.
 *
 * Every function may be called from several threads at once. pool NULL: everything is malloc'd.
 */
#ifndef API_POOL_H
#define API_POOL_H

#include <stddef.h>

#include "api/base/budget.h"
#include "core/fric.h"

/* If API_POOL_EMULATED is 1, every block is malloc'd. */
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
	size_t idle_bytes; /* mapped blocks kept for reuse */
	size_t n_fresh;    /* mappings created so far */
	size_t n_warm;     /* blocks reused so far */
};

/**
 * @param ceiling_bytes  limit on idle memory
 * @param budget         counts blocks in use, mapped ones with api_pool_block_bytes; idle blocks do not count. Goes
 *                       through the thread's account (account.h) if there is one. NULL: nothing is counted. Borrowed
 * @return NULL when out of memory
 */
struct api_pool *api_pool_create(size_t ceiling_bytes, struct api_budget *budget);
/* Frees the pool. Call it after everything has been returned. */
void api_pool_free(struct api_pool *pool);

/* The memory that a block of this size takes once all of it has been touched; a budget counts this amount. @return
 * SIZE_MAX if too large */
size_t api_pool_block_bytes(const struct api_pool *pool, size_t bytes);

/* @return [bytes], 64-byte aligned, uninitialised; NULL when out of memory or over the budget */
void *api_pool_take(struct api_pool *pool, size_t bytes);
/* Returns a block. block: NULL, or from take or resize of the same pool, with the same bytes */
void api_pool_give(struct api_pool *pool, void *block, size_t bytes);
/**
 * Like realloc: the contents are kept as far as they fit. Large blocks are moved by their page tables, not copied.
 * @param block  NULL (bytes 0) for a new one
 * @return aligned as from take; without a pool, as malloc aligns; NULL: out of memory, block is unchanged
 */
void *api_pool_resize(struct api_pool *pool, void *block, size_t bytes, size_t new_bytes);

/* The pool's budget. @return NULL if pool is NULL or has no budget */
struct api_budget *api_pool_budget(const struct api_pool *pool);

/* The pool as an allocator for calls into the core. It lives as long as the pool; NULL if pool is NULL. */
const struct fric_memory *api_pool_memory(struct api_pool *pool);

/**
 * Returns blocks to the system that have been idle for this long.
 * @return bytes returned
 */
size_t api_pool_trim(struct api_pool *pool, long long idle_ms);

struct api_pool_counts api_pool_counts(struct api_pool *pool);

#endif
