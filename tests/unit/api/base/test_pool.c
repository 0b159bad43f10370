#include "api/base/pool.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/base/account.h"
#include "api/base/arena.h"

enum { BESIDE_SMALL = 80 }; /* bytes counted for a malloc'd block in addition to its contents */
enum { MB = 1 << 20 };

static int start(void **state)
{
	*state = api_pool_create(16 * MB, NULL);
	return *state ? 0 : -1;
}

static int stop(void **state)
{
	int result = api_pool_counts(*state).used_bytes ? -1 : 0;
	api_pool_free(*state);
	return result;
}

static void fill(void *block, size_t bytes, int seed)
{
	memset(block, seed, bytes);
}

static void holds(const void *block, size_t bytes, int seed)
{
	const unsigned char *b = block;
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(b[i], seed);
}

static void test_sizes(void **pool)
{
	const size_t sizes[] = {0,  1,      63,         4096,  API_POOL_LEAST - 1, API_POOL_LEAST, API_POOL_LEAST + 1,
	                        MB, 2 * MB, 2 * MB + 1, 5 * MB};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (int j = 0; j < 2; j++) {
			struct api_pool *from = j ? *pool : NULL;
			void *block = api_pool_take(from, sizes[i]);
			assert_non_null(block);
			assert_int_equal((uintptr_t)block % 64, 0);
			fill(block, sizes[i], 7);
			holds(block, sizes[i], 7);
			api_pool_give(from, block, sizes[i]);
		}
	api_pool_give(*pool, NULL, 5 * MB);
#if !API_POOL_EMULATED
	assert_null(api_pool_take(*pool, SIZE_MAX / 2 + 1));
	assert_null(api_pool_take(*pool, SIZE_MAX));
#endif
}

/* Blocks that grow and shrink keep their contents as far as they fit. */
static void test_resize(void **pool)
{
	const size_t sizes[] = {100, 5000, API_POOL_LEAST, 3 * MB, 3 * MB + 5, 9 * MB, 2 * MB, 40, 0, 4 * MB, MB};
	for (int j = 0; j < 2; j++) {
		struct api_pool *from = j ? *pool : NULL;
		size_t bytes = 0;
		char *block = NULL;
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			block = api_pool_resize(from, block, bytes, sizes[i]);
			assert_non_null(block);
			if (i)
				holds(block, bytes < sizes[i] ? bytes : sizes[i], (int)i);
			bytes = sizes[i];
			fill(block, bytes, (int)i + 1);
		}
#if !API_POOL_EMULATED
		assert_null(api_pool_resize(from, block, bytes, SIZE_MAX / 2 + 1));
#endif
		holds(block, bytes, 11);
		api_pool_give(from, block, bytes);
	}
}

/* Blocks in use are counted to the byte. A block beyond the budget is refused, and nothing changes. */
static void test_budget(void **unused)
{
	const size_t sizes[] = {0, 5000, 100000, API_POOL_LEAST - 1, API_POOL_LEAST, 3 * MB + 1, 5000, 70000, 0};
	struct api_budget budget = {.most_bytes = 4 * MB};
	struct api_pool *pool = api_pool_create(16 * MB, &budget);
	char *block = NULL;
	size_t bytes = 0;
	(void)unused;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		block = api_pool_resize(pool, block, bytes, sizes[i]);
		assert_non_null(block);
		bytes = sizes[i];
		const size_t beside = bytes < API_POOL_LEAST ? BESIDE_SMALL : 0;
		const size_t counted = api_pool_block_bytes(pool, bytes) + beside;
		assert_int_equal(atomic_load(&budget.used_bytes), counted);
		assert_null(api_pool_take(pool, 5 * MB));
		assert_null(api_pool_resize(pool, block, bytes, 5 * MB));
		assert_int_equal(atomic_load(&budget.used_bytes), counted);
	}
	api_pool_give(pool, block, bytes);
	for (int i = 0; i < 2; i++) { /* from fresh memory, then from warm */
		block = api_pool_take(pool, 4 * MB);
		assert_non_null(block);
		assert_null(api_pool_take(pool, 1));
		api_pool_give(pool, block, 4 * MB);
		assert_int_equal(atomic_load(&budget.used_bytes), 0);
	}
	api_pool_free(pool);
}

