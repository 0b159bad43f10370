#include "api/contract/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/codec/skeleton.h"

enum {
	MAX_TEXT = 4096,
	POINTER_TEXT = 64,
	MOST_NAMED = 8 /* a range of up to this many integers is listed, so that generated clients have an enumeration */
};

json_t *api_schema_set(struct api_schemas *schemas, json_t *object, const char *name, json_t *value)
{
	const bool failed = json_object_set_new(object, name, value);
	schemas->failed |= failed;
	return failed ? NULL : value;
}

json_t *api_schema_append(struct api_schemas *schemas, json_t *list, json_t *value)
{
	const bool failed = json_array_append_new(list, value);
	schemas->failed |= failed;
	return failed ? NULL : value;
}

json_t *api_schema_text(const char *format, ...)
{
	char text[MAX_TEXT];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return json_string(text);
}

/* ---- lengths and limits ---- */

/* Bounds of a length. to is 0 if there is no upper bound; dim 0 stands for either dimension. */
struct span {
	int from, to;
};

static struct span just(int length)
{
	return (struct span){length, length};
}

static struct span span_of(enum api_length length, int type, int dim)
{
	const struct span dims = dim ? just(dim) : (struct span){2, 3};
	switch (length) {
	case API_DIM: return dims;
	case API_TANGENTS: return (struct span){dims.from - 1, dims.to - 1};
	case API_PAIR: return just(2);
	case API_THREE: return just(3);
	case API_STENCIL: return just(fric_stencil_size((enum fric_type)type));
	case API_POINT: return just(fric_closest_point_size((enum fric_type)type));
	case API_INNER: return (struct span){1, 3};
	case API_TWIST: return (struct span){3 * (dims.from - 1), 3 * (dims.to - 1)};
	case API_TWISTS: {
		const int k = fric_stencil_size((enum fric_type)type);
		return (struct span){3 * k * (dims.from - 1), 3 * k * (dims.to - 1)};
	}
	case API_SLIP: return (struct span){3 * dims.from - 4, 3 * dims.to - 4};
	case API_SLIP_INNER: return (struct span){12 * dims.from - 21, 12 * dims.to - 21};
	default: return (struct span){0, 0};
	}
}

#define NAME_OF_LENGTH(length, name) [length] = (name),
static const char *name_of_length(enum api_length length, int type, char text[16])
{
	static const char *const names[API_N_LENGTHS] = {API_LENGTHS(NAME_OF_LENGTH)};
	if (names[length])
		return names[length];
	if (length == API_TWISTS)
		return type == FRIC_BODY_BODY ? "12 (2D: 6)" : "6 (2D: 3)";
	snprintf(text, 16, "%d", span_of(length, type, 0).from);
	return text;
}

/* The rank of an array. Stencils of a single vertex are not rows, but their weights are. */
static int rank_of(const struct api_rule *rule, int type)
{
	int rank = 1;
	while (rank < API_MAX_SHAPE && rule->shape[rank])
		rank++;
	const bool bare = rule->kind == API_INDICES && rule->shape[1] == API_STENCIL;
	return bare && fric_stencil_size((enum fric_type)type) == 1 ? 1 : rank;
}

static void print_shape(const struct api_rule *rule, int type, char out[96])
{
	char number[16];
	const int rank = rank_of(rule, type);
	int at = snprintf(out, 96, "[");
	for (int i = 0; i < rank; i++)
		at += snprintf(out + at, 96 - (size_t)at, "%s%s", i ? ", " : "", name_of_length(rule->shape[i], type, number));
	snprintf(out + at, 96 - (size_t)at, "]");
}

static json_int_t most_rows(const struct api_schemas *schemas, enum api_length length)
{
	if (length == API_N_STEPS || length == API_N_VECTORS)
		return length == API_N_STEPS ? API_MAX_STEPS : API_MAX_VECTORS;
	if (length == API_N_POINTS)
		return schemas->is_request ? API_MOST_POINTS : 0;
	const bool per_vertex = length == API_N_VERTICES || length == API_N_BODIES;
	const size_t most = per_vertex        ? schemas->service->max_vertices
	                    : length == API_N ? schemas->service->max_contacts
	                                      : 0;
	return schemas->is_request ? (json_int_t)most : 0;
}

/* ---- values ---- */

static json_t *of_type(struct api_schemas *schemas, const char *type)
{
	json_t *schema = json_object();
	api_schema_set(schemas, schema, "type", json_string(type));
	return schema;
}

