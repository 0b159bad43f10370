#include "api/sets/counted.h"

static void *take(void *counted, size_t bytes)
{
	struct api_counted *c = counted;
	void *block = api_pool_take(c->pool, bytes);
	if (block)
		atomic_fetch_add_explicit(&c->bytes, api_pool_block_bytes(c->pool, bytes), memory_order_relaxed);
	return block;
}

static void give(void *counted, void *block, size_t bytes)
{
	struct api_counted *c = counted;
	api_pool_give(c->pool, block, bytes);
	if (block)
		atomic_fetch_sub_explicit(&c->bytes, api_pool_block_bytes(c->pool, bytes), memory_order_relaxed);
}

void api_counted_start(struct api_counted *counted, struct api_pool *pool)
{
	counted->memory = (struct fric_memory){take, give, counted};
	counted->pool = pool;
	atomic_init(&counted->bytes, 0);
}

size_t api_counted_bytes(struct api_counted *counted)
{
	return atomic_load_explicit(&counted->bytes, memory_order_relaxed);
}

void *api_counted_take(struct api_counted *counted, size_t bytes)
{
	return take(counted, bytes);
}

void api_counted_give(struct api_counted *counted, void *block, size_t bytes)
{
	give(counted, block, bytes);
}

struct fric_context api_counted_context(const struct fric_context *context, const struct api_counted *counted)
{
	struct fric_context own = *context;
	own.memory = &counted->memory;
	return own;
}
