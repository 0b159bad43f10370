/* The fields of POST /v1/evaluate in the order in which the contract lists them. */
#include <stdio.h>
#include <string.h>

#include "api/validate/evaluation.h"
#include "api/codec/array.h"

/* A coefficient is given as `mu`, or as `mu_s` and `mu_k`: consecutive rules, which differ from place to place. */
struct mu_rules {
	const struct api_object *object;
	int mu;
};

enum { MU, MU_S, MU_K, N_MU };
_Static_assert(API_FRICTION_MU_K == API_FRICTION_MU + MU_K &&
               API_FRICTION_VERTEX_MU_K == API_FRICTION_VERTEX_MU + MU_K &&
               API_MATERIALS_MU_K == API_MATERIALS_MU + MU_K && API_GROUP_MU_K == API_GROUP_MU + MU_K,
               "mu, mu_s, mu_k in this order");
_Static_assert(API_N_REQUEST + API_N_FRICTION + API_N_MATERIALS + API_N_BARRIER + FRIC_N_TYPES * (1 + API_N_GROUP) +
               API_N_HESSIAN <= API_MAX_MEMBERS, "a place for each member of a request");
static const struct mu_rules of_friction = {&api_friction, API_FRICTION_MU},
                             of_vertices = {&api_friction, API_FRICTION_VERTEX_MU},
                             of_materials = {&api_materials, API_MATERIALS_MU};

static bool check_number(struct api_check *check, const struct api_field *field, double *out)
{
	return api_check_number(check, field, field->rule->range, out);
}

static bool check_choice(struct api_check *check, const struct api_field *field, int *out)
{
	return api_check_choice(check, field, field->rule->words, out);
}

static bool two_sources(struct api_check *check, const struct api_field *a, const struct api_field *b)
{
	api_fault_at(check->fault, API_E_CONFLICTING_FIELDS, &b->path, "two sources of friction coefficients: \"%s\" and \"%s\"", a->path.key,
	             b->path.key);
	return api_fault_at(check->fault, API_E_CONFLICTING_FIELDS, &a->path, "two sources of friction coefficients: \"%s\" and \"%s\"",
	                    a->path.key, b->path.key);
}

/* Both coefficients of a place; data NULL if it has none. */
static bool check_mu(struct api_check *check, const struct api_field *object, const struct mu_rules *rules,
                     const struct api_shape *shape, struct fric_values *mu_s, struct fric_values *mu_k)
{
	const struct api_field mu = api_ruled(object, rules->object, rules->mu + MU),
	                       s = api_ruled(object, rules->object, rules->mu + MU_S),
	                       k = api_ruled(object, rules->object, rules->mu + MU_K);
	if (mu.node && (s.node || k.node))
		return two_sources(check, &mu, s.node ? &s : &k);
	if (s.node && !api_check_present(check, &k, "static and kinetic coefficients go together"))
		return false;
	if (k.node && !api_check_present(check, &s, "static and kinetic coefficients go together"))
		return false;
	if (!api_check_values(check, mu.node ? &mu : &s, shape, mu_s))
		return false;
	if (mu.node) {
		*mu_k = *mu_s;
		return true;
	}
	return api_check_values(check, &k, shape, mu_k);
}

static bool check_scalar_mu(struct api_check *check, const struct api_field *friction, struct fric_friction *f)
{
	/* n = 1, but only as a bare number: [1] would be a field per contact, which this is not. */
	double ignored;
	struct fric_values s = {0}, k = {0};
	for (int i = 0; i < N_MU; i++) {
		const struct api_field field = api_ruled(friction, &api_friction, API_FRICTION_MU + i);
		if (!check_number(check, &field, &ignored))
			return false;
	}
	const struct api_shape number = {.n = 1, .one_for_all = true};
	if (!check_mu(check, friction, &of_friction, &number, &s, &k))
		return false;
	if (s.data) {
		f->source = FRIC_MU_SCALAR;
		f->mu_s = *s.data;
		f->mu_k = *k.data;
	}
	return true;
}

