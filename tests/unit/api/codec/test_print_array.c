/* Compares arrays printed at once, and by several threads, with the same numbers printed one by one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/codec/print_array.h"
#include "api/codec/document_write.h"
#include "tests/share.h"

static uint64_t state = 88172645463325252u;

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static size_t size_of(enum api_dtype dtype)
{
	return api_dtype_bytes(dtype);
}

/* Numbers of all lengths; with longest set, each as long as possible. */
static void *numbers(enum api_dtype dtype, size_t n, bool longest)
{
	char *data = malloc(n * size_of(dtype) + 1);
	for (size_t i = 0; i < n; i++) {
		const double real = longest ? -2.2250738585072014e-308
		                            : (double)(int64_t)random_bits() / (double)(1 + i % 7 * 1000);
		const float single = longest ? -1.17549435e-38f : (float)real;
		const int64_t integer = longest ? INT64_MIN : (int64_t)random_bits() >> i % 64;
		const int32_t narrow = longest ? INT32_MIN : (int32_t)integer;
		const void *from = dtype == API_F64   ? (const void *)&real
		                   : dtype == API_F32 ? (const void *)&single
		                   : dtype == API_I64 ? (const void *)&integer
		                                      : (const void *)&narrow;
		memcpy(data + i * size_of(dtype), from, size_of(dtype));
	}
	return data;
}

static struct api_array array_of(enum api_dtype dtype, int rank, const size_t shape[], bool longest)
{
	struct api_array array = {.dtype = dtype, .rank = rank, .n = 1};
	for (int i = 0; i < rank; i++)
		array.n *= array.shape[i] = shape[i];
	array.data = numbers(dtype, array.n, longest);
	return array;
}

static struct api_buffer write(const struct api_array *array, int n_threads, size_t max_bytes)
{
	struct api_document d = {
		.root = json_integer(0), .arrays = (struct api_array *)(uintptr_t)array, .n_arrays = 1, .n_threads = n_threads};
	struct api_buffer text = {0};
	assert_int_equal(api_document_write_json(&d, max_bytes, &text), API_WRITTEN);
	json_decref(d.root);
	return text;
}

/* The limit is between the length of the text and the longest possible one, so each number is checked. */
static void check(const struct api_array *array)
{
	static const int threads[] = {1, 2, 3, 8};
	struct api_buffer whole = write(array, 0, SIZE_MAX), single = write(array, 8, whole.bytes);
	assert_true(whole.bytes <= api_print_array_bound(array));
	assert_int_equal(single.bytes, whole.bytes);
	assert_memory_equal(single.data, whole.data, whole.bytes);
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		struct api_buffer text = write(array, threads[i], SIZE_MAX);
		assert_int_equal(text.bytes, whole.bytes);
		assert_memory_equal(text.data, whole.data, whole.bytes);
		api_buffer_free(&text);
	}
	api_buffer_free(&whole);
	api_buffer_free(&single);
}

static const struct {
	int rank;
	size_t shape[API_MAX_RANK];
} shapes[] = {
	{1, {1}},
	{1, {100}},
	{1, {16383}},
	{1, {16384}},
	{1, {100001}},
	{2, {1, 1}},
	{2, {30000, 1}},
	{2, {33334, 3}},
	{2, {1, 40000}},
	{2, {7, 9999}},
	{3, {20011, 3, 2}},
	{3, {9001, 1, 2}},
	{3, {2, 2, 5000}},
	{3, {1, 1, 1}},
	{4, {5003, 1, 2, 2}},
	{4, {20000, 1, 1, 1}},
	{4, {3, 1, 8001, 2}},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]), N_TYPES = API_I64 + 1 };

static void all_shapes_and_types(void **unused)
{
	(void)unused;
	for (int k = 0; k < N_TYPES * N_SHAPES; k += step_sanitized(5)) { /* 5 meets every shape and type */
		const int i = k % N_SHAPES;
		const struct api_array array = array_of((enum api_dtype)(k / N_SHAPES), shapes[i].rank, shapes[i].shape, false);
		check(&array);
		free((void *)(uintptr_t)array.data);
	}
}

/* Prints into exactly as many bytes as the bound promises. */
static void the_longest_numbers_fit(void **unused)
{
	(void)unused;
	for (int k = 0; k < N_TYPES * N_SHAPES; k += step_sanitized(5)) { /* 5 meets every shape and type */
		const int i = k % N_SHAPES;
		const struct api_array array = array_of((enum api_dtype)(k / N_SHAPES), shapes[i].rank, shapes[i].shape, true);
		const size_t bound = api_print_array_bound(&array);
		char *text = malloc(bound);
		assert_in_range(api_print_array(&array, 3, NULL, text), 1, bound);
		free(text);
		free((void *)(uintptr_t)array.data);
	}
}

/* One infinite number at the end of many, both when printing and when only checking. */
static void infinite_numbers_are_refused(void **unused)
{
	(void)unused;
	static const double kinds[] = {INFINITY, -INFINITY, NAN};
	for (int k = 0; k < 6; k++) {
		const size_t shape[] = {70001};
		const struct api_array array = array_of(k % 2 ? API_F32 : API_F64, 1, shape, false);
		char *text = malloc(api_print_array_bound(&array));
		assert_true(api_array_is_finite(&array, 1) && api_print_array(&array, 1, NULL, text));
		void *last = (char *)(uintptr_t)array.data + 70000 * size_of(array.dtype);
		const float single = (float)kinds[k / 2];
		memcpy(last, k % 2 ? (const void *)&single : (const void *)&kinds[k / 2], size_of(array.dtype));
		assert_false(api_array_is_finite(&array, 1) || api_array_is_finite(&array, 3));
		assert_false(api_print_array(&array, 1, NULL, text) || api_print_array(&array, 3, NULL, text));
		free(text);
		free((void *)(uintptr_t)array.data);
	}
}

static void pooled_places_go_back(void **unused)
{
	(void)unused;
	struct api_pool *pool = api_pool_create(SIZE_MAX / 2, NULL);
	const size_t shape[] = {50000};
	const struct api_array array = array_of(API_F64, 1, shape, false);
	char *text = malloc(api_print_array_bound(&array));
	assert_true(api_print_array(&array, 2, pool, text));
	assert_true(api_print_array(&array, 2, pool, text));
	const struct api_pool_counts counts = api_pool_counts(pool);
	assert_int_equal(counts.used_bytes, 0);
	assert_int_equal(counts.n_fresh, API_POOL_EMULATED ? 0 : 1);
	free(text);
	free((void *)(uintptr_t)array.data);
	api_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_shapes_and_types),
		cmocka_unit_test(the_longest_numbers_fit),
		cmocka_unit_test(infinite_numbers_are_refused),
		cmocka_unit_test(pooled_places_go_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
