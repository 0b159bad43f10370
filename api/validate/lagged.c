#include "api/validate/lagged.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "api/validate/law.h"

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
_Static_assert(API_N_REQUEST + API_N_FRICTION + API_N_CURVE + API_N_MATERIALS + API_N_BARRIER +
                       FRIC_N_TYPES * (1 + API_N_GROUP) + API_N_HESSIAN + API_N_LINE <=
                   API_MAX_MEMBERS,
               "a place for each member of a request");
static const struct mu_rules of_friction = {&api_friction, API_FRICTION_MU},
							 of_vertices = {&api_friction, API_FRICTION_VERTEX_MU},
							 of_materials = {&api_materials, API_MATERIALS_MU};

_Static_assert((int)API_N_GROUP <= (int)API_MOST_RULES && (int)API_N_REQUEST <= (int)API_MOST_RULES,
               "a bit for each member");

/* A first look; whatever is wrong with a group is told later. */
static bool has_contacts(const struct api_lagged_check *w, enum fric_type type)
{
	const struct api_field collisions = api_ruled(&w->root, &api_request, API_REQUEST_COLLISIONS),
						   group = api_ruled(&collisions, &api_collisions, (int)type),
						   stencils = api_ruled(&group, &api_groups[type], api_stencil_rule(type));
	const struct api_array *array = stencils.node ? api_document_array(w->check->document, stencils.node) : NULL;
	return group.node && (!array || array->n > 0);
}

static bool has_bodies_alone(const struct api_lagged_check *w)
{
	const struct api_field positions = api_ruled(&w->root, &api_request, API_REQUEST_BODY_POSITIONS),
						   velocities = api_ruled(&w->root, &api_request, API_REQUEST_BODY_VELOCITIES);
	if (!api_is_given(w->check, &positions) && !api_is_given(w->check, &velocities))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		if (has_contacts(w, type))
			return false;
	return true;
}

bool api_lagged_begin(struct api_lagged_check *w, struct api_check *check, const struct api_object *whole,
                      const struct api_object *elsewhere, struct api_lagged *lagged)
{
	*lagged = (struct api_lagged){0};
	*w = (struct api_lagged_check){.check = check, .lagged = lagged};
	if (!api_check_root(check, whole, elsewhere, &w->root))
		return false;
	w->bodies_alone = has_bodies_alone(w);
	return true;
}

static bool check_number(struct api_check *check, const struct api_field *field, double *out)
{
	return api_check_number(check, field, field->rule->range, out);
}

static bool check_choice(struct api_check *check, const struct api_field *field, int *out)
{
	return api_check_choice(check, field, field->rule->words, out);
}

static const json_t *find(const json_t *root, const struct api_path *path)
{
	return path->up ? json_object_get(find(root, path->up), path->key) : root;
}

/* In a merged document: which of two fields the patch has to remove, as it brings the other one; "" without a patch. */
static const char *explain_patch(const struct api_check *check, const struct api_field *a, const struct api_field *b,
                                 char help[96])
{
	const bool brings_a = find(check->patch, &a->path), brings_b = find(check->patch, &b->path);
	help[0] = '\0';
	if (brings_a != brings_b)
		snprintf(help, 96, "; the set has one already: send \"%.20s\": null in the patch, too",
		         brings_a ? b->path.key : a->path.key);
	return help;
}

/* The second error names the other one of the two. */
static void two_sources(struct api_check *check, const struct api_field *a, const struct api_field *b)
{
	static const char format[] = "two sources of friction coefficients: \"%s\" and \"%s\"%s";
	char help[96];
	explain_patch(check, a, b, help);
	api_fault_at(check->fault, API_E_CONFLICTING_FIELDS, &b->path, format, a->path.key, b->path.key, help);
	api_fault_at(check->fault, API_E_CONFLICTING_FIELDS, &a->path, format, a->path.key, b->path.key, help);
}

/* The fields of a place. */
struct mu_fields {
	struct api_field mu, s, k;
};

static struct mu_fields mu_fields_of(const struct api_field *object, const struct mu_rules *rules)
{
	return (struct mu_fields){api_ruled(object, rules->object, rules->mu + MU),
	                          api_ruled(object, rules->object, rules->mu + MU_S),
	                          api_ruled(object, rules->object, rules->mu + MU_K)};
}

static bool gives_mu(const struct api_check *check, const struct api_field *object, const struct mu_rules *rules)
{
	const struct mu_fields f = mu_fields_of(object, rules);
	return api_is_given(check, &f.mu) || api_is_given(check, &f.s) || api_is_given(check, &f.k);
}

/* mu alone, or both of the others. */
static void check_pair(struct api_check *check, const struct mu_fields *f)
{
	static const char why[] = "static and kinetic coefficients go together";
	if (f->mu.node && (f->s.node || f->k.node))
		two_sources(check, &f->mu, f->s.node ? &f->s : &f->k);
	else if (f->s.node)
		api_check_present(check, &f->k, why);
	else if (f->k.node)
		api_check_present(check, &f->s, why);
}

