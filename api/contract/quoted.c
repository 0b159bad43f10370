#include "api/contract/quoted.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static json_t *read_value(const char **p);

static bool take(const char **p, char c)
{
	*p += strspn(*p, " ");
	if (**p != c)
		return false;
	++*p;
	return true;
}

/* The length of a string whose opening quote has been consumed. */
static size_t string_bytes(const char *p)
{
	return strcspn(p, "'");
}

static json_t *read_string(const char **p)
{
	const char *begin = *p;
	const size_t n = string_bytes(begin);
	*p += n;
	return take(p, '\'') ? json_stringn(begin, n) : NULL;
}

static bool read_member(const char **p, json_t *object)
{
	char key[64];
	if (!take(p, '\'') || string_bytes(*p) >= sizeof(key))
		return false;
	const size_t n = string_bytes(*p);
	memcpy(key, *p, n);
	key[n] = '\0';
	*p += n;
	return take(p, '\'') && take(p, ':') && !json_object_set_new(object, key, read_value(p));
}

static bool read_element(const char **p, json_t *array)
{
	return !json_array_append_new(array, read_value(p));
}

static json_t *read_container(const char **p, json_t *container, char close, bool (*read)(const char **, json_t *))
{
	bool ok = container;
	if (ok && !take(p, close)) {
		do
			ok = read(p, container);
		while (ok && take(p, ','));
		ok = ok && take(p, close);
	}
	if (ok)
		return container;
	json_decref(container);
	return NULL;
}

static json_t *read_number(const char **p)
{
	char *end, *real_end;
	const long long integer = strtoll(*p, &end, 10);
	const double real = strtod(*p, &real_end);
	if (real_end == *p)
		return NULL;
	*p = real_end;
	return end == real_end ? json_integer(integer) : json_real(real);
}

static bool take_word(const char **p, const char *word)
{
	const size_t n = strlen(word);
	if (strncmp(*p, word, n) != 0)
		return false;
	*p += n;
	return true;
}

static json_t *read_value(const char **p)
{
	if (take(p, '{'))
		return read_container(p, json_object(), '}', read_member);
	if (take(p, '['))
		return read_container(p, json_array(), ']', read_element);
	if (take(p, '\''))
		return read_string(p);
	if (take_word(p, "true"))
		return json_true();
	if (take_word(p, "false"))
		return json_false();
	return take_word(p, "null") ? json_null() : read_number(p);
}

json_t *api_quoted_read(const char *text)
{
	json_t *value = read_value(&text);
	if (text[strspn(text, " ")] == '\0')
		return value;
	json_decref(value);
	return NULL;
}
