#include "server/exchange/body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

enum { MB = 1 << 20, MEMORY = 20 * MB, QUEUE = 4 * MB, PART = 1000 };

static struct api_pool *pool;
static struct api_budget budget;

static int start(void **state)
{
	budget.most_bytes = MEMORY;
	*state = srv_admission_start(1, QUEUE, &budget);
	pool = api_pool_create(MEMORY, NULL);
	return *state && pool ? 0 : -1;
}

/* Fails unless all memory has been returned. */
static int stop(void **state)
{
	int result = atomic_load(&budget.used_bytes) || srv_admission_counts(*state).held_bytes ? -1 : 0;
	srv_admission_stop(*state);
	srv_admission_free(*state);
	result |= api_pool_counts(pool).used_bytes ? -1 : 0;
	api_pool_free(pool);
	return result;
}

static char byte_at(size_t i)
{
	return (char)(i * 2654435761u >> 7);
}

/* Appends until the body has n bytes or a piece is refused. */
static enum srv_append fill(struct srv_body *body, struct srv_admission *admission, size_t n, long long announced,
                            size_t limit)
{
	while (body->n < n) {
		char part[PART];
		size_t length = n - body->n < PART ? n - body->n : PART;
		for (size_t i = 0; i < length; i++)
			part[i] = byte_at(body->n + i);
		enum srv_append result = srv_body_append(body, admission, part, length, announced, limit);
		if (result != SRV_APPENDED)
			return result;
		assert_true(body->n <= body->capacity && body->capacity <= limit);
		assert_true(body->capacity <= 4 * body->n + 3 || body->capacity < 4 * SRV_FIRST_BYTES + 4);
	}
	return SRV_APPENDED;
}

static void holds(const struct srv_body *body, size_t n)
{
	assert_int_equal(body->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(body->bytes[i], byte_at(i));
}

static void counts(struct srv_admission *admission, const struct srv_body *body)
{
	assert_int_equal(atomic_load(&budget.used_bytes), api_pool_block_bytes(body->pool, body->capacity));
	assert_int_equal(srv_admission_counts(admission).held_bytes, body->capacity > SRV_SMALL_BODY ? body->capacity : 0);
}

static void test_lengths(void **state)
{
	const size_t lengths[] = {1, PART, 4096, 65535, 65536, 65537, 200001, MB, MB + 1, 3 * MB, QUEUE};
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		const long long announced[] = {-1, (long long)lengths[i]};
		for (int j = 0; j < 4; j++) {
			struct srv_body body = {.pool = j / 2 ? pool : NULL};
			assert_int_equal(fill(&body, *state, lengths[i], announced[j % 2], QUEUE), SRV_APPENDED);
			holds(&body, lengths[i]);
			if (announced[j % 2] >= 0)
				assert_int_equal(body.capacity, lengths[i]);
			counts(*state, &body);
			srv_body_free(&body, *state);
			assert_int_equal(atomic_load(&budget.used_bytes), 0);
		}
	}
}

/* The whole capacity counts, whatever was announced and has arrived. */
static void test_the_whole_capacity_counts(void **state)
{
	const size_t lengths[] = {100, 60000, 100000, 300000, 3 * MB + 7, QUEUE};
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
		for (size_t n = 1; n <= lengths[i]; n = n * 3 + 1) {
			struct srv_body body = {.pool = pool};
			assert_int_equal(fill(&body, *state, n, (long long)lengths[i], QUEUE), SRV_APPENDED);
			counts(*state, &body);
			srv_body_free(&body, *state);
		}
}

static void test_limit(void **state)
{
	struct srv_body body = {0};
	assert_int_equal(fill(&body, *state, 5000, -1, 5000), SRV_APPENDED);
	assert_int_equal(srv_body_append(&body, *state, "x", 1, -1, 5000), SRV_OVER_LIMIT);
	holds(&body, 5000);
	srv_body_free(&body, *state);
	assert_int_equal(srv_body_append(&body, *state, "x", 1, -1, 0), SRV_OVER_LIMIT);
	srv_body_free(&body, *state);
}