static bool check_vertex_mu(struct api_check *check, const struct api_field *friction, size_t n_vertices,
                            struct fric_friction *f)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N_VERTICES] = n_vertices};
	const struct api_field blend = api_ruled(friction, &api_friction, API_FRICTION_BLEND);
	const struct api_shape shape = api_shape_of(&api_friction.rules[API_FRICTION_VERTEX_MU], lengths);
	struct fric_values s = {0}, k = {0};
	int choice = FRIC_MEAN;
	if (!check_mu(check, friction, &of_vertices, &shape, &s, &k) || !check_choice(check, &blend, &choice))
		return false;
	f->blend = (enum fric_blend)choice;
	if (s.data) {
		f->source = FRIC_MU_VERTEX;
		f->vertex_mu_s = s.data;
		f->vertex_mu_k = k.data;
	}
	return s.data || !blend.node ||
	       api_fault_at(check->fault, API_E_WITHOUT_EFFECT, &blend.path, "\"blend\" has no effect without per-vertex coefficients");
}

static bool check_symmetric(struct api_check *check, const struct api_field *materials, int rule, const double *table,
                            size_t m)
{
	const struct api_field field = api_ruled(materials, &api_materials, rule);
	for (size_t i = 0; i < m && field.node && table; i++) {
		if (api_check_stopped(check))
			return false;
		for (size_t j = 0; j < i; j++)
			if (table[i * m + j] != table[j * m + i])
				return api_fault_entry(check, API_E_ASYMMETRIC_TABLE, &field, i * m + j, "the pair table is not symmetric: %.17g here, %.17g"
				                       " for the same materials in the other order",
				                       table[i * m + j], table[j * m + i]);
	}
	return true;
}

/* The table's size from its shape: [m, m], or m*m numbers. */
static bool check_table_size(struct api_check *check, const struct api_field *table, size_t *m)
{
	if (!api_check_rows(check, table, 0, m)) /* a flat table; a nested one is handled below */
		return false;
	size_t root = 0;
	while (root * root < *m)
		root++;
	if (root * root != *m)
		return api_fault_at(check->fault, API_E_WRONG_SHAPE, &table->path, "expected a square table [m, m], got %zu numbers", *m);
	*m = root;
	return true;
}

static bool table_size(struct api_check *check, const struct api_field *table, size_t *m)
{
	const struct api_array *array = api_document_array(check->document, table->node);
	if (!array || array->ragged || array->rank != 2)
		return check_table_size(check, table, m);
	*m = array->shape[0];
	return true; /* that the rows have this length is checked with the values */
}

static bool check_materials(struct api_check *check, const struct api_field *friction, size_t n_vertices,
                            struct fric_friction *f, bool *has_plane_material)
{
	struct api_field materials = api_ruled(friction, &api_friction, API_FRICTION_MATERIALS);
	if (!materials.node)
		return true;
	if (!api_check_object(check, &materials, &api_materials))
		return false;
	const struct api_field vertex_material = api_ruled(&materials, &api_materials, API_MATERIALS_VERTEX),
	                       plane_material = api_ruled(&materials, &api_materials, API_MATERIALS_PLANE),
	                       mu = api_ruled(&materials, &api_materials, API_MATERIALS_MU),
	                       mu_s = api_ruled(&materials, &api_materials, API_MATERIALS_MU_S),
	                       mu_k = api_ruled(&materials, &api_materials, API_MATERIALS_MU_K);
	const struct api_field *table = mu.node || !(mu_s.node || mu_k.node) ? &mu : mu_s.node ? &mu_s : &mu_k;
	if (!api_check_present(check, &vertex_material, "every vertex needs a material") ||
	    !api_check_present(check, table, "materials need a table of coefficients") ||
	    !table_size(check, table, &f->n_materials))
		return false;
	const size_t lengths[API_N_LENGTHS] = {[API_MATERIALS] = f->n_materials};
	const struct api_shape shape = api_shape_of(mu.rule, lengths);
	struct fric_values s = {0}, k = {0};
	if (!check_mu(check, &materials, &of_materials, &shape, &s, &k) ||
	    !api_check_indices(check, &vertex_material, n_vertices, 0, f->n_materials, "material", &f->vertex_material) ||
	    !api_check_index(check, &plane_material, f->n_materials, "material", &f->plane_material))
		return false;
	f->source = FRIC_MU_TABLE;
	f->material_mu_s = s.data;
	f->material_mu_k = k.data;
	*has_plane_material = plane_material.node;
	const int first = mu.node ? API_MATERIALS_MU : API_MATERIALS_MU_S;
	return check_symmetric(check, &materials, first, s.data, f->n_materials) &&
	       check_symmetric(check, &materials, API_MATERIALS_MU_K, k.data, f->n_materials);
}

