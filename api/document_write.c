#include "document.h"

#include "buffer.h"
#include "numbers.h"

#include <stdlib.h>
#include <string.h>

enum { SLACK = 2 * API_NUMBER_BYTES }; /* room for a number, its comma and the final NUL */

/* The text under way. Writers return false when it cannot go on; over then tells the two reasons apart. */
struct writer {
	const struct api_document *document;
	struct api_buffer text;
	size_t max_bytes;
	bool over;
};

/* Within the ceiling there are SLACK bytes more than it: they can be written before they are counted. */
static bool has_room(const struct writer *w, size_t more)
{
	return w->text.bytes <= w->max_bytes && more <= w->max_bytes + SLACK - w->text.bytes;
}

static bool reserve(struct writer *w, size_t more)
{
	w->over = !has_room(w, more);
	return !w->over && api_buffer_reserve(&w->text, more);
}

static bool put_char(struct writer *w, char c)
{
	if (!reserve(w, 1))
		return false;
	w->text.data[w->text.bytes++] = c;
	return true;
}

static size_t print(const struct api_array *array, size_t i, char *text)
{
	switch (array->dtype) {
	case API_I32:
		return api_integer_write(((const int32_t *)array->data)[i], text);
	case API_I64:
		return api_integer_write(((const int64_t *)array->data)[i], text);
	case API_U32:
		return api_integer_write(((const uint32_t *)array->data)[i], text);
	case API_F32:
		return api_real_write((double)((const float *)array->data)[i], text);
	case API_F64:
		break;
	}
	return api_real_write(((const double *)array->data)[i], text);
}

/* Commas between, and before the first unless it begins its row. */
static size_t print_some(const struct api_array *array, size_t begin, size_t end, bool begins_row, char *text)
{
	char *at = text;
	for (size_t i = begin; i < end; i++) {
		if (i > begin || !begins_row)
			*at++ = ',';
		at += print(array, i, at);
	}
	return (size_t)(at - text);
}

/* One reservation for a batch of numbers, where the ceiling is not so close that each one has to be looked at. */
static bool put_numbers(struct writer *w, const struct api_array *array, size_t begin, size_t n)
{
	enum { BATCH = 32, LONGEST = SLACK / 2 + 1 };
	for (size_t i = begin, m; i < begin + n; i += m) {
		m = begin + n - i < BATCH ? begin + n - i : BATCH;
		if (!has_room(w, m * LONGEST))
			m = 1;
		if (!reserve(w, m * LONGEST))
			return false;
		w->text.bytes += print_some(array, i, i + m, i == begin, w->text.data + w->text.bytes);
	}
	return true;
}

/* The rows below one element of a level; *i goes through the flat array. The ceiling is there for compilers alone, which
 * unroll the recursion beyond it and complain. */
static bool put_level(struct writer *w, const struct api_array *array, int level, size_t *i)
{
	if (level == array->rank || level == API_MAX_RANK)
		return put_numbers(w, array, (*i)++, 1);
	if (!put_char(w, '['))
		return false;
	if (level == array->rank - 1) {
		if (!put_numbers(w, array, *i, array->shape[level]))
			return false;
		*i += array->shape[level];
	} else {
		for (size_t row = 0; row < array->shape[level]; row++)
			if ((row && !put_char(w, ',')) || !put_level(w, array, level + 1, i))
				return false;
	}
	return put_char(w, ']');
}

static bool put_bytes(struct writer *w, const char *bytes, size_t n)
{
	if (!reserve(w, n))
		return false;
	memcpy(w->text.data + w->text.bytes, bytes, n);
	w->text.bytes += n;
	return true;
}

static bool is_plain(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
			return false;
	return true;
}

/* What needs escapes, or might, is left to jansson. */
static bool put_escaped(struct writer *w, const char *text, size_t n)
{
	json_t *string = json_stringn(text, n);
	char *escaped = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
	const bool ok = escaped && put_bytes(w, escaped, strlen(escaped));
	free(escaped); /* by jansson's allocator, which nobody replaces */
	json_decref(string);
	return ok;
}

static bool put_string(struct writer *w, const char *text, size_t n)
{
	if (!is_plain(text, n))
		return put_escaped(w, text, n);
	return put_char(w, '"') && put_bytes(w, text, n) && put_char(w, '"');
}

static bool put_node(struct writer *w, const json_t *node);

static bool put_object(struct writer *w, const json_t *node)
{
	json_t *object = (json_t *)(uintptr_t)node; /* iterators want it not const */
	void *first = json_object_iter(object);
	for (void *i = first; i; i = json_object_iter_next(object, i)) {
		const char *key = json_object_iter_key(i);
		if (!put_char(w, i == first ? '{' : ',') || !put_string(w, key, strlen(key)) || !put_char(w, ':') ||
		    !put_node(w, json_object_iter_value(i)))
			return false;
	}
	return first ? put_char(w, '}') : put_bytes(w, "{}", 2);
}

static bool put_list(struct writer *w, const json_t *list)
{
	const size_t n = json_array_size(list);
	for (size_t i = 0; i < n; i++)
		if (!put_char(w, i == 0 ? '[' : ',') || !put_node(w, json_array_get(list, i)))
			return false;
	return n ? put_char(w, ']') : put_bytes(w, "[]", 2);
}

static bool put_mark(struct writer *w, const json_t *node)
{
	const struct api_array *array = api_document_array(w->document, node);
	size_t i = 0;
	return array && put_level(w, array, 0, &i);
}

static bool put_node(struct writer *w, const json_t *node)
{
	switch (json_typeof(node)) {
	case JSON_OBJECT: return put_object(w, node);
	case JSON_ARRAY: return put_list(w, node);
	case JSON_STRING: return put_string(w, json_string_value(node), json_string_length(node));
	case JSON_INTEGER: return put_mark(w, node);
	case JSON_TRUE: return put_bytes(w, "true", 4);
	case JSON_FALSE: return put_bytes(w, "false", 5);
	case JSON_NULL: return put_bytes(w, "null", 4);
	case JSON_REAL: break;
	}
	return false;
}

enum api_written api_document_write_json(const struct api_document *document, size_t max_bytes, struct api_buffer *text)
{
	if (max_bytes > SIZE_MAX / 4)
		max_bytes = SIZE_MAX / 4;
	struct writer w = {.document = document, .max_bytes = max_bytes,
	                   .text = {.limit = max_bytes + SLACK, .pool = text->pool}};
	const bool done = document->root && put_node(&w, document->root) && reserve(&w, 1);
	if (done)
		w.text.data[w.text.bytes] = '\0';
	else
		api_buffer_free(&w.text);
	*text = w.text;
	return done ? API_WRITTEN : w.over ? API_TOO_LONG : API_WRITE_NO_MEMORY;
}