/* Both coefficients of a place; data NULL if it has none. */
static void check_mu(struct api_check *check, const struct api_field *object, const struct mu_rules *rules,
                     const struct api_shape *shape, struct fric_values *mu_s, struct fric_values *mu_k)
{
	const struct mu_fields f = mu_fields_of(object, rules);
	struct fric_values both;
	check_pair(check, &f);
	api_check_values(check, &f.mu, shape, &both);
	api_check_values(check, &f.s, shape, mu_s);
	api_check_values(check, &f.k, shape, mu_k);
	if (f.mu.node)
		*mu_s = *mu_k = both;
}

/* Only as a bare number: [1] stands for a per-contact field, which these are not. vertex_name: the field for a list of
 * numbers per vertex; NULL: there is none. */
static bool check_scalar(struct api_check *check, const struct api_field *field, const char *vertex_name, double *out)
{
	const struct api_array *array = api_document_array(check->document, field->node);
	char place[64] = "per contact it is";
	if (!array || array->rank == 0)
		return check_number(check, field, out);
	if (vertex_name)
		snprintf(place, sizeof(place), "per vertex it is \"%s\", per contact", vertex_name);
	return api_fault_at(check->fault, API_E_WRONG_TYPE, &field->path,
	                    "expected a number, got an array of numbers; %s \"%s\" of a group", place, field->rule->name);
}

static void check_scalar_mu(struct api_lagged_check *w)
{
	const struct api_rule *of_vertex = &api_friction.rules[API_FRICTION_VERTEX_MU];
	const struct mu_fields f = mu_fields_of(&w->friction, &of_friction);
	struct fric_friction *to = &w->lagged->batch.friction;
	const bool given = f.mu.node || f.s.node || f.k.node;
	double mu = given ? NAN : 0; /* of what cannot be read */
	check_scalar(w->check, &f.mu, of_vertex[MU].name, &mu);
	to->mu_s = to->mu_k = mu;
	check_scalar(w->check, &f.s, of_vertex[MU_S].name, &to->mu_s);
	check_scalar(w->check, &f.k, of_vertex[MU_K].name, &to->mu_k);
	check_pair(w->check, &f);
	to->source = given ? FRIC_MU_SCALAR : to->source;
}

static void check_blend(struct api_lagged_check *w)
{
	const struct api_field blend = api_ruled(&w->friction, &api_friction, API_FRICTION_BLEND);
	int choice = FRIC_MEAN;
	const bool known = check_choice(w->check, &blend, &choice);
	w->lagged->batch.friction.blend = (enum fric_blend)choice;
	if (blend.node && known && !gives_mu(w->check, &w->friction, &of_vertices))
		api_fault_at(w->check->fault, API_E_WITHOUT_EFFECT, &blend.path,
		             "\"blend\" has no effect without per-vertex coefficients");
}

static void check_vertex_mu(struct api_lagged_check *w)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N_VERTICES] = w->n_vertices};
	const struct api_shape shape = api_shape_of(&api_friction.rules[API_FRICTION_VERTEX_MU], lengths);
	struct fric_friction *f = &w->lagged->batch.friction;
	struct fric_values s, k;
	check_mu(w->check, &w->friction, &of_vertices, &shape, &s, &k);
	if (!s.data)
		return;
	f->source = FRIC_MU_VERTEX;
	f->vertex_mu_s = s.data;
	f->vertex_mu_k = k.data;
}

/* The size of a flat table of m*m numbers. */
static bool check_flat_table(struct api_check *check, const struct api_field *table, size_t *m)
{
	if (!api_check_rows(check, table, 0, m))
		return false;
	size_t root = 0;
	while (root * root < *m)
		root++;
	if (root * root != *m)
		return api_fault_at(check->fault, API_E_WRONG_SHAPE, &table->path,
		                    "expected a square table [m, m], got %zu numbers", *m);
	*m = root;
	return true;
}

/* The table's size from its shape: [m, m], or m*m numbers. */
static bool check_table_size(struct api_check *check, const struct api_field *table, size_t *m)
{
	const struct api_array *array = api_document_array(check->document, table->node);
	if (!array || array->ragged || array->rank == 1)
		return check_flat_table(check, table, m);
	if (array->rank != 2)
		return api_fault_shape(check, table, "[m, m] (nested or flat)", "");
	*m = array->shape[0];
	return true; /* that the rows have this length is checked with the values */
}

/* The tables. How large they are is told by the first one that is there. */
static void check_tables(struct api_lagged_check *w)
{
	const struct mu_fields f = mu_fields_of(&w->materials, &of_materials);
	const struct api_field *table = f.mu.node || !(f.s.node || f.k.node) ? &f.mu : f.s.node ? &f.s : &f.k;
	struct fric_friction *to = &w->lagged->batch.friction;
	struct fric_values s = {0}, k = {0};
	const bool sized = api_check_present(w->check, table, "materials need a table of coefficients") &&
	                   check_table_size(w->check, table, &to->n_materials);
	w->n_materials = sized ? to->n_materials : API_UNKNOWN_LENGTH;
	const size_t lengths[API_N_LENGTHS] = {[API_MATERIALS] = w->n_materials};
	const struct api_shape shape = api_shape_of(f.mu.rule, lengths);
	if (sized)
		check_mu(w->check, &w->materials, &of_materials, &shape, &s, &k);
	else
		check_pair(w->check, &f);
	to->source = FRIC_MU_TABLE;
	to->material_mu_s = s.data;
	to->material_mu_k = k.data;
}