/* At most one of the ways to give coefficients. */
static bool check_one_source(struct api_check *check, const struct api_field *friction)
{
	static const int sources[][N_MU] = {
		{API_FRICTION_MU, API_FRICTION_MU_S, API_FRICTION_MU_K},
		{API_FRICTION_VERTEX_MU, API_FRICTION_VERTEX_MU_S, API_FRICTION_VERTEX_MU_K},
		{API_FRICTION_MATERIALS, API_FRICTION_MATERIALS, API_FRICTION_MATERIALS}};
	struct api_field first = {0};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < N_MU; j++) {
			const struct api_field field = api_ruled(friction, &api_friction, sources[i][j]);
			if (!field.node)
				continue;
			if (first.node)
				return two_sources(check, &first, &field);
			first = field;
			break;
		}
	return true;
}

static bool check_friction(struct api_check *check, const struct api_field *root, struct api_evaluation *e,
                           bool *has_plane_material)
{
	struct api_field friction = api_ruled(root, &api_request, API_REQUEST_FRICTION);
	struct fric_friction *f = &e->batch.friction;
	int transition = FRIC_CUBIC;
	if (!friction.node)
		return true;
	if (!api_check_object(check, &friction, &api_friction))
		return false;
	const struct api_field eps_v = api_ruled(&friction, &api_friction, API_FRICTION_EPS_V),
	                       mu_transition = api_ruled(&friction, &api_friction, API_FRICTION_TRANSITION);
	if (!check_number(check, &eps_v, &f->eps_v) || !check_one_source(check, &friction) ||
	    !check_scalar_mu(check, &friction, f) || !check_vertex_mu(check, &friction, e->batch.n_vertices, f) ||
	    !check_materials(check, &friction, e->batch.n_vertices, f, has_plane_material) ||
	    !check_choice(check, &mu_transition, &transition))
		return false;
	f->transition = (enum fric_transition)transition;
	return true;
}

static bool check_barrier(struct api_check *check, const struct api_field *root, struct fric_barrier *barrier)
{
	struct api_field field = api_ruled(root, &api_request, API_REQUEST_BARRIER);
	if (!field.node)
		return true;
	if (!api_check_object(check, &field, &api_barrier))
		return false;
	const struct api_field dhat = api_ruled(&field, &api_barrier, API_BARRIER_DHAT),
	                       stiffness = api_ruled(&field, &api_barrier, API_BARRIER_STIFFNESS),
	                       dmin = api_ruled(&field, &api_barrier, API_BARRIER_DMIN);
	return api_check_present(check, &dhat, "a barrier needs it") && check_number(check, &dhat, &barrier->dhat) &&
	       api_check_present(check, &stiffness, "a barrier needs it") &&
	       check_number(check, &stiffness, &barrier->stiffness) && check_number(check, &dmin, &barrier->dmin);
}

static bool check_vertex_array(struct api_check *check, const struct api_field *root, int rule,
                               const struct api_evaluation *e, const double **out)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N_VERTICES] = e->batch.n_vertices, [API_DIM] = (size_t)e->batch.dim};
	const struct api_field field = api_ruled(root, &api_request, rule);
	const struct api_shape shape = api_shape_of(field.rule, lengths);
	struct fric_values values = {0};
	if (!api_check_values(check, &field, &shape, &values))
		return false;
	if (values.data)
		*out = values.data;
	return true;
}

static bool check_dim(struct api_check *check, const struct api_field *root, int *dim)
{
	const struct api_field field = api_ruled(root, &api_request, API_REQUEST_DIM);
	double value = 0;
	if (!api_check_present(check, &field, "2 or 3") || !check_number(check, &field, &value))
		return false;
	const bool is_integer = api_document_array(check->document, field.node)->first_non_integer > 0;
	if ((value != field.rule->least && value != field.rule->most) || !is_integer)
		return api_fault_at(check->fault, API_E_OUT_OF_RANGE, &field.path, "\"dim\" must be the integer 2 or 3");
	*dim = (int)value;
	return true;
}