static json_t *number(struct api_schemas *schemas, const struct api_rule *rule)
{
	const bool integer = rule->kind == API_INTEGER || rule->kind == API_INDEX || rule->kind == API_INDICES;
	json_t *schema = of_type(schemas, integer ? "integer" : "number");
	if (rule->kind == API_INTEGER && rule->most > 0 && rule->most - rule->least < MOST_NAMED) {
		json_t *all = api_schema_set(schemas, schema, "enum", json_array());
		for (int i = rule->least; i <= rule->most; i++)
			api_schema_append(schemas, all, json_integer(i));
		return schema;
	}
	if (integer)
		api_schema_set(schemas, schema, "minimum", json_integer(rule->least));
	else if (rule->range != API_ANY)
		api_schema_set(schemas, schema, rule->range == API_POSITIVE ? "exclusiveMinimum" : "minimum", json_integer(0));
	if (integer && rule->most)
		api_schema_set(schemas, schema, "maximum", json_integer(rule->most));
	return schema;
}

static json_t *list(struct api_schemas *schemas, json_t *items, json_int_t least, json_int_t most)
{
	json_t *schema = of_type(schemas, "array");
	api_schema_set(schemas, schema, "items", items);
	if (least)
		api_schema_set(schemas, schema, "minItems", json_integer(least));
	if (most)
		api_schema_set(schemas, schema, "maxItems", json_integer(most));
	return schema;
}

static json_t *nest(struct api_schemas *schemas, const struct api_rule *rule, int from, int rank, int type, int dim)
{
	if (from == rank || from == API_MAX_SHAPE)
		return number(schemas, rule);
	const struct span span = span_of(rule->shape[from], type, dim);
	return list(schemas, nest(schemas, rule, from + 1, rank, type, dim), span.from,
	            span.to ? span.to : most_rows(schemas, rule->shape[from]));
}

/* The schema of all numbers of all rows in one array. A row of one number may also be a number. */
static json_t *flat(struct api_schemas *schemas, const struct api_rule *rule, int rank, int type, int dim)
{
	json_int_t most = most_rows(schemas, rule->shape[0]);
	for (int i = 1; i < rank; i++)
		most *= span_of(rule->shape[i], type, dim).to;
	return list(schemas, number(schemas, rule), 0, most);
}

json_t *api_schema_ref(const char *kind, const char *name)
{
	char text[128];
	snprintf(text, sizeof(text), "#/components/%s/%s", kind, name);
	return json_pack("{s:s}", "$ref", text);
}

static json_t *ref(const char *name)
{
	return api_schema_ref("schemas", name);
}

json_t *api_schema_any_of(struct api_schemas *schemas, json_t *forms)
{
	json_t *schema;
	if (json_array_size(forms) == 1) {
		schema = json_incref(json_array_get(forms, 0));
		json_decref(forms);
		return schema;
	}
	schema = json_object();
	api_schema_set(schemas, schema, "anyOf", forms);
	return schema;
}

static json_t *array(struct api_schemas *schemas, const struct api_rule *rule, int type, int dim)
{
	const int rank = rank_of(rule, type);
	json_t *forms = json_array();
	const bool bare = rank == 1 || (rule->bare && dim != 3);
	if (schemas->is_request && rule->one_for_all && bare)
		api_schema_append(schemas, forms, number(schemas, rule));
	api_schema_append(schemas, forms, nest(schemas, rule, 0, rank, type, dim));
	if (schemas->is_request && rank > 1)
		api_schema_append(schemas, forms, flat(schemas, rule, rank, type, dim));
	if (schemas->is_request && rule->one_for_all && rank > 2)
		api_schema_append(schemas, forms, nest(schemas, rule, 1, rank, type, dim));
	if (schemas->in_frame)
		api_schema_append(schemas, forms, ref("FrameArray"));
	return api_schema_any_of(schemas, forms);
}

static json_t *scalar(struct api_schemas *schemas, const struct api_rule *rule)
{
	json_t *forms = json_array();
	if (rule->or_null)
		api_schema_append(schemas, forms, of_type(schemas, "null"));
	api_schema_append(schemas, forms, number(schemas, rule));
	if (schemas->in_frame && schemas->is_request)
		api_schema_append(schemas, forms, ref("FrameArray"));
	return api_schema_any_of(schemas, forms);
}