static void check_symmetries(struct api_lagged_check *w)
{
	const struct fric_friction *f = &w->lagged->batch.friction;
	const struct mu_fields fields = mu_fields_of(&w->materials, &of_materials);
	if (f->material_mu_s)
		api_check_symmetric(w->check, fields.mu.node ? &fields.mu : &fields.s, w->n_materials, f->material_mu_s);
	if (fields.k.node && f->material_mu_k)
		api_check_symmetric(w->check, &fields.k, w->n_materials, f->material_mu_k);
}

static void check_materials(struct api_lagged_check *w)
{
	struct api_check *check = w->check;
	w->materials = api_ruled(&w->friction, &api_friction, API_FRICTION_MATERIALS);
	if (!w->materials.node)
		return;
	api_check_object(check, &w->materials, &api_materials);
	if (!json_is_object(w->materials.node))
		return;
	const struct api_field vertex = api_ruled(&w->materials, &api_materials, API_MATERIALS_VERTEX),
						   plane = api_ruled(&w->materials, &api_materials, API_MATERIALS_PLANE),
						   body = api_ruled(&w->materials, &api_materials, API_MATERIALS_BODY);
	struct fric_friction *f = &w->lagged->batch.friction;
	if (!w->bodies_alone)
		api_check_present(check, &vertex, "every vertex needs a material");
	check_tables(w);
	api_check_indices(check, &vertex, w->n_vertices, 0, w->n_materials, "material", &f->vertex_material);
	api_check_index(check, &plane, w->n_materials, "material", &f->plane_material);
	api_check_indices(check, &body, w->n_bodies, 0, w->n_materials, "material", &f->body_material);
	check_symmetries(w);
}

/* At most one of the ways to give coefficients. */
static bool check_one_source(struct api_check *check, const struct api_field *friction)
{
	static const int sources[][N_MU] = {{API_FRICTION_MU, API_FRICTION_MU_S, API_FRICTION_MU_K},
	                                    {API_FRICTION_VERTEX_MU, API_FRICTION_VERTEX_MU_S, API_FRICTION_VERTEX_MU_K},
	                                    {API_FRICTION_MATERIALS, API_FRICTION_MATERIALS, API_FRICTION_MATERIALS}};
	struct api_field first = {0};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < N_MU; j++) {
			const struct api_field field = api_ruled(friction, &api_friction, sources[i][j]);
			if (!field.node)
				continue;
			if (first.node) {
				two_sources(check, &first, &field);
				return false;
			}
			first = field;
			break;
		}
	return true;
}

static void check_law(struct api_lagged_check *w)
{
	struct fric_law *law = &w->lagged->batch.friction.law;
	const struct api_law_fields fields = {
		.law = api_ruled(&w->friction, &api_friction, API_FRICTION_LAW),
		.transition = api_ruled(&w->friction, &api_friction, API_FRICTION_TRANSITION),
		.stribeck_speed = api_ruled(&w->friction, &api_friction, API_FRICTION_STRIBECK_SPEED),
		.curve = api_ruled(&w->friction, &api_friction, API_FRICTION_CURVE),
	};
	const struct api_field viscous = api_ruled(&w->friction, &api_friction, API_FRICTION_VISCOUS);
	w->law = api_check_law(w->check, &fields, law);
	check_scalar(w->check, &fields.stribeck_speed, NULL, &law->stribeck_speed);
	check_scalar(w->check, &viscous, NULL, &law->viscous);
}

/* Of whichever source there is, for a law that takes one. */
static void check_one_mu(struct api_lagged_check *w)
{
	const struct fric_friction *f = &w->lagged->batch.friction;
	const struct api_field scalar = api_ruled(&w->friction, &api_friction, API_FRICTION_MU_K),
						   vertex = api_ruled(&w->friction, &api_friction, API_FRICTION_VERTEX_MU_K),
						   table = api_ruled(&w->materials, &api_materials, API_MATERIALS_MU_K);
	if (f->source == FRIC_MU_SCALAR && !isnan(f->mu_s) && !isnan(f->mu_k))
		api_check_one_coefficient(w->check, w->law, &scalar, 1, 1, &(struct fric_values){&f->mu_s, 0},
		                          &(struct fric_values){&f->mu_k, 0});
	if (vertex.node && f->vertex_mu_s && f->vertex_mu_k)
		api_check_one_coefficient(w->check, w->law, &vertex, w->n_vertices, 1, &(struct fric_values){f->vertex_mu_s, 1},
		                          &(struct fric_values){f->vertex_mu_k, 1});
	if (table.node && f->material_mu_s && f->material_mu_k)
		api_check_one_coefficient(w->check, w->law, &table, f->n_materials * f->n_materials, 1,
		                          &(struct fric_values){f->material_mu_s, 1},
		                          &(struct fric_values){f->material_mu_k, 1});
}

static void check_friction(struct api_lagged_check *w)
{
	struct fric_friction *f = &w->lagged->batch.friction;
	w->friction = api_ruled(&w->root, &api_request, API_REQUEST_FRICTION);
	w->law = api_is_given(w->check, &w->friction) ? API_UNKNOWN_LAW : FRIC_SMOOTH;
	if (!w->friction.node)
		return;
	api_check_object(w->check, &w->friction, &api_friction);
	if (!json_is_object(w->friction.node))
		return;
	const struct api_field eps_v = api_ruled(&w->friction, &api_friction, API_FRICTION_EPS_V);
	check_scalar(w->check, &eps_v, NULL, &f->eps_v);
	if (check_one_source(w->check, &w->friction)) { /* else it is not known which of them is meant */
		check_scalar_mu(w);
		check_vertex_mu(w);
		check_blend(w);
		check_materials(w);
	}
	check_law(w);
	check_one_mu(w);
}

