#include "api/codec/document_write.h"

#include "api/base/account.h"
#include "api/numbers/print_double.h"
#include "api/codec/print_array.h"

#include <string.h>

enum {
	SLACK = 2 * API_NUMBER_BYTES, /* room for a number, its comma and the final NUL */
	USUAL_REST = 512,             /* typical length of a text without its numbers */
};

/* The text being written. Writers return false when they cannot continue; failure then states the reason. */
struct writer {
	const struct api_document *document;
	struct api_buffer text;
	size_t max_bytes;
	enum api_written failure; /* API_WRITE_NO_MEMORY unless set otherwise */
};

/* There is room for SLACK bytes beyond the limit, so numbers may be written before they are counted. */
static bool has_room(const struct writer *w, size_t more)
{
	return w->text.bytes <= w->max_bytes && more <= w->max_bytes + SLACK - w->text.bytes;
}

static bool reserve(struct writer *w, size_t more)
{
	if (has_room(w, more))
		return api_buffer_reserve(&w->text, more);
	w->failure = API_TOO_LONG;
	return false;
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
	case API_I32: return api_integer_write(((const int32_t *)array->data)[i], text);
	case API_I64: return api_integer_write(((const int64_t *)array->data)[i], text);
	case API_U32: return api_integer_write(((const uint32_t *)array->data)[i], text);
	case API_F32: return api_real_write((double)((const float *)array->data)[i], text);
	case API_F64: break;
	}
	return api_real_write(((const double *)array->data)[i], text);
}

static bool put_number(struct writer *w, const struct api_array *array, size_t i)
{
	if (!reserve(w, API_NUMBER_BYTES))
		return false;
	const size_t n = print(array, i, w->text.data + w->text.bytes);
	w->text.bytes += n;
	w->failure = n ? w->failure : API_NOT_FINITE;
	return n > 0;
}

/* Writes the rows below one element of a level; *i advances through the flat array. The bound on the level keeps
 * compilers from unrolling the recursion too far and warning about it. */
static bool put_level(struct writer *w, const struct api_array *array, int level, size_t *i)
{
	if (level == array->rank || level == API_MAX_RANK)
		return put_number(w, array, (*i)++);
	if (!put_char(w, '['))
		return false;
	for (size_t row = 0; row < array->shape[level]; row++)
		if ((row && !put_char(w, ',')) || !put_level(w, array, level + 1, i))
			return false;
	return put_char(w, ']');
}

static bool is_printed_whole(const struct api_array *array)
{
	return array->rank > 0 && array->n > 0;
}

/* Writes numbers one by one if the array is small, or if the limit is so close that each number has to be checked. */
static bool put_array(struct writer *w, const struct api_array *array)
{
	size_t i = 0;
	if (!is_printed_whole(array) || !has_room(w, api_print_array_bound(array)))
		return put_level(w, array, 0, &i);
	if (!reserve(w, api_print_array_bound(array)))
		return false;
	const size_t n = api_print_array(array, w->document->n_threads, w->text.pool, w->text.data + w->text.bytes);
	w->text.bytes += n;
	if (n == 0 && !api_array_is_finite(array, 1) && !api_account_is_stopped())
		w->failure = API_NOT_FINITE;
	return n > 0;
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

static int put_for_jansson(const char *bytes, size_t n, void *writer)
{
	return put_bytes(writer, bytes, n) ? 0 : -1;
}

/* Lets jansson write a string that may need escapes. */
static bool put_escaped(struct writer *w, const char *text, size_t n)
{
	json_t *string = json_stringn(text, n);
	const bool ok = string && json_dump_callback(string, put_for_jansson, w, JSON_ENCODE_ANY) == 0;
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
	json_t *object = (json_t *)(uintptr_t)node; /* iterators take a non-const object */
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
	return array && put_array(w, array);
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

/* Reserves everything at once as far as it can be estimated: growing would copy the text, and untouched pages take no
 * memory. */
static bool reserve_all(struct writer *w)
{
	const struct api_document *d = w->document;
	size_t bytes = USUAL_REST;
	for (size_t k = 0; k < d->n_arrays; k++)
		bytes += is_printed_whole(&d->arrays[k]) ? api_print_array_bound(&d->arrays[k]) : API_NUMBER_BYTES;
	return !has_room(w, bytes) || reserve(w, bytes);
}

enum api_written api_document_write_json(const struct api_document *document, size_t max_bytes, struct api_buffer *text)
{
	if (max_bytes > SIZE_MAX / 4)
		max_bytes = SIZE_MAX / 4;
	struct writer w = {.document = document,
	                   .max_bytes = max_bytes,
	                   .failure = API_WRITE_NO_MEMORY,
	                   .text = {.limit = max_bytes + SLACK, .pool = text->pool}};
	const bool done = document->root && reserve_all(&w) && put_node(&w, document->root) && reserve(&w, 1);
	if (done)
		w.text.data[w.text.bytes] = '\0';
	else
		api_buffer_free(&w.text);
	*text = w.text;
	return done ? API_WRITTEN : w.failure;
}
