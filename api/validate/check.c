#include "api/validate/check.h"

#include <stdio.h>
#include <string.h>

#include "api/base/account.h"
#include "api/base/suggest.h"

bool api_check_stopped(struct api_check *check)
{
	return api_account_is_stopped() && !api_fault_stopped(check->fault);
}

struct api_field api_member(const struct api_field *object, const char *name)
{
	const json_t *node = json_is_object(object->node) ? json_object_get(object->node, name) : NULL;
	return (struct api_field){.node = node, .path = {&object->path, name, 0}};
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

bool api_fault_kind(struct api_check *check, const struct api_field *field, const char *expected)
{
	return api_fault_at(check->fault, API_E_WRONG_TYPE, &field->path, "expected %s, got %s", expected,
	                    api_kind(check, field->node));
}

static int find_rule(const char *name, const struct api_object *object)
{
	return api_rule_named(object, name, strlen(name));
}

/* Takes room for the members of an object, by rule. @return NULL if no room is left */
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

/* Lists the fields of an object, "a, b, c", truncated with "..." if they do not fit. */
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

/* The number of the rule whose name is nearest to an unknown name, or -1. */
static int near_rule(const char *name, const struct api_object *object)
{
	struct api_suggestion near;
	api_suggest_start(&near, name);
	for (int i = 0; i < object->n_rules; i++)
		if (api_rule_applies(&object->rules[i], object))
			api_suggest_offer(&near, object->rules[i].name);
	return api_suggest_found(&near) ? find_rule(api_suggest_found(&near), object) : -1;
}

/* Describes the object below this one that has such a field. @return false if none has it */
static bool find_home(const char *name, const struct api_object *object, char home[64])
{
	for (int i = 0; i < object->n_rules; i++) {
		const struct api_rule *rule = &object->rules[i];
		if (rule->kind != API_OBJECT || !api_rule_applies(rule, object))
			continue;
		const int found = find_rule(name, rule->objects[0]);
		if (found >= 0 && (object == &api_collisions || object == &api_previous_collisions) &&
		    !rule->objects[0]->rules[found].types)
			snprintf(home, 64, "each group of \"collisions\"");
		else if (found >= 0)
			snprintf(home, 64, "\"%s\"", rule->name);
		if (found >= 0 || find_home(name, rule->objects[0], home))
			return true;
	}
	return false;
}

/* Whether the name is a field of the other part of a request, and which part that is. */
static bool is_elsewhere(const struct api_check *check, const char *name, char home[64])
{
	if (!check->elsewhere || (find_rule(name, check->elsewhere) < 0 && !find_home(name, check->elsewhere, home)))
		return false;
	snprintf(home, 64, "%s",
	         check->elsewhere == &api_set_document ? "the set's document: PATCH it"
	                                               : "requests about a set: POST it to evaluate");
	return true;
}

/* Whether the name belongs to another object, and which one. If so, the field counts as given there. */
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
	return *name == '/' && api_rule_named(object, name + 1, strcspn(name + 1, "/")) >= 0;
}

static void fault_unknown(struct api_check *check, const struct api_path *path, const struct api_object *object,
                          int near)
{
	char fields[256], help[128] = ".", home[64];
	if (is_pointer(path->key, object))
		snprintf(help, sizeof(help),
		         ": a JSON Pointer is not a name here. Nest the objects: {\"friction\": {\"mu\": 0.3}}.");
	else if (note_misplaced(check, path->key, home))
		snprintf(help, sizeof(help), " here; it is a field of %s.", home);
	else if (near >= 0)
		snprintf(help, sizeof(help), "; did you mean \"%s\"?", object->rules[near].name);
	api_fault_at(check->fault, API_E_UNKNOWN_FIELD, path, "unknown field \"%.120s\"%s Fields here: %s", path->key, help,
	             list_fields(object, fields, sizeof(fields)));
}

/* Looks up the present members by name. The other rules, most of them, then need no lookup. */
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

bool api_check_inner(struct api_check *check, struct api_field *field)
{
	if (field->node)
		api_check_object(check, field, field->rule->objects[0]);
	return json_is_object(field->node);
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

/* Prints alternatives: "a, b or c". */
static const char *alternatives(const char *const names[], char *out, size_t bytes)
{
	size_t at = 0;
	out[0] = '\0';
	for (int i = 0; names[i] && at < bytes; i++)
		at += (size_t)snprintf(out + at, bytes - at, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : " or ", names[i]);
	return out;
}

/* Whether a word is a value of another field, or nearly one. */
static bool is_other_word(const struct api_check *check, const char *word)
{
	struct api_suggestion near;
	api_suggest_start(&near, word);
	for (int i = 0; check->other_words && check->other_words[i]; i++)
		api_suggest_offer(&near, check->other_words[i]);
	return near.nearest;
}

static bool fault_word(struct api_check *check, const struct api_field *field, const char *const names[])
{
	char list[256], suggestion[API_SUGGESTION_SIZE];
	const char *word = json_string_value(field->node),
			   *otherwise = is_other_word(check, word) ? check->other_field : "";
	struct api_suggestion near;
	api_suggest_start(&near, word);
	for (int i = 0; names[i]; i++)
		api_suggest_offer(&near, names[i]);
	return api_fault_at(check->fault, API_E_UNKNOWN_WORD, &field->path, "expected %s, got \"%.100s\"%s",
	                    alternatives(names, list, sizeof(list)), word, api_suggest_text(&near, otherwise, suggestion));
}

bool api_check_choice(struct api_check *check, const struct api_field *field, const char *const names[], int *out)
{
	char list[256];
	if (!field->node)
		return true;
	if (!json_is_string(field->node))
		return api_fault_kind(check, field, alternatives(names, list, sizeof(list)));
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
		return true; /* an empty list, which is lifted like any empty array */
	if (array && array->rank > 0 && (array->n > 0 || !array->binary)) {
		const struct api_path first = {&field->path, NULL, 0};
		return api_fault_at(check->fault, API_E_WRONG_TYPE, &first, "expected a string, got a number");
	}
	if (!json_is_array(field->node)) {
		char list[256];
		return api_fault_at(check->fault, API_E_WRONG_TYPE, &field->path,
		                    "expected a list of strings, got %s. Values: %s", api_kind(check, field->node),
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
		return api_fault_kind(check, field, "true or false");
	*out = json_is_true(field->node);
	return true;
}
