#include "api/codec/lift.h"

#include "api/numbers/print_double.h"

#include <jansson.h>
#include <stdint.h>

enum { FIRST_ARRAYS = 16 };

static bool out_of_memory(struct api_lift *lift)
{
	return api_text_fail(&lift->values.text, API_E_OUT_OF_MEMORY, NULL, "out of memory");
}

/* Copies everything before p to the skeleton verbatim. */
static bool copy_until(struct api_lift *lift, const char *p)
{
	if (!api_buffer_append(&lift->skeleton, lift->copied, (size_t)(p - lift->copied)))
		return out_of_memory(lift);
	lift->copied = p;
	return true;
}

static bool grow_arrays(struct api_lift *lift)
{
	size_t capacity = lift->arrays_capacity ? 2 * lift->arrays_capacity : FIRST_ARRAYS;
	struct api_array *arrays = api_pool_resize(lift->values.pool, lift->arrays, lift->arrays_capacity * sizeof *arrays,
	                                           capacity * sizeof *arrays);
	if (!arrays)
		return out_of_memory(lift);
	lift->arrays = arrays;
	lift->arrays_capacity = capacity;
	struct api_mark *marks =
		api_pool_resize(lift->values.pool, lift->marks, lift->marks_capacity * sizeof *marks, capacity * sizeof *marks);
	if (!marks)
		return out_of_memory(lift);
	lift->marks = marks;
	lift->marks_capacity = capacity;
	return true;
}

/* Puts a mark in place of [begin, end). */
static bool put_mark(struct api_lift *lift, const char *begin, const char *end, const struct api_array *array)
{
	char mark[API_NUMBER_BYTES + 2] = " ";
	size_t n = 1 + api_integer_write((int64_t)lift->n_arrays, mark + 1);
	mark[n++] = ' ';
	if (lift->n_arrays == lift->marks_capacity && !grow_arrays(lift))
		return false;
	if (!copy_until(lift, begin))
		return false;
	size_t at = lift->skeleton.bytes;
	if (!api_buffer_append(&lift->skeleton, mark, n))
		return out_of_memory(lift);
	lift->copied = end;
	lift->arrays[lift->n_arrays] = *array;
	lift->marks[lift->n_arrays++] = (struct api_mark){
		.skeleton_begin = at,
		.skeleton_end = at + n,
		.first_value = lift->values.n - array->n,
		.text_begin = (size_t)(begin - lift->values.text.begin),
		.text_end = (size_t)(end - lift->values.text.begin),
	};
	return true;
}

static bool ends_number(const char *p, const char *end)
{
	return p == end || api_is_blank(*p) || *p == ',' || *p == ']' || *p == '}';
}

/* This and the other readers of one token return the address after it, or NULL after a fault. */
static const char *read_number(struct api_lift *lift, const char *p)
{
	bool integer;
	const char *end = api_lift_number(&lift->values, p, &integer);
	if (!end)
		return NULL;
	/* Otherwise "1.5.3" would become a mark and ".3". */
	if (!ends_number(end, lift->values.text.end)) {
		api_text_fail(&lift->values.text, API_E_MALFORMED_JSON, end, "unexpected character after a number");
		return NULL;
	}
	struct api_array scalar = {.n = 1, .first_non_integer = integer};
	return put_mark(lift, p, end, &scalar) ? end : NULL;
}

static const char *read_array(struct api_lift *lift, const char *p)
{
	struct api_array array;
	const char *end;
	enum api_lifted lifted = API_NOT_LIFTED;
	/* jansson does not see the depth of a lifted array, so nothing is lifted close to its nesting limit. */
	if (lift->depth + API_MAX_RANK < JSON_PARSER_MAX_DEPTH)
		lifted = api_lift_array(&lift->values, p, &array, &end);
	if (lifted == API_LIFTED)
		return put_mark(lift, p, end, &array) ? end : NULL;
	lift->depth++;
	return lifted == API_FAULTY ? NULL : p + 1;
}