static void check_barrier_words(struct api_check *check, const struct api_field *field, struct fric_barrier *barrier)
{
	const struct api_field type = api_ruled(field, &api_barrier, API_BARRIER_TYPE),
						   scaling = api_ruled(field, &api_barrier, API_BARRIER_SCALING);
	int which = FRIC_CLAMPED_LOG, how = FRIC_SCALING_NONE;
	check_choice(check, &type, &which);
	check_choice(check, &scaling, &how);
	barrier->type = (enum fric_barrier_type)which;
	barrier->scaling = (enum fric_barrier_scaling)how;
}

static void check_barrier(struct api_lagged_check *w)
{
	struct api_check *check = w->check;
	struct fric_barrier *barrier = &w->lagged->batch.barrier;
	struct api_field field = api_ruled(&w->root, &api_request, API_REQUEST_BARRIER);
	if (!field.node)
		return;
	api_check_object(check, &field, &api_barrier);
	if (!json_is_object(field.node))
		return;
	const struct api_field dhat = api_ruled(&field, &api_barrier, API_BARRIER_DHAT),
						   stiffness = api_ruled(&field, &api_barrier, API_BARRIER_STIFFNESS),
						   dmin = api_ruled(&field, &api_barrier, API_BARRIER_DMIN);
	api_check_present(check, &dhat, "a barrier needs it");
	check_number(check, &dhat, &barrier->dhat);
	api_check_present(check, &stiffness, "a barrier needs it");
	check_number(check, &stiffness, &barrier->stiffness);
	check_number(check, &dmin, &barrier->dmin);
	check_barrier_words(check, &field, barrier);
}

void api_lagged_dim(struct api_lagged_check *w)
{
	const struct api_field field = api_ruled(&w->root, &api_request, API_REQUEST_DIM);
	double value = 0;
	w->dim = API_UNKNOWN_LENGTH;
	if (!api_check_present(w->check, &field, "2 or 3") || !check_number(w->check, &field, &value))
		return;
	const bool is_integer = api_document_array(w->check->document, field.node)->first_non_integer > 0;
	if ((value != field.rule->least && value != field.rule->most) || !is_integer) {
		api_fault_at(w->check->fault, API_E_OUT_OF_RANGE, &field.path, "\"dim\" must be the integer 2 or 3");
		return;
	}
	w->dim = (size_t)value;
	w->lagged->batch.dim = (int)value;
}

void api_lagged_positions(struct api_lagged_check *w, size_t n_vertices)
{
	const struct api_field field = api_ruled(&w->root, &api_request, API_REQUEST_POSITIONS);
	w->n_vertices = n_vertices;
	w->lagged->batch.n_vertices = n_vertices == API_UNKNOWN_LENGTH ? 0 : n_vertices;
	api_check_per_vertex(w->check, &field, n_vertices, w->dim, &w->lagged->batch.positions);
}

/* Bodies count as vertices do; the core numbers all DOFs with an int32_t. */
static bool check_most_bodies(struct api_lagged_check *w, const struct api_field *field, size_t n)
{
	const size_t vertices = w->n_vertices == API_UNKNOWN_LENGTH ? 0 : w->n_vertices;
	return api_check_at_most(w->check, field, "vertices and bodies", vertices + n,
	                         api_check_limits(w->check)->max_vertices) &&
	       (api_n_dofs(w->dim, vertices, n) <= INT32_MAX ||
	        api_fault_at(w->check->fault, API_E_TOO_MANY_ENTRIES, &field->path, "more than %d degrees of freedom",
	                     INT32_MAX));
}

/* How many bodies there are. Without them there are none; what needs them says so. */
static size_t count_bodies(struct api_lagged_check *w, const struct api_field *field)
{
	size_t n = 0;
	if (!field->node)
		return api_is_given(w->check, field) ? API_UNKNOWN_LENGTH : 0;
	if (w->dim == API_UNKNOWN_LENGTH || !api_check_rows(w->check, field, w->dim, &n) || !check_most_bodies(w, field, n))
		return API_UNKNOWN_LENGTH;
	return n;
}

void api_lagged_bodies(struct api_lagged_check *w)
{
	const struct api_field field = api_ruled(&w->root, &api_request, API_REQUEST_BODY_POSITIONS);
	const int before = w->check->fault->n_errors;
	struct fric_batch *batch = &w->lagged->batch;
	w->n_bodies = count_bodies(w, &field);
	w->lagged->has_bodies = field.node;
	batch->n_bodies = w->n_bodies == API_UNKNOWN_LENGTH ? 0 : w->n_bodies;
	if (w->check->fault->n_errors > before)
		return; /* its array has been judged */
	const size_t lengths[API_N_LENGTHS] = {[API_N_BODIES] = w->n_bodies, [API_DIM] = w->dim};
	const struct api_shape shape = api_shape_of(field.rule, lengths);
	struct fric_values values;
	api_check_values(w->check, &field, &shape, &values);
	batch->body_positions = values.data;
}

