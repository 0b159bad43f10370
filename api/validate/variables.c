#include "api/validate/variables.h"

#include <stdio.h>
#include <string.h>

/* A document on its way through. */
struct walk {
	const struct api_document *document;
	const struct fric_batch *batch;
	const struct api_set_facts *facts;
	struct api_variables *out;
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

static void set_shape(struct api_variable *v, int rank, const size_t *shape)
{
	v->rank = rank;
	memcpy(v->shape, shape, (size_t)rank * sizeof(*shape));
}

/* What was flat is nested. One row of a flat array of one row is what was sent, where one may stand for all. */
static void find_shape(struct api_variable *v, const struct api_array *array, const struct api_shape *shape)
{
	const size_t row = shape->n_inner == 0   ? 1
	                   : shape->n_inner == 1 ? shape->inner[0]
	                                         : shape->inner[0] * shape->inner[1],
				 nested[API_VARIABLE_RANK] = {shape->n, shape->inner[0], shape->inner[1]};
	const bool is_row = shape->one_for_all && array->n == row;
	if (array->rank == 0)
		v->rank = 0;
	else if (array->rank == 1 + shape->n_inner)
		set_shape(v, array->rank, array->shape);
	else if (is_row)
		set_shape(v, shape->n_inner, shape->inner);
	else
		set_shape(v, 1 + shape->n_inner, nested);
	v->expected = *shape;
	v->expected.n = is_row ? 1 : shape->n;
	v->expected.one_for_all = is_row;
	v->expected.range = API_ANY;
}

/* ---- the list ---- */

static struct api_variable *place(struct api_variables *list, const char *pointer)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->list[i].pointer, pointer))
			return &list->list[i];
	return &list->list[list->n++];
}

static void add(const struct walk *w, const struct api_field *field, int type, const char *pointer)
{
	const struct api_array *array = api_document_array(w->document, field->node);
	size_t lengths[API_N_LENGTHS];
	find_lengths(w, type, lengths);
	const struct api_shape shape = api_shape_of(field->rule, lengths);
	struct api_variable *v = place(w->out, pointer);
	*v = (struct api_variable){.rule = field->rule, .type = type, .n = array->n};
	snprintf(v->pointer, sizeof(v->pointer), "%s", pointer);
	find_shape(v, array, &shape);
	v->is_empty = v->n == 0 || (type >= 0 && w->batch->groups[type].n == 0);
	if (field->rule->shape[0] == API_N_BODIES && field->rule->shape[1] == API_TWIST)
		v->first_dof = w->facts->n_vertices * w->facts->dim;
}

static void walk_object(const struct walk *w, const struct api_field *object, const struct api_object *rules,
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

/* Of types, the root has that of a request, groups have theirs, and other objects none. */
bool api_variables_list(const struct api_document *document, const struct fric_batch *batch,
                        const struct api_set_facts *facts, struct api_arena *arena, struct api_variables *variables)
{
	const struct walk w = {document, batch, facts, variables};
	const struct api_field root = {.node = document->root};
	const struct api_object rules = {.rules = api_request.rules, .n_rules = api_request.n_rules, .type = -1};
	if (!variables->list)
		variables->list = api_arena_array(arena, API_MOST_VARIABLES, sizeof(*variables->list));
	if (!variables->list)
		return false;
	walk_object(&w, &root, &rules, "");
	return true;
}

const struct api_variable *api_variable_find(const struct api_variables *variables, const char *pointer)
{
	for (size_t i = 0; i < variables->n; i++)
		if (!strcmp(variables->list[i].pointer, pointer))
			return &variables->list[i];
	return NULL;
}

/* ---- pointers without a document ---- */

static const struct api_rule *find_rule(const struct api_object *object, const char *name, size_t bytes)
{
	for (int i = 0; i < object->n_rules; i++) {
		const struct api_rule *rule = &object->rules[i];
		if (strlen(rule->name) == bytes && !memcmp(rule->name, name, bytes) && api_rule_applies(rule, object))
			return rule;
	}
	return NULL;
}

bool api_may_be_variable(const char *pointer)
{
	const struct api_object *object = &api_request;
	while (*pointer == '/') {
		const size_t bytes = strcspn(++pointer, "/");
		const struct api_rule *rule = find_rule(object, pointer, bytes);
		pointer += bytes;
		if (!rule || (*pointer && rule->kind != API_OBJECT))
			return false;
		if (!*pointer)
			return rule->by[0];
		object = rule->objects[0];
	}
	return false;
}
