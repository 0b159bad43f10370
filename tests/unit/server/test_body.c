#include "server/body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MEMORY = 4 << 20, PART = 1000 };

static struct api_pool *pool;

static int start(void **state)
{
	*state = srv_admission_start(1, MEMORY, NULL);
	pool = api_pool_create(MEMORY, NULL);
	return *state && pool ? 0 : -1;
}

static int stop(void **state)
{
	/* Everything was given back. */
	int result = srv_admission_hold(*state, MEMORY) ? 0 : -1;
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

/* Appends until n bytes are there or a part is refused. */
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
	}
	return SRV_APPENDED;
}

static void holds(const struct srv_body *body, size_t n)
{
	assert_int_equal(body->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(body->bytes[i], byte_at(i));
}

static void test_lengths(void **state)
{
	const size_t lengths[] = {1, PART, 4096, 65535, 65536, 65537, 1 << 20, (1 << 20) + 1, 3 << 20};
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		const long long announced[] = {-1, (long long)lengths[i]};
		for (int j = 0; j < 4; j++) {
			struct srv_body body = {.pool = j / 2 ? pool : NULL};
			assert_int_equal(fill(&body, *state, lengths[i], announced[j % 2], MEMORY), SRV_APPENDED);
			holds(&body, lengths[i]);
			assert_true(body.held <= body.capacity && body.held < 2 * lengths[i]);
			assert_true(body.held >= (lengths[i] > SRV_SMALL_BODY ? lengths[i] : 0));
			if (announced[j % 2] >= 0)
				assert_int_equal(body.capacity, lengths[i]);
			srv_body_free(&body, *state);
		}
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

static void test_promises_take_no_memory(void **state)
{
	const long before = resident_pages();
	for (int i = 0; i < 2; i++) {
		struct srv_body body = {.pool = i ? pool : NULL};
		assert_int_equal(srv_body_append(&body, *state, "x", 1, 1LL << 30, (size_t)1 << 31), SRV_APPENDED);
		assert_int_equal(body.held, 0);
		assert_true(resident_pages() - before < 4096);
		srv_body_free(&body, *state);
	}
}

static void test_memory(void **state)
{
	struct srv_body first = {.pool = pool}, second = {.pool = pool};
	assert_int_equal(fill(&first, *state, 3 << 20, 3 << 20, MEMORY), SRV_APPENDED);
	assert_int_equal(fill(&second, *state, 2 << 20, -1, MEMORY), SRV_NO_MEMORY);
	holds(&second, second.n);
	assert_true(second.n > SRV_SMALL_BODY);
	srv_body_free(&first, *state);
	assert_int_equal(fill(&second, *state, 2 << 20, -1, MEMORY), SRV_APPENDED);
	holds(&second, 2 << 20);
	srv_body_free(&second, *state);
	assert_null(second.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lengths, start, stop),
		cmocka_unit_test_setup_teardown(test_limit, start, stop),
		cmocka_unit_test_setup_teardown(test_promises_take_no_memory, start, stop),
		cmocka_unit_test_setup_teardown(test_memory, start, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