static bool within(struct api_check *check, const struct api_field *field, const char *what, size_t n, size_t most)
{
	return most == 0 || n <= most ||
	       api_fault_at(check->fault, API_E_TOO_MANY_ENTRIES, &field->path, "%zu %s are more than the limit of %zu", n, what, most);
}

static bool check_vertices(struct api_check *check, const struct api_field *root, struct api_evaluation *e)
{
	const struct api_field velocities = api_ruled(root, &api_request, API_REQUEST_VELOCITIES);
	if (!check_dim(check, root, &e->batch.dim) ||
	    !api_check_present(check, &velocities, "the velocities to evaluate at, [n_vertices, dim]") ||
	    !api_check_rows(check, &velocities, (size_t)e->batch.dim, &e->batch.n_vertices) ||
	    !within(check, &velocities, "vertices", e->batch.n_vertices, check->max_vertices) ||
	    !check_vertex_array(check, root, API_REQUEST_VELOCITIES, e, &e->velocities) ||
	    !check_vertex_array(check, root, API_REQUEST_POSITIONS, e, &e->batch.positions))
		return false;
	e->lagged_velocities = e->velocities;
	return check_vertex_array(check, root, API_REQUEST_LAGGED_VELOCITIES, e, &e->lagged_velocities);
}

static bool check_answer(struct api_check *check, const struct api_field *root, struct api_evaluation *e)
{
	struct api_field hessian = api_ruled(root, &api_request, API_REQUEST_HESSIAN);
	const struct api_field wanted = api_ruled(root, &api_request, API_REQUEST_OUTPUTS),
	                       collision = api_ruled(root, &api_request, API_REQUEST_COLLISION_OUTPUTS),
	                       skip = api_ruled(root, &api_request, API_REQUEST_ON_DEGENERATE);
	int reaction = 0;
	e->outputs[API_POTENTIAL] = e->outputs[API_GRADIENT] = e->outputs[API_HESSIAN] = true;
	e->collision_outputs[FRIC_OUT_POTENTIAL] = e->collision_outputs[FRIC_OUT_TANGENTIAL_VELOCITY] = true;
	if (!api_check_choices(check, &wanted, wanted.rule->words, e->outputs) ||
	    !api_check_choices(check, &collision, collision.rule->words, e->collision_outputs) ||
	    !check_choice(check, &skip, &reaction))
		return false;
	e->batch.skip_degenerate = reaction == 1;
	if (!hessian.node)
		return true;
	if (!api_check_object(check, &hessian, &api_hessian))
		return false;
	const struct api_field format = api_ruled(&hessian, &api_hessian, API_HESSIAN_FORMAT),
	                       triangle = api_ruled(&hessian, &api_hessian, API_HESSIAN_TRIANGLE),
	                       projection = api_ruled(&hessian, &api_hessian, API_HESSIAN_PROJECTION);
	if (!check_choice(check, &format, &e->format) || !check_choice(check, &triangle, &e->triangle) ||
	    !check_choice(check, &projection, &e->projection))
		return false;
	return e->format != API_FACTORS || !triangle.node ||
	       api_fault_at(check->fault, API_E_WITHOUT_EFFECT, &triangle.path, "\"triangle\" goes with triplets and csr only");
}

/* The first contact that has a vertex twice, from contact i on. */
static bool fault_repeated(struct api_check *check, const struct api_field *field, enum fric_type type,
                           const struct fric_group *g, size_t i)
{
	const size_t k = (size_t)fric_stencil_size(type);
	while (api_rows_are_distinct(g->vertices + i * k, 1, k))
		i++;
	const int32_t *v = g->vertices + i * k;
	size_t a = 1, b = 0;
	while (v[a] != v[b])
		if (++b == a)
			a++, b = 0;
	const struct api_path contact = {&field->path, NULL, i};
	return api_fault_at(check->fault, API_E_REPEATED_VERTEX, &contact, "contact %zu of %s: vertex %d is there twice", i, fric_type_name(type),
	                    v[a]);
}

