/* Checks numbers and arrays: shapes, ranges, indices. */
#include "api/validate/check.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/base/account.h"
#include "api/codec/array.h"
#include "api/numbers/print_double.h"

enum { MOST_ROWS = INT32_MAX / 4 };

bool api_fault_entry(struct api_check *check, enum api_code code, const struct api_field *field, size_t flat,
                     const char *format, ...)
{
	const struct api_array *array = api_document_array(check->document, field->node);
	struct api_path path[API_MAX_RANK + 1] = {field->path};
	char message[API_MAX_DETAIL];
	const int depth = array->rank > API_MAX_RANK ? 0 : array->rank; /* lengths are not recorded for deeper arrays */
	size_t rest = array->n;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	for (int i = 0; i < depth; i++) {
		rest /= array->shape[i];
		path[i + 1] = (struct api_path){&path[i], NULL, flat / rest};
		flat %= rest;
	}
	return api_fault_at(check->fault, code, &path[depth], "%s", message);
}

const char *api_print_value(double value, char text[API_VALUE_TEXT])
{
	size_t n = api_real_write(value, text);
	n -= n > 2 && !memcmp(text + n - 2, ".0", 2) ? 2 : 0;
	text[n] = '\0';
	return text;
}

static bool fault_value(struct api_check *check, const struct api_field *field, size_t i, double value,
                        enum api_range range)
{
	char text[API_VALUE_TEXT];
	if (!isfinite(value))
		return api_fault_entry(check, API_E_NOT_FINITE, field, i, "%s is not a finite number",
		                       isnan(value) ? "NaN"
		                       : value > 0  ? "infinity"
		                                    : "-infinity");
	return api_fault_entry(check, API_E_OUT_OF_RANGE, field, i, "%s is out of range: \"%s\" must be %s",
	                       api_print_value(value, text), field->path.key, range == API_POSITIVE ? "> 0" : ">= 0");
}

enum {
	LEAST_PARALLEL = 1 << 16, /* numbers: one thread checks them in about ten microseconds */
	MOST_PARALLEL = 1 << 26,  /* more are checked span by span, so that a deadline stops the check */
};

static double lowest(enum api_range range)
{
	return range == API_ANY ? -DBL_MAX : range == API_POSITIVE ? DBL_TRUE_MIN : 0;
}

static bool is_in_range(const double *data, size_t n, enum api_range range)
{
	return range == API_ANY ? api_reals_are_finite(data, n) : api_reals_are_within(data, n, lowest(range), DBL_MAX);
}

static size_t span_end(size_t begin, size_t n)
{
	return n - begin < API_SPAN ? n : begin + API_SPAN;
}

/* The numbers of one span of an array, as an array. */
static struct api_array span_of(const struct api_array *array, size_t begin)
{
	struct api_array span = *array;
	span.n = span_end(begin, array->n) - begin;
	span.data = (const char *)array->data + begin * api_dtype_bytes(array->dtype);
	return span;
}

static void fault_values(struct api_check *check, const struct api_field *field, const double *data, size_t begin,
                         size_t end, enum api_range range)
{
	const double low = lowest(range);
	for (size_t i = begin; i < end && !api_fault_is_full(check->fault); i++)
		if (!(data[i] >= low && data[i] <= DBL_MAX))
			fault_value(check, field, i, data[i], range);
}

/* Whether the threads of a large request found only finite numbers. False also if they did not look: the span by span
 * check then does, and finds the culprit. A single thread opens no parallel region: libgomp allocates for it, and ends
 * the program if it cannot. */
static bool are_finite_in_parallel(const struct api_check *check, const double *data, size_t n, enum api_range range)
{
	const int n_threads = check->service ? check->service->n_threads : 1;
	if (n_threads < 2 || range != API_ANY || n < LEAST_PARALLEL || n > MOST_PARALLEL)
		return false;
	bool finite = true;
	const size_t part = (n + (size_t)n_threads - 1) / (size_t)n_threads;
#pragma omp parallel for num_threads(n_threads) reduction(&& : finite) schedule(static, 1)
	for (size_t begin = 0; begin < n; begin += part)
		finite = finite && api_reals_are_finite(data + begin, n - begin < part ? n - begin : part);
	return finite;
}

