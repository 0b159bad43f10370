/* State shared by all exchanges: pools, sets and their limits, and the gauges, compared with the test's own counts. */
#include "server/exchange/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/settings/read.h"

enum { LARGE = 1 << 20 };

static struct srv_options options;
static struct srv_gate gate;
static struct srv_server server;

static void on_idle(void)
{
}

static int open_service(void **state)
{
	static char *const argv[] = {"frictiond",
	                             "--threads=1",
	                             "--memory-bytes=512M",
	                             "--pool-bytes=64M",
	                             "--set-bytes=8M",
	                             "--sets=3",
	                             "--set-bytes-per-caller=4M",
	                             "--idle-seconds=600",
	                             NULL};
	(void)state;
	server = (struct srv_server){.on_idle = on_idle};
	return srv_options_read(sizeof argv / sizeof argv[0] - 1, argv, &options, stdout, stderr) == SRV_START &&
	               srv_gate_open(&gate, &options.gate, stderr) && srv_server_open(&server, &options, &gate) &&
	               srv_server_start(&server, &options)
	           ? 0
	           : -1;
}

static int close_service(void **state)
{
	(void)state;
	srv_server_stop(&server);
	srv_server_close(&server);
	srv_gate_close(&gate);
	srv_options_free(&options);
	return 0;
}

/* Returned blocks stay in the pool, except under AddressSanitizer. */
static void test_idle_memory_of_both_pools(void **state)
{
	struct api_pool *const pools[] = {server.pool, server.body_pool};
	(void)state;
	for (int i = 0; i < 2 && !API_POOL_EMULATED; i++) {
		const uint64_t before = srv_server_gauges(&server).memory_pool_bytes;
		api_pool_give(pools[i], api_pool_take(pools[i], LARGE), LARGE);
		assert_int_equal(srv_server_gauges(&server).memory_pool_bytes, before + LARGE);
	}
}

/* Bodies are counted separately (body.h), not through their pool. */
static void test_memory_of_requests(void **state)
{
	(void)state;
	const uint64_t before = srv_server_gauges(&server).memory_requests_bytes;
	void *body = api_pool_take(server.body_pool, LARGE);
	assert_int_equal(srv_server_gauges(&server).memory_requests_bytes, before);
	void *block = api_pool_take(server.pool, LARGE);
	assert_int_equal(srv_server_gauges(&server).memory_requests_bytes, before + LARGE);
	api_pool_give(server.pool, block, LARGE);
	api_pool_give(server.body_pool, body, LARGE);
	assert_int_equal(srv_server_gauges(&server).memory_requests_bytes, before);
}

static void test_limits(void **state)
{
	const struct api_sets_limits *limits = api_sets_limits(server.sets);
	const struct srv_gauges gauges = srv_server_gauges(&server);
	(void)state;
	assert_int_equal(limits->bytes, 8 << 20);
	assert_int_equal(limits->bytes_per_caller, 4 << 20);
	assert_int_equal(limits->n, 3);
	assert_int_equal(limits->idle_seconds, 900);
	assert_int_equal(gauges.sets_limit, 3);
	assert_int_equal(gauges.sets_limit_bytes, 8 << 20);
	assert_int_equal(gauges.memory_limit_bytes, 512 << 20);
	assert_ptr_equal(server.small.sets, server.sets);
	assert_ptr_equal(server.large.sets, server.sets);
}

static void free_kept(struct api_kept *kept)
{
	free(kept);
}

/* A set counts as memory of requests and of sets. */
static void test_a_set(void **state)
{
	struct api_kept *kept = calloc(1, sizeof *kept);
	(void)state;
	kept->free = free_kept;
	kept->bytes = 1000;
	const struct srv_gauges before = srv_server_gauges(&server);
	assert_int_equal(api_sets_put(server.sets, NULL, "a", kept, NULL), API_PUT_CREATED);
	const struct srv_gauges with = srv_server_gauges(&server);
	assert_int_equal(with.sets.n, 1);
	assert_int_equal(with.sets.n_created, before.sets.n_created + 1);
	assert_true(with.sets.bytes > 1000 && with.sets.bytes == kept->bytes);
	assert_true(with.memory_requests_bytes > before.memory_requests_bytes);
	assert_true(api_sets_remove(server.sets, NULL, "a", kept));
	api_kept_release(kept);
	const struct srv_gauges after = srv_server_gauges(&server);
	assert_int_equal(after.sets.n + after.sets.bytes, 0);
	assert_int_equal(after.sets.n_removed, before.sets.n_removed + 1);
	assert_int_equal(after.memory_requests_bytes, before.memory_requests_bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_memory_of_both_pools),
		cmocka_unit_test(test_memory_of_requests),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_a_set),
	};
	return cmocka_run_group_tests_name("server", tests, open_service, close_service);
}