static void test_arena(void **pool)
{
	enum { N = 200 };
	struct api_arena arena = {.pool = *pool};
	unsigned char *arrays[N];
	for (size_t i = 0; i < N; i++) {
		arrays[i] = api_arena_array(&arena, i * i, 11);
		assert_non_null(arrays[i]);
		assert_int_equal((uintptr_t)arrays[i] % 64, 0);
		fill(arrays[i], i * i * 11, (int)i);
	}
	for (size_t i = 0; i < N; i++)
		holds(arrays[i], i * i * 11, (int)i);
	assert_null(api_arena_array(&arena, SIZE_MAX / 4, 8));
	assert_null(api_arena_array(&arena, SIZE_MAX / 8, 8)); /* fits size_t, but not with the header in front of it */
	/* The last two sizes are passed on to malloc, which ends the program under AddressSanitizer. */
	for (size_t off = 0; off < (API_POOL_EMULATED ? 128 : 130); off++)
		assert_null(api_arena_array(&arena, SIZE_MAX - off, 1));
	api_arena_free(&arena);
	assert_non_null(api_arena_array(&arena, 1, 1));
	api_arena_free(&arena);
}

#if !API_POOL_EMULATED

static size_t resident_pages(char *block, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), n = bytes / page;
	unsigned char *in = malloc(n);
	size_t count = 0;
	assert_int_equal(mincore(block, n * page, in), 0);
	for (size_t i = 0; i < n; i++)
		count += in[i] & 1;
	free(in);
	return count;
}

static void test_reuse(void **pool)
{
	char *block = api_pool_take(*pool, 4 * MB);
	fill(block, 4 * MB, 1);
	api_pool_give(*pool, block, 4 * MB);
	assert_int_equal(api_pool_counts(*pool).idle_bytes, 4 * MB);
	char *again = api_pool_take(*pool, 4 * MB - 1000); /* belongs to the same size class */
	assert_ptr_equal(again, block);
	assert_int_equal(resident_pages(again, 4 * MB), 4 * MB / sysconf(_SC_PAGESIZE));
	struct api_pool_counts counts = api_pool_counts(*pool);
	assert_int_equal(counts.n_fresh, 1);
	assert_int_equal(counts.n_warm, 1);
	assert_int_equal(counts.used_bytes, 4 * MB);
	assert_int_equal(counts.idle_bytes, 0);
	api_pool_give(*pool, again, 4 * MB - 1000);
}

/* A generous size takes address space only, and memory when it is written to. */
static void test_a_generous_size_takes_only_address_space(void **pool)
{
	char *block = api_pool_take(*pool, MB + MB / 2);
	fill(block, 4096, 1);
	assert_true(resident_pages(block, MB + MB / 2) <= 2);
	api_pool_give(*pool, block, MB + MB / 2);
}

/* Maps something at the target of a failed move: the kernel has unmapped the target by then, and another thread may
 * have taken its place. */
static char *taken;
static size_t taken_bytes;
static bool mremap_fails;
void *__real_mremap(void *address, size_t bytes, size_t new_bytes, int flags, void *target);
void *__wrap_mremap(void *address, size_t bytes, size_t new_bytes, int flags, void *target);

void *__wrap_mremap(void *address, size_t bytes, size_t new_bytes, int flags, void *target)
{
	if (!mremap_fails)
		return __real_mremap(address, bytes, new_bytes, flags, target);
	taken = mmap(target, new_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	taken_bytes = new_bytes;
	taken[0] = taken[new_bytes - 1] = 42;
	return MAP_FAILED;
}

static void test_a_failed_move_leaves_others_alone(void **pool)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *block = api_pool_take(*pool, 4 * MB);
	fill(block, 4 * MB, 3);
	mremap_fails = true;
	assert_null(api_pool_resize(*pool, block, 4 * MB, 8 * MB));
	mremap_fails = false;
	assert_int_equal(msync(taken, page, MS_ASYNC), 0); /* succeeds only if mapped */
	assert_int_equal(msync(taken + taken_bytes - page, page, MS_ASYNC), 0);
	assert_true(taken[0] == 42 && taken[taken_bytes - 1] == 42);
	munmap(taken, taken_bytes);
	holds(block, 4 * MB, 3);
	assert_int_equal(api_pool_counts(*pool).used_bytes, 4 * MB);
	api_pool_give(*pool, block, 4 * MB);
}

/* Whether /proc/self/smaps lists this flag for the mapping that begins at an address. */
static bool has_flag(const char *block, const char *flag)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	char line[512];
	bool inside = false, found = false;
	assert_non_null(file);
	while (fgets(line, sizeof line, file)) {
		uintptr_t begin, end;
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2)
			inside = begin <= (uintptr_t)block && (uintptr_t)block < end;
		else if (inside && !strncmp(line, "VmFlags:", 8))
			found = strstr(line, flag);
	}
	fclose(file);
	return found;
}