/* Requires finite numbers in range. */
static bool check_range(struct api_check *check, const struct api_field *field, const double *data, size_t n,
                        enum api_range range)
{
	if (are_finite_in_parallel(check, data, n, range))
		return true;
	bool ok = true;
	for (size_t i = 0; i < n; i = span_end(i, n)) {
		const size_t end = span_end(i, n);
		if (api_check_stopped(check) || api_fault_is_full(check->fault))
			return false;
		if (is_in_range(data + i, end - i, range))
			continue;
		fault_values(check, field, data, i, end, range);
		ok = false;
	}
	return ok;
}

/* The array's numbers as doubles, in place or in the arena; NULL after a fault. */
static const double *reals(struct api_check *check, const struct api_array *array)
{
	if (array->dtype == API_F64)
		return array->data;
	double *out = api_arena_array(check->arena, array->n, sizeof(*out));
	if (!out)
		api_fault_no_memory(check->fault);
	for (size_t i = 0; out && i < array->n; i += API_SPAN) {
		const struct api_array span = span_of(array, i);
		api_array_to_reals(&span, out + i);
		if (api_check_stopped(check))
			return NULL;
	}
	return out;
}

/* As reals, after checking their range. Numbers read from text are always finite. */
static const double *reals_in_range(struct api_check *check, const struct api_field *field,
                                    const struct api_array *array, enum api_range range)
{
	const double *data = reals(check, array);
	if (!data || (range == API_ANY && !array->binary))
		return data;
	return check_range(check, field, data, array->n, range) ? data : NULL;
}

/* Reports the elements of a mixed array that are not numbers. */
static bool fault_in_mixed(struct api_check *check, const struct api_field *field)
{
	bool found = false;
	for (size_t i = 0; i < json_array_size(field->node) && !api_fault_is_full(check->fault); i++) {
		const struct api_field entry = {.node = json_array_get(field->node, i), .path = {&field->path, NULL, i}};
		const struct api_array *array = api_document_array(check->document, entry.node);
		if (array && !array->binary)
			continue;
		found = true;
		if (array)
			api_fault_at(check->fault, API_E_WRONG_TYPE, &entry.path,
			             "a binary array cannot be an element of another array");
		else if (json_is_array(entry.node))
			fault_in_mixed(check, &entry);
		else
			api_fault_kind(check, &entry, "a number");
	}
	return !found && api_fault_at(check->fault, API_E_WRONG_SHAPE, &field->path, "arrays are nested too deeply here");
}

static bool fault_ragged(struct api_check *check, const struct api_field *field, const struct api_array *array)
{
	struct api_path path[API_MAX_RANK + 1] = {field->path};
	for (int i = 0; i < array->ragged_depth; i++)
		path[i + 1] = (struct api_path){&path[i], NULL, array->ragged_path[i]};
	return api_fault_at(check->fault, API_E_WRONG_SHAPE, &path[array->ragged_depth],
	                    "ragged array: this entry's shape differs from those before it");
}

/* The field's array, of any shape; NULL after a fault. */
static const struct api_array *numbers(struct api_check *check, const struct api_field *field, const char *expected)
{
	const struct api_array *array = api_document_array(check->document, field->node);
	if (api_fault_is_full(check->fault))
		return NULL;
	if (!array && json_is_array(field->node))
		fault_in_mixed(check, field);
	else if (!array)
		api_fault_kind(check, field, expected);
	else if (array->ragged)
		fault_ragged(check, field, array);
	return array && !array->ragged ? array : NULL;
}

/* Reads a single number; the field must be present. @return NULL after a fault */
static const struct api_array *one_number(struct api_check *check, const struct api_field *field, const char *expected)
{
	const struct api_array *array = numbers(check, field, expected);
	if (!array || array->rank == 0)
		return array;
	api_fault_kind(check, field, expected);
	return NULL;
}

bool api_check_number(struct api_check *check, const struct api_field *field, enum api_range range, double *out)
{
	if (!field->node)
		return true;
	const struct api_array *array = one_number(check, field, "a number");
	if (!array)
		return false;
	const double *value = reals_in_range(check, field, array, range);
	if (value)
		*out = *value;
	return value;
}