void api_check_per_body(struct api_check *check, const struct api_field *field, size_t n_bodies, size_t dim,
                        const double **out)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N_BODIES] = n_bodies, [API_TWIST] = api_twist(dim)};
	const struct api_shape shape = api_shape_of(field->rule, lengths);
	struct fric_values values;
	api_check_values(check, field, &shape, &values);
	if (values.data)
		*out = values.data;
}

bool api_check_without_bodies(struct api_check *check, const struct api_field *format)
{
	return api_fault_at(check->fault, API_E_CONFLICTING_FIELDS, &format->path,
	                    "bsr has blocks of vertices, and there are bodies: ask for csr, triplets or factors");
}

static bool is_of_bodies(enum fric_type type)
{
	return type >= FRIC_N_VERTEX_TYPES;
}

/* The contacts that have a vertex twice, or a body. */
static void fault_repeated(struct api_check *check, const struct api_field *field, enum fric_type type,
                           const struct fric_group *g, size_t i, size_t end)
{
	const size_t k = (size_t)fric_stencil_size(type);
	for (; i < end && !api_fault_is_full(check->fault); i++) {
		const int32_t *v = g->vertices + i * k;
		const struct api_path contact = {&field->path, NULL, i};
		size_t a = 1, b = 0;
		if (api_rows_are_distinct(v, 1, k))
			continue;
		while (v[a] != v[b])
			if (++b == a)
				a++, b = 0;
		api_fault_at(check->fault, is_of_bodies(type) ? API_E_REPEATED_BODY : API_E_REPEATED_VERTEX, &contact,
		             "contact %zu of %s: %s %d is there twice", i, fric_type_name(type),
		             is_of_bodies(type) ? "body" : "vertex", v[a]);
	}
}

static size_t count_contacts(const struct fric_batch *batch)
{
	size_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		n += batch->groups[type].n;
	return n;
}

static void check_distinct(struct api_check *check, const struct api_field *field, enum fric_type type,
                           const struct fric_group *g)
{
	const size_t k = (size_t)fric_stencil_size(type);
	for (size_t i = 0, n; i < g->n; i += n) {
		n = g->n - i < API_SPAN ? g->n - i : API_SPAN;
		if (!api_rows_are_distinct(g->vertices + i * k, n, k))
			fault_repeated(check, field, type, g, i, i + n);
		if (api_check_stopped(check) || api_fault_is_full(check->fault))
			return;
	}
}

/* What indices of a group lead to, and how many there are; of bodies that are missing it is not known. */
static size_t members(const struct api_lagged_check *w, enum fric_type type, const char **what)
{
	*what = is_of_bodies(type)  ? "body"
	        : w->counts_nothing ? "vertex (\"positions\" or \"n_vertices\" tells how many there are)"
	                            : "vertex";
	if (!is_of_bodies(type))
		return w->n_vertices;
	return w->lagged->has_bodies ? w->n_bodies : API_UNKNOWN_LENGTH;
}

/* The stencils of a group: in range, and no vertex or body twice in one contact. */
static void check_stencils(struct api_lagged_check *w, enum fric_type type)
{
	const struct api_field field = api_ruled(&w->groups[type], &api_groups[type], api_stencil_rule(type));
	const size_t k = (size_t)fric_stencil_size(type), row = k == 1 ? 0 : k;
	struct fric_group *g = &w->lagged->batch.groups[type];
	w->n[type] = API_UNKNOWN_LENGTH;
	if (!api_check_present(w->check, &field, "the stencils of the contacts") ||
	    !api_check_rows(w->check, &field, row, &g->n) ||
	    !api_check_at_most(w->check, &field, "contacts", count_contacts(&w->lagged->batch),
	                       api_check_limits(w->check)->max_contacts))
		return;
	w->n[type] = g->n;
	const char *what;
	const size_t limit = members(w, type, &what);
	if (api_check_indices(w->check, &field, g->n, row, limit, what, &g->vertices))
		check_distinct(w->check, &field, type, g);
}

/* Fields per contact that are read in the same way, in the order in which they are checked. */
#define AT(member) offsetof(struct fric_group, member)
static const struct group_field {
	int rule;
	size_t offset; /* of a struct fric_values in struct fric_group */
} group_fields[] = {
	{API_GROUP_POINT, AT(point)},
	{API_GROUP_NORMAL, AT(normal)},
	{API_GROUP_NORMAL_FORCE, AT(normal_force)},
	{API_GROUP_WEIGHT, AT(weight)},
	{API_GROUP_EPS_V, AT(eps_v)},
	{API_GROUP_MU_ANISO, AT(mu_aniso)},
	{API_GROUP_MU_S_ANISO, AT(mu_s_aniso)},
	{API_GROUP_MU_K_ANISO, AT(mu_k_aniso)},
	{API_GROUP_STRIBECK_SPEED, AT(stribeck_speed)},
	{API_GROUP_VISCOUS, AT(viscous)},
	{API_GROUP_SURFACE_VELOCITY, AT(surface_velocity)},
	{API_GROUP_ANCHOR, AT(anchor)},
	{API_GROUP_CLOSEST_POINT, AT(closest_point)},
	{API_GROUP_TANGENT_BASIS, AT(tangent_basis)},
	{API_GROUP_GRAIN, AT(grain)},
	{API_GROUP_PLANE_NORMAL, AT(plane_normal)},
	{API_GROUP_PLANE_ORIGIN, AT(plane_origin)},
	{API_GROUP_SPIN_RADIUS, AT(spin_radius)},
	{API_GROUP_ROLL_RADIUS, AT(roll_radius)},
};