static json_t *words(struct api_schemas *schemas, const struct api_rule *rule)
{
	json_t *schema = of_type(schemas, "string");
	if (!rule->words[1]) {
		api_schema_set(schemas, schema, "const", json_string(rule->words[0]));
		return schema;
	}
	json_t *all = api_schema_set(schemas, schema, "enum", json_array());
	for (int i = 0; rule->words[i]; i++)
		api_schema_append(schemas, all, json_string(rule->words[i]));
	return schema;
}

static json_t *one_of(struct api_schemas *schemas, const struct api_rule *rule)
{
	json_t *schema = json_object(), *all = api_schema_set(schemas, schema, "oneOf", json_array());
	for (int i = 0; rule->objects[i]; i++) {
		const bool is_null = !rule->objects[i]->rules;
		json_t *form = is_null ? of_type(schemas, "null") : api_schema_of(schemas, rule->objects[i]);
		if (is_null)
			api_schema_set(schemas, form, "title", json_string(rule->objects[i]->name));
		api_schema_append(schemas, all, form);
	}
	return schema;
}

/* ---- fields addressed by pointers ---- */

/* Prints the fields of an object, and of the objects below it, for which derivatives exist: "a|b|c/(?:d|e)", or
 * nothing. All groups share one list.
 * @return the new end of the text */
static size_t print_pointers(const struct api_object *object, char *out, size_t at, size_t bytes);

static size_t print_group_pointers(char *out, size_t at, size_t bytes)
{
	for (int i = 0; i < api_collisions.n_rules; i++)
		at += (size_t)snprintf(out + at, bytes - at, "%s%s", i ? "|" : "(?:", api_collisions.rules[i].name);
	at += (size_t)snprintf(out + at, bytes - at, ")/(?:");
	const struct api_object any = {.rules = api_groups[0].rules, .n_rules = api_groups[0].n_rules, .type = -1};
	at = print_pointers(&any, out, at, bytes);
	return at + (size_t)snprintf(out + at, bytes - at, ")");
}

static size_t print_pointers(const struct api_object *object, char *out, size_t at, size_t bytes)
{
	const size_t begin = at;
	for (int i = 0; i < object->n_rules && at + POINTER_TEXT < bytes; i++) {
		const struct api_rule *rule = &object->rules[i];
		const size_t before = at;
		if (rule->kind != API_OBJECT && !rule->by[0])
			continue;
		at += (size_t)snprintf(out + at, bytes - at, "%s%s", at > begin ? "|" : "", rule->name);
		if (rule->kind != API_OBJECT)
			continue;
		at += (size_t)snprintf(out + at, bytes - at, "/(?:");
		const size_t inside = at;
		at = rule->objects[0] == &api_collisions ? print_group_pointers(out, at, bytes)
		                                         : print_pointers(rule->objects[0], out, at, bytes);
		at = at == inside ? before : at + (size_t)snprintf(out + at, bytes - at, ")");
	}
	out[at] = '\0';
	return at;
}

static json_t *component(struct api_schemas *schemas, const char *name, json_t *(*make)(struct api_schemas *))
{
	if (!json_object_get(schemas->components, name)) {
		json_t *schema = make(schemas);
		api_schema_set(schemas, schema, "title", json_string(name));
		api_schema_set(schemas, schemas->components, name, schema);
	}
	return ref(name);
}

static json_t *make_pointer(struct api_schemas *schemas)
{
	char names[MAX_TEXT - 16];
	json_t *schema = of_type(schemas, "string");
	print_pointers(&api_request, names, 0, sizeof(names));
	api_schema_set(schemas, schema, "description", json_string("JSON Pointer (RFC 6901) to a differentiable field."));
	api_schema_set(schemas, schema, "pattern", api_schema_text("^/(?:%s)$", names));
	return schema;
}

static json_t *pointer(struct api_schemas *schemas)
{
	return component(schemas, "FieldPointer", make_pointer);
}

static json_t *make_values(struct api_schemas *schemas)
{
	json_t *schema = json_object(), *all = api_schema_set(schemas, schema, "anyOf", json_array()),
		   *form = of_type(schemas, "number");
	for (int rank = 0; rank <= API_MAX_SHAPE; rank++) {
		api_schema_append(schemas, all, json_incref(form));
		form = list(schemas, form, 0, 0);
	}
	json_decref(form);
	if (schemas->in_frame)
		api_schema_append(schemas, all, ref("FrameArray"));
	else
		api_schema_set(schemas, schema, "description", json_string("A number, or an array in the shape of its field."));
	return schema;
}