/* A block that has grown large is like one that was taken large. */
static void test_growth_to_huge_pages(void **pool)
{
	if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) != 0)
		skip();
	char *block = api_pool_take(*pool, MB);
	block[0] = 1;
	assert_false(has_flag(block, " hg"));
	block = api_pool_resize(*pool, block, MB, 4 * MB);
	assert_non_null(block);
	assert_true(has_flag(block, " hg"));
	api_pool_give(*pool, block, 4 * MB);
}

/* A block's capacity is the memory that it takes when all of it is warm. */
static void test_block_bytes(void **pool)
{
	assert_int_equal(api_pool_block_bytes(*pool, 0), 0);
	assert_int_equal(api_pool_block_bytes(*pool, API_POOL_LEAST - 1), API_POOL_LEAST - 1);
	assert_int_equal(api_pool_block_bytes(NULL, 5 * MB + 1), 5 * MB + 1);
	assert_int_equal(api_pool_block_bytes(*pool, SIZE_MAX), SIZE_MAX);
	for (size_t bytes = API_POOL_LEAST; bytes < 40 * MB; bytes += bytes / 7 + 1) {
		const size_t most = api_pool_block_bytes(*pool, bytes);
		void *block = api_pool_take(*pool, bytes);
		assert_true(bytes <= most && most <= bytes + bytes / 4);
		assert_int_equal(api_pool_counts(*pool).used_bytes, most);
		api_pool_give(*pool, block, bytes);
	}
}

static void test_growth_moves_pages(void **pool)
{
	char *block = api_pool_resize(*pool, NULL, 0, 4 * MB);
	fill(block, 4 * MB, 3);
	block = api_pool_resize(*pool, block, 4 * MB, 8 * MB);
	assert_int_equal(resident_pages(block, 8 * MB) * (size_t)sysconf(_SC_PAGESIZE), 4 * MB);
	holds(block, 4 * MB, 3);
	assert_int_equal(api_pool_counts(*pool).used_bytes, 8 * MB);
	assert_int_equal(api_pool_counts(*pool).idle_bytes, 0);
	api_pool_give(*pool, block, 8 * MB);
}

static void test_ceiling(void **pool)
{
	void *blocks[6], *huge = api_pool_take(*pool, 20 * MB);
	for (int i = 0; i < 6; i++)
		blocks[i] = api_pool_take(*pool, 4 * MB);
	for (int i = 0; i < 6; i++)
		api_pool_give(*pool, blocks[i], 4 * MB);
	assert_int_equal(api_pool_counts(*pool).idle_bytes, 16 * MB);
	api_pool_give(*pool, huge, 20 * MB); /* exceeds the ceiling: neither it nor older blocks are kept */
	assert_int_equal(api_pool_counts(*pool).idle_bytes, 0);
}

/* Idle blocks of other sizes are evicted: the pool holds little more in all than was in use at the same time. */
static void test_replacement(void **unused)
{
	(void)unused;
	struct api_pool *pool = api_pool_create((size_t)1 << 30, NULL);
	for (size_t mb = 40; mb < 80; mb++) {
		void *block = api_pool_take(pool, mb * MB);
		api_pool_give(pool, block, mb * MB);
		struct api_pool_counts counts = api_pool_counts(pool);
		assert_true(counts.idle_bytes <= (mb + mb / 4) * MB);
	}
	api_pool_free(pool);
}

/* A series of requests, each using two sizes in turn. */
static void test_steps(void **unused)
{
	struct api_pool *pool = api_pool_create(1000 * MB, NULL);
	(void)unused;
	for (int i = 0; i < 3; i++) {
		api_pool_give(pool, api_pool_take(pool, 40 * MB), 40 * MB);
		api_pool_give(pool, api_pool_take(pool, 20 * MB), 20 * MB);
	}
	assert_int_equal(api_pool_counts(pool).n_fresh, 2);
	api_pool_free(pool);
}

/* The number of idle blocks is limited however small they are, so that searching them stays fast. */
static void test_number_of_idle_blocks(void **unused)
{
	enum { MOST = 256, BEYOND = 60 };
	struct api_pool *pool = api_pool_create(1000 * MB, NULL);
	void *blocks[MOST + BEYOND];
	(void)unused;
	for (int i = 0; i < MOST + BEYOND; i++)
		blocks[i] = api_pool_take(pool, API_POOL_LEAST);
	for (int i = 0; i < MOST + BEYOND; i++) {
		api_pool_give(pool, blocks[i], API_POOL_LEAST);
		const size_t n = i < MOST ? (size_t)i + 1 : MOST;
		assert_int_equal(api_pool_counts(pool).idle_bytes, n * API_POOL_LEAST);
	}
	api_pool_free(pool);
}

