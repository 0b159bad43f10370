#include "api/codec/print_array.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "api/base/account.h"
#include "api/base/pool.h"
#include "api/numbers/print_double.h"
#include "api/codec/array.h"

enum {
	CHUNK = 4096, /* numbers printed in a tenth of a millisecond; their text fits the second-level cache */
	LEAST_PARALLEL = 4 * CHUNK,
	SWEEP = 1 << 16,                   /* numbers: checking them takes some ten microseconds */
	LEAST_PARALLEL_SWEEP = 64 * SWEEP, /* numbers that exceed the caches; fewer are not worth waking threads */
};

/* The longest text of one number and its comma. */
static size_t longest(enum api_dtype dtype)
{
	static const size_t bytes[] = {
		[API_F64] = sizeof("-2.2250738585072014e-308"),
		[API_F32] = sizeof("-2.2250738585072014e-308"),
		[API_I32] = sizeof("-2147483648"),
		[API_U32] = sizeof("4294967295"),
		[API_I64] = sizeof("-9223372036854775808"),
	};
	return bytes[dtype];
}

static size_t row_length(const struct api_array *array)
{
	return array->shape[array->rank - 1];
}

static size_t span_bound(const struct api_array *array, size_t n)
{
	const size_t n_rows = n / row_length(array) + 2;
	return n * longest(array->dtype) + n_rows * 2 * (size_t)array->rank + API_NUMBER_BYTES;
}

size_t api_print_array_bound(const struct api_array *array)
{
	return span_bound(array, array->n);
}

static char *put(char *at, char c, int n)
{
	while (n-- > 0)
		*at++ = c;
	return at;
}

/* Writes the text that precedes the first number of a row. */
static char *open_row(const struct api_array *array, size_t row, char *at)
{
	if (row == 0)
		return put(at, '[', array->rank);
	int levels = 1;
	for (int level = array->rank - 2; level > 0 && row % array->shape[level] == 0; level--, levels++)
		row /= array->shape[level];
	if (array->rank == 1)
		return put(at, ',', 1);
	return put(put(put(at, ']', levels), ',', 1), '[', levels);
}

/* Writes numbers of one row. @return NULL if one is not finite */
static char *print_run(const struct api_array *array, size_t begin, size_t end, char *at)
{
#define PRINT_EACH(type, write) \
	for (size_t i = begin; i < end; i++) { \
		const size_t n = write(((const type *)array->data)[i], at); \
		if (n == 0) \
			return NULL; \
		at += n; \
		*at++ = ','; \
	} \
	break
	switch (array->dtype) {
	case API_F64: PRINT_EACH(double, api_real_write);
	case API_F32: PRINT_EACH(float, api_real_write);
	case API_I32: PRINT_EACH(int32_t, api_integer_write);
	case API_U32: PRINT_EACH(uint32_t, api_integer_write);
	case API_I64: PRINT_EACH(int64_t, api_integer_write);
	}
#undef PRINT_EACH
	return at - 1;
}

/* Writes the numbers [begin, end) and the text before each of them. @return 0 if one is not finite */
static size_t print_span(const struct api_array *array, size_t begin, size_t end, char *text)
{
	const size_t length = row_length(array);
	size_t row = begin / length, row_end;
	char *at = text;
	for (size_t i = begin; i < end; i = row_end, row++) {
		row_end = (row + 1) * length < end ? (row + 1) * length : end;
		at = i > row * length ? put(at, ',', 1) : open_row(array, row, at);
		at = print_run(array, i, row_end, at);
		if (!at)
			return 0;
	}
	return (size_t)(at - text);
}

static size_t span_end(const struct api_array *array, size_t begin, size_t n)
{
	return array->n - begin < n ? array->n : begin + n;
}

/* The request's stop flag, for threads of the team, which have no account of their own. */
static const atomic_bool *stop_flag(void)
{
	return api_account_current ? api_account_current->stop : NULL;
}

