#include "api/validate/check.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/base/account.h"
#include "api/base/near.h"
#include "api/codec/array.h"
#include "api/numbers/print_double.h"

enum { MOST_ROWS = INT32_MAX / 4 };

bool api_check_stopped(struct api_check *check)
{
	return api_account_is_stopped() && !api_fault_stopped(check->fault);
}

struct api_field api_member(const struct api_field *object, const char *name)
{
	const json_t *node = json_is_object(object->node) ? json_object_get(object->node, name) : NULL;
	return (struct api_field){.node = node, .path = {&object->path, name, 0}};
}

struct api_field api_ruled(const struct api_field *field, const struct api_object *object, int i)
{
	const struct api_rule *rule = &object->rules[i];
	struct api_field member = {.path = {&field->path, rule->name, 0}};
	if (field->members)
		member.node = field->members[i];
	else
		member = api_member(field, rule->name);
	member.rule = rule;
	member.is_excused = field->excused >> i & 1;
	return member;
}

struct api_shape api_shape_of(const struct api_rule *rule, const size_t lengths[API_N_LENGTHS])
{
	struct api_shape shape = {.n = lengths[rule->shape[0]], .one_for_all = rule->one_for_all, .range = rule->range};
	while (shape.n_inner < API_MAX_SHAPE - 1 && rule->shape[shape.n_inner + 1]) {
		shape.inner[shape.n_inner] = lengths[rule->shape[shape.n_inner + 1]];
		shape.n_inner++;
	}
	shape.number_row = rule->bare && shape.inner[0] == 1;
	return shape;
}

const char *api_kind(const struct api_check *check, const json_t *node)
{
	const struct api_array *array = api_document_array(check->document, node);
	if (array)
		return array->rank == 0 ? "a number" : "an array of numbers";
	switch (json_typeof(node)) {
	case JSON_OBJECT: return "an object";
	case JSON_ARRAY: return "an array";
	case JSON_STRING: return "a string";
	case JSON_NULL: return "null";
	default: return "true or false";
	}
}

static bool wrong_kind(struct api_check *check, const struct api_field *field, const char *expected)
{
	return api_fault_at(check->fault, API_E_WRONG_TYPE, &field->path, "expected %s, got %s", expected,
	                    api_kind(check, field->node));
}

/* The number of the rule of this name, or -1. */
static int find_rule(const char *name, const struct api_object *object)
{
	for (int i = 0; i < object->n_rules; i++)
		if (*name == *object->rules[i].name && !strcmp(name, object->rules[i].name) &&
		    api_rule_applies(&object->rules[i], object))
			return i;
	return -1;
}

/* Room for the members of an object, by rule; NULL if none is left. */
static const json_t **claim_members(struct api_check *check, int n)
{
	const json_t **members = check->members + check->n_members;
	if (n > API_MAX_MEMBERS - check->n_members)
		return NULL;
	check->n_members += n;
	for (int i = 0; i < n; i++)
		members[i] = NULL;
	return members;
}

/* "a, b, c", or as much of it as there is room for, then "..." */
static const char *list_fields(const struct api_object *object, char *out, size_t bytes)
{
	size_t at = 0;
	out[0] = '\0';
	for (int i = 0; i < object->n_rules; i++) {
		const struct api_rule *rule = &object->rules[i];
		if (!api_rule_applies(rule, object))
			continue;
		const bool fits = at + strlen(rule->name) + sizeof(", , ...") <= bytes;
		at += (size_t)snprintf(out + at, bytes - at, "%s%s", at ? ", " : "", fits ? rule->name : "...");
		if (!fits)
			break;
	}
	return out;
}

/* Number of the rule that was meant by an unknown name, or -1. */
static int near_rule(const char *name, const struct api_object *object)
{
	struct api_near near;
	api_near_start(&near, name);
	for (int i = 0; i < object->n_rules; i++)
		if (api_rule_applies(&object->rules[i], object))
			api_near_offer(&near, object->rules[i].name);
	return api_near_found(&near) ? find_rule(api_near_found(&near), object) : -1;
}