/* Prints a shape: [2, 3]. */
static const char *print_shape(const size_t *shape, int rank, char *out, size_t bytes)
{
	size_t at = (size_t)snprintf(out, bytes, "[");
	for (int i = 0; i < rank && i < API_MAX_RANK && at < bytes; i++)
		at += (size_t)snprintf(out + at, bytes - at, "%s%zu", i ? ", " : "", shape[i]);
	if (rank > API_MAX_RANK && at < bytes)
		at += (size_t)snprintf(out + at, bytes - at, ", ...");
	if (at < bytes)
		snprintf(out + at, bytes - at, "]");
	return out;
}

static size_t row_size(const struct api_shape *shape)
{
	size_t size = 1;
	for (int i = 0; i < shape->n_inner; i++)
		size *= shape->inner[i];
	return size;
}

/* Whether shape[skip...] is exactly the row's shape. */
static bool ends_in_row(const struct api_array *array, int skip, const struct api_shape *shape)
{
	if (array->rank != skip + shape->n_inner)
		return false;
	for (int i = 0; i < shape->n_inner; i++)
		if (array->shape[skip + i] != shape->inner[i])
			return false;
	return true;
}

static bool all_rows(const struct api_array *array, const struct api_shape *shape)
{
	if (array->rank == 1 && array->n == shape->n * row_size(shape))
		return true;
	if (shape->n == 0 && array->rank > 0 && array->shape[0] == 0)
		return true;
	return ends_in_row(array, 1, shape) && array->shape[0] == shape->n;
}

static bool one_row(const struct api_array *array, const struct api_shape *shape)
{
	if (!shape->one_for_all || array->n != row_size(shape))
		return false;
	if (array->rank == 0)
		return shape->n_inner == 0 || shape->number_row;
	return array->rank == 1 || ends_in_row(array, 0, shape) || (ends_in_row(array, 1, shape) && array->shape[0] == 1);
}

static bool is_unknown(const struct api_shape *shape)
{
	return shape->n == API_UNKNOWN_LENGTH || shape->inner[0] == API_UNKNOWN_LENGTH ||
	       shape->inner[1] == API_UNKNOWN_LENGTH;
}

#define NESTED_OR_FLAT " (nested or flat)"
#define TRANSPOSED "; is it transposed?"

/* Whether the last two lengths are the expected ones in reverse order. */
static bool is_transposed(const struct api_array *array, const size_t *expected, int rank)
{
	return (rank == 2 || rank == 3) && array->rank == rank && array->shape[rank - 2] == expected[rank - 1] &&
	       (expected[rank - 2] == API_UNKNOWN_LENGTH || expected[rank - 2] == array->shape[rank - 1]);
}

bool api_fault_shape(struct api_check *check, const struct api_field *field, const char *expected, const char *help)
{
	char sent[64];
	const struct api_array *array = api_document_array(check->document, field->node);
	if (array->rank == 0)
		return api_fault_at(check->fault, API_E_WRONG_SHAPE, &field->path,
		                    "expected an array of shape %s, got a number", expected);
	print_shape(array->shape, array->rank, sent, sizeof(sent));
	return api_fault_at(check->fault, API_E_WRONG_SHAPE, &field->path, "expected shape %s, got %s%s", expected, sent,
	                    help);
}

static bool wrong_shape(struct api_check *check, const struct api_field *field, const struct api_array *array,
                        const struct api_shape *shape)
{
	char all[64], row[64] = "one value", expected[192];
	const size_t full[3] = {shape->n, shape->inner[0], shape->inner[1]};
	print_shape(full, 1 + shape->n_inner, all, sizeof(all));
	if (shape->n_inner > 0 && !shape->number_row)
		print_shape(shape->inner, shape->n_inner, row, sizeof(row));
	snprintf(expected, sizeof(expected), "%s%s%s%s%s", all, shape->n_inner > 0 ? NESTED_OR_FLAT : "",
	         shape->one_for_all ? " or " : "", shape->one_for_all ? row : "", shape->one_for_all ? " for all" : "");
	return api_fault_shape(check, field, expected, is_transposed(array, full, 1 + shape->n_inner) ? TRANSPOSED : "");
}

