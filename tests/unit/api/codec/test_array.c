/* Compares scans of arrays with a plain loop, with a single culprit at every place. */
#include "api/codec/array.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 67 };

static void reals(void **unused)
{
	(void)unused;
	static const struct {
		double low, fine[4], wrong[6];
	} cases[] = {
		{-DBL_MAX, {0, -DBL_MAX, DBL_MAX, -0.0}, {NAN, INFINITY, -INFINITY, -NAN, NAN, NAN}},
		{0, {0, -0.0, DBL_MAX, DBL_TRUE_MIN}, {NAN, INFINITY, -INFINITY, -DBL_TRUE_MIN, -1, -DBL_MAX}},
		{DBL_TRUE_MIN, {DBL_TRUE_MIN, 1, DBL_MAX, 1e-300}, {NAN, INFINITY, 0, -0.0, -DBL_TRUE_MIN, -1}},
	};
	for (int c = 0; c < 3; c++)
		for (size_t n = 0; n <= N; n++) {
			double x[N];
			for (size_t i = 0; i < n; i++)
				x[i] = cases[c].fine[i % 4];
			assert_true(api_reals_are_within(x, n, cases[c].low, DBL_MAX));
			for (size_t i = 0; i < n; i++) {
				x[i] = cases[c].wrong[(i + n) % 6];
				assert_false(api_reals_are_within(x, n, cases[c].low, DBL_MAX));
				x[i] = cases[c].fine[i % 4];
			}
		}
}

static void indices(void **unused)
{
	(void)unused;
	const int32_t wrong[] = {-1, 5, INT32_MIN, INT32_MAX};
	for (size_t n = 0; n <= N; n++) {
		int32_t v[N] = {0};
		for (size_t i = 0; i < n; i++)
			v[i] = (int32_t)(i % 5);
		assert_true(api_indices_are_below(v, n, 5));
		for (size_t i = 0; i < n; i++) {
			v[i] = wrong[(i + n) % 4];
			assert_false(api_indices_are_below(v, n, 5));
			v[i] = 0;
		}
	}
	assert_false(api_indices_are_below((const int32_t[]){0}, 1, 0));
}

static void distinct(void **unused)
{
	(void)unused;
	for (size_t k = 1; k <= 4; k++)
		for (size_t n = 0; n <= 17; n++) {
			int32_t v[17 * 4];
			for (size_t i = 0; i < n * k; i++)
				v[i] = (int32_t)(i % k);
			assert_true(api_rows_are_distinct(v, n, k));
			for (size_t i = 0; i < n; i++)
				for (size_t a = 0; a < k; a++)
					for (size_t b = 0; b < a; b++) {
						v[i * k + a] = v[i * k + b];
						assert_false(api_rows_are_distinct(v, n, k));
						v[i * k + a] = (int32_t)a;
					}
		}
}

/* Every dtype as doubles and as indices, at the limits of its range. */
static void conversions(void **unused)
{
	(void)unused;
	const double f64[] = {0, 3, -0.0, 1e300}, g64[] = {0, 3, -0.0, 2147483646};
	const float f32[] = {0, 0.1f, -1e-45f, INFINITY};
	const int32_t i32[] = {0, 3, INT32_MIN, INT32_MAX};
	const uint32_t u32[] = {0, 3, 1u << 31, UINT32_MAX};
	const int64_t i64[] = {0, 3, INT64_MIN, INT64_MAX};
	const struct api_array arrays[] = {
		{.dtype = API_F64, .n = 4, .data = f64}, {.dtype = API_F32, .n = 4, .data = f32},
		{.dtype = API_I32, .n = 4, .data = i32}, {.dtype = API_U32, .n = 4, .data = u32},
		{.dtype = API_I64, .n = 4, .data = i64},
	};
	double out[4];
	int32_t index[4];
	for (int a = 0; a < 5; a++) {
		api_array_to_reals(&arrays[a], out);
		for (int i = 0; i < 4; i++) {
			const double expected[] = {f64[i], (double)f32[i], i32[i], u32[i], (double)i64[i]};
			assert_memory_equal(&out[i], &expected[a], sizeof(double));
		}
		assert_false(api_array_to_indices(&arrays[a], INT32_MAX, index));
	}
	const struct api_array text = {.dtype = API_F64, .n = 4, .data = g64};
	assert_true(api_array_to_indices(&text, INT32_MAX, index) && index[3] == 2147483646 && index[2] == 0);
	assert_false(api_array_to_indices(&text, INT32_MAX - 1, index));
	for (int a = 2; a < 5; a++) {
		struct api_array two = arrays[a];
		two.n = 2;
		assert_true(api_array_to_indices(&two, 4, index) && index[0] == 0 && index[1] == 3);
		assert_false(api_array_to_indices(&two, 3, index));
	}
	/* A number that would be small if its high bits were lost. */
	const int64_t high[] = {1, 1LL << 32};
	const struct api_array wide = {.dtype = API_I64, .n = 2, .data = high};
	assert_false(api_array_to_indices(&wide, 100, index));
	const uint32_t sign[] = {1, 1u << 31};
	const struct api_array sign_bit = {.dtype = API_U32, .n = 2, .data = sign};
	assert_false(api_array_to_indices(&sign_bit, 100, index));
}

static void finds_what_is_not_finite(void **unused)
{
	(void)unused;
	static const double fine[] = {0, -0.0, 5e-324, -DBL_MAX, DBL_MAX, 1}, bad[] = {INFINITY, -INFINITY, NAN, -NAN};
	double x[67];
	for (size_t n = 0; n <= 67; n++)
		for (size_t i = 0; i < n; i++) {
			for (size_t j = 0; j < n; j++)
				x[j] = fine[j % 6];
			assert_true(api_reals_are_finite(x, n));
			for (size_t b = 0; b < 4; b++) {
				x[i] = bad[b];
				assert_false(api_reals_are_finite(x, n));
			}
		}
	assert_true(api_reals_are_finite(x, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reals),
		cmocka_unit_test(indices),
		cmocka_unit_test(distinct),
		cmocka_unit_test(conversions),
		cmocka_unit_test(finds_what_is_not_finite),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