/* The object below this one that has such a field, in words; false if none has. */
static bool find_home(const char *name, const struct api_object *object, char home[64])
{
	for (int i = 0; i < object->n_rules; i++) {
		const struct api_rule *rule = &object->rules[i];
		if (rule->kind != API_OBJECT || !api_rule_applies(rule, object))
			continue;
		const int found = find_rule(name, rule->objects[0]);
		if (found >= 0 && object == &api_collisions && !rule->objects[0]->rules[found].types)
			snprintf(home, 64, "each group of \"collisions\"");
		else if (found >= 0)
			snprintf(home, 64, "\"%s\"", rule->name);
		if (found >= 0 || find_home(name, rule->objects[0], home))
			return true;
	}
	return false;
}

/* Whether the name is a field of what comes in another request, and what that is called. */
static bool is_elsewhere(const struct api_check *check, const char *name, char home[64])
{
	if (!check->elsewhere || (find_rule(name, check->elsewhere) < 0 && !find_home(name, check->elsewhere, home)))
		return false;
	snprintf(home, 64, "%s",
	         check->elsewhere == &api_set_document ? "the set's document: PATCH it"
	                                               : "a question: POST it to evaluate");
	return true;
}

/* Whether the name belongs to another object, and to which; then it counts as given there. */
static bool note_misplaced(struct api_check *check, const char *name, char home[64])
{
	if (!check->whole)
		return false;
	if (find_rule(name, check->whole) >= 0)
		snprintf(home, 64, "%s",
		         check->whole == &api_set_document ? "the set's document itself" : "the request itself");
	else if (!find_home(name, check->whole, home))
		return is_elsewhere(check, name, home);
	if (check->n_misplaced < API_MAX_ERRORS)
		check->misplaced[check->n_misplaced++] = name;
	return true;
}

/* Whether a name is a JSON Pointer to a field of this object. */
static bool is_pointer(const char *name, const struct api_object *object)
{
	char first[API_NAME_BYTES];
	const size_t n = *name == '/' ? strcspn(name + 1, "/") : 0;
	if (n == 0 || n >= sizeof(first))
		return false;
	memcpy(first, name + 1, n);
	first[n] = '\0';
	return find_rule(first, object) >= 0;
}

static void fault_unknown(struct api_check *check, const struct api_path *path, const struct api_object *object,
                          int near)
{
	char fields[256], help[128] = ".", home[64];
	if (is_pointer(path->key, object))
		snprintf(help, sizeof(help),
		         ": a JSON Pointer is no name here. Nest the objects: {\"friction\": {\"mu\": 0.3}}.");
	else if (note_misplaced(check, path->key, home))
		snprintf(help, sizeof(help), " here; it is a field of %s.", home);
	else if (near >= 0)
		snprintf(help, sizeof(help), "; did you mean \"%s\"?", object->rules[near].name);
	api_fault_at(check->fault, API_E_UNKNOWN_FIELD, path, "unknown field \"%.120s\"%s Fields here: %s", path->key, help,
	             list_fields(object, fields, sizeof(fields)));
}

/* Most of the members that could be there are not. Once all that are there have been found by name, the others need no
 * lookup. */
bool api_check_object(struct api_check *check, struct api_field *field, const struct api_object *object)
{
	char fields[256];
	if (!json_is_object(field->node))
		return api_fault_at(check->fault, API_E_WRONG_TYPE, &field->path, "expected an object, got %s. Fields here: %s",
		                    api_kind(check, field->node), list_fields(object, fields, sizeof(fields)));
	const json_t **members = claim_members(check, object->n_rules);
	const char *key;
	json_t *value;
	bool ok = true;
	json_object_foreach((json_t *)(uintptr_t)field->node, key, value) { /* the macro takes a non-const object */
		const struct api_path path = {&field->path, key, 0};
		const int rule = find_rule(key, object);
		if (rule >= 0) {
			if (members)
				members[rule] = value;
			continue;
		}
		ok = false;
		if (api_fault_is_full(check->fault))
			continue;
		const int near = near_rule(key, object);
		fault_unknown(check, &path, object, near);
		field->excused |= near >= 0 ? 1u << near : 0;
	}
	field->members = members;
	return ok;
}

bool api_check_root(struct api_check *check, const struct api_object *whole, const struct api_object *elsewhere,
                    struct api_field *root)
{
	*root = (struct api_field){.node = check->document->root};
	check->whole = whole;
	check->elsewhere = elsewhere;
	if (json_is_string(root->node))
		return api_fault_at(check->fault, API_E_WRONG_TYPE, &root->path,
		                    "expected an object, got a string: JSON in a string"
		                    " has been encoded twice");
	if (json_is_array(check->patch))
		return api_fault_at(check->fault, API_E_WRONG_TYPE, &root->path,
		                    "expected an object, got an array: a patch is a JSON Merge Patch (RFC 7396), for example"
		                    " {\"friction\": {\"mu\": 0.3}}, not a JSON Patch (RFC 6902)");
	api_check_object(check, root, whole);
	return json_is_object(root->node);
}

