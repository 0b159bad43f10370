/* Checks the coefficients and the law: "friction" in a request. */
#include "api/validate/request.h"

#include <math.h>
#include <stdio.h>

#include "api/validate/law.h"

enum { MU, MU_S, MU_K, N_MU };
_Static_assert(API_FRICTION_MU_K == API_FRICTION_MU + MU_K &&
                   API_FRICTION_VERTEX_MU_K == API_FRICTION_VERTEX_MU + MU_K &&
                   API_MATERIALS_MU_K == API_MATERIALS_MU + MU_K && API_GROUP_MU_K == API_GROUP_MU + MU_K,
               "mu, mu_s, mu_k in this order");
const struct api_mu_rules api_mu_of_friction = {&api_friction, API_FRICTION_MU},
						  api_mu_of_vertices = {&api_friction, API_FRICTION_VERTEX_MU};
static const struct api_mu_rules of_materials = {&api_materials, API_MATERIALS_MU};

static const json_t *find(const json_t *root, const struct api_path *path)
{
	return path->up ? json_object_get(find(root, path->up), path->key) : root;
}

/* The end of a message about a merged document: which of two fields the patch must remove, because it brings the other;
 * "" without a patch. */
static const char *explain_patch(const struct api_check *check, const struct api_field *a, const struct api_field *b,
                                 char help[96])
{
	const bool brings_a = find(check->patch, &a->path), brings_b = find(check->patch, &b->path);
	help[0] = '\0';
	if (brings_a != brings_b)
		snprintf(help, 96, "; the set has one already: send \"%.20s\": null in the patch as well",
		         brings_a ? b->path.key : a->path.key);
	return help;
}

/* Reports both fields; the second error names the other one. */
static void two_sources(struct api_check *check, const struct api_field *a, const struct api_field *b)
{
	static const char format[] = "two sources of friction coefficients: \"%s\" and \"%s\"%s";
	char help[96];
	explain_patch(check, a, b, help);
	api_fault_at(check->fault, API_E_CONFLICTING_FIELDS, &b->path, format, a->path.key, b->path.key, help);
	api_fault_at(check->fault, API_E_CONFLICTING_FIELDS, &a->path, format, a->path.key, b->path.key, help);
}

/* The fields of one place that may contain coefficients. */
struct mu_fields {
	struct api_field mu, s, k;
};

static struct mu_fields mu_fields_of(const struct api_field *object, const struct api_mu_rules *rules)
{
	return (struct mu_fields){api_ruled(object, rules->object, rules->mu + MU),
	                          api_ruled(object, rules->object, rules->mu + MU_S),
	                          api_ruled(object, rules->object, rules->mu + MU_K)};
}

bool api_gives_mu(const struct api_check *check, const struct api_field *object, const struct api_mu_rules *rules)
{
	const struct mu_fields f = mu_fields_of(object, rules);
	return api_is_given(check, &f.mu) || api_is_given(check, &f.s) || api_is_given(check, &f.k);
}

/* Requires either mu alone or both of the others. */
static void check_pair(struct api_check *check, const struct mu_fields *f)
{
	static const char why[] = "static and kinetic coefficients must be given together";
	if (f->mu.node && (f->s.node || f->k.node))
		two_sources(check, &f->mu, f->s.node ? &f->s : &f->k);
	else if (f->s.node)
		api_check_present(check, &f->k, why);
	else if (f->k.node)
		api_check_present(check, &f->s, why);
}