static size_t count_contacts(const struct fric_batch *batch)
{
	size_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		n += batch->groups[type].n;
	return n;
}

static bool check_distinct(struct api_check *check, const struct api_field *field, enum fric_type type,
                           const struct fric_group *g)
{
	const size_t k = (size_t)fric_stencil_size(type);
	for (size_t i = 0, n; i < g->n; i += n) {
		n = g->n - i < API_SPAN ? g->n - i : API_SPAN;
		if (!api_rows_are_distinct(g->vertices + i * k, n, k))
			return fault_repeated(check, field, type, g, i);
		if (api_check_stopped(check))
			return false;
	}
	return true;
}

/* The stencils of a group: in range, and no vertex twice in one contact. */
static bool check_stencils(struct api_check *check, const struct api_field *object, enum fric_type type,
                           const struct api_evaluation *e, struct fric_group *g)
{
	const struct api_field field = api_ruled(object, &api_groups[type], API_GROUP_VERTICES);
	const size_t k = (size_t)fric_stencil_size(type), row = k == 1 ? 0 : k;
	if (!api_check_present(check, &field, "the stencils of the contacts") ||
	    !api_check_rows(check, &field, row, &g->n) ||
	    !within(check, &field, "contacts", count_contacts(&e->batch), check->max_contacts) ||
	    !api_check_indices(check, &field, g->n, row, e->batch.n_vertices, "vertex", &g->vertices))
		return false;
	return check_distinct(check, &field, type, g);
}

/* Fields per contact that are read in the same way, in the order in which they are checked. */
#define AT(member) offsetof(struct fric_group, member)
static const struct group_field {
	int rule;
	size_t offset; /* of a struct fric_values in struct fric_group */
} group_fields[] = {
	{API_GROUP_NORMAL_FORCE, AT(normal_force)}, {API_GROUP_WEIGHT, AT(weight)}, {API_GROUP_EPS_V, AT(eps_v)},
	{API_GROUP_MU_ANISO, AT(mu_aniso)}, {API_GROUP_MU_S_ANISO, AT(mu_s_aniso)}, {API_GROUP_MU_K_ANISO, AT(mu_k_aniso)},
	{API_GROUP_CLOSEST_POINT, AT(closest_point)}, {API_GROUP_TANGENT_BASIS, AT(tangent_basis)},
	{API_GROUP_PLANE_NORMAL, AT(plane_normal)}, {API_GROUP_PLANE_ORIGIN, AT(plane_origin)},
};

static bool check_group_field(struct api_check *check, const struct api_field *field, int dim,
                              const size_t lengths[API_N_LENGTHS], struct fric_values *out)
{
	if (!field->node)
		return true;
	if (field->rule->only && field->rule->only != dim)
		return api_fault_at(check->fault, API_E_WRONG_DIMENSION, &field->path, "\"%s\" exists in %dD only", field->rule->name,
		                    field->rule->only);
	const struct api_shape shape = api_shape_of(field->rule, lengths);
	return api_check_values(check, field, &shape, out);
}

static bool check_group_values(struct api_check *check, const struct api_field *object, enum fric_type type, int dim,
                               struct fric_group *g)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N] = g->n, [API_DIM] = (size_t)dim, [API_TANGENTS] = (size_t)dim - 1,
	                                       [API_POINT] = (size_t)fric_closest_point_size(type)};
	const struct api_object *rules = &api_groups[type];
	const struct api_shape mu_shape = api_shape_of(&rules->rules[API_GROUP_MU], lengths);
	const struct mu_rules of_group = {rules, API_GROUP_MU};
	if (!check_mu(check, object, &of_group, &mu_shape, &g->mu_s, &g->mu_k))
		return false;
	for (size_t i = 0; i < sizeof(group_fields) / sizeof(group_fields[0]); i++) {
		const struct api_field field = api_ruled(object, rules, group_fields[i].rule);
		if (!check_group_field(check, &field, dim, lengths, (struct fric_values *)((char *)g + group_fields[i].offset)))
			return false;
	}
	return true;
}

