/* Checks contacts: "collisions" in a request. */
#include "api/validate/request.h"

#include "api/validate/law.h"
#include "api/validate/stencils.h"

static size_t count_contacts(const struct fric_batch *batch)
{
	size_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		n += batch->groups[type].n;
	return n;
}

/* The number, and the name, of the vertices or bodies to which a group's indices refer. The number of bodies is unknown
 * if they are missing. */
static size_t members(const struct api_request_check *w, enum fric_type type, const char **what)
{
	*what = is_of_bodies(type)  ? "body"
	        : w->counts_nothing ? "vertex (\"positions\" or \"n_vertices\" determines their number)"
	                            : "vertex";
	if (!is_of_bodies(type))
		return w->n_vertices;
	return w->has_bodies ? w->n_bodies : API_UNKNOWN_LENGTH;
}

/* Checks a group's stencils: indices in range, and no vertex or body twice in one contact. */
static void check_group_stencils(struct api_request_check *w, enum fric_type type)
{
	const struct api_field field = api_group_field(w, type, api_stencil_rule(type));
	const size_t k = (size_t)fric_stencil_size(type), row = k == 1 ? 0 : k;
	struct fric_group *g = &w->lagged->batch.groups[type];
	w->n[type] = API_UNKNOWN_LENGTH;
	if (!api_check_present(w->check, &field, "the stencils of the contacts") ||
	    !api_check_rows(w->check, &field, row, &g->n) ||
	    !api_check_at_most(w->check, &field, "contacts", count_contacts(&w->lagged->batch),
	                       api_check_limits(w->check)->max_contacts))
		return;
	w->n[type] = g->n;
	struct api_stencils of = {.k = k, .noun = "contact", .group = fric_type_name(type)};
	of.members = members(w, type, &of.what);
	of.member = is_of_bodies(type) ? "body" : "vertex";
	of.code = is_of_bodies(type) ? API_E_REPEATED_BODY : API_E_REPEATED_VERTEX;
	api_check_stencils(w->check, &field, &of, g->n, &g->vertices);
}

static void check_group_field(struct api_request_check *w, const struct api_field *field,
                              const size_t lengths[API_N_LENGTHS], struct fric_values *out)
{
	if (!field->node || !api_check_exists(w->check, field, w->dim))
		return;
	const struct api_shape shape = api_shape_of(field->rule, lengths);
	api_check_values(w->check, field, &shape, out);
}

static void check_group_values(struct api_request_check *w, enum fric_type type)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N] = w->n[type],
	                                       [API_DIM] = w->dim,
	                                       [API_TANGENTS] = w->dim == API_UNKNOWN_LENGTH ? w->dim : w->dim - 1,
	                                       [API_POINT] = (size_t)fric_closest_point_size(type)};
	const struct api_object *rules = &api_groups[type];
	const struct api_shape mu_shape = api_shape_of(&rules->rules[API_GROUP_MU], lengths);
	const struct api_mu_rules of_group = {rules, API_GROUP_MU};
	struct fric_group *g = &w->lagged->batch.groups[type];
	api_check_mu(w->check, &w->groups[type], &of_group, &mu_shape, &g->mu_s, &g->mu_k);
	for (int i = 0; i < rules->n_rules; i++) {
		const struct api_field field = api_ruled(&w->groups[type], rules, i);
		if (field.rule->in_group)
			check_group_field(w, &field, lengths, (struct fric_values *)((char *)g + field.rule->in_group - 1));
	}
}

/* Checks the rows of a field that contains directions. */
static void check_directions(struct api_request_check *w, enum fric_type type, int rule,
                             const struct fric_values *values, enum api_code code, const char *detail)
{
	const struct api_field field = api_group_field(w, type, rule);
	api_check_directions(w->check, &field, values, w->lagged->batch.groups[type].n, w->dim, code, detail);
}

/* Requires both or neither of closest_point and tangent_basis, if the type has a closest point. */
static void check_given_geometry(struct api_request_check *w, enum fric_type type)
{
	const struct api_field point = api_group_field(w, type, API_GROUP_CLOSEST_POINT),
						   basis = api_group_field(w, type, API_GROUP_TANGENT_BASIS);
	if (!fric_closest_point_size(type))
		return;
	if (point.node)
		api_check_present(w->check, &basis, "it must accompany \"closest_point\"");
	else if (basis.node)
		api_check_present(w->check, &point, "it must accompany \"tangent_basis\"");
}

/* Reports a grain together with a given basis, which already has a direction. */
static void check_grain(struct api_request_check *w, enum fric_type type)
{
	static const char format[] = "\"grain\" and \"tangent_basis\" both determine the tangents: leave one out";
	const struct api_field grain = api_group_field(w, type, API_GROUP_GRAIN),
						   basis = api_group_field(w, type, API_GROUP_TANGENT_BASIS);
	check_directions(w, type, API_GROUP_GRAIN, &w->lagged->batch.groups[type].grain, API_E_ZERO_GRAIN,
	                 "a grain is zero: it has no direction");
	if (!grain.node || !basis.node)
		return;
	api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &grain.path, format);
	api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &basis.path, format);
}