/* Reads both coefficients of a place. Sets data to NULL if it has none. */
void api_check_mu(struct api_check *check, const struct api_field *object, const struct api_mu_rules *rules,
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

/* Accepts only a bare number, because [1] would be a field per contact. vertex_name: the field for a list of numbers
 * per vertex; NULL: none */
static bool check_scalar(struct api_check *check, const struct api_field *field, const char *vertex_name, double *out)
{
	const struct api_array *array = api_document_array(check->document, field->node);
	char place[64] = "per contact use";
	if (!array || array->rank == 0)
		return api_check_real(check, field, out);
	if (vertex_name)
		snprintf(place, sizeof(place), "per vertex use \"%s\", per contact", vertex_name);
	return api_fault_at(check->fault, API_E_WRONG_TYPE, &field->path,
	                    "expected a number, got an array of numbers; %s \"%s\" of a group", place, field->rule->name);
}

static void check_scalar_mu(struct api_request_check *w)
{
	const struct api_rule *of_vertex = &api_friction.rules[API_FRICTION_VERTEX_MU];
	const struct mu_fields f = mu_fields_of(&w->friction, &api_mu_of_friction);
	struct fric_friction *to = &w->lagged->batch.friction;
	const bool given = f.mu.node || f.s.node || f.k.node;
	double mu = given ? NAN : 0; /* stays NAN if it cannot be read */
	check_scalar(w->check, &f.mu, of_vertex[MU].name, &mu);
	to->mu_s = to->mu_k = mu;
	check_scalar(w->check, &f.s, of_vertex[MU_S].name, &to->mu_s);
	check_scalar(w->check, &f.k, of_vertex[MU_K].name, &to->mu_k);
	check_pair(w->check, &f);
	to->source = given ? FRIC_MU_SCALAR : to->source;
}

static void check_blend(struct api_request_check *w)
{
	const struct api_field blend = api_ruled(&w->friction, &api_friction, API_FRICTION_BLEND);
	int choice = FRIC_MEAN;
	const bool known = api_check_word(w->check, &blend, &choice);
	w->lagged->batch.friction.blend = (enum fric_blend)choice;
	if (blend.node && known && !api_gives_mu(w->check, &w->friction, &api_mu_of_vertices))
		api_fault_at(w->check->fault, API_E_WITHOUT_EFFECT, &blend.path,
		             "\"blend\" has no effect without per-vertex coefficients");
}

static void check_vertex_mu(struct api_request_check *w)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N_VERTICES] = w->n_vertices};
	const struct api_shape shape = api_shape_of(&api_friction.rules[API_FRICTION_VERTEX_MU], lengths);
	struct fric_friction *f = &w->lagged->batch.friction;
	struct fric_values s, k;
	api_check_mu(w->check, &w->friction, &api_mu_of_vertices, &shape, &s, &k);
	if (!s.data)
		return;
	f->source = FRIC_MU_VERTEX;
	f->vertex_mu_s = s.data;
	f->vertex_mu_k = k.data;
}

/* Determines the size of a flat table of m*m numbers. */
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

/* Determines the table's size from its shape: [m, m], or m*m numbers. */
static bool check_table_size(struct api_check *check, const struct api_field *table, size_t *m)
{
	const struct api_array *array = api_document_array(check->document, table->node);
	if (!array || array->ragged || array->rank == 1)
		return check_flat_table(check, table, m);
	if (array->rank != 2)
		return api_fault_shape(check, table, "[m, m] (nested or flat)", "");
	*m = array->shape[0];
	return true; /* the values are checked together with the length of the rows */
}

/* Checks the tables. The first one present determines their size. */
static void check_tables(struct api_request_check *w)
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
		api_check_mu(w->check, &w->materials, &of_materials, &shape, &s, &k);
	else
		check_pair(w->check, &f);
	to->source = FRIC_MU_TABLE;
	to->material_mu_s = s.data;
	to->material_mu_k = k.data;
}

static void check_symmetries(struct api_request_check *w)
{
	const struct fric_friction *f = &w->lagged->batch.friction;
	const struct mu_fields fields = mu_fields_of(&w->materials, &of_materials);
	if (f->material_mu_s)
		api_check_symmetric(w->check, fields.mu.node ? &fields.mu : &fields.s, w->n_materials, f->material_mu_s);
	if (fields.k.node && f->material_mu_k)
		api_check_symmetric(w->check, &fields.k, w->n_materials, f->material_mu_k);
}

static void check_materials(struct api_request_check *w)
{
	struct api_check *check = w->check;
	w->materials = api_ruled(&w->friction, &api_friction, API_FRICTION_MATERIALS);
	if (!api_check_inner(check, &w->materials))
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

/* Requires at most one way of giving coefficients. */
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

static void check_law(struct api_request_check *w)
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

/* Checks the coefficients for a law with a single one, whatever their source. */
static void check_one_mu(struct api_request_check *w)
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

void api_check_friction(struct api_request_check *w)
{
	struct fric_friction *f = &w->lagged->batch.friction;
	w->friction = api_request_field(w, API_REQUEST_FRICTION);
	w->law = api_is_given(w->check, &w->friction) ? API_UNKNOWN_LAW : FRIC_SMOOTH;
	if (!api_check_inner(w->check, &w->friction))
		return;
	const struct api_field eps_v = api_ruled(&w->friction, &api_friction, API_FRICTION_EPS_V);
	check_scalar(w->check, &eps_v, NULL, &f->eps_v);
	if (check_one_source(w->check, &w->friction)) { /* otherwise the intended source is unknown */
		check_scalar_mu(w);
		check_vertex_mu(w);
		check_blend(w);
		check_materials(w);
	}
	check_law(w);
	check_one_mu(w);
}