static json_t *make_by_pointer(struct api_schemas *schemas)
{
	json_t *schema = of_type(schemas, "object");
	api_schema_set(schemas, schema, "description",
	               json_string(schemas->in_frame ? "ValuesByField as the document of a frame."
	                                             : "Values for fields, by JSON Pointer."));
	api_schema_set(schemas, schema, "propertyNames", pointer(schemas));
	api_schema_set(schemas, schema, "additionalProperties",
	               component(schemas, schemas->in_frame ? "FieldValuesFrame" : "FieldValues", make_values));
	return schema;
}

static json_t *pointers(struct api_schemas *schemas)
{
	json_t *schema = list(schemas, pointer(schemas), 0, 0);
	api_schema_set(schemas, schema, "uniqueItems", json_true());
	return schema;
}

/* ---- any value ---- */

static json_t *value(struct api_schemas *schemas, const struct api_rule *rule, int type, int dim)
{
	switch (rule->kind) {
	case API_NUMBER:
	case API_INTEGER:
	case API_INDEX: return scalar(schemas, rule);
	case API_REALS:
	case API_INDICES: return array(schemas, rule, type, dim);
	case API_ROWS: return list(schemas, list(schemas, number(schemas, rule), 0, 0), 0, 0);
	case API_WORD: return words(schemas, rule);
	case API_WORDS: return list(schemas, words(schemas, rule), 0, 0);
	case API_BOOL: return of_type(schemas, "boolean");
	case API_TEXT: return of_type(schemas, "string");
	case API_OBJECT: return api_schema_of(schemas, rule->objects[0]);
	case API_LIST:
		return list(schemas, rule->objects ? api_schema_of(schemas, rule->objects[0]) : of_type(schemas, "string"), 0,
		            0);
	case API_ONE_OF: return one_of(schemas, rule);
	case API_BY_POINTER:
		return component(schemas, schemas->in_frame ? "ValuesByFieldFrame" : "ValuesByField", make_by_pointer);
	case API_POINTERS: return pointers(schemas);
	case API_NULL: return of_type(schemas, "null");
	}
	return NULL;
}

/* ---- descriptions ---- */

static int add_words(const struct api_rule *rule, char *out, size_t bytes)
{
	int at = 0;
	for (int i = 0; rule->meanings && rule->words[i] && (size_t)at < bytes; i++)
		at += snprintf(out + at, bytes - (size_t)at, "%s%s: %s", i ? "; " : " ", rule->words[i], rule->meanings[i]);
	return at;
}

/* Prints a description, such as "Meaning. Shape [n], or one for all. Unit: force. 3D only." */
static json_t *describe(const struct api_rule *rule, int type)
{
	char shape[96] = "", words_of[MAX_TEXT / 2] = "";
	const bool is_array = rule->shape[0], only = rule->only && rule->kind != API_OBJECT; /* an object has a description
	                                                                                      * of its own */
	if (is_array)
		print_shape(rule, type, shape);
	add_words(rule, words_of, sizeof(words_of));
	const char *meaning = rule->meaning ? rule->meaning : rule->objects ? rule->objects[0]->meaning : "";
	const bool ends = *meaning && meaning[strlen(meaning) - 1] == '.';
	return api_schema_text("%s%s%s%s%s%s%s%s%s%s%s%s", meaning, ends ? "" : ".", words_of, *words_of ? "." : "",
	                       is_array ? " Shape " : "", shape, rule->one_for_all ? ", or one for all" : "",
	                       is_array ? "." : "", rule->unit ? " Unit: " : "", rule->unit ? rule->unit : "",
	                       rule->unit ? "." : "", only ? " 3D only." : "");
}

static void add_default(struct api_schemas *schemas, const struct api_rule *rule, json_t *schema)
{
	if (rule->fallback)
		api_schema_set(schemas, schema, "default", api_quoted_read(rule->fallback));
	else if (rule->kind == API_WORD && !rule->required)
		api_schema_set(schemas, schema, "default", json_string(rule->words[0]));
}

/* Adds the parts of the description as members, for programs that generate tables. */
static void add_notes(struct api_schemas *schemas, const struct api_rule *rule, int type, json_t *schema)
{
	char shape[96];
	if (rule->shape[0]) {
		print_shape(rule, type, shape);
		api_schema_set(schemas, schema, "x-shape", json_string(shape));
	}
	if (rule->unit)
		api_schema_set(schemas, schema, "x-unit", json_string(rule->unit));
	if (rule->only)
		api_schema_set(schemas, schema, "x-dimension", json_integer(rule->only));
}