/* Whether it exists in this dimension, as far as that is known. */
static bool check_dimension(struct api_lagged_check *w, const struct api_field *field)
{
	const struct api_rule *rule = field->rule;
	return !rule->only || w->dim == API_UNKNOWN_LENGTH || (size_t)rule->only == w->dim ||
	       api_fault_at(w->check->fault, API_E_WRONG_DIMENSION, &field->path, "\"%s\" exists in %dD only", rule->name,
	                    rule->only);
}

static void check_group_field(struct api_lagged_check *w, const struct api_field *field,
                              const size_t lengths[API_N_LENGTHS], struct fric_values *out)
{
	if (!field->node || !check_dimension(w, field))
		return;
	const struct api_shape shape = api_shape_of(field->rule, lengths);
	api_check_values(w->check, field, &shape, out);
}

static void check_group_values(struct api_lagged_check *w, enum fric_type type)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N] = w->n[type],
	                                       [API_DIM] = w->dim,
	                                       [API_TANGENTS] = w->dim == API_UNKNOWN_LENGTH ? w->dim : w->dim - 1,
	                                       [API_POINT] = (size_t)fric_closest_point_size(type)};
	const struct api_object *rules = &api_groups[type];
	const struct api_shape mu_shape = api_shape_of(&rules->rules[API_GROUP_MU], lengths);
	const struct mu_rules of_group = {rules, API_GROUP_MU};
	struct fric_group *g = &w->lagged->batch.groups[type];
	check_mu(w->check, &w->groups[type], &of_group, &mu_shape, &g->mu_s, &g->mu_k);
	for (size_t i = 0; i < sizeof(group_fields) / sizeof(group_fields[0]); i++) {
		const struct api_field field = api_ruled(&w->groups[type], rules, group_fields[i].rule);
		check_group_field(w, &field, lengths, (struct fric_values *)((char *)g + group_fields[i].offset));
	}
}

static bool is_zero(const double *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (row[i] != 0)
			return false;
	return true;
}

/* Rows of a field that is a direction. */
static void check_directions(struct api_lagged_check *w, enum fric_type type, int rule,
                             const struct fric_values *values, enum api_code code, const char *detail)
{
	const struct api_field field = api_ruled(&w->groups[type], &api_groups[type], rule);
	const size_t n_rows = !values->data ? 0 : values->stride ? w->lagged->batch.groups[type].n : 1;
	for (size_t i = 0; i < n_rows && !api_fault_is_full(w->check->fault); i++) {
		if (i % API_SPAN == 0 && api_check_stopped(w->check))
			return;
		if (!is_zero(values->data + i * values->stride, w->dim))
			continue;
		const struct api_array *array = api_document_array(w->check->document, field.node);
		const struct api_path entry = {&field.path, NULL, i};
		api_fault_at(w->check->fault, code, array->rank > 1 ? &entry : &field.path, "%s", detail);
	}
}

static struct api_field in_group(const struct api_lagged_check *w, enum fric_type type, int rule)
{
	return api_ruled(&w->groups[type], &api_groups[type], rule);
}

static bool has(const struct api_lagged_check *w, enum fric_type type, int rule)
{
	const struct api_field field = in_group(w, type, rule);
	return api_is_given(w->check, &field);
}

/* closest_point and tangent_basis: both or neither, where the type has a closest point. */
static void check_given_geometry(struct api_lagged_check *w, enum fric_type type)
{
	const struct api_field point = in_group(w, type, API_GROUP_CLOSEST_POINT),
						   basis = in_group(w, type, API_GROUP_TANGENT_BASIS);
	if (!fric_closest_point_size(type))
		return;
	if (point.node)
		api_check_present(w->check, &basis, "it goes together with \"closest_point\"");
	else if (basis.node)
		api_check_present(w->check, &point, "it goes together with \"tangent_basis\"");
}

/* A given basis has a direction already. */
static void check_grain(struct api_lagged_check *w, enum fric_type type)
{
	static const char format[] = "\"grain\" and \"tangent_basis\" both say where the tangents point: leave one out";
	const struct api_field grain = in_group(w, type, API_GROUP_GRAIN),
						   basis = in_group(w, type, API_GROUP_TANGENT_BASIS);
	check_directions(w, type, API_GROUP_GRAIN, &w->lagged->batch.groups[type].grain, API_E_ZERO_GRAIN,
	                 "a grain is zero: it has no direction");
	if (!grain.node || !basis.node)
		return;
	api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &grain.path, format);
	api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &basis.path, format);
}