bool api_is_given(const struct api_check *check, const struct api_field *field)
{
	bool given = field->node || field->is_excused;
	for (int i = 0; i < check->n_misplaced && !given; i++)
		given = !strcmp(check->misplaced[i], field->path.key);
	return given;
}

bool api_check_present(struct api_check *check, const struct api_field *field, const char *why)
{
	if (api_is_given(check, field))
		return field->node;
	return api_fault_at(check->fault, API_E_MISSING_FIELD, &field->path, "\"%s\" is missing: %s", field->path.key, why);
}

/* "a, b or c" */
static const char *alternatives(const char *const names[], char *out, size_t bytes)
{
	size_t at = 0;
	out[0] = '\0';
	for (int i = 0; names[i] && at < bytes; i++)
		at += (size_t)snprintf(out + at, bytes - at, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : " or ", names[i]);
	return out;
}

/* Whether a word is one of another field's, or near to some of them. */
static bool is_other_word(const struct api_check *check, const char *word)
{
	struct api_near near;
	api_near_start(&near, word);
	for (int i = 0; check->other_words && check->other_words[i]; i++)
		api_near_offer(&near, check->other_words[i]);
	return near.nearest;
}

static bool fault_word(struct api_check *check, const struct api_field *field, const char *const names[])
{
	char list[256], question[API_NEAR_QUESTION];
	const char *word = json_string_value(field->node),
			   *otherwise = is_other_word(check, word) ? check->other_field : "";
	struct api_near near;
	api_near_start(&near, word);
	for (int i = 0; names[i]; i++)
		api_near_offer(&near, names[i]);
	return api_fault_at(check->fault, API_E_UNKNOWN_WORD, &field->path, "expected %s, got \"%.100s\"%s",
	                    alternatives(names, list, sizeof(list)), word, api_near_ask(&near, otherwise, question));
}

bool api_check_choice(struct api_check *check, const struct api_field *field, const char *const names[], int *out)
{
	char list[256];
	if (!field->node)
		return true;
	if (!json_is_string(field->node))
		return wrong_kind(check, field, alternatives(names, list, sizeof(list)));
	for (int i = 0; names[i]; i++)
		if (!strcmp(json_string_value(field->node), names[i]) && json_string_length(field->node) == strlen(names[i])) {
			*out = i;
			return true;
		}
	return fault_word(check, field, names);
}

bool api_check_choices(struct api_check *check, const struct api_field *field, const char *const names[], bool *flags)
{
	if (!field->node)
		return true;
	const struct api_array *array = api_document_array(check->document, field->node);
	for (int i = 0; names[i]; i++)
		flags[i] = false;
	if (array && array->rank == 1 && array->n == 0 && !array->binary)
		return true; /* an empty list, lifted like any empty array */
	if (array && array->rank > 0 && (array->n > 0 || !array->binary)) {
		const struct api_path first = {&field->path, NULL, 0};
		return api_fault_at(check->fault, API_E_WRONG_TYPE, &first, "expected a string, got a number");
	}
	if (!json_is_array(field->node)) {
		char list[256];
		return api_fault_at(check->fault, API_E_WRONG_TYPE, &field->path,
		                    "expected a list of strings, got %s. Words here: %s", api_kind(check, field->node),
		                    alternatives(names, list, sizeof(list)));
	}
	bool ok = true;
	for (size_t i = 0; i < json_array_size(field->node); i++) {
		const struct api_field entry = {.node = json_array_get(field->node, i), .path = {&field->path, NULL, i}};
		int choice = 0;
		if (api_check_stopped(check) || api_fault_is_full(check->fault))
			return false;
		ok = api_check_choice(check, &entry, names, &choice) && ok;
		flags[choice] = true;
	}
	return ok;
}

bool api_check_bool(struct api_check *check, const struct api_field *field, bool *out)
{
	if (!field->node)
		return true;
	if (!json_is_boolean(field->node))
		return wrong_kind(check, field, "true or false");
	*out = json_is_true(field->node);
	return true;
}

