/* Memory of trees: nodes lie side by side, freed places are reused, and a stopped request gets none. */
#include "api/base/json_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/base/account.h"
#include "api/base/pool.h"

enum { NODE = 48, LONG = 4096, MOST = 64 << 20 };

static struct api_json_memory trees;

static void nodes_do_not_overlap(void **unused)
{
	(void)unused;
	enum { N = 3000 };
	static unsigned char *nodes[N];
	struct api_pool *pool = api_pool_create(MOST, NULL);
	api_json_memory_open(&trees, pool);
	for (int i = 0; i < N; i++) {
		nodes[i] = api_json_memory_take((size_t)(i % 300));
		assert_non_null(nodes[i]);
		assert_int_equal((uintptr_t)nodes[i] % API_JSON_MEMORY_STEP, 0);
		memset(nodes[i], i % 251, (size_t)(i % 300));
	}
	for (int i = 0; i < N; i++) {
		for (int k = 0; k < i % 300; k++)
			assert_int_equal(nodes[i][k], i % 251);
		api_json_memory_give(nodes[i]);
	}
	api_json_memory_close(&trees);
	assert_int_equal(api_pool_counts(pool).used_bytes, 0);
	api_pool_free(pool);
}

static void places_are_taken_again(void **unused)
{
	(void)unused;
	if (API_POOL_EMULATED)
		skip();
	api_json_memory_open(&trees, NULL);
	void *first = api_json_memory_take(NODE), *second = api_json_memory_take(NODE);
	api_json_memory_give(first);
	api_json_memory_give(second);
	assert_ptr_not_equal(api_json_memory_take(2 * NODE), second);
	assert_ptr_equal(api_json_memory_take(NODE), second);
	assert_ptr_equal(api_json_memory_take(NODE), first);
	assert_ptr_not_equal(api_json_memory_take(NODE), first);
	api_json_memory_close(&trees);
}

static void a_pause_takes_nothing_from_the_request(void **unused)
{
	(void)unused;
	struct api_pool *pool = api_pool_create(MOST, NULL);
	struct api_json_memory *paused;
	void *before, *meanwhile;
	api_json_memory_open(&trees, pool);
	before = api_json_memory_take(NODE);
	const size_t used = api_pool_counts(pool).used_bytes;
	paused = api_json_memory_pause();
	assert_ptr_equal(paused, &trees);
	meanwhile = api_json_memory_take(LONG);
	assert_int_equal(api_pool_counts(pool).used_bytes, used);
	api_json_memory_give(before);
	api_json_memory_resume(paused);
	api_json_memory_give(api_json_memory_take(NODE));
	api_json_memory_close(&trees);
	memset(meanwhile, 1, LONG);
	api_json_memory_give(meanwhile);
	assert_int_equal(api_pool_counts(pool).used_bytes, 0);
	api_pool_free(pool);
}

/* A stopped request may use memory that it has already, but gets no more. */
static void nothing_more_once_stopped(void **unused)
{
	(void)unused;
	struct api_pool *pool = api_pool_create(MOST, NULL);
	atomic_bool stop = false;
	struct api_account account;
	api_account_open(&account, NULL, &stop, 0);
	api_json_memory_open(&trees, pool);
	void *node = api_json_memory_take(LONG);
	assert_non_null(node);
	api_json_memory_give(node);
	stop = true;
	assert_null(api_json_memory_take(LONG));
	int n = 0;
	while (!API_POOL_EMULATED && n < API_JSON_MEMORY_FIRST && api_json_memory_take(NODE))
		n++;
	assert_true(n <= API_JSON_MEMORY_FIRST / NODE);
	stop = false;
	assert_true(API_POOL_EMULATED || api_json_memory_take(NODE));
	api_json_memory_close(&trees);
	api_account_close(&account);
	assert_int_equal(api_pool_counts(pool).used_bytes, 0);
	api_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_do_not_overlap),
		cmocka_unit_test(places_are_taken_again),
		cmocka_unit_test(a_pause_takes_nothing_from_the_request),
		cmocka_unit_test(nothing_more_once_stopped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