/* How the law goes with what the group has. */
static void check_group_law(struct api_lagged_check *w, enum fric_type type)
{
	const struct fric_group *g = &w->lagged->batch.groups[type];
	const struct api_field speed = in_group(w, type, API_GROUP_STRIBECK_SPEED),
						   mu_s = in_group(w, type, API_GROUP_MU_S), mu_k = in_group(w, type, API_GROUP_MU_K),
						   s_aniso = in_group(w, type, API_GROUP_MU_S_ANISO),
						   k_aniso = in_group(w, type, API_GROUP_MU_K_ANISO);
	api_check_decays(w->check, &speed, w->law);
	if (w->n[type] == API_UNKNOWN_LENGTH)
		return;
	if (mu_s.node && mu_k.node && g->mu_s.data && g->mu_k.data)
		api_check_one_coefficient(w->check, w->law, &mu_k, g->n, 1, &g->mu_s, &g->mu_k);
	if (!s_aniso.node == !g->mu_s_aniso.data && !k_aniso.node == !g->mu_k_aniso.data)
		api_check_one_coefficient(w->check, w->law, &k_aniso, g->n, 2, &g->mu_s_aniso, &g->mu_k_aniso);
}

static void check_group(struct api_lagged_check *w, enum fric_type type)
{
	struct api_field *object = &w->groups[type];
	*object = api_ruled(&w->collisions, &api_collisions, (int)type);
	w->n[type] = 0;
	if (!object->node || !check_dimension(w, object))
		return;
	w->lagged->has_group[type] = true;
	api_check_object(w->check, object, &api_groups[type]);
	if (!json_is_object(object->node))
		return;
	check_stencils(w, type);
	check_group_values(w, type);
	check_given_geometry(w, type);
	check_directions(w, type, API_GROUP_PLANE_NORMAL, &w->lagged->batch.groups[type].plane_normal, API_E_ZERO_NORMAL,
	                 "a plane's normal is zero");
	check_directions(w, type, API_GROUP_NORMAL, &w->lagged->batch.groups[type].normal, API_E_ZERO_NORMAL,
	                 "a contact's normal is zero");
	check_grain(w, type);
	check_group_law(w, type);
}

static void check_collisions(struct api_lagged_check *w)
{
	struct api_check *check = w->check;
	w->collisions = api_ruled(&w->root, &api_request, API_REQUEST_COLLISIONS);
	if (!api_check_present(check, &w->collisions, "the contacts, in groups by type"))
		return;
	api_check_object(check, &w->collisions, &api_collisions);
	if (!json_is_object(w->collisions.node))
		return;
	if (json_object_size(w->collisions.node) == 0)
		api_fault_at(check->fault, API_E_MISSING_FIELD, &w->collisions.path,
		             "at least one group is needed (it may be empty)");
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		check_group(w, type);
}

void api_lagged_contacts(struct api_lagged_check *w)
{
	check_friction(w);
	check_barrier(w);
	check_collisions(w);
}

void api_lagged_on_degenerate(struct api_lagged_check *w)
{
	const struct api_field field = api_ruled(&w->root, &api_request, API_REQUEST_ON_DEGENERATE);
	int reaction = 0;
	check_choice(w->check, &field, &reaction);
	w->lagged->batch.skip_degenerate = reaction == 1;
}

/* ---- what a group needs from elsewhere in the request ---- */

/* A member that is missing is told once, however many groups need it. */
__attribute__((format(printf, 5, 6))) static bool need(struct api_lagged_check *w, struct api_field *object,
                                                       const struct api_object *rules, int rule, const char *format,
                                                       ...)
{
	const struct api_field field = api_ruled(object, rules, rule);
	char detail[API_MAX_DETAIL];
	va_list arguments;
	if (api_is_given(w->check, &field))
		return true;
	va_start(arguments, format);
	vsnprintf(detail, sizeof(detail), format, arguments);
	va_end(arguments);
	object->excused |= 1u << rule;
	return api_fault_at(w->check->fault, API_E_MISSING_FIELD, &field.path, "%s", detail);
}

/* Either of two things would do: both places are pointed to. */
static void fault_forces(struct api_lagged_check *w, enum fric_type type)
{
	static const char format[] = "group \"%s\" has no \"normal_force\", and there is no \"barrier\" to derive it from:"
								 " give one of them";
	const char *name = fric_type_name(type);
	w->told_barrier = true;
	need(w, &w->root, &api_request, API_REQUEST_BARRIER, format, name);
	need(w, &w->groups[type], &api_groups[type], API_GROUP_NORMAL_FORCE, format, name);
}

/* Afterwards a group without a normal force has a barrier: what was told to be missing counts as given. */
static void check_forces_needed(struct api_lagged_check *w, enum fric_type type)
{
	const struct api_field barrier = api_ruled(&w->root, &api_request, API_REQUEST_BARRIER);
	if (has(w, type, API_GROUP_NORMAL_FORCE))
		return;
	if (has(w, type, API_GROUP_TANGENT_BASIS))
		need(w, &w->groups[type], &api_groups[type], API_GROUP_NORMAL_FORCE,
		     "\"normal_force\" is missing: given geometry has no distance to derive it from");
	else if (!api_is_given(w->check, &barrier) || w->told_barrier)
		fault_forces(w, type);
}

static void check_planes_needed(struct api_lagged_check *w, enum fric_type type)
{
	if (type != FRIC_PLANE_VERTEX)
		return;
	if (!has(w, type, API_GROUP_TANGENT_BASIS))
		need(w, &w->groups[type], &api_groups[type], API_GROUP_PLANE_NORMAL,
		     "\"plane_normal\" is missing: it gives the contacts their tangent plane");
	if (!has(w, type, API_GROUP_NORMAL_FORCE))
		need(w, &w->groups[type], &api_groups[type], API_GROUP_PLANE_ORIGIN,
		     "\"plane_origin\" is missing: the barrier needs the distance from the plane");
}

