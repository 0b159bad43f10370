#include "api/validate/variables.h"

#include <stdio.h>
#include <string.h>

/* The state of a walk through a document. */
struct walk {
	const struct api_document *document;
	const struct fric_batch *batch;
	const struct api_set_facts *facts;
	struct api_arena *arena;
	struct api_variables *out;
	bool failed; /* memory has run out */
};

/* ---- shapes ---- */

static void find_lengths(const struct walk *w, int type, size_t lengths[API_N_LENGTHS])
{
	const size_t dim = w->facts->dim;
	memset(lengths, 0, API_N_LENGTHS * sizeof(*lengths));
	lengths[API_N_VERTICES] = w->facts->n_vertices;
	lengths[API_N_BODIES] = w->facts->n_bodies;
	lengths[API_DIM] = dim;
	lengths[API_TANGENTS] = dim - 1;
	lengths[API_TWIST] = api_twist(dim);
	lengths[API_MATERIALS] = w->batch->friction.n_materials;
	lengths[API_N_POINTS] = w->batch->friction.law.curve.n;
	if (type < 0)
		return;
	lengths[API_N] = w->batch->groups[type].n;
	lengths[API_POINT] = (size_t)fric_closest_point_size((enum fric_type)type);
}

/* Finds the shape of an array. Arrays without numbers may be nested deeper than any field. */
static void find_shape(struct api_variable *v, const struct api_array *array, const struct api_shape *shape)
{
	size_t row = 1;
	for (int i = 0; i < shape->n_inner; i++)
		row *= shape->inner[i];
	v->rank = array->rank < API_VARIABLE_RANK ? array->rank : API_VARIABLE_RANK;
	memcpy(v->shape, array->shape, sizeof(v->shape));
	v->expected = *shape;
	v->expected.one_for_all = shape->one_for_all && array->n == row;
	v->expected.n = v->expected.one_for_all ? 1 : shape->n;
	v->expected.range = API_ANY;
}

/* ---- list ---- */

enum { FEW = 16 };

static bool reserve(struct walk *w)
{
	struct api_variables *out = w->out;
	if (out->n < out->capacity)
		return true;
	const size_t capacity = out->capacity ? 2 * out->capacity : FEW;
	struct api_variable *list = api_arena_array(w->arena, capacity, sizeof(*list));
	if (!list)
		return false;
	if (out->n)
		memcpy(list, out->list, out->n * sizeof(*list));
	out->list = list;
	out->capacity = capacity;
	return true;
}

/* Finds or adds the list's entry for a pointer. @return NULL when out of memory */
static struct api_variable *place(struct walk *w, const char *pointer)
{
	struct api_variables *out = w->out;
	for (size_t i = 0; i < out->n; i++)
		if (!strcmp(out->list[i].pointer, pointer))
			return &out->list[i];
	return reserve(w) ? &out->list[out->n++] : NULL;
}

static void add(struct walk *w, const struct api_field *field, int type, const char *pointer)
{
	const struct api_array *array = api_document_array(w->document, field->node);
	size_t lengths[API_N_LENGTHS];
	find_lengths(w, type, lengths);
	const struct api_shape shape = api_shape_of(field->rule, lengths);
	struct api_variable *v = place(w, pointer);
	w->failed |= !v;
	if (!v)
		return;
	*v = (struct api_variable){.rule = field->rule, .type = type, .n = array->n};
	snprintf(v->pointer, sizeof(v->pointer), "%s", pointer);
	find_shape(v, array, &shape);
	v->is_empty = v->n == 0 || (type >= 0 && w->batch->groups[type].n == 0);
	if (field->rule->shape[0] == API_N_BODIES && field->rule->shape[1] == API_TWIST)
		v->first_dof = w->facts->n_vertices * w->facts->dim;
}

static void walk_object(struct walk *w, const struct api_field *object, const struct api_object *rules,
                        const char *pointer)
{
	for (int i = 0; i < rules->n_rules; i++) {
		const struct api_field field = api_ruled(object, rules, i);
		char below[API_POINTER_BYTES];
		if (!field.node || (rules->type >= 0 && !api_rule_applies(field.rule, rules)))
			continue;
		snprintf(below, sizeof(below), "%s/%s", pointer, field.rule->name);
		if (field.rule->kind == API_OBJECT)
			walk_object(w, &field, field.rule->objects[0], below);
		else if (field.rule->by[0])
			add(w, &field, rules->type, below);
	}
}

/* The root has the type of its request, groups have theirs, and other objects none. */
bool api_variables_list(const struct api_document *document, const struct fric_batch *batch,
                        const struct api_set_facts *facts, struct api_arena *arena, struct api_variables *variables)
{
	struct walk w = {document, batch, facts, arena, variables, false};
	const struct api_field root = {.node = document->root};
	const struct api_object rules = {.rules = api_request.rules, .n_rules = api_request.n_rules, .type = -1};
	walk_object(&w, &root, &rules, "");
	return !w.failed;
}

const struct api_variable *api_variable_find(const struct api_variables *variables, const char *pointer)
{
	for (size_t i = 0; i < variables->n; i++)
		if (!strcmp(variables->list[i].pointer, pointer))
			return &variables->list[i];
	return NULL;
}

/* ---- without a document ---- */

bool api_may_be_variable(const char *pointer)
{
	const struct api_object *object = &api_request;
	while (*pointer == '/') {
		const size_t bytes = strcspn(++pointer, "/");
		const int i = api_rule_named(object, pointer, bytes);
		const struct api_rule *rule = i < 0 ? NULL : &object->rules[i];
		pointer += bytes;
		if (!rule || (*pointer && rule->kind != API_OBJECT))
			return false;
		if (!*pointer)
			return rule->by[0];
		object = rule->objects[0];
	}
	return false;
}
