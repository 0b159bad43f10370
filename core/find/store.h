/**
 * A few blocks of a context's memory that are given back together.
 */
#ifndef FRIC_STORE_H
#define FRIC_STORE_H

#include "core/base/memory.h"

enum { STORE_BLOCKS = 24 };

struct store {
	const struct fric_memory *memory;
	int n;
	struct {
		void *data;
		size_t bytes;
	} blocks[STORE_BLOCKS];
	bool failed; /* an allocation failed */
};

/* @return n elements of `size` bytes, at least one; NULL when out of memory, which store.failed remembers */
static inline void *store_take(struct store *store, size_t n, size_t size)
{
	const size_t bytes = (n + !n) * size;
	void *data = store->n < STORE_BLOCKS ? memory_take(store->memory, bytes) : NULL;
	store->failed |= !data;
	if (data) {
		store->blocks[store->n].data = data;
		store->blocks[store->n++].bytes = bytes;
	}
	return data;
}

/* As store_take, zeroed. */
static inline void *store_take_zeroed(struct store *store, size_t n, size_t size)
{
	void *data = store_take(store, n, size);
	return data ? memset(data, 0, (n + !n) * size) : NULL;
}

/* Gives back all blocks from number `first` on. */
static inline void store_give_from(struct store *store, int first)
{
	while (store->n > first) {
		store->n--;
		memory_give(store->memory, store->blocks[store->n].data, store->blocks[store->n].bytes);
	}
}

#endif