bool api_fault_entry(struct api_check *check, enum api_code code, const struct api_field *field, size_t flat,
                     const char *format, ...)
{
	const struct api_array *array = api_document_array(check->document, field->node);
	struct api_path path[API_MAX_RANK + 1] = {field->path};
	char message[API_MAX_DETAIL];
	const int depth = array->rank > API_MAX_RANK ? 0 : array->rank; /* of a deeper one the lengths are not known */
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

/* The numbers of one span of an array. */
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

/* Finite and in range. */
static bool check_range(struct api_check *check, const struct api_field *field, const double *data, size_t n,
                        enum api_range range)
{
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

/* The array's numbers as doubles: where they are, or in the arena. NULL after a fault. */
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

/* The same, after checking their range. What was read from a text is finite. */
static const double *reals_in_range(struct api_check *check, const struct api_field *field,
                                    const struct api_array *array, enum api_range range)
{
	const double *data = reals(check, array);
	if (!data || (range == API_ANY && !array->binary))
		return data;
	return check_range(check, field, data, array->n, range) ? data : NULL;
}

/* The elements of a mixed array that are no numbers. */
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
			wrong_kind(check, &entry, "a number");
	}
	return !found && api_fault_at(check->fault, API_E_WRONG_SHAPE, &field->path, "arrays are nested too deeply here");
}

static bool fault_ragged(struct api_check *check, const struct api_field *field, const struct api_array *array)
{
	struct api_path path[API_MAX_RANK + 1] = {field->path};
	for (int i = 0; i < array->ragged_depth; i++)
		path[i + 1] = (struct api_path){&path[i], NULL, array->ragged_path[i]};
	return api_fault_at(check->fault, API_E_WRONG_SHAPE, &path[array->ragged_depth],
	                    "ragged array: this entry's shape differs from that of the ones before it");
}

/* The field's array, whatever its shape; NULL after a fault. */
static const struct api_array *numbers(struct api_check *check, const struct api_field *field, const char *expected)
{
	const struct api_array *array = api_document_array(check->document, field->node);
	if (api_fault_is_full(check->fault))
		return NULL;
	if (!array && json_is_array(field->node))
		fault_in_mixed(check, field);
	else if (!array)
		wrong_kind(check, field, expected);
	else if (array->ragged)
		fault_ragged(check, field, array);
	return array && !array->ragged ? array : NULL;
}

/* A single number that is there; NULL after a fault. */
static const struct api_array *one_number(struct api_check *check, const struct api_field *field, const char *expected)
{
	const struct api_array *array = numbers(check, field, expected);
	if (!array || array->rank == 0)
		return array;
	wrong_kind(check, field, expected);
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

/* [2, 3] in text */
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

/* shape[skip...] is exactly the row's shape */
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

/* Whether its last two lengths are those that were expected, in the other order. */
static bool is_transposed(const struct api_array *array, const size_t *expected, int rank)
{
	return rank > 1 && array->rank == rank && array->shape[rank - 2] == expected[rank - 1] &&
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
	return api_fault_entry(check, API_E_INDEX_OUT_OF_RANGE, field, i,
	                       "%s is not a %s: there are %zu, and indices start at"
	                       " 0",
	                       text, what, limit);
}

/* The entries that are no indices. Of those that were not written as integers only the first one is known. */
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

/* out: where to put them; NULL: they stay where they are. @return false if one is not an index, or the request was
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

/* The array's numbers as indices: where they are, or in the arena. NULL after a fault. */
static const int32_t *indices_below(struct api_check *check, const struct api_field *field,
                                    const struct api_array *array, size_t limit, const char *what)
{
	if (array->binary && (array->dtype == API_F64 || array->dtype == API_F32)) {
		api_fault_at(check->fault, API_E_WRONG_TYPE, &field->path, "dtype %s does not suit indices: i32, u32 or i64 do",
		             api_dtype_name(array->dtype));
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

void api_check_per_vertex(struct api_check *check, const struct api_field *field, size_t n_vertices, size_t dim,
                          const double **out)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N_VERTICES] = n_vertices, [API_DIM] = dim};
	const struct api_shape shape = api_shape_of(field->rule, lengths);
	struct fric_values values;
	api_check_values(check, field, &shape, &values);
	if (values.data)
		*out = values.data;
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
	       api_fault_at(check->fault, API_E_TOO_MANY_ENTRIES, &field->path, "%zu %s are more than the limit of %zu", n,
	                    what, most);
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