static const char *skip_string(struct api_lift *lift, const char *begin)
{
	const bool cut = lift->values.text.end - begin > API_MAX_TOKEN + 2;
	const char *p = begin + 1, *end = cut ? begin + API_MAX_TOKEN + 2 : lift->values.text.end;
	for (; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	if (p < end)
		return p + 1;
	return !cut || api_text_refuse(&lift->values.text, API_E_TOKEN_TOO_LONG, begin, "a string of more than %d bytes",
	                               API_MAX_TOKEN)
	           ? end
	           : NULL;
}

/* Skips a very long word in pieces; jansson then judges it. */
static const char *skip_word(const char *p, const char *end)
{
	end = end - p > API_LOOK_BYTES ? p + API_LOOK_BYTES : end;
	while (p < end && api_is_letter(*p))
		p++;
	return p;
}

static const char *read_value(struct api_lift *lift, const char *p)
{
	if (++lift->n_outside > API_MAX_VALUES) {
		api_text_refuse(&lift->values.text, API_E_TOO_MANY_VALUES, p, "more than %d values outside arrays of numbers",
		                API_MAX_VALUES);
		return NULL;
	}
	if (api_starts_number(*p))
		return read_number(lift, p);
	if (*p == '[')
		return read_array(lift, p);
	if (*p == '"')
		return skip_string(lift, p);
	if (*p != '{')
		return skip_word(p, lift->values.text.end);
	lift->depth++;
	return p + 1;
}

static const char *read_token(struct api_lift *lift, const char *p)
{
	if (*p == '"' || *p == '[' || *p == '{' || api_starts_number(*p) || api_is_letter(*p))
		return read_value(lift, p);
	if ((*p == ']' || *p == '}') && lift->depth > 0)
		lift->depth--;
	/* jansson overlooks a NUL after a number or a word. */
	if (*p == '\0') {
		api_text_fail(&lift->values.text, API_E_MALFORMED_JSON, p, "NUL byte");
		return NULL;
	}
	return p + 1;
}

/* Copies a long range in pieces. */
static bool catch_up(struct api_lift *lift, const char *p)
{
	return api_text_look(&lift->values.text, p) && copy_until(lift, p);
}

bool api_lift_text(struct api_lift *lift)
{
	lift->copied = lift->values.text.begin;
	if (!api_text_look(&lift->values.text, lift->values.text.begin))
		return false;
	lift->skeleton.limit = SIZE_MAX;
	lift->skeleton.pool = lift->values.pool;
	if (!api_buffer_reserve(&lift->skeleton, 1))
		return out_of_memory(lift);
	for (const char *p = lift->values.text.begin, *next; p < lift->values.text.end; p = next) {
		next = p < lift->values.text.look || catch_up(lift, p) ? read_token(lift, p) : NULL;
		if (!next) {
			if (p > lift->copied)
				copy_until(lift, p);
			return false;
		}
	}
	if (!copy_until(lift, lift->values.text.end))
		return false;
	for (size_t k = 0; k < lift->n_arrays; k++)
		lift->arrays[k].data = lift->values.data + lift->marks[k].first_value;
	return true;
}

size_t api_lift_text_offset(const struct api_lift *lift, size_t skeleton_offset)
{
	size_t below = 0, above = lift->n_arrays; /* bisection for the number of marks that begin at or before the offset */
	while (below < above) {
		size_t middle = below + (above - below) / 2;
		if (lift->marks[middle].skeleton_begin <= skeleton_offset)
			below = middle + 1;
		else
			above = middle;
	}
	if (below == 0)
		return skeleton_offset;
	const struct api_mark *mark = &lift->marks[below - 1];
	if (skeleton_offset < mark->skeleton_end)
		return mark->text_begin;
	return mark->text_end + (skeleton_offset - mark->skeleton_end);
}

void api_lift_free(struct api_lift *lift)
{
	api_buffer_free(&lift->skeleton);
	api_pool_give(lift->values.pool, lift->values.data, lift->values.capacity * sizeof *lift->values.data);
	api_pool_give(lift->values.pool, lift->arrays, lift->arrays_capacity * sizeof *lift->arrays);
	api_pool_give(lift->values.pool, lift->marks, lift->marks_capacity * sizeof *lift->marks);
}
