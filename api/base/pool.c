#include "api/base/pool.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "api/base/account.h"
#include "core/base/memory.h"

enum {
	ALIGNMENT = 64,
	HUGE_PAGE = 2 << 20,
	MAX_IDLE_BLOCKS = 256,
	BESIDE_SMALL = ALIGNMENT + 16, /* overhead of a malloc'd block, in bytes */
	BESIDE_PEAK = 32 << 20, /* idle bytes kept beyond the peak, because the steps of a request use different sizes */
};

/* Stored in the first bytes of an idle block, which is mapped and warm anyway. */
struct idle {
	struct idle *newer, *older;
	size_t capacity;
	long long since_ms;
};

struct api_pool {
	pthread_mutex_t lock;
	struct fric_memory memory;
	struct idle ends; /* head of a ring: ends.older is the newest, ends.newer the oldest */
	size_t n_idle;
	size_t ceiling_bytes;
	struct api_budget *budget;
	size_t peak_bytes; /* the largest amount in use at the same time */
	struct api_pool_counts counts;
};

static long long now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static bool is_mapped(const struct api_pool *pool, size_t bytes)
{
	return pool && !API_POOL_EMULATED && bytes >= API_POOL_LEAST;
}

/* Rounds up to a quarter of a power of two. This adds at most a quarter, whose pages are never touched. @return 0 if
 * too large */
static size_t capacity_of(size_t bytes)
{
	size_t step = API_POOL_LEAST / 4;
	while (bytes > 8 * step && step < SIZE_MAX / 16)
		step *= 2;
	return bytes <= 8 * step ? (bytes + step - 1) / step * step : 0;
}

/* ---- memory from the system ---- */

/* Huge pages need an aligned address. The flag is MAP_NORESERVE, because most of a generously sized block is never
 * touched. */
static void *map_aligned(size_t capacity)
{
	const bool huge = capacity >= HUGE_PAGE;
	const size_t spare = huge ? HUGE_PAGE : 0;
	if (capacity == 0 || capacity > SIZE_MAX / 2)
		return NULL;
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	char *mapped = mmap(NULL, capacity + spare, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (mapped == MAP_FAILED)
		return NULL;
	if (!huge)
		return mapped;
	const size_t before = (HUGE_PAGE - (uintptr_t)mapped % HUGE_PAGE) % HUGE_PAGE;
	if (before)
		munmap(mapped, before);
	if (spare > before)
		munmap(mapped + before + capacity, spare - before);
	return mapped + before;
}

static void *ask_for_huge_pages(void *block, size_t capacity)
{
	if (block && capacity >= HUGE_PAGE)
		madvise(block, capacity, MADV_HUGEPAGE);
	return block;
}

static void *map(size_t capacity)
{
	return ask_for_huge_pages(map_aligned(capacity), capacity);
}

/* aligned_alloc is slow for small blocks, malloc is not. A block therefore begins at the first cache line after
 * malloc's address, and the byte before it stores the distance. Without a pool, blocks are as free() expects them. */
static bool is_shifted(const struct api_pool *pool)
{
	return pool && !API_POOL_EMULATED;
}

static void *take_shifted(size_t bytes)
{
	unsigned char *block = bytes < SIZE_MAX - ALIGNMENT ? malloc(bytes + ALIGNMENT) : NULL;
	if (!block)
		return NULL;
	const unsigned char shift = (unsigned char)(ALIGNMENT - (uintptr_t)block % ALIGNMENT);
	block[shift - 1] = shift;
	return block + shift;
}

static void *take_small(const struct api_pool *pool, size_t bytes)
{
	void *block;
	if (API_POOL_EMULATED) /* exactly this size, which aligned_alloc does not guarantee */
		return posix_memalign(&block, ALIGNMENT, bytes ? bytes : 1) == 0 ? block : NULL;
	if (is_shifted(pool))
		return take_shifted(bytes);
	return bytes < SIZE_MAX - ALIGNMENT ? aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT) : NULL;
}

static void give_small(const struct api_pool *pool, void *block)
{
	const unsigned char *shifted = block;
	free(block && is_shifted(pool) ? (unsigned char *)block - shifted[-1] : block);
}

/* ---- the ring of idle blocks, protected by the lock ---- */

static void unlink_idle(struct api_pool *pool, struct idle *block)
{
	block->newer->older = block->older;
	block->older->newer = block->newer; /* NOLINT(clang-analyzer-core.NullDereference): a ring has no end */
	pool->counts.idle_bytes -= block->capacity;
	pool->n_idle--;
}

static void link_newest(struct api_pool *pool, struct idle *block)
{
	block->newer = &pool->ends;
	block->older = pool->ends.older;
	block->older->newer = block;
	pool->ends.older = block;
	pool->counts.idle_bytes += block->capacity;
	pool->n_idle++;
}

static struct idle *find_idle(struct api_pool *pool, size_t capacity)
{
	for (struct idle *block = pool->ends.older; block != &pool->ends; block = block->older)
		if (block->capacity == capacity)
			return block;
	return NULL;
}