static bool check_plane_normals(struct api_check *check, const struct api_field *object, int dim,
                                const struct fric_group *g)
{
	const struct api_field field = api_ruled(object, &api_groups[FRIC_PLANE_VERTEX], API_GROUP_PLANE_NORMAL);
	const size_t n_rows = !g->plane_normal.data ? 0 : g->plane_normal.stride ? g->n : 1;
	for (size_t i = 0; i < n_rows; i++) {
		const double *normal = g->plane_normal.data + i * g->plane_normal.stride;
		if (i % API_SPAN == 0 && api_check_stopped(check))
			return false;
		if (normal[0] != 0 || normal[1] != 0 || (dim == 3 && normal[2] != 0))
			continue;
		const struct api_array *array = api_document_array(check->document, field.node);
		const struct api_path entry = {&field.path, NULL, i};
		return api_fault_at(check->fault, API_E_ZERO_NORMAL, array->rank > 1 ? &entry : &field.path, "a plane's normal is zero");
	}
	return true;
}

/* closest_point and tangent_basis: both or neither, where the type has a closest point. */
static bool check_given_geometry(struct api_check *check, const struct api_field *object, enum fric_type type,
                                 const struct fric_group *g)
{
	const struct api_field point = api_ruled(object, &api_groups[type], API_GROUP_CLOSEST_POINT),
	                       basis = api_ruled(object, &api_groups[type], API_GROUP_TANGENT_BASIS);
	if (!fric_closest_point_size(type))
		return true;
	if (g->closest_point.data)
		return api_check_present(check, &basis, "it goes together with \"closest_point\"");
	return !g->tangent_basis.data || api_check_present(check, &point, "it goes together with \"tangent_basis\"");
}

static bool check_group(struct api_check *check, const struct api_field *collisions, enum fric_type type,
                        struct api_evaluation *e)
{
	struct api_field object = api_ruled(collisions, &api_collisions, (int)type);
	struct fric_group *g = &e->batch.groups[type];
	if (!object.node)
		return true;
	if (object.rule->only && object.rule->only != e->batch.dim)
		return api_fault_at(check->fault, API_E_WRONG_DIMENSION, &object.path, "\"%s\" exists in %dD only", object.rule->name,
		                    object.rule->only);
	e->has_group[type] = true;
	return api_check_object(check, &object, &api_groups[type]) && check_stencils(check, &object, type, e, g) &&
	       check_group_values(check, &object, type, e->batch.dim, g) &&
	       check_given_geometry(check, &object, type, g) && check_plane_normals(check, &object, e->batch.dim, g);
}

static bool check_collisions(struct api_check *check, const struct api_field *root, struct api_evaluation *e)
{
	struct api_field collisions = api_ruled(root, &api_request, API_REQUEST_COLLISIONS);
	if (!api_check_present(check, &collisions, "the contacts, in groups by type") ||
	    !api_check_object(check, &collisions, &api_collisions))
		return false;
	if (json_object_size(collisions.node) == 0)
		return api_fault_at(check->fault, API_E_MISSING_FIELD, &collisions.path, "at least one group is needed (it may be empty)");
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (!check_group(check, &collisions, type, e))
			return false;
	return true;
}

static bool check_needed(struct api_check *check, const struct api_field *field, enum fric_type type)
{
	char why[160];
	if (field->node)
		return true;
	snprintf(why, sizeof(why), "group \"%s\" needs it", fric_type_name(type));
	return api_check_present(check, field, why);
}

/* A field that the group needs, and what for. Looked up last: nearly always nothing is missing. */
static bool check_group_needed(struct api_check *check, const struct api_field *root, enum fric_type type,
                               int rule, const char *why)
{
	const struct api_field collisions = api_ruled(root, &api_request, API_REQUEST_COLLISIONS),
	                       group = api_ruled(&collisions, &api_collisions, (int)type),
	                       field = api_ruled(&group, &api_groups[type], rule);
	return api_check_present(check, &field, why);
}

static bool check_forces_needed(struct api_check *check, const struct api_field *root, enum fric_type type,
                                const struct fric_group *g)
{
	if (g->normal_force.data)
		return true;
	if (g->tangent_basis.data)
		return check_group_needed(check, root, type, API_GROUP_NORMAL_FORCE,
		                          "given geometry has no distance to derive it from");
	const struct api_field barrier = api_ruled(root, &api_request, API_REQUEST_BARRIER);
	return api_check_present(check, &barrier, "a group without \"normal_force\" needs it");
}

