/* Returning idle memory from each pool, and expiring idle sets. */
#include "server/work/trimmer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { MB = 1 << 20 };

static void idle_memory_of_each_pool_goes_back(void **unused)
{
	(void)unused;
	struct api_pool *pools[SRV_TRIMMED_POOLS];
	for (int i = 0; i < SRV_TRIMMED_POOLS; i++) {
		pools[i] = api_pool_create(64 * MB, NULL);
		void *block = api_pool_take(pools[i], MB);
		assert_non_null(block);
		api_pool_give(pools[i], block, MB);
		assert_true(API_POOL_EMULATED || api_pool_counts(pools[i]).idle_bytes >= MB);
	}
	struct srv_trimmer *trimmer = srv_trimmer_start(pools, NULL, 0);
	assert_non_null(trimmer);
	for (int i = 0; i < SRV_TRIMMED_POOLS; i++)
		while (api_pool_counts(pools[i]).idle_bytes > 0)
			usleep(1000);
	srv_trimmer_stop(trimmer);
	for (int i = 0; i < SRV_TRIMMED_POOLS; i++)
		api_pool_free(pools[i]);
}

static _Atomic int64_t clock_ms;

static int64_t now_ms(void)
{
	return clock_ms;
}

static void forget(struct api_kept *kept)
{
	free(kept);
}

static void idle_sets_are_forgotten(void **unused)
{
	(void)unused;
	const struct api_sets_limits limits = {
		.bytes = MB, .bytes_per_caller = MB, .n = 1, .n_per_caller = 1, .idle_seconds = 9};
	struct api_pool *pools[SRV_TRIMMED_POOLS] = {NULL};
	for (int i = 0; i < SRV_TRIMMED_POOLS; i++)
		pools[i] = api_pool_create(MB, NULL);
	struct api_sets *sets = api_sets_create(&limits, now_ms);
	struct api_kept *kept = calloc(1, sizeof *kept);
	kept->free = forget;
	assert_int_equal(api_sets_put(sets, NULL, "a", kept, NULL), API_PUT_CREATED);
	api_kept_release(kept);
	struct srv_trimmer *trimmer = srv_trimmer_start(pools, sets, 0);
	assert_non_null(trimmer);
	clock_ms += 9001;
	while (api_sets_counts(sets).n > 0)
		usleep(1000);
	srv_trimmer_stop(trimmer);
	api_sets_free(sets);
	for (int i = 0; i < SRV_TRIMMED_POOLS; i++)
		api_pool_free(pools[i]);
}

static void stopping_null_is_allowed(void **unused)
{
	(void)unused;
	srv_trimmer_stop(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_memory_of_each_pool_goes_back),
		cmocka_unit_test(idle_sets_are_forgotten),
		cmocka_unit_test(stopping_null_is_allowed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
