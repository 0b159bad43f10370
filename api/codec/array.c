/* "omp simd" lets the compiler vectorise these loops at any optimisation level; it starts no threads. Results are
 * combined with |, because || would be a branch. */
#include "api/codec/array.h"

#include <string.h>

#include "core/base/inline.h"

static const struct {
	const char *name;
	size_t bytes;
} dtypes[] = {
	[API_F64] = {"f64", 8}, [API_F32] = {"f32", 4}, [API_I32] = {"i32", 4},
	[API_U32] = {"u32", 4}, [API_I64] = {"i64", 8},
};

const char *api_dtype_name(enum api_dtype dtype)
{
	return dtypes[dtype].name;
}

size_t api_dtype_bytes(enum api_dtype dtype)
{
	return dtypes[dtype].bytes;
}

static uint64_t bits_of(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* ---- scans ---- */

/* Comparisons of doubles may raise flags, which keeps gcc from vectorising them. The loop therefore combines sign bits:
 * of the distances from both ends and, because a NaN may have either sign, of the exponent plus one, which carries into
 * the sign bit if all bits of the exponent are set. */
INLINE bool reals_are_within(const double *x, size_t n, double low, double high)
{
	const double minus_low = low == 0 ? 0 : -low; /* -0.0 counts as >= 0: -0.0 + 0.0 is 0.0, but -0.0 - 0.0 is -0.0 */
	uint64_t bad = 0;
#pragma omp simd reduction(| : bad)
	for (size_t i = 0; i < n; i++)
		bad |= ((bits_of(x[i]) & INT64_MAX) + (1ull << 52)) | bits_of(x[i] + minus_low) | bits_of(high - x[i]);
	return bad >> 63 == 0;
}

INLINE bool reals_are_finite(const double *x, size_t n)
{
	uint64_t bad = 0;
#pragma omp simd reduction(| : bad)
	for (size_t i = 0; i < n; i++)
		bad |= (bits_of(x[i]) & INT64_MAX) + (1ull << 52);
	return bad >> 63 == 0;
}

INLINE bool indices_are_below(const int32_t *v, size_t n, size_t limit)
{
	const int32_t end = (int32_t)limit;
	int32_t bad = 0;
#pragma omp simd reduction(| : bad)
	for (size_t i = 0; i < n; i++)
		bad |= (v[i] < 0) | (v[i] >= end);
	return !bad;
}

INLINE bool rows_are_distinct(const int32_t *v, size_t n, size_t k)
{
	int32_t bad = 0;
	if (k == 2) {
#pragma omp simd reduction(| : bad)
		for (size_t i = 0; i < n; i++)
			bad |= v[2 * i] == v[2 * i + 1];
	} else if (k == 3) {
#pragma omp simd reduction(| : bad)
		for (size_t i = 0; i < n; i++)
			bad |= (v[3 * i] == v[3 * i + 1]) | (v[3 * i] == v[3 * i + 2]) | (v[3 * i + 1] == v[3 * i + 2]);
	} else if (k == 4) {
#pragma omp simd reduction(| : bad)
		for (size_t i = 0; i < n; i++) {
			const int32_t a = v[4 * i], b = v[4 * i + 1], c = v[4 * i + 2], d = v[4 * i + 3];
			bad |= (a == b) | (a == c) | (a == d) | (b == c) | (b == d) | (c == d);
		}
	}
	return !bad;
}

/* Defines a scan. Longer vectors give the same result in half the time. */
#ifdef __x86_64__
#define SCAN(scan, parameters, arguments) \
	__attribute__((target("avx2"))) static bool scan##_avx2 parameters \
	{ \
		return scan arguments; \
	} \
	bool api_##scan parameters \
	{ \
		return __builtin_cpu_supports("avx2") ? scan##_avx2 arguments : scan arguments; \
	}
#else
#define SCAN(scan, parameters, arguments) \
	bool api_##scan parameters \
	{ \
		return scan arguments; \
	}
#endif

SCAN(reals_are_within, (const double *x, size_t n, double low, double high), (x, n, low, high))
SCAN(reals_are_finite, (const double *x, size_t n), (x, n))
SCAN(indices_are_below, (const int32_t *v, size_t n, size_t limit), (v, n, limit))
SCAN(rows_are_distinct, (const int32_t *v, size_t n, size_t k), (v, n, k))

/* ---- conversions ---- */

static void f32_to_reals(const float *in, size_t n, double *out)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		out[i] = (double)in[i];
}

static void i32_to_reals(const int32_t *in, size_t n, double *out)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		out[i] = (double)in[i];
}

static void u32_to_reals(const uint32_t *in, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (double)in[i];
}

static void i64_to_reals(const int64_t *in, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (double)in[i];
}

static void copy_reals(const double *in, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = in[i];
}

void api_array_to_reals(const struct api_array *array, double *out)
{
	switch (array->dtype) {
	case API_F64: copy_reals(array->data, array->n, out); break;
	case API_F32: f32_to_reals(array->data, array->n, out); break;
	case API_I32: i32_to_reals(array->data, array->n, out); break;
	case API_U32: u32_to_reals(array->data, array->n, out); break;
	case API_I64: i64_to_reals(array->data, array->n, out); break;
	}
}

/* Checked first, because converting a double that is out of range is undefined. */
static bool f64_to_indices(const double *in, size_t n, size_t limit, int32_t *out)
{
	if (!api_reals_are_within(in, n, 0, (double)limit - 1))
		return false;
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		out[i] = (int32_t)in[i];
	return true;
}

static bool i32_to_indices(const int32_t *in, size_t n, size_t limit, int32_t *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = in[i];
	return api_indices_are_below(in, n, limit);
}

static bool u32_to_indices(const uint32_t *in, size_t n, size_t limit, int32_t *out)
{
	uint32_t sign = 0;
	for (size_t i = 0; i < n; i++) {
		sign |= in[i];
		out[i] = (int32_t)(in[i] & INT32_MAX);
	}
	return sign >> 31 == 0 && api_indices_are_below(out, n, limit);
}

static bool i64_to_indices(const int64_t *in, size_t n, size_t limit, int32_t *out)
{
	uint64_t high = 0;
	for (size_t i = 0; i < n; i++) {
		high |= (uint64_t)in[i];
		out[i] = (int32_t)(in[i] & INT32_MAX);
	}
	return high >> 31 == 0 && api_indices_are_below(out, n, limit);
}

bool api_array_to_indices(const struct api_array *array, size_t limit, int32_t *out)
{
	switch (array->dtype) {
	case API_F32: return false;
	case API_I32: return i32_to_indices(array->data, array->n, limit, out);
	case API_U32: return u32_to_indices(array->data, array->n, limit, out);
	case API_I64: return i64_to_indices(array->data, array->n, limit, out);
	case API_F64: break;
	}
	return f64_to_indices(array->data, array->n, limit, out);
}
