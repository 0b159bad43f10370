/**
 * A limit on the memory that several owners hold together. Safe from any thread.
 */
#ifndef API_BUDGET_H
#define API_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct api_budget {
	size_t most_bytes;
	atomic_size_t used_bytes;
};

/* Takes all bytes, or takes none and returns false. budget NULL: unlimited */
static inline bool api_budget_take(struct api_budget *budget, size_t bytes)
{
	if (!budget)
		return true;
	size_t used = atomic_load_explicit(&budget->used_bytes, memory_order_relaxed);
	do {
		if (bytes > budget->most_bytes || used > budget->most_bytes - bytes)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&budget->used_bytes, &used, used + bytes, memory_order_relaxed,
	                                                memory_order_relaxed));
	return true;
}

/* Takes a small amount that is bounded elsewhere and must not fail. May exceed the limit. */
static inline void api_budget_take_anyway(struct api_budget *budget, size_t bytes)
{
	atomic_fetch_add_explicit(&budget->used_bytes, bytes, memory_order_relaxed);
}

static inline void api_budget_give(struct api_budget *budget, size_t bytes)
{
	if (budget)
		atomic_fetch_sub_explicit(&budget->used_bytes, bytes, memory_order_relaxed);
}

#endif
