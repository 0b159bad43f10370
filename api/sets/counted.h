/**
 * Memory of sets, which counts.
 */
#ifndef API_COUNTED_H
#define API_COUNTED_H

#include <stdatomic.h>

#include "api/base/pool.h"
#include "core/fric.h"

/* An allocator on top of the pool that counts what it has allocated. It must not move while any of its memory is in
 * use. */
struct api_counted {
	struct fric_memory memory;
	struct api_pool *pool;
	atomic_size_t bytes;
};

void api_counted_start(struct api_counted *counted, struct api_pool *pool);
size_t api_counted_bytes(struct api_counted *counted);
/* @return [bytes], to be given back with the same length; NULL when out of memory */
void *api_counted_take(struct api_counted *counted, size_t bytes);
/* block may be NULL. */
void api_counted_give(struct api_counted *counted, void *block, size_t bytes);
/* The context with this allocator. */
struct fric_context api_counted_context(const struct fric_context *context, const struct api_counted *counted);

#endif
