#include "api/codec/skeleton.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/codec/text.h"

enum { MAX_DEPTH = 32, MAX_KEY = 64, MAX_DIGITS = 9 };

struct reader {
	const char *p, *end;
	char quote; /* delimits strings: " in requests, ' in the program's own tables */
	int depth;
};

static json_t *read_value(struct reader *r);

/* Skips blanks without checking the stop flag, so only a few; a text with a longer run is not plain. */
static const char *skip_blanks(const struct reader *r)
{
	return api_skip_blanks(r->p, r->end - r->p > API_LOOK_BYTES ? r->p + API_LOOK_BYTES : r->end);
}

static char next(struct reader *r)
{
	r->p = skip_blanks(r);
	return r->p < r->end ? *r->p : '\0';
}

static bool take(struct reader *r, char c)
{
	if (next(r) != c)
		return false;
	r->p++;
	return true;
}

static bool is_plain(const struct reader *r, unsigned char c)
{
	return c >= ' ' && c < 0x7f && c != (unsigned char)r->quote && c != '\\';
}

/* Reads a string whose opening quote is at p. @return NULL unless all of its bytes are plain */
static const char *read_string(struct reader *r, size_t *bytes)
{
	const char *begin = ++r->p;
	while (r->p < r->end && is_plain(r, (unsigned char)*r->p))
		r->p++;
	*bytes = (size_t)(r->p - begin);
	return r->p < r->end && *r->p == r->quote ? (r->p++, begin) : NULL;
}

static json_t *read_text(struct reader *r)
{
	size_t bytes;
	const char *text = read_string(r, &bytes);
	return text ? json_stringn_nocheck(text, bytes) : NULL;
}

static bool read_key(struct reader *r, char key[MAX_KEY])
{
	size_t bytes;
	const char *text = next(r) == r->quote ? read_string(r, &bytes) : NULL;
	if (!text || bytes >= MAX_KEY)
		return false;
	memcpy(key, text, bytes);
	key[bytes] = '\0';
	return true;
}

/* Reads a member. Fails on a duplicate key, which leaves the object's size unchanged. */
static bool read_member(struct reader *r, json_t *object)
{
	char key[MAX_KEY];
	const size_t size = json_object_size(object);
	if (!read_key(r, key) || !take(r, ':'))
		return false;
	return json_object_set_new_nocheck(object, key, read_value(r)) == 0 && json_object_size(object) > size;
}

static bool read_element(struct reader *r, json_t *array)
{
	return json_array_append_new(array, read_value(r)) == 0;
}

static json_t *read_container(struct reader *r, json_t *container, char close, bool (*read)(struct reader *, json_t *))
{
	r->p++;
	bool ok = container && r->depth < MAX_DEPTH;
	r->depth++;
	if (ok && !take(r, close)) {
		do
			ok = read(r, container);
		while (ok && take(r, ','));
		ok = ok && take(r, close);
	}
	r->depth--;
	if (ok)
		return container;
	json_decref(container);
	return NULL;
}

static json_t *read_mark(struct reader *r)
{
	const char *begin = r->p;
	json_int_t value = 0;
	while (r->p < r->end && *r->p >= '0' && *r->p <= '9' && r->p - begin < MAX_DIGITS)
		value = 10 * value + (*r->p++ - '0');
	return r->p == begin || (*begin == '0' && r->p - begin > 1) ? NULL : json_integer(value);
}

static json_t *read_number(struct reader *r)
{
	char *end, *real_end;
	const long long integer = strtoll(r->p, &end, 10);
	const double real = strtod(r->p, &real_end);
	if (real_end == r->p)
		return NULL;
	r->p = real_end;
	return end == real_end ? json_integer(integer) : json_real(real);
}

static json_t *read_word(struct reader *r, const char *word, json_t *value)
{
	const size_t bytes = strlen(word);
	if ((size_t)(r->end - r->p) < bytes || memcmp(r->p, word, bytes) != 0)
		return NULL;
	r->p += bytes;
	return value;
}

static json_t *read_value(struct reader *r)
{
	const char first = next(r);
	if (first == r->quote)
		return read_text(r);
	switch (first) {
	case '{': return read_container(r, json_object(), '}', read_member);
	case '[': return read_container(r, json_array(), ']', read_element);
	case 't': return read_word(r, "true", json_true());
	case 'f': return read_word(r, "false", json_false());
	case 'n': return read_word(r, "null", json_null());
	default: return r->quote == '"' ? read_mark(r) : read_number(r);
	}
}

static json_t *read_all(const char *text, size_t bytes, char quote)
{
	struct reader reader = {.p = text, .end = text + bytes, .quote = quote};
	json_t *root = read_value(&reader);
	if (root && skip_blanks(&reader) == reader.end)
		return root;
	json_decref(root);
	return NULL;
}

json_t *api_skeleton_read(const char *text, size_t bytes)
{
	return read_all(text, bytes, '"');
}

json_t *api_quoted_read(const char *text)
{
	return read_all(text, strlen(text), '\'');
}