bool api_check_values(struct api_check *check, const struct api_field *field, const struct api_shape *shape,
                      struct fric_values *out)
{
	*out = (struct fric_values){NULL, 0};
	if (!field->node)
		return true;
	const struct api_array *array = numbers(check, field, "an array of numbers");
	if (!array)
		return false;
	if (is_unknown(shape))
		return reals_in_range(check, field, array, shape->range);
	const bool rows = all_rows(array, shape);
	if (!rows && !one_row(array, shape))
		return wrong_shape(check, field, array, shape);
	*out = (struct fric_values){reals_in_range(check, field, array, shape->range), rows ? row_size(shape) : 0};
	return out->data;
}

static bool wrong_rows(struct api_check *check, const struct api_field *field, const struct api_array *array,
                       size_t row)
{
	char expected[64] = "[n]";
	if (row)
		snprintf(expected, sizeof(expected), "[n, %zu]" NESTED_OR_FLAT, row);
	return api_fault_shape(check, field, expected,
	                       is_transposed(array, (size_t[]){API_UNKNOWN_LENGTH, row}, 2) ? TRANSPOSED : "");
}

bool api_count_rows(const struct api_array *array, size_t row, size_t *n)
{
	const size_t size = row ? row : 1;
	const bool flat = array->rank == 1 && array->n % size == 0,
			   nested = array->rank == 2 && row && (array->shape[1] == row || array->shape[0] == 0);
	if (flat || nested)
		*n = flat ? array->n / size : array->shape[0];
	return flat || nested;
}

bool api_check_rows(struct api_check *check, const struct api_field *field, size_t row, size_t *n)
{
	const struct api_array *array = numbers(check, field, "an array of numbers");
	if (!array)
		return false;
	if (!api_count_rows(array, row, n))
		return wrong_rows(check, field, array, row);
	return *n <= MOST_ROWS ||
	       api_fault_at(check->fault, API_E_TOO_MANY_ENTRIES, &field->path, "more than %d entries", MOST_ROWS);
}

bool api_check_count(struct api_check *check, const struct api_field *field, size_t *out)
{
	if (!field->node)
		return true;
	const struct api_array *array = one_number(check, field, "an integer");
	if (!array)
		return false;
	if (array->first_non_integer == 0)
		return api_fault_at(check->fault, API_E_NOT_AN_INTEGER, &field->path,
		                    "expected an integer, written without point or exponent");
	const double *value = reals_in_range(check, field, array, API_NON_NEGATIVE);
	if (!value)
		return false;
	if (*value > MOST_ROWS)
		return api_fault_at(check->fault, API_E_TOO_MANY_ENTRIES, &field->path, "more than %d entries", MOST_ROWS);
	*out = (size_t)*value;
	return true;
}

static bool fault_index(struct api_check *check, const struct api_field *field, size_t i, double value, size_t limit,
                        const char *what)
{
	char text[API_VALUE_TEXT];
	api_print_value(value, text);
	if (limit == API_UNKNOWN_LENGTH)
		return api_fault_entry(check, API_E_INDEX_OUT_OF_RANGE, field, i, "%s is not a %s: indices start at 0", text,
		                       what);
	if (limit == INT32_MAX)
		return api_fault_entry(check, API_E_INDEX_OUT_OF_RANGE, field, i, "%s is not a %s, an integer from 0 to %d",
		                       text, what, INT32_MAX - 1);
	return api_fault_entry(check, API_E_INDEX_OUT_OF_RANGE, field, i,
	                       "%s is not a %s: there are %zu, and indices start at 0", text, what, limit);
}

/* Reports entries that are not indices. Of entries not written as integers, only the first one is known. */
static bool fault_indices(struct api_check *check, const struct api_field *field, const struct api_array *array,
                          size_t limit, const char *what)
{
	const double *data = reals(check, array), most = limit == API_UNKNOWN_LENGTH ? INFINITY : (double)limit;
	for (size_t i = 0; data && i < array->n && !api_fault_is_full(check->fault); i++) {
		if (i % API_SPAN == 0 && api_check_stopped(check))
			return false;
		if (i == array->first_non_integer)
			api_fault_entry(check, API_E_NOT_AN_INTEGER, field, i,
			                "expected an integer, written without point or exponent");
		else if (!(data[i] >= 0 && data[i] < most))
			fault_index(check, field, i, data[i], limit, what);
	}
	return false;
}