/* Memory that a block, large or small, returns by shrinking can be taken by another block of the same request. */
static void test_shrinking_gives_back(void **unused)
{
	struct api_budget budget = {.most_bytes = 8 * MB};
	struct api_pool *pool = api_pool_create(16 * MB, &budget);
	struct api_account account;
	(void)unused;
	for (int with_account = 0; with_account < 2; with_account++) {
		if (with_account)
			api_account_open(&account, &budget, NULL, 0);
		void *block = api_pool_take(pool, 7 * MB);
		assert_null(api_pool_take(pool, 2 * MB));
		block = api_pool_resize(pool, block, 7 * MB, MB); /* still within the mapping */
		void *other = api_pool_take(pool, 6 * MB);
		assert_non_null(other);
		api_pool_give(pool, other, 6 * MB);
		block = api_pool_resize(pool, block, MB, 100);
		other = api_pool_take(pool, 7 * MB);
		assert_non_null(other);
		api_pool_give(pool, other, 7 * MB);
		api_pool_give(pool, block, 100);
		if (with_account)
			api_account_close(&account);
		assert_int_equal(atomic_load(&budget.used_bytes), 0);
	}
	api_pool_free(pool);
}

static void test_trim(void **pool)
{
	void *a = api_pool_take(*pool, MB), *b = api_pool_take(*pool, MB), *c = api_pool_take(*pool, 2 * MB);
	api_pool_give(*pool, a, MB);
	api_pool_give(*pool, b, MB);
	assert_int_equal(api_pool_trim(*pool, 3600 * 1000), 0);
	assert_int_equal(api_pool_counts(*pool).idle_bytes, 2 * MB);
	assert_int_equal(api_pool_trim(*pool, 0), 2 * MB);
	assert_int_equal(api_pool_counts(*pool).idle_bytes, 0);
	assert_int_equal(api_pool_counts(*pool).used_bytes, 2 * MB);
	api_pool_give(*pool, c, 2 * MB);
	assert_int_equal(api_pool_trim(NULL, 0), 0);
}

#endif

static void *churn(void *pool)
{
	enum { N = 8, ROUNDS = 400 };
	const int seed = (int)(uintptr_t)pthread_self() >> 12 & 127;
	unsigned random = (unsigned)seed + 1;
	struct {
		char *bytes;
		size_t n;
	} blocks[N] = {{NULL, 0}};
	for (int round = 0; round < ROUNDS; round++) {
		random = random * 1103515245 + 12345;
		const size_t i = random >> 16 & (N - 1), n = (random >> 19 & 31) * (API_POOL_LEAST / 3) + 1;
		if (blocks[i].bytes)
			assert_true(blocks[i].bytes[0] == seed && blocks[i].bytes[blocks[i].n - 1] == seed);
		if (random & 0x8000000) {
			api_pool_give(pool, blocks[i].bytes, blocks[i].n);
			blocks[i].bytes = api_pool_take(pool, n);
		} else {
			blocks[i].bytes = api_pool_resize(pool, blocks[i].bytes, blocks[i].bytes ? blocks[i].n : 0, n);
		}
		blocks[i].n = n;
		blocks[i].bytes[0] = blocks[i].bytes[n - 1] = (char)seed;
		if (round % 50 == 0)
			api_pool_trim(pool, 0);
	}
	for (int i = 0; i < N; i++)
		api_pool_give(pool, blocks[i].bytes, blocks[i].n);
	return NULL;
}

static void test_threads(void **pool)
{
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, *pool), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(api_pool_counts(*pool).used_bytes, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sizes),
		TEST(test_resize),
		cmocka_unit_test(test_budget),
		TEST(test_arena),
		TEST(test_threads),
#if !API_POOL_EMULATED
		TEST(test_reuse),
		TEST(test_a_generous_size_takes_only_address_space),
		TEST(test_growth_moves_pages),
		TEST(test_a_failed_move_leaves_others_alone),
		TEST(test_growth_to_huge_pages),
		TEST(test_block_bytes),
		TEST(test_ceiling),
		cmocka_unit_test(test_number_of_idle_blocks),
		cmocka_unit_test(test_shrinking_gives_back),
		TEST(test_trim),
		cmocka_unit_test(test_replacement),
		cmocka_unit_test(test_steps),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
