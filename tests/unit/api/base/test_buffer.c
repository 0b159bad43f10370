#include "api/base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Appends byte by byte, up to various limits: room grows in steps, never beyond the limit, and the last byte fits. */
static void grows_to_its_limit(void **unused)
{
	static const size_t limits[] = {0, 1, 100, 255, 256, 257, 300, 511, 512, 513, 1000, 5000};
	(void)unused;
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		struct api_buffer buffer = {.limit = limits[i]};
		size_t steps = 0, capacity = 0;
		for (size_t n = 0; n < limits[i]; n++) {
			const char byte = (char)n;
			assert_true(api_buffer_append(&buffer, &byte, 1));
			assert_true(buffer.bytes == n + 1 && buffer.capacity >= buffer.bytes && buffer.capacity <= limits[i]);
			steps += buffer.capacity != capacity;
			capacity = buffer.capacity;
		}
		assert_false(api_buffer_append(&buffer, "x", 1));
		assert_false(api_buffer_reserve(&buffer, 1));
		assert_true(steps < 12);
		assert_int_equal(buffer.bytes, limits[i]);
		for (size_t n = 0; n < limits[i]; n++)
			assert_true(buffer.data[n] == (char)n);
		api_buffer_free(&buffer);
		assert_true(!buffer.data && !buffer.bytes && !buffer.capacity && buffer.limit == limits[i]);
	}
}

/* A failed reservation leaves the buffer unchanged. */
static void refuses_what_does_not_fit(void **unused)
{
	struct api_buffer buffer = {.limit = 1000};
	(void)unused;
	assert_true(api_buffer_append(&buffer, "abc", 3));
	assert_false(api_buffer_reserve(&buffer, 998));
	assert_false(api_buffer_reserve(&buffer, SIZE_MAX));
	assert_memory_equal(buffer.data, "abc", 3);
	assert_int_equal(buffer.bytes, 3);
	assert_true(api_buffer_reserve(&buffer, 997));
	assert_int_equal(buffer.capacity, 1000);
	assert_memory_equal(buffer.data, "abc", 3);
	api_buffer_free(&buffer);
}

/* A large buffer is counted as at most one and a half times its contents; a small one is left alone. */
static void is_trimmed(void **unused)
{
	(void)unused;
	struct api_budget budget = {.most_bytes = 64 << 20};
	struct api_pool *pool = api_pool_create(64 << 20, &budget);
	struct api_buffer buffer = {.limit = 32 << 20, .pool = pool};
	char *text = malloc(1 << 20);
	memset(text, 'x', 1 << 20);
	assert_true(api_buffer_reserve(&buffer, 16 << 20));
	assert_true(api_buffer_append(&buffer, text, 1 << 20));
	api_buffer_trim(&buffer);
	assert_int_equal(buffer.bytes, 1 << 20);
	assert_int_equal(buffer.capacity, (1 << 20) + 1);
	assert_memory_equal(buffer.data, text, 1 << 20);
	assert_in_range(atomic_load(&budget.used_bytes), 1 << 20, 3 << 19);
	api_buffer_trim(&buffer);
	assert_int_equal(buffer.capacity, (1 << 20) + 1);
	api_buffer_free(&buffer);
	assert_int_equal(atomic_load(&budget.used_bytes), 0);
	assert_true(api_buffer_append(&buffer, text, 10));
	const size_t capacity = buffer.capacity;
	api_buffer_trim(&buffer);
	assert_int_equal(buffer.capacity, capacity);
	api_buffer_free(&buffer);
	api_pool_free(pool);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_to_its_limit),
		cmocka_unit_test(refuses_what_does_not_fit),
		cmocka_unit_test(is_trimmed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