/* Moves the oldest blocks to *out until no more than `bytes` and MAX_IDLE_BLOCKS are idle. */
static void evict(struct api_pool *pool, size_t bytes, struct idle **out)
{
	while (pool->counts.idle_bytes > bytes || pool->n_idle > MAX_IDLE_BLOCKS) {
		struct idle *oldest = pool->ends.newer;
		unlink_idle(pool, oldest);
		oldest->older = *out;
		*out = oldest;
	}
}

/* Called without the lock, because unmapping a gigabyte takes a while. */
static size_t unmap_all(struct idle *blocks)
{
	size_t bytes = 0;
	while (blocks) {
		struct idle *block = blocks;
		blocks = block->older;
		bytes += block->capacity;
		munmap(block, block->capacity);
	}
	return bytes;
}

/* Evicts idle blocks of other sizes to make room for a fresh one, so that the pool keeps little more than was in use
 * at the same time. */
static void count_fresh(struct api_pool *pool, struct idle **out)
{
	const size_t used = pool->counts.used_bytes;
	const size_t most = pool->peak_bytes + BESIDE_PEAK;
	pool->counts.n_fresh++;
	evict(pool, most > used ? most - used : 0, out);
}

static void *take_idle(struct api_pool *pool, size_t capacity, struct idle **out)
{
	pthread_mutex_lock(&pool->lock);
	struct idle *block = find_idle(pool, capacity);
	pool->counts.used_bytes += capacity;
	if (pool->counts.used_bytes > pool->peak_bytes)
		pool->peak_bytes = pool->counts.used_bytes;
	if (block) {
		unlink_idle(pool, block);
		pool->counts.n_warm++;
	} else {
		count_fresh(pool, out);
	}
	pthread_mutex_unlock(&pool->lock);
	return block;
}

/* When out of memory, gives up all idle blocks and tries again. */
static void *map_or_evict(struct api_pool *pool, size_t capacity)
{
	void *block = map(capacity);
	if (block)
		return block;
	struct idle *out = NULL;
	pthread_mutex_lock(&pool->lock);
	evict(pool, 0, &out);
	pthread_mutex_unlock(&pool->lock);
	return unmap_all(out) && capacity ? map(capacity) : NULL;
}

static void forget(struct api_pool *pool, size_t capacity)
{
	pthread_mutex_lock(&pool->lock);
	pool->counts.used_bytes -= capacity;
	pthread_mutex_unlock(&pool->lock);
}

static void *take_mapped(struct api_pool *pool, size_t capacity)
{
	struct idle *out = NULL;
	void *block = take_idle(pool, capacity, &out);
	unmap_all(out);
	if (block)
		return block;
	block = map_or_evict(pool, capacity);
	if (!block)
		forget(pool, capacity);
	return block;
}

static void give_mapped(struct api_pool *pool, void *block, size_t capacity)
{
	struct idle *idle = block, *out = NULL;
	idle->capacity = capacity;
	idle->since_ms = now_ms();
	pthread_mutex_lock(&pool->lock);
	pool->counts.used_bytes -= capacity;
	link_newest(pool, idle);
	evict(pool, pool->ceiling_bytes, &out);
	pthread_mutex_unlock(&pool->lock);
	unmap_all(out);
}

/* ---- public functions ---- */

static void *memory_take_block(void *pool, size_t bytes)
{
	return api_pool_take(pool, bytes);
}

static void memory_give_block(void *pool, void *block, size_t bytes)
{
	api_pool_give(pool, block, bytes);
}

struct api_pool *api_pool_create(size_t ceiling_bytes, struct api_budget *budget)
{
	struct api_pool *pool = calloc(1, sizeof *pool);
	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pool->memory = (struct fric_memory){memory_take_block, memory_give_block, pool};
	pool->ends.newer = pool->ends.older = &pool->ends;
	pool->ceiling_bytes = ceiling_bytes;
	pool->budget = budget;
	return pool;
}