/* The schema for the document of a frame contains only its differences from the schema for JSON, which describes the
 * fields. */
json_t *api_schema_field(struct api_schemas *schemas, const struct api_rule *rule, int type)
{
	json_t *schema = value(schemas, rule, type, 0);
	if (schemas->in_frame)
		return schema;
	api_schema_set(schemas, schema, "description", describe(rule, type));
	add_default(schemas, rule, schema);
	add_notes(schemas, rule, type, schema);
	return schema;
}

/* ---- objects ---- */

static void merge_extra(struct api_schemas *schemas, const struct api_object *object, json_t *schema)
{
	json_t *extra = object->extra ? api_quoted_read(object->extra) : NULL;
	if (object->extra && (!extra || json_object_update(schema, extra)))
		schemas->failed = true;
	json_decref(extra);
}

static void add_fields(struct api_schemas *schemas, const struct api_object *object, json_t *schema)
{
	json_t *required = json_array(), *fields = api_schema_set(schemas, schema, "properties", json_object());
	for (int i = 0; i < object->n_rules; i++) {
		const struct api_rule *rule = &object->rules[i];
		if (!api_rule_applies(rule, object))
			continue;
		api_schema_set(schemas, fields, rule->name, api_schema_field(schemas, rule, object->type));
		if (rule->required)
			api_schema_append(schemas, required, json_string(rule->name));
	}
	if (json_array_size(required))
		api_schema_set(schemas, schema, "required", required);
	else
		json_decref(required);
	api_schema_set(schemas, schema, "additionalProperties", json_false());
	merge_extra(schemas, object, schema);
}

json_t *api_schema_of(struct api_schemas *schemas, const struct api_object *object)
{
	char name[96];
	snprintf(name, sizeof(name), "%s%s", object->name, schemas->in_frame ? "Frame" : "");
	if (!json_object_get(schemas->components, name)) {
		json_t *schema = api_schema_set(schemas, schemas->components, name, of_type(schemas, "object"));
		api_schema_set(schemas, schema, "title", json_string(name));
		if (schemas->in_frame)
			api_schema_set(schemas, schema, "description",
			               api_schema_text("%s as the document of a frame.", object->name));
		else
			api_schema_set(schemas, schema, "description", json_string(object->meaning));
		add_fields(schemas, object, schema);
	}
	return ref(name);
}

static bool depends_on_dimension(const struct api_rule *rule)
{
	for (int i = 0; i < API_MAX_SHAPE; i++)
		if (rule->shape[i] == API_DIM || rule->shape[i] == API_TANGENTS || rule->shape[i] == API_TWIST)
			return true;
	return false;
}

static json_t *in_dimension(struct api_schemas *schemas, const struct api_rule *rule, int type, int dim)
{
	if (rule->only && rule->only != dim)
		return json_false();
	if (rule->kind == API_OBJECT)
		return api_schema_of_dimension(schemas, rule->objects[0], dim);
	return depends_on_dimension(rule) ? array(schemas, rule, type, dim) : NULL;
}

json_t *api_schema_of_dimension(struct api_schemas *schemas, const struct api_object *object, int dim)
{
	json_t *fields = json_object();
	for (int i = 0; i < object->n_rules; i++) {
		json_t *schema = api_rule_applies(&object->rules[i], object)
		                     ? in_dimension(schemas, &object->rules[i], object->type, dim)
		                     : NULL;
		if (schema)
			api_schema_set(schemas, fields, object->rules[i].name, schema);
	}
	if (json_object_size(fields)) {
		json_t *schema = json_object();
		api_schema_set(schemas, schema, "properties", fields);
		return schema;
	}
	json_decref(fields);
	return NULL;
}

json_t *api_schema_reference(void)
{
	return api_quoted_read(
		"{'type': 'object', 'description': 'Frames only: an array in the tail. offset: in bytes from its start, a"
		" multiple of 8.',"
		" 'properties': {'dtype': {'type': 'string', 'enum': ['f64', 'f32', 'i32', 'u32', 'i64']},"
		" 'shape': {'type': 'array', 'items': {'type': 'integer', 'minimum': 0}},"
		" 'offset': {'type': 'integer', 'minimum': 0}},"
		" 'required': ['dtype', 'shape', 'offset'], 'additionalProperties': false}");
}
