#include "api/codec/lift_array.h"

#include "api/base/pool.h"
#include "api/numbers/numbers.h"

#include <stdint.h>
#include <string.h>

enum {
	ALIGNMENT = 64,
	DOUBLES_PER_LINE = ALIGNMENT / sizeof(double),
	USUAL_NUMBER_BYTES = 16,
};
#define UNKNOWN SIZE_MAX

/* An array being lifted. Levels count from 1, the outermost; entry 0 is unused. */
struct nest {
	struct api_array *array;
	int level;                       /* number of open brackets */
	int rank;                        /* number of levels; 0 until the first innermost row determines it */
	size_t index[API_MAX_RANK + 1];  /* index of the current element at each level */
	size_t length[API_MAX_RANK + 1]; /* length of the rows at each level, UNKNOWN until the first one ends */
};

/* The first capacity is estimated from usual lengths of numbers, as the text does not state their count. */
static bool grow(struct api_values *values)
{
	size_t bytes = (size_t)(values->text.end - values->text.begin);
	size_t capacity = values->capacity ? 2 * values->capacity : bytes / USUAL_NUMBER_BYTES + 1;
	capacity = (capacity + DOUBLES_PER_LINE - 1) / DOUBLES_PER_LINE * DOUBLES_PER_LINE;
	double *data = api_pool_take(values->pool, capacity * sizeof *data);
	if (!data)
		return api_text_fail(&values->text, API_E_OUT_OF_MEMORY, NULL, "out of memory");
	if (values->n)
		memcpy(data, values->data, values->n * sizeof *data);
	api_pool_give(values->pool, values->data, values->capacity * sizeof *data);
	values->data = data;
	values->capacity = capacity;
	return true;
}

/* Whether more characters than the longest allowed number look like part of one. */
static bool is_long(const struct api_values *values, const char *p)
{
	const char *begin = p;
	while (p < values->text.reach && *p && strchr("+-.0123456789Ee", *p))
		p++;
	return p - begin > API_MAX_TOKEN;
}

static bool refuse_number(struct api_values *values, const char *p, enum api_number_status status, const char *end)
{
	if (is_long(values, p))
		return api_text_refuse(&values->text, API_E_TOKEN_TOO_LONG, p, "a number of more than %d bytes", API_MAX_TOKEN);
	if (status == API_NUMBER_MALFORMED)
		return api_text_fail(&values->text, API_E_MALFORMED_JSON, end, "malformed number");
	return api_text_fail(&values->text, API_E_MALFORMED_JSON, p, "number beyond the range of a double");
}

/* The slow path: not a number, or a number that ends where the next check of the stop flag is due. Kept out of line, so
 * that the fast path stays short. */
static __attribute__((noinline)) bool settle(struct api_values *values, const char *p, enum api_number_status status,
                                             const struct api_number *number)
{
	if (status != API_NUMBER_OK || number->end - p > API_MAX_TOKEN)
		return refuse_number(values, p, status, number->end);
	return api_text_look(&values->text, number->end);
}

const char *api_lift_number(struct api_values *values, const char *p, bool *integer)
{
	struct api_number number;
	const enum api_number_status status = api_number_read(p, values->text.reach, &number);
	if ((status != API_NUMBER_OK || number.end > values->text.look) && !settle(values, p, status, &number))
		return NULL;
	if (values->n >= values->capacity && !grow(values))
		return NULL;
	values->data[values->n++] = number.value;
	*integer = number.integer;
	return number.end;
}

static void set_ragged(struct nest *nest, int depth)
{
	if (nest->array->ragged)
		return;
	nest->array->ragged = true;
	nest->array->ragged_depth = depth;
	for (int i = 0; i < depth; i++)
		nest->array->ragged_path[i] = nest->index[i + 1];
}

/* Records a number among rows, or a row among numbers, unless the surrounding row is already too long. */
static void misfit(struct nest *nest)
{
	int level = nest->level;
	bool too_long = nest->length[level] != UNKNOWN && nest->index[level] >= nest->length[level];
	set_ragged(nest, too_long ? level - 1 : level);
}

static bool open_row(const struct api_values *values, struct nest *nest)
{
	if (nest->level == (values->most_rank ? values->most_rank : API_MAX_RANK))
		return false;
	if (nest->rank && nest->level >= nest->rank)
		misfit(nest);
	nest->index[++nest->level] = 0;
	return true;
}

static void close_row(struct nest *nest)
{
	int level = nest->level--;
	if (nest->rank == 0)
		nest->rank = level;
	if (nest->length[level] == UNKNOWN)
		nest->length[level] = nest->index[level];
	else if (nest->length[level] != nest->index[level])
		set_ragged(nest, level - 1);
	nest->index[level - 1]++;
}