static bool check_planes_needed(struct api_check *check, const struct api_field *root, enum fric_type type,
                                const struct fric_group *g)
{
	if (type != FRIC_PLANE_VERTEX)
		return true;
	if (!g->tangent_basis.data &&
	    !check_group_needed(check, root, type, API_GROUP_PLANE_NORMAL, "it gives the contacts their tangent plane"))
		return false;
	return g->normal_force.data ||
	       check_group_needed(check, root, type, API_GROUP_PLANE_ORIGIN,
	                          "the barrier needs the distance from the plane");
}

static bool check_positions_needed(struct api_check *check, const struct api_field *root, enum fric_type type,
                                   const struct api_evaluation *e)
{
	const struct fric_group *g = &e->batch.groups[type];
	const bool distance = e->outputs[API_COLLISIONS] && e->collision_outputs[FRIC_OUT_DISTANCE] && g->plane_origin.data;
	if (e->batch.positions || g->tangent_basis.data)
		return true;
	if (type == FRIC_PLANE_VERTEX && g->normal_force.data && !distance)
		return true;
	const struct api_field positions = api_ruled(root, &api_request, API_REQUEST_POSITIONS);
	return check_needed(check, &positions, type);
}

static bool check_friction_needed(struct api_check *check, const struct api_field *root, enum fric_type type,
                                  const struct api_evaluation *e, bool has_plane_material)
{
	const struct fric_group *g = &e->batch.groups[type];
	const struct fric_friction *f = &e->batch.friction;
	const bool has_mu = g->mu_s.data || f->source != FRIC_MU_NONE, has_eps_v = g->eps_v.data || f->eps_v > 0;
	const bool needs_material = !g->mu_s.data && type == FRIC_PLANE_VERTEX && f->source == FRIC_MU_TABLE;
	if (has_mu && has_eps_v && (!needs_material || has_plane_material))
		return true;
	const struct api_field friction = api_ruled(root, &api_request, API_REQUEST_FRICTION),
	                       mu = api_ruled(&friction, &api_friction, API_FRICTION_MU),
	                       eps_v = api_ruled(&friction, &api_friction, API_FRICTION_EPS_V),
	                       materials = api_ruled(&friction, &api_friction, API_FRICTION_MATERIALS),
	                       plane_material = api_ruled(&materials, &api_materials, API_MATERIALS_PLANE);
	if (!has_mu)
		return api_check_present(check, friction.node ? &mu : &friction, "a group without coefficients of its own needs"
		                         " \"mu\", \"mu_s\" and \"mu_k\", per-vertex ones or \"materials\"");
	if (needs_material && !has_plane_material)
		return check_needed(check, &plane_material, type);
	return check_needed(check, friction.node ? &eps_v : &friction, type);
}

/* What a group with contacts needs from elsewhere in the request. */
static bool check_needs(struct api_check *check, const struct api_field *root, enum fric_type type,
                        const struct api_evaluation *e, bool has_plane_material)
{
	const struct fric_group *g = &e->batch.groups[type];
	return g->n == 0 || (check_forces_needed(check, root, type, g) && check_planes_needed(check, root, type, g) &&
	                     check_positions_needed(check, root, type, e) &&
	                     check_friction_needed(check, root, type, e, has_plane_material));
}

bool api_check_evaluation(struct api_check *check, struct api_evaluation *evaluation)
{
	struct api_field root = {.node = check->document->root};
	bool has_plane_material = false;
	*evaluation = (struct api_evaluation){0};
	if (!api_check_object(check, &root, &api_request) || !check_vertices(check, &root, evaluation) ||
	    !check_friction(check, &root, evaluation, &has_plane_material) ||
	    !check_barrier(check, &root, &evaluation->batch.barrier) || !check_collisions(check, &root, evaluation) ||
	    !check_answer(check, &root, evaluation))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (!check_needs(check, &root, type, evaluation, has_plane_material))
			return false;
	return true;
}