static long resident_pages(void)
{
	long size, resident;
	FILE *file = fopen("/proc/self/statm", "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
	fclose(file);
	return resident;
}

/* An announced length uses neither memory nor budget. */
static void test_announced_lengths_take_no_memory(void **state)
{
	const long before = resident_pages();
	for (int i = 0; i < 2; i++) {
		struct srv_body body = {.pool = i ? pool : NULL};
		assert_int_equal(srv_body_append(&body, *state, "x", 1, 1LL << 30, (size_t)1 << 31), SRV_APPENDED);
		assert_true(atomic_load(&budget.used_bytes) <= 4 * SRV_FIRST_BYTES);
		assert_true(resident_pages() - before < 4096);
		srv_body_free(&body, *state);
	}
}

/* Recycled memory is fully resident, so it is not allocated for an announced length alone. */
static void test_warm_memory_is_not_handed_out_for_promises(void **state)
{
	enum { N = 4 };
	struct srv_body bodies[N] = {{NULL, NULL, 0, 0}};
	for (int i = 0; i < N; i++) {
		bodies[i].pool = pool;
		assert_int_equal(fill(&bodies[i], *state, MB, MB, MB), SRV_APPENDED);
	}
	for (int i = 0; i < N; i++)
		srv_body_free(&bodies[i], *state);
	const size_t idle = api_pool_counts(pool).idle_bytes;
	for (int i = 0; i < N; i++)
		assert_int_equal(srv_body_append(&bodies[i], *state, "x", 1, MB, MB), SRV_APPENDED);
	assert_int_equal(api_pool_counts(pool).idle_bytes, idle);
	assert_true(atomic_load(&budget.used_bytes) <= N * 4 * SRV_FIRST_BYTES);
	for (int i = 0; i < N; i++)
		srv_body_free(&bodies[i], *state);
}

/* The limit on bodies in the queue. */
static void test_bytes_of_large_bodies(void **state)
{
	struct srv_body first = {.pool = pool}, second = {.pool = pool}, small = {.pool = pool};
	assert_int_equal(fill(&first, *state, 3 * MB, 3 * MB, QUEUE), SRV_APPENDED);
	assert_int_equal(fill(&second, *state, 2 * MB, -1, QUEUE), SRV_NO_MEMORY);
	holds(&second, second.n);
	assert_true(second.n > SRV_SMALL_BODY);
	assert_int_equal(fill(&small, *state, SRV_SMALL_BODY, SRV_SMALL_BODY, QUEUE), SRV_APPENDED);
	srv_body_free(&first, *state);
	assert_int_equal(fill(&second, *state, 2 * MB, -1, QUEUE), SRV_APPENDED);
	holds(&second, 2 * MB);
	srv_body_free(&second, *state);
	srv_body_free(&small, *state);
	assert_null(second.bytes);
}

/* Memory that the system refuses does not remain counted. */
static void test_no_memory_of_the_system(void **state)
{
	struct srv_body body = {.pool = pool};
	struct rlimit limit, none;
	if (API_POOL_EMULATED)
		skip();
	assert_int_equal(fill(&body, *state, 2 * PART, 3 * MB, QUEUE), SRV_APPENDED);
	getrlimit(RLIMIT_AS, &limit);
	none = limit;
	none.rlim_cur = 1;
	setrlimit(RLIMIT_AS, &none);
	const enum srv_append result = fill(&body, *state, 3 * MB, 3 * MB, QUEUE);
	setrlimit(RLIMIT_AS, &limit);
	assert_int_equal(result, SRV_NO_MEMORY);
	holds(&body, body.n);
	assert_int_equal(atomic_load(&budget.used_bytes), api_pool_block_bytes(pool, body.capacity));
	srv_body_free(&body, *state);
	assert_int_equal(atomic_load(&budget.used_bytes), 0);
}

/* The limit of all requests, which includes small bodies. */
static void test_memory_of_all(void **state)
{
	struct srv_body body = {.pool = pool};
	assert_true(api_budget_take(&budget, MEMORY - 30000));
	assert_int_equal(fill(&body, *state, 40000, 40000, QUEUE), SRV_NO_MEMORY);
	assert_true(body.n >= 9000 && body.n <= 30000);
	holds(&body, body.n);
	api_budget_give(&budget, MEMORY - 30000);
	assert_int_equal(fill(&body, *state, 40000, 40000, QUEUE), SRV_APPENDED);
	holds(&body, 40000);
	srv_body_free(&body, *state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lengths, start, stop),
		cmocka_unit_test_setup_teardown(test_limit, start, stop),
		cmocka_unit_test_setup_teardown(test_announced_lengths_take_no_memory, start, stop),
		cmocka_unit_test_setup_teardown(test_the_whole_capacity_counts, start, stop),
		cmocka_unit_test_setup_teardown(test_no_memory_of_the_system, start, stop),
		cmocka_unit_test_setup_teardown(test_warm_memory_is_not_handed_out_for_promises, start, stop),
		cmocka_unit_test_setup_teardown(test_bytes_of_large_bodies, start, stop),
		cmocka_unit_test_setup_teardown(test_memory_of_all, start, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