/* Each thread prints into its own buffer, which stays in its cache, because the position of a chunk's text is known
 * only once the chunks before it are printed. */
static size_t print_chunks(const struct api_array *array, int n_threads, char *places, size_t place_bytes, char *text)
{
	const atomic_bool *stop = stop_flag();
	atomic_bool failed = false; /* after a failure the answer is lost, so the remaining chunks are skipped */
	size_t bytes = 0;
#pragma omp parallel num_threads(n_threads)
	{
		char *own = places + (size_t)omp_get_thread_num() * place_bytes;
#pragma omp for ordered schedule(dynamic)
		for (size_t begin = 0; begin < array->n; begin += CHUNK) {
			if (failed || (stop && *stop)) {
				failed = true;
				continue;
			}
			const size_t n = print_span(array, begin, span_end(array, begin, CHUNK), own);
			size_t at;
			if (n == 0) {
				failed = true;
				continue;
			}
#pragma omp ordered
			{
				at = bytes;
				bytes += n;
			}
			memcpy(text + at, own, n);
		}
	}
	return failed ? 0 : bytes;
}

static size_t print_alone(const struct api_array *array, char *text)
{
	size_t bytes = 0;
	for (size_t begin = 0; begin < array->n; begin += CHUNK) {
		if (begin && api_account_is_stopped())
			return 0;
		const size_t n = print_span(array, begin, span_end(array, begin, CHUNK), text + bytes);
		if (n == 0)
			return 0;
		bytes += n;
	}
	return bytes;
}

static size_t print_in_parallel(const struct api_array *array, int n_threads, struct api_pool *pool, char *text)
{
	const size_t place_bytes = (span_bound(array, CHUNK) / 4096 + 1) * 4096;
	char *places = api_pool_take(pool, (size_t)n_threads * place_bytes);
	if (!places)
		return 0;
	const size_t bytes = print_chunks(array, n_threads, places, place_bytes, text);
	api_pool_give(pool, places, (size_t)n_threads * place_bytes);
	return bytes;
}

size_t api_print_array(const struct api_array *array, int n_threads, struct api_pool *pool, char *text)
{
	const bool parallel = n_threads > 1 && array->n >= LEAST_PARALLEL;
	const size_t bytes = parallel ? print_in_parallel(array, n_threads, pool, text) : print_alone(array, text);
	return bytes ? (size_t)(put(text + bytes, ']', array->rank) - text) : 0;
}

static bool is_finite_span(const struct api_array *array, size_t begin, size_t end)
{
	if (array->dtype == API_F64)
		return api_reals_are_finite((const double *)array->data + begin, end - begin);
	uint32_t beyond = 0;
	for (size_t i = begin; array->dtype == API_F32 && i < end; i++)
		beyond |= (uint32_t)!isfinite(((const float *)array->data)[i]);
	return !beyond;
}

/* A single thread opens no parallel region: libgomp allocates for it, and ends the program if it cannot. */
static bool is_finite_in_parallel(const struct api_array *array, int n_threads)
{
	const atomic_bool *stop = stop_flag();
	atomic_bool failed = false;
#pragma omp parallel for num_threads(n_threads)
	for (size_t begin = 0; begin < array->n; begin += SWEEP)
		if (!failed && ((stop && *stop) || !is_finite_span(array, begin, span_end(array, begin, SWEEP))))
			failed = true;
	return !failed;
}

bool api_array_is_finite(const struct api_array *array, int n_threads)
{
	if (array->finite || (array->dtype != API_F64 && array->dtype != API_F32))
		return true;
	if (n_threads > 1 && array->n >= LEAST_PARALLEL_SWEEP)
		return is_finite_in_parallel(array, n_threads);
	for (size_t begin = 0; begin < array->n; begin += SWEEP)
		if ((begin && api_account_is_stopped()) || !is_finite_span(array, begin, span_end(array, begin, SWEEP)))
			return false;
	return true;
}