static const char *read_number(struct api_values *values, struct nest *nest, const char *p)
{
	bool integer;
	p = api_lift_number(values, p, &integer);
	if (!p)
		return NULL;
	if (nest->rank != nest->level) {
		if (nest->rank == 0)
			nest->rank = nest->level;
		else
			misfit(nest);
	}
	if (!integer && nest->array->first_non_integer == UNKNOWN)
		nest->array->first_non_integer = nest->array->n;
	nest->array->n++;
	nest->index[nest->level]++;
	return p;
}

/* Skips several blanks. If the request was stopped, it sets the fault and returns the end of the text. */
static __attribute__((noinline)) const char *skip_run(struct api_values *values, const char *p, const char *end)
{
	for (;;) {
		p = api_skip_blanks(p, values->text.reach);
		if (p < values->text.look || p == end)
			return p;
		if (!api_text_look(&values->text, p))
			return end;
	}
}

/* Skips blanks. Usually there is one or none. */
static inline const char *skip_blanks(struct api_values *values, const char *p, const char *end)
{
	if (p == end || !api_is_blank(*p))
		return p;
	p++;
	return p == end || !api_is_blank(*p) ? p : skip_run(values, p, end);
}

static const char *close_rows(struct api_values *values, struct nest *nest, const char *p, const char *end)
{
	for (;;) {
		p = skip_blanks(values, p, end);
		if (p == end || *p != ']')
			return p;
		close_row(nest);
		p++;
		if (nest->level == 0)
			return p;
	}
}

/* Opens rows up to a number, or through an empty row. The caller examines *p afterwards. */
static bool open_rows(struct api_values *values, struct nest *nest, const char **p, const char *end)
{
	while (*p < end && **p == '[') {
		if (!open_row(values, nest))
			return false;
		*p = skip_blanks(values, *p + 1, end);
	}
	return true;
}

static enum api_lifted refuse(struct api_values *values, const char *p, const char *detail)
{
	return api_text_fail(&values->text, API_E_MALFORMED_JSON, p,
	                     p == values->text.end ? "an array is not closed" : detail),
	       API_FAULTY;
}

/* Judges a place where no number begins: another value is not lifted, anything else is a fault. */
static enum api_lifted judge_other(struct api_values *values, const char *p)
{
	if (p < values->text.end && *p && strchr("\"{tfn", *p))
		return API_NOT_LIFTED;
	return refuse(values, p, "a value expected");
}

/* Moves *place from the outermost '[' to one past its ']'. Each iteration reads an element and the brackets around
 * it. */
static enum api_lifted lift_rows(struct api_values *values, struct nest *nest, const char **place)
{
	const char *p = *place, *end = values->text.end;
	for (;;) {
		const char *value = p = skip_blanks(values, p, end);
		if (!open_rows(values, nest, &p, end))
			return API_NOT_LIFTED;
		bool empty_row = p > value && p < end && *p == ']';
		if (!empty_row) {
			if (p == end || !api_starts_number(*p))
				return judge_other(values, p);
			p = read_number(values, nest, p);
			if (!p)
				return API_FAULTY;
		} else if (p >= values->text.look && !api_text_look(&values->text, p)) {
			return API_FAULTY;
		}
		p = close_rows(values, nest, p, end);
		if (nest->level == 0) {
			*place = p;
			return API_LIFTED;
		}
		if (p == end || *p != ',')
			return refuse(values, p, "',' or ']' expected");
		p++;
	}
}

static void finish(const struct nest *nest, struct api_array *array)
{
	array->rank = nest->rank;
	for (int i = 0; i < nest->rank; i++)
		array->shape[i] = nest->length[i + 1];
	if (array->first_non_integer == UNKNOWN)
		array->first_non_integer = array->n;
}

enum api_lifted api_lift_array(struct api_values *values, const char *begin, struct api_array *array, const char **end)
{
	size_t n_before = values->n;
	struct nest nest = {.array = array};
	for (int i = 0; i <= API_MAX_RANK; i++)
		nest.length[i] = UNKNOWN;
	*array = (struct api_array){.dtype = API_F64, .first_non_integer = UNKNOWN};
	*end = begin;
	/* An empty array also needs an address. */
	if (!values->data && !grow(values))
		return API_FAULTY;
	values->n = (n_before + DOUBLES_PER_LINE - 1) / DOUBLES_PER_LINE * DOUBLES_PER_LINE;
	enum api_lifted lifted = lift_rows(values, &nest, end);
	if (lifted == API_LIFTED)
		finish(&nest, array);
	else
		values->n = n_before;
	return lifted;
}