/* Checks the group's fields against the law. */
static void check_group_law(struct api_request_check *w, enum fric_type type)
{
	const struct fric_group *g = &w->lagged->batch.groups[type];
	const struct api_field speed = api_group_field(w, type, API_GROUP_STRIBECK_SPEED),
						   mu_s = api_group_field(w, type, API_GROUP_MU_S),
						   mu_k = api_group_field(w, type, API_GROUP_MU_K),
						   s_aniso = api_group_field(w, type, API_GROUP_MU_S_ANISO),
						   k_aniso = api_group_field(w, type, API_GROUP_MU_K_ANISO);
	api_check_decays(w->check, &speed, w->law);
	if (w->n[type] == API_UNKNOWN_LENGTH)
		return;
	if (mu_s.node && mu_k.node && g->mu_s.data && g->mu_k.data)
		api_check_one_coefficient(w->check, w->law, &mu_k, g->n, 1, &g->mu_s, &g->mu_k);
	if (!s_aniso.node == !g->mu_s_aniso.data && !k_aniso.node == !g->mu_k_aniso.data)
		api_check_one_coefficient(w->check, w->law, &k_aniso, g->n, 2, &g->mu_s_aniso, &g->mu_k_aniso);
}

static void check_group(struct api_request_check *w, enum fric_type type)
{
	struct api_field *object = &w->groups[type];
	*object = api_ruled(&w->collisions, &api_collisions, (int)type);
	w->n[type] = 0;
	if (!object->node || !api_check_exists(w->check, object, w->dim))
		return;
	w->lagged->has_group[type] = true;
	if (!api_check_inner(w->check, object))
		return;
	check_group_stencils(w, type);
	check_group_values(w, type);
	check_given_geometry(w, type);
	check_directions(w, type, API_GROUP_PLANE_NORMAL, &w->lagged->batch.groups[type].plane_normal, API_E_ZERO_NORMAL,
	                 "a plane's normal is zero");
	check_directions(w, type, API_GROUP_NORMAL, &w->lagged->batch.groups[type].normal, API_E_ZERO_NORMAL,
	                 "a contact's normal is zero");
	check_grain(w, type);
	check_group_law(w, type);
}

void api_check_groups(struct api_request_check *w, int n_types)
{
	for (int type = 0; type < n_types; type++)
		check_group(w, (enum fric_type)type);
}

void api_check_collisions(struct api_request_check *w)
{
	struct api_check *check = w->check;
	const struct api_field mesh = api_request_field(w, API_REQUEST_MESH);
	w->collisions = api_request_field(w, API_REQUEST_COLLISIONS);
	if (mesh.node)
		return; /* both are a fault, which is reported with the mesh */
	if (!api_check_present(check, &w->collisions, "the contacts, in groups by type"))
		return;
	if (!api_check_inner(check, &w->collisions))
		return;
	if (json_object_size(w->collisions.node) == 0)
		api_fault_at(check->fault, API_E_MISSING_FIELD, &w->collisions.path,
		             "at least one group is needed (it may be empty)");
	api_check_groups(w, FRIC_N_TYPES);
}

/* Requires anchors of all contacts, which are to be replaced. */
static void check_anchors(struct api_request_check *w, const struct api_field *collisions)
{
	const struct api_path of_mesh = {collisions->path.up, "anchors", 0};
	if (w->facts->has_mesh && !w->facts->anchors) {
		api_fault_at(w->check->fault, API_E_MISSING_FIELD, &of_mesh,
		             "\"anchors\" is missing from the set's document: the end of a step replaces the anchors of all"
		             " contacts. PATCH it to true");
		return;
	}
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (w->facts->without_anchor >> type & 1) {
			const struct api_path group = {&collisions->path, fric_type_name(type), 0}, anchor = {&group, "anchor", 0};
			api_fault_at(w->check->fault, API_E_MISSING_FIELD, &anchor,
			             "\"anchor\" is missing from the set's document: the end of a step replaces the anchors of all"
			             " contacts. Without deflections yet, PUT zeros");
		}
}

/* Values are checked as a part of the set's document, once they have been merged into it. */
void api_check_next_collisions(struct api_request_check *w)
{
	struct api_field collisions = api_request_field(w, API_REQUEST_NEXT_COLLISIONS);
	check_anchors(w, &collisions);
	if (!api_check_inner(w->check, &collisions))
		return;
	for (int type = 0; type < FRIC_N_TYPES; type++) {
		struct api_field group = api_ruled(&collisions, &api_next_collisions, type);
		if (!api_check_inner(w->check, &group))
			continue;
		const struct api_field velocity = api_ruled(&group, group.rule->objects[0], 0);
		if (velocity.node && !json_is_array(velocity.node) && !api_document_array(w->check->document, velocity.node))
			api_fault_kind(w->check, &velocity, "an array of numbers");
	}
}