void api_pool_free(struct api_pool *pool)
{
	if (!pool)
		return;
	api_pool_trim(pool, 0);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

size_t api_pool_block_bytes(const struct api_pool *pool, size_t bytes)
{
	if (!pool || bytes < API_POOL_LEAST)
		return bytes;
	const size_t capacity = capacity_of(bytes);
	return capacity ? capacity : SIZE_MAX;
}

/* The bytes that a block counts as in the budget. @return SIZE_MAX if too large */
static size_t charge(const struct api_pool *pool, size_t bytes)
{
	if (!pool || !pool->budget)
		return 0;
	return bytes < API_POOL_LEAST ? bytes + BESIDE_SMALL : api_pool_block_bytes(pool, bytes);
}

static void *take(struct api_pool *pool, size_t bytes)
{
	if (!is_mapped(pool, bytes))
		return take_small(pool, bytes);
	const size_t capacity = capacity_of(bytes);
	return capacity ? take_mapped(pool, capacity) : NULL;
}

static void give(struct api_pool *pool, void *block, size_t bytes)
{
	if (block && is_mapped(pool, bytes))
		give_mapped(pool, block, capacity_of(bytes));
	else
		give_small(pool, block);
}

void *api_pool_take(struct api_pool *pool, size_t bytes)
{
	const size_t charged = charge(pool, bytes);
	if (charged == 0)
		return take(pool, bytes);
	if (!api_account_take(pool->budget, charged))
		return NULL;
	void *block = take(pool, bytes);
	if (!block)
		api_account_give(pool->budget, charged);
	return block;
}

void api_pool_give(struct api_pool *pool, void *block, size_t bytes)
{
	const size_t charged = block ? charge(pool, bytes) : 0;
	give(pool, block, bytes);
	if (charged)
		api_account_give(pool->budget, charged);
}

/* Maps new address space and moves the old pages into it. The target is aligned, so whole page tables move; they
 * keep the old mapping's advice on huge pages. After a failure the target is left alone: the kernel unmaps it before
 * it detects the error, and another thread may have mapped something there meanwhile. If none has, only an address
 * range without pages is lost. */
static void *move_mapped(struct api_pool *pool, void *block, size_t capacity, size_t new_capacity)
{
	void *target = map_or_evict(pool, new_capacity);
	if (!target)
		return NULL;
	void *moved = mremap(block, capacity, new_capacity, MREMAP_MAYMOVE | MREMAP_FIXED, target);
	return moved != MAP_FAILED ? ask_for_huge_pages(moved, new_capacity) : NULL;
}

static void *grow_mapped(struct api_pool *pool, void *block, size_t capacity, size_t new_capacity)
{
	struct idle *out = NULL;
	char *warm = take_idle(pool, new_capacity, &out);
	unmap_all(out);
	if (warm) {
		memcpy(warm, block, capacity);
		give_mapped(pool, block, capacity);
		return warm;
	}
	void *moved = move_mapped(pool, block, capacity, new_capacity);
	forget(pool, moved ? capacity : new_capacity);
	return moved;
}

static void *resize_by_copy(struct api_pool *pool, void *block, size_t bytes, size_t new_bytes)
{
	void *copy = take(pool, new_bytes);
	if (!copy)
		return NULL;
	if (block)
		memcpy(copy, block, bytes < new_bytes ? bytes : new_bytes);
	give(pool, block, bytes);
	return copy;
}

static void *resize(struct api_pool *pool, void *block, size_t bytes, size_t new_bytes)
{
	if (!is_shifted(pool) && !is_mapped(pool, bytes) && !is_mapped(pool, new_bytes))
		return realloc(block, new_bytes ? new_bytes : 1);
	if (!block || !is_mapped(pool, bytes) || !is_mapped(pool, new_bytes))
		return resize_by_copy(pool, block, bytes, new_bytes);
	const size_t capacity = capacity_of(bytes), new_capacity = capacity_of(new_bytes);
	if (new_capacity == capacity)
		return block;
	if (new_capacity == 0)
		return NULL;
	return new_capacity > capacity ? grow_mapped(pool, block, capacity, new_capacity)
	                               : resize_by_copy(pool, block, bytes, new_bytes);
}

void *api_pool_resize(struct api_pool *pool, void *block, size_t bytes, size_t new_bytes)
{
	const size_t before = block ? charge(pool, bytes) : 0, after = charge(pool, new_bytes);
	if (after > before && !api_account_take(pool->budget, after - before))
		return NULL;
	void *resized = resize(pool, block, bytes, new_bytes);
	if (resized && before > after)
		api_account_give(pool->budget, before - after);
	if (!resized && after > before)
		api_account_give(pool->budget, after - before);
	return resized;
}

struct api_budget *api_pool_budget(const struct api_pool *pool)
{
	return pool ? pool->budget : NULL;
}

const struct fric_memory *api_pool_memory(struct api_pool *pool)
{
	return pool ? &pool->memory : NULL;
}

/* The ring is sorted by age, so the walk ends at the first block to be kept. */
size_t api_pool_trim(struct api_pool *pool, long long idle_ms)
{
	struct idle *out = NULL;
	const long long before = now_ms() - idle_ms;
	if (!pool)
		return 0;
	pthread_mutex_lock(&pool->lock);
	while (pool->n_idle && pool->ends.newer->since_ms <= before)
		evict(pool, pool->counts.idle_bytes - 1, &out);
	if (pool->n_idle == 0)
		pool->peak_bytes = pool->counts.used_bytes;
	pthread_mutex_unlock(&pool->lock);
	return unmap_all(out);
}

struct api_pool_counts api_pool_counts(struct api_pool *pool)
{
	if (!pool)
		return (struct api_pool_counts){0};
	pthread_mutex_lock(&pool->lock);
	const struct api_pool_counts counts = pool->counts;
	pthread_mutex_unlock(&pool->lock);
	return counts;
}
