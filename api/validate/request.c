#include "api/validate/request.h"

#include <string.h>

_Static_assert((int)API_N_GROUP <= (int)API_MOST_RULES && (int)API_N_REQUEST <= (int)API_MOST_RULES,
               "a bit for each member");

#define CHECK(rule, check) {rule, check},
static const struct {
	int rule;
	void (*check)(struct api_request_check *w);
} fields[] = {API_CHECKS(CHECK)};

/* The rules of a request, and the rules of the other part, where a misplaced field may belong. */
static const struct {
	const struct api_object *object, *elsewhere;
} kinds[API_N_REQUEST_KINDS] = {
	[API_WHOLE] = {&api_request, NULL},
	[API_SET_DOCUMENT] = {&api_set_document, &api_set_query},
	[API_SET_QUERY] = {&api_set_query, &api_set_document},
	[API_JVP] = {&api_jvp_request, NULL},
	[API_SET_JVP] = {&api_set_jvp_query, &api_set_document},
	[API_VJP] = {&api_vjp_request, NULL},
	[API_SET_VJP] = {&api_set_vjp_query, &api_set_document},
	[API_SET_ADVANCE] = {&api_set_advance, &api_set_document},
	[API_CHECK] = {&api_check_request_object, NULL},
	[API_SET_CHECK] = {&api_set_check_query, &api_set_document},
};

/* ---- facts needed in advance ---- */

bool api_has_contacts(const struct api_request_check *w, enum fric_type type)
{
	const struct api_field collisions = api_request_field(w, API_REQUEST_COLLISIONS),
						   group = api_ruled(&collisions, &api_collisions, (int)type),
						   stencils = api_ruled(&group, &api_groups[type], api_stencil_rule(type));
	const struct api_array *array = stencils.node ? api_document_array(w->check->document, stencils.node) : NULL;
	return group.node && (!array || array->n > 0);
}

static bool has_bodies_alone(const struct api_request_check *w)
{
	const struct api_field positions = api_request_field(w, API_REQUEST_BODY_POSITIONS),
						   velocities = api_request_field(w, API_REQUEST_BODY_VELOCITIES);
	if (!api_is_given(w->check, &positions) && !api_is_given(w->check, &velocities))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		if (api_has_contacts(w, type))
			return false;
	return true;
}

/* ---- fields that need others ---- */

bool api_needs_distance(const struct api_query *query)
{
	return query->outputs[API_COLLISIONS] && query->collision_outputs[FRIC_OUT_DISTANCE];
}

/* Reports an output that depends on positions, which the set's document lacks. */
static void fault_positions(const struct api_request_check *q, const char *output)
{
	const struct api_field positions = api_request_field(q, API_REQUEST_POSITIONS);
	api_fault_at(q->check->fault, API_E_MISSING_FIELD, &positions.path,
	             "\"positions\" is missing from the set's document: the output %s needs it", output);
}

static void check_set_positions(const struct api_request_check *q)
{
	if (q->query->outputs[API_POSITION_JACOBIAN] && !q->facts->has_positions)
		fault_positions(q, "\"position_jacobian\"");
	else if (q->facts->lacks_positions && api_needs_distance(q->query))
		fault_positions(q, "\"distance\" of group \"plane_vertex\"");
}

/* The longest step begins at current positions, which default to the set's. */
static void check_start_of_step(const struct api_request_check *q)
{
	if (q->query->outputs[API_LONGEST_STEP] && !q->query->outputs[API_POSITION_JACOBIAN] && q->facts->has_contacts &&
	    !q->query->current_positions && !q->facts->has_positions)
		fault_positions(q, "\"longest_step\"");
}

static void need_positions(struct api_request_check *w)
{
	const struct api_field positions = api_request_field(w, API_REQUEST_POSITIONS);
	if (w->query->outputs[API_POSITION_JACOBIAN] &&
	    !api_check_present(w->check, &positions,
	                       "the output \"position_jacobian\" is a derivative with respect to them"))
		w->root.excused |= 1u << API_REQUEST_POSITIONS;
}

/* ---- the whole request ---- */

static void check_fields(struct api_request_check *w, const struct api_object *object)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (api_rule_applies(&object->rules[fields[i].rule], object))
			fields[i].check(w);
	if (w->facts) {
		check_set_positions(w);
		api_check_obstacles(w, &w->facts->obstacles);
		check_start_of_step(w);
		return;
	}
	need_positions(w);
	api_find_obstacles(w, &w->lagged->obstacles);
	api_check_obstacles(w, &w->lagged->obstacles);
	api_check_needs(w);
}

bool api_check_request(struct api_check *check, enum api_request_kind kind, const struct api_set_facts *facts,
                       struct api_lagged *lagged, struct api_query *query, struct api_field *root)
{
	struct api_request_check w = {.check = check, .facts = facts, .lagged = lagged, .query = query};
	*query = (struct api_query){.terms = FRIC_TERM_FRICTION};
	if (facts) {
		w.dim = facts->dim;
		w.n_vertices = facts->n_vertices;
		w.n_twists = facts->n_bodies;
		w.has_bodies = facts->has_bodies;
	}
	if (lagged)
		*lagged = (struct api_lagged){0};
	const bool is_object = api_check_root(check, kinds[kind].object, kinds[kind].elsewhere, &w.root);
	if (is_object) {
		w.bodies_alone = facts ? facts->has_bodies && facts->n_vertices == 0 : has_bodies_alone(&w);
		check_fields(&w, kinds[kind].object);
	}
	if (root)
		*root = w.root;
	return is_object && !check->fault->status;
}

static bool has_contacts(const struct api_lagged *lagged)
{
	size_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		n += lagged->batch.groups[type].n;
	return n;
}

static unsigned without_anchor(const struct api_lagged *lagged)
{
	unsigned types = 0;
	for (int type = 0; type < FRIC_N_TYPES; type++)
		if (lagged->batch.groups[type].n && !lagged->batch.groups[type].anchor.data)
			types |= 1u << type;
	return types;
}

static bool lacks_positions(const struct api_lagged *lagged)
{
	const struct fric_group *planes = &lagged->batch.groups[FRIC_PLANE_VERTEX];
	return planes->n && planes->plane_origin.data && !planes->tangent_basis.data && !lagged->batch.positions;
}

void api_state_facts(const struct api_lagged *lagged, struct api_set_facts *facts)
{
	*facts = (struct api_set_facts){.dim = (size_t)lagged->batch.dim,
	                                .n_vertices = lagged->batch.n_vertices,
	                                .n_bodies = lagged->batch.n_bodies,
	                                .has_bodies = lagged->has_bodies,
	                                .skip_degenerate = lagged->batch.skip_degenerate,
	                                .lacks_positions = lacks_positions(lagged),
	                                .has_positions = lagged->batch.positions,
	                                .has_contacts = has_contacts(lagged),
	                                .without_anchor = without_anchor(lagged),
	                                .has_mesh = lagged->has_mesh,
	                                .anchors = lagged->anchors,
	                                .margin = lagged->margin,
	                                .obstacles = lagged->obstacles};
	memcpy(facts->has_group, lagged->has_group, sizeof(facts->has_group));
}
