#include "api/validate/url_query.h"

#include <stdlib.h>
#include <string.h>

#include "api/base/utf8.h"
#include "api/numbers/numbers.h"

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool api_percent_decode(char *text)
{
	char *out = text;
	for (; *text; text++) {
		if (*text != '%') {
			*out++ = *text;
			continue;
		}
		const int high = hex(text[1]), low = high < 0 ? -1 : hex(text[2]);
		if (low < 0 || high * 16 + low == 0)
			return false;
		*out++ = (char)(high * 16 + low);
		text += 2;
	}
	*out = '\0';
	return true;
}

struct reader {
	struct api_arena *arena;
	struct api_document *document;
	struct api_fault *fault;
	struct api_path root;
};

static bool no_memory(struct reader *r)
{
	return api_fault_no_memory(r->fault);
}

/* Reads one number in JSON's grammar, with an optional leading plus sign. */
static bool read_number(const char *text, double *out)
{
	struct api_number number;
	text += *text == '+' && text[1] != '-';
	const char *end = text + strlen(text);
	if (api_number_read(text, end, &number) != API_NUMBER_OK || number.end != end)
		return false;
	*out = number.value;
	return true;
}

static size_t count_entries(const char *text)
{
	size_t n = 1;
	for (; *text; text++)
		n += *text == ',';
	return n;
}

static bool fill(struct reader *r, const char *name, char *text, double *out)
{
	const struct api_path path = {&r->root, name, 0};
	bool ok = true;
	size_t i = 0;
	for (char *entry = text, *end; entry; entry = end, i++) {
		end = strchr(entry, ',');
		if (end)
			*end++ = '\0';
		const struct api_path place = {&path, NULL, i};
		if (!read_number(entry, &out[i]))
			ok = api_fault_at(r->fault, API_E_WRONG_TYPE, &place,
			                  "\"%.100s\" is not a number in the range of a double; write numbers as in JSON,"
			                  " separated by commas: 0.5,2e-3",
			                  entry);
	}
	return ok;
}

static bool add_numbers(struct reader *r, const char *name, char *text, bool list)
{
	const size_t n = count_entries(text);
	struct api_document *d = r->document;
	double *data = api_arena_array(r->arena, n, sizeof(*data));
	if (!data)
		return no_memory(r);
	if (!fill(r, name, text, data))
		return false;
	struct api_array *array = (struct api_array *)&d->arrays[d->n_arrays];
	*array = (struct api_array){.rank = n != 1 || list, .shape = {n}, .n = n, .data = data, .first_non_integer = n};
	if (json_object_set_new(d->root, name, json_integer((json_int_t)d->n_arrays)))
		return no_memory(r);
	d->n_arrays++;
	return true;
}

/* Finds a parameter's rule, and whether it is the first one. @return NULL if unknown */
static const struct api_rule *find(const struct api_object *rules, const char *name, bool *first)
{
	*first = true;
	for (int i = 0; i < rules->n_rules; i++) {
		if (!api_rule_applies(&rules->rules[i], rules))
			continue;
		if (!strcmp(name, rules->rules[i].name))
			return &rules->rules[i];
		*first = false;
	}
	return NULL;
}

static bool add_word(struct reader *r, const char *name, const char *text)
{
	const struct api_path path = {&r->root, name, 0};
	if (!api_is_utf8(name) || !api_is_utf8(text))
		return api_fault_at(r->fault, API_E_WRONG_TYPE, &path, "not valid UTF-8");
	json_t *value = !strcmp(text, "true") ? json_true() : !strcmp(text, "false") ? json_false() : json_string(text);
	return !json_object_set_new(r->document->root, name, value) || no_memory(r);
}

static bool add_parameter(struct reader *r, char *parameter, const struct api_object *rules)
{
	bool first;
	char *value = strchr(parameter, '=');
	if (value)
		*value++ = '\0';
	else
		value = parameter + strlen(parameter);
	const struct api_path path = {&r->root, parameter, 0};
	if (!api_percent_decode(parameter) || !api_percent_decode(value) || !json_is_object(r->document->root))
		return api_fault_at(r->fault, API_E_MALFORMED_QUERY, &r->root, "broken %%-escape in the URL's query");
	if (json_object_get(r->document->root, parameter))
		return api_fault_at(r->fault, API_E_CONFLICTING_FIELDS, &path, "parameter \"%.100s\" appears twice", parameter);
	/* Unknown parameters are kept as they are; the check of names reports them. */
	const struct api_rule *rule = find(rules, parameter, &first);
	if (!rule || rule->kind == API_WORD || rule->kind == API_BOOL)
		return add_word(r, parameter, value);
	return add_numbers(r, parameter, value, first);
}

bool api_url_query_document(const char *url_query, const struct api_object *rules, struct api_arena *arena,
                            struct api_document *document, struct api_fault *fault)
{
	struct reader r = {arena, document, fault, {0}};
	const size_t bytes = strlen(url_query);
	char *copy = api_arena_array(arena, bytes + 1, 1);
	size_t n = 1;
	for (const char *c = url_query; *c; c++)
		n += *c == '&';
	*document =
		(struct api_document){.root = json_object(), .arrays = api_arena_array(arena, n, sizeof(struct api_array))};
	if (!copy || !document->root || !document->arrays)
		return no_memory(&r);
	memcpy(copy, url_query, bytes + 1);
	bool ok = true;
	for (char *parameter = copy, *end; parameter && !api_fault_is_full(fault); parameter = end) {
		end = strchr(parameter, '&');
		if (end)
			*end++ = '\0';
		ok = (!*parameter || add_parameter(&r, parameter, rules)) && ok;
	}
	return ok;
}

bool api_url_query_refuse(const char *url_query, struct api_fault *fault)
{
	if (!*url_query)
		return true;
	char *name = strndup(url_query, strcspn(url_query, "=&"));
	if (!name)
		return api_fault_no_memory(fault);
	const struct api_path root = {0}, parameter = {&root, api_percent_decode(name) ? name : "", 0};
	api_fault_at(fault, API_E_UNEXPECTED_QUERY, *parameter.key ? &parameter : &root,
	             "this route takes no parameters in the URL; send them in the body");
	free(name);
	return false;
}