/* @param out  NULL: the indices are checked in place. @return false if any is not an index, or the request was
 * stopped */
static bool take_indices(const struct api_array *array, size_t limit, int32_t *out)
{
	for (size_t i = 0; i < array->n; i += API_SPAN) {
		const struct api_array span = span_of(array, i);
		if (api_account_is_stopped() ||
		    !(out ? api_array_to_indices(&span, limit, out + i) : api_indices_are_below(span.data, span.n, limit)))
			return false;
	}
	return true;
}

/* The array's numbers as indices, in place or in the arena; NULL after a fault. */
static const int32_t *indices_below(struct api_check *check, const struct api_field *field,
                                    const struct api_array *array, size_t limit, const char *what)
{
	if (array->binary && (array->dtype == API_F64 || array->dtype == API_F32)) {
		api_fault_at(check->fault, API_E_WRONG_TYPE, &field->path,
		             "dtype %s is not allowed for indices: use i32, u32 or i64", api_dtype_name(array->dtype));
		return NULL;
	}
	const bool in_place = array->dtype == API_I32;
	int32_t *out = in_place ? NULL : api_arena_array(check->arena, array->n, sizeof(*out));
	if (!in_place && !out) {
		api_fault_no_memory(check->fault);
		return NULL;
	}
	if (array->first_non_integer >= array->n && limit <= INT32_MAX && take_indices(array, limit, out))
		return in_place ? array->data : out;
	if (!api_check_stopped(check))
		fault_indices(check, field, array, limit, what);
	return NULL;
}

bool api_check_index(struct api_check *check, const struct api_field *field, size_t limit, const char *what,
                     int32_t *out)
{
	if (!field->node)
		return true;
	const struct api_array *array = one_number(check, field, "an integer");
	if (!array)
		return false;
	const int32_t *index = indices_below(check, field, array, limit, what);
	if (index)
		*out = *index;
	return index;
}

void api_check_reals(struct api_check *check, const struct api_field *field, const size_t lengths[API_N_LENGTHS],
                     const double **out)
{
	const struct api_shape shape = api_shape_of(field->rule, lengths);
	struct fric_values values;
	api_check_values(check, field, &shape, &values);
	if (values.data)
		*out = values.data;
}

void api_check_per_vertex(struct api_check *check, const struct api_field *field, size_t n_vertices, size_t dim,
                          const double **out)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N_VERTICES] = n_vertices, [API_DIM] = dim};
	api_check_reals(check, field, lengths, out);
}

void api_check_symmetric(struct api_check *check, const struct api_field *field, size_t m, const double *table)
{
	char here[API_VALUE_TEXT], there[API_VALUE_TEXT];
	for (size_t i = 0; i < m; i++) {
		if (api_check_stopped(check) || api_fault_is_full(check->fault))
			return;
		for (size_t j = 0; j < i; j++)
			if (table[i * m + j] != table[j * m + i])
				api_fault_entry(check, API_E_ASYMMETRIC_TABLE, field, i * m + j,
				                "the pair table is not symmetric: %s here, %s"
				                " for the same materials in the other order",
				                api_print_value(table[i * m + j], here), api_print_value(table[j * m + i], there));
	}
}

const struct api_service *api_check_limits(const struct api_check *check)
{
	static const struct api_service none;
	return check->service ? check->service : &none;
}

bool api_check_at_most(struct api_check *check, const struct api_field *field, const char *what, size_t n, size_t most)
{
	return most == 0 || n <= most ||
	       api_fault_at(check->fault, API_E_TOO_MANY_ENTRIES, &field->path, "%zu %s exceed the limit of %zu", n, what,
	                    most);
}

bool api_check_indices(struct api_check *check, const struct api_field *field, size_t n, size_t row, size_t limit,
                       const char *what, const int32_t **out)
{
	*out = NULL;
	if (!field->node)
		return true;
	const struct api_shape shape = {.n = n, .n_inner = row > 0, .inner = {row}};
	const struct api_array *array = numbers(check, field, "an array of integers");
	if (!array)
		return false;
	if (n != API_UNKNOWN_LENGTH && !all_rows(array, &shape))
		return wrong_shape(check, field, array, &shape);
	*out = indices_below(check, field, array, limit, what);
	return *out;
}