static void check_positions_needed(struct api_lagged_check *w, enum fric_type type)
{
	const bool distance = w->needs_distance && has(w, type, API_GROUP_PLANE_ORIGIN);
	if (has(w, type, API_GROUP_TANGENT_BASIS) || has(w, type, API_GROUP_CLOSEST_POINT))
		return;
	if (type == FRIC_PLANE_VERTEX && has(w, type, API_GROUP_NORMAL_FORCE) && !distance)
		return;
	need(w, &w->root, &api_request, API_REQUEST_POSITIONS, "\"positions\" is missing: group \"%s\" needs it",
	     fric_type_name(type));
}

static void check_bodies_needed(struct api_lagged_check *w, enum fric_type type)
{
	static const struct {
		int rule;
		const char *what;
	} needed[] = {{API_GROUP_POINT, "where they touch"},
	              {API_GROUP_NORMAL, "which gives them their tangent plane"},
	              {API_GROUP_NORMAL_FORCE, "which no barrier derives for bodies"}};
	need(w, &w->root, &api_request, API_REQUEST_BODY_POSITIONS, "\"body_positions\" is missing: group \"%s\" needs it",
	     fric_type_name(type));
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		need(w, &w->groups[type], &api_groups[type], needed[i].rule,
		     "\"%s\" is missing: contacts of bodies need it, %s", api_groups[type].rules[needed[i].rule].name,
		     needed[i].what);
}

/* Materials of what is no vertex. */
static void check_materials_needed(struct api_lagged_check *w, enum fric_type type)
{
	static const char format[] = "\"%s\" is missing: group \"%s\" needs it";
	const char *name = fric_type_name(type);
	if (!json_is_object(w->materials.node))
		return;
	if (type == FRIC_PLANE_VERTEX || type == FRIC_BODY_WORLD)
		need(w, &w->materials, &api_materials, API_MATERIALS_PLANE, format, "plane_material", name);
	if (is_of_bodies(type))
		need(w, &w->materials, &api_materials, API_MATERIALS_BODY, format, "body_material", name);
}

static bool friction_gives_mu(const struct api_lagged_check *w)
{
	const struct api_field materials = api_ruled(&w->friction, &api_friction, API_FRICTION_MATERIALS),
						   blend = api_ruled(&w->friction, &api_friction, API_FRICTION_BLEND);
	return blend.node || /* which has been told to lack them */
	       gives_mu(w->check, &w->friction, &of_friction) || gives_mu(w->check, &w->friction, &of_vertices) ||
	       api_is_given(w->check, &materials);
}

static void check_friction_needed(struct api_lagged_check *w, enum fric_type type)
{
	static const char friction[] = "\"friction\" is missing: group \"%s\" has no %s of its own; give, for example,"
								   " {\"eps_v\": 0.001, \"mu\": 0.3}";
	static const char *const lacks[2][2] = {{"\"mu\" and no \"eps_v\"", "\"mu\""}, {"\"eps_v\"", ""}};
	const struct mu_rules of_group = {&api_groups[type], API_GROUP_MU};
	const bool has_mu = gives_mu(w->check, &w->groups[type], &of_group), has_eps_v = has(w, type, API_GROUP_EPS_V);
	const char *name = fric_type_name(type);
	if (api_law_decays(w->law) && !has(w, type, API_GROUP_STRIBECK_SPEED))
		need(w, &w->friction, &api_friction, API_FRICTION_STRIBECK_SPEED,
		     "\"stribeck_speed\" is missing: group \"%s\" needs it", name);
	if (has_mu && has_eps_v)
		return;
	if (!need(w, &w->root, &api_request, API_REQUEST_FRICTION, friction, name, lacks[has_mu][has_eps_v]) ||
	    !json_is_object(w->friction.node))
		return;
	if (!has_mu && !friction_gives_mu(w))
		need(w, &w->friction, &api_friction, API_FRICTION_MU,
		     "\"mu\" is missing: a group without coefficients of its own"
		     " needs \"mu\", \"mu_s\" and \"mu_k\", per-vertex ones or \"materials\"");
	if (!has_mu && is_of_bodies(type) && gives_mu(w->check, &w->friction, &of_vertices))
		need(w, &w->groups[type], &api_groups[type], API_GROUP_MU,
		     "\"mu\" is missing: bodies have no vertices, whose coefficients are the only ones");
	if (!has_mu)
		check_materials_needed(w, type);
	if (!has_eps_v)
		need(w, &w->friction, &api_friction, API_FRICTION_EPS_V, "\"eps_v\" is missing: group \"%s\" needs it", name);
}

/* Of a group that is not empty. Of one with faulty vertices it is not known. */
static void check_needs(struct api_lagged_check *w, enum fric_type type)
{
	if (w->n[type] == 0 || w->n[type] == API_UNKNOWN_LENGTH)
		return;
	if (is_of_bodies(type)) {
		check_bodies_needed(w, type);
	} else {
		check_forces_needed(w, type);
		check_planes_needed(w, type);
		check_positions_needed(w, type);
	}
	check_friction_needed(w, type);
}

void api_lagged_needs(struct api_lagged_check *w, bool needs_distance)
{
	w->needs_distance = needs_distance;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		check_needs(w, type);
}
