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
static bool reserve(struct writer *w, size_t more)
{
	if (w->text.bytes > w->max_bytes || more > w->max_bytes + SLACK - w->text.bytes) {
		w->over = true;
		return false;
	}
	return api_buffer_reserve(&w->text, more);
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

static bool put_numbers(struct writer *w, const struct api_array *array, size_t begin, size_t n)
{
	for (size_t i = begin; i < begin + n; i++) {
		if (!reserve(w, SLACK / 2 + 1))
			return false;
		if (i > begin)
			w->text.data[w->text.bytes++] = ',';
		w->text.bytes += print(array, i, w->text.data + w->text.bytes);
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

static const char *skip_string(const char *p)
{
	for (p++; *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p + 1;
}

static bool put_bytes(struct writer *w, const char *begin, const char *end)
{
	size_t n = (size_t)(end - begin);
	if (!reserve(w, n))
		return false;
	memcpy(w->text.data + w->text.bytes, begin, n);
	w->text.bytes += n;
	return true;
}

/* The array whose mark is at *p, which goes behind it; NULL for any other number. */
static const struct api_array *array_of_mark(const struct api_document *document, const char **p)
{
	char *end;
	unsigned long long k = strtoull(*p, &end, 10);
	bool mark = **p != '-' && *end != '.' && *end != 'e' && k < document->n_arrays;
	*p = end;
	return mark ? &document->arrays[k] : NULL;
}

/* small: the tree's own text. Outside strings its digits are marks. */
static bool put_document(struct writer *w, const char *small)
{
	const char *copied = small;
	for (const char *p = small; *p;) {
		if (*p == '"') {
			p = skip_string(p);
		} else if (*p == '-' || (*p >= '0' && *p <= '9')) {
			size_t i = 0;
			const char *mark = p;
			const struct api_array *array = array_of_mark(w->document, &p);
			if (!array || !put_bytes(w, copied, mark) || !put_level(w, array, 0, &i))
				return false;
			copied = p;
		} else {
			p++;
		}
	}
	return put_bytes(w, copied, small + strlen(small));
}

enum api_written api_document_write_json(const struct api_document *document, size_t max_bytes, struct api_buffer *text)
{
	if (max_bytes > SIZE_MAX / 4)
		max_bytes = SIZE_MAX / 4;
	struct writer w = {.document = document, .max_bytes = max_bytes, .text = {.limit = max_bytes + SLACK, .pool = text->pool}};
	char *small = json_dumps(document->root, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY);
	bool done = small && put_document(&w, small) && reserve(&w, 1);
	free(small); /* by jansson's allocator, which nobody replaces */
	if (done)
		w.text.data[w.text.bytes] = '\0';
	else
		api_buffer_free(&w.text);
	*text = w.text;
	return done ? API_WRITTEN : w.over ? API_TOO_LONG : API_WRITE_NO_MEMORY;
}
