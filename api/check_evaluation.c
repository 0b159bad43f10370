/* The fields of POST /v1/evaluate in the order in which the contract lists them. */
#include <stdio.h>
#include <string.h>

#include "api/evaluation.h"
#include "api/sweep.h"

const char *const api_collision_output_names[FRIC_N_OUTPUTS + 1] = {
	"potential", "tangential_velocity", "mu_s", "mu_k", "normal_force", "distance",
	"closest_point", "tangent_basis", "status", "slip_ratio", NULL};
const char *const api_hessian_formats[4] = {"triplets", "csr", "factors", NULL};

/* A coefficient is given as `mu`, or as `mu_s` and `mu_k`, under names that differ by place. */
struct mu_names {
	const char *mu, *mu_s, *mu_k;
};

static const struct mu_names plain = {"mu", "mu_s", "mu_k"};
static const struct mu_names vertex = {"vertex_mu", "vertex_mu_s", "vertex_mu_k"};

static bool two_sources(struct api_check *check, const struct api_field *a, const struct api_field *b)
{
	api_fault_at(check->fault, 422, &b->path, "two sources of friction coefficients: \"%s\" and \"%s\"", a->path.key,
	             b->path.key);
	return api_fault_at(check->fault, 422, &a->path, "two sources of friction coefficients: \"%s\" and \"%s\"",
	                    a->path.key, b->path.key);
}

/* Both coefficients of a place; data NULL if it has none. */
static bool check_mu(struct api_check *check, const struct api_field *object, const struct mu_names *names,
                     const struct api_shape *shape, struct fric_values *mu_s, struct fric_values *mu_k)
{
	const struct api_field mu = api_member(object, names->mu), s = api_member(object, names->mu_s),
	                       k = api_member(object, names->mu_k);
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
	/* n = 1, but only as a bare number: [1] stands for a per-contact field, which this is not. */
	const char *const names[] = {plain.mu, plain.mu_s, plain.mu_k};
	double ignored;
	struct fric_values s = {0}, k = {0};
	for (int i = 0; i < 3; i++) {
		const struct api_field field = api_member(friction, names[i]);
		if (!api_check_number(check, &field, API_NON_NEGATIVE, &ignored))
			return false;
	}
	const struct api_shape number = {.n = 1, .one_for_all = true};
	if (!check_mu(check, friction, &plain, &number, &s, &k))
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
	static const char *const blends[] = {"mean", "min", "max", "product", "geometric_mean", "harmonic_mean", NULL};
	const struct api_shape shape = {.n = n_vertices, .range = API_NON_NEGATIVE};
	const struct api_field blend = api_member(friction, "blend");
	struct fric_values s = {0}, k = {0};
	int choice = FRIC_MEAN;
	if (!check_mu(check, friction, &vertex, &shape, &s, &k) || !api_check_choice(check, &blend, blends, &choice))
		return false;
	f->blend = (enum fric_blend)choice;
	if (s.data) {
		f->source = FRIC_MU_VERTEX;
		f->vertex_mu_s = s.data;
		f->vertex_mu_k = k.data;
	}
	return s.data || !blend.node ||
	       api_fault_at(check->fault, 422, &blend.path, "\"blend\" has no effect without per-vertex coefficients");
}

static bool check_symmetric(struct api_check *check, const struct api_field *materials, const char *name,
                            const double *table, size_t m)
{
	const struct api_field field = api_member(materials, name);
	for (size_t i = 0; i < m && field.node && table; i++)
		for (size_t j = 0; j < i; j++)
			if (table[i * m + j] != table[j * m + i])
				return api_fault_entry(check, &field, i * m + j, "the pair table is not symmetric: %.17g here, %.17g"
				                       " for the same materials in the other order",
				                       table[i * m + j], table[j * m + i]);
	return true;
}

/* The table's size from its shape: [m, m], or m*m numbers. */
static bool check_table_size(struct api_check *check, const struct api_field *table, size_t *m)
{
	if (!api_check_rows(check, table, 0, m)) /* a flat table; a nested one is tried below */
		return false;
	size_t root = 0;
	while (root * root < *m)
		root++;
	if (root * root != *m)
		return api_fault_at(check->fault, 422, &table->path, "expected a square table [m, m], got %zu numbers", *m);
	*m = root;
	return true;
}

static bool table_size(struct api_check *check, const struct api_field *table, size_t *m)
{
	const struct api_array *array = api_document_array(check->document, table->node);
	if (!array || array->ragged || array->rank != 2)
		return check_table_size(check, table, m);
	*m = array->shape[0];
	return true; /* that the rows are as long is judged with the values */
}

static bool check_materials(struct api_check *check, const struct api_field *friction, size_t n_vertices,
                            struct fric_friction *f, bool *has_plane_material)
{
	static const char *const names[] = {"vertex_material", "plane_material", "mu", "mu_s", "mu_k", NULL};
	const struct api_field materials = api_member(friction, "materials");
	if (!materials.node)
		return true;
	if (!api_check_object(check, &materials, names))
		return false;
	const struct api_field vertex_material = api_member(&materials, "vertex_material"),
	                       plane_material = api_member(&materials, "plane_material"),
	                       mu = api_member(&materials, "mu"), mu_s = api_member(&materials, "mu_s"),
	                       mu_k = api_member(&materials, "mu_k");
	const struct api_field *table = mu.node || !(mu_s.node || mu_k.node) ? &mu : mu_s.node ? &mu_s : &mu_k;
	if (!api_check_present(check, &vertex_material, "every vertex needs a material") ||
	    !api_check_present(check, table, "materials need a table of coefficients") ||
	    !table_size(check, table, &f->n_materials))
		return false;
	const struct api_shape shape = {.n = f->n_materials, .n_inner = 1, .inner = {f->n_materials},
	                                .range = API_NON_NEGATIVE};
	struct fric_values s = {0}, k = {0};
	if (!check_mu(check, &materials, &plain, &shape, &s, &k) ||
	    !api_check_indices(check, &vertex_material, n_vertices, 0, f->n_materials, "material", &f->vertex_material) ||
	    !api_check_index(check, &plane_material, f->n_materials, "material", &f->plane_material))
		return false;
	f->source = FRIC_MU_TABLE;
	f->material_mu_s = s.data;
	f->material_mu_k = k.data;
	*has_plane_material = plane_material.node;
	return check_symmetric(check, &materials, mu.node ? "mu" : "mu_s", s.data, f->n_materials) &&
	       check_symmetric(check, &materials, "mu_k", k.data, f->n_materials);
}

/* At most one of the ways to give coefficients. */
static bool check_one_source(struct api_check *check, const struct api_field *friction)
{
	static const char *const sources[][3] = {
		{"mu", "mu_s", "mu_k"}, {"vertex_mu", "vertex_mu_s", "vertex_mu_k"}, {"materials", "materials", "materials"}};
	struct api_field first = {0};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			const struct api_field field = api_member(friction, sources[i][j]);
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
	static const char *const names[] = {"eps_v", "mu", "mu_s", "mu_k", "vertex_mu", "vertex_mu_s", "vertex_mu_k",
	                                    "blend", "materials", "mu_transition", NULL};
	static const char *const transitions[] = {"cubic", "quadratic", NULL};
	const struct api_field friction = api_member(root, "friction");
	struct fric_friction *f = &e->batch.friction;
	int transition = FRIC_CUBIC;
	if (!friction.node)
		return true;
	if (!api_check_object(check, &friction, names))
		return false;
	const struct api_field eps_v = api_member(&friction, "eps_v"), mu_transition = api_member(&friction, "mu_transition");
	if (!api_check_number(check, &eps_v, API_POSITIVE, &f->eps_v) || !check_one_source(check, &friction) ||
	    !check_scalar_mu(check, &friction, f) || !check_vertex_mu(check, &friction, e->batch.n_vertices, f) ||
	    !check_materials(check, &friction, e->batch.n_vertices, f, has_plane_material) ||
	    !api_check_choice(check, &mu_transition, transitions, &transition))
		return false;
	f->transition = (enum fric_transition)transition;
	return true;
}

static bool check_barrier(struct api_check *check, const struct api_field *root, struct fric_barrier *barrier)
{
	static const char *const names[] = {"dhat", "stiffness", "dmin", NULL};
	const struct api_field field = api_member(root, "barrier");
	if (!field.node)
		return true;
	if (!api_check_object(check, &field, names))
		return false;
	const struct api_field dhat = api_member(&field, "dhat"), stiffness = api_member(&field, "stiffness"),
	                       dmin = api_member(&field, "dmin");
	return api_check_present(check, &dhat, "a barrier needs it") &&
	       api_check_number(check, &dhat, API_POSITIVE, &barrier->dhat) &&
	       api_check_present(check, &stiffness, "a barrier needs it") &&
	       api_check_number(check, &stiffness, API_POSITIVE, &barrier->stiffness) &&
	       api_check_number(check, &dmin, API_NON_NEGATIVE, &barrier->dmin);
}

static bool check_vertex_array(struct api_check *check, const struct api_field *root, const char *name,
                               const struct api_evaluation *e, const double **out)
{
	const struct api_field field = api_member(root, name);
	const struct api_shape shape = {.n = e->batch.n_vertices, .n_inner = 1, .inner = {(size_t)e->batch.dim}};
	struct fric_values values = {0};
	if (!api_check_values(check, &field, &shape, &values))
		return false;
	if (values.data)
		*out = values.data;
	return true;
}

static bool check_dim(struct api_check *check, const struct api_field *root, int *dim)
{
	const struct api_field field = api_member(root, "dim");
	double value = 0;
	if (!api_check_present(check, &field, "2 or 3") || !api_check_number(check, &field, API_ANY, &value))
		return false;
	if ((value != 2 && value != 3) || api_document_array(check->document, field.node)->first_non_integer == 0)
		return api_fault_at(check->fault, 422, &field.path, "\"dim\" must be the integer 2 or 3");
	*dim = (int)value;
	return true;
}

static bool within(struct api_check *check, const struct api_field *field, const char *what, size_t n, size_t most)
{
	return most == 0 || n <= most ||
	       api_fault_at(check->fault, 413, &field->path, "%zu %s are more than the limit of %zu", n, what, most);
}

static bool check_vertices(struct api_check *check, const struct api_field *root, struct api_evaluation *e)
{
	const struct api_field velocities = api_member(root, "velocities");
	if (!check_dim(check, root, &e->batch.dim) ||
	    !api_check_present(check, &velocities, "the velocities to evaluate at, [n_vertices, dim]") ||
	    !api_check_rows(check, &velocities, (size_t)e->batch.dim, &e->batch.n_vertices) ||
	    !within(check, &velocities, "vertices", e->batch.n_vertices, check->max_vertices) ||
	    !check_vertex_array(check, root, "velocities", e, &e->velocities) ||
	    !check_vertex_array(check, root, "positions", e, &e->batch.positions))
		return false;
	e->lagged_velocities = e->velocities;
	return check_vertex_array(check, root, "lagged_velocities", e, &e->lagged_velocities);
}

static bool check_answer(struct api_check *check, const struct api_field *root, struct api_evaluation *e)
{
	static const char *const outputs[] = {"potential", "gradient", "hessian", "collisions", NULL};
	static const char *const reactions[] = {"error", "skip", NULL};
	static const char *const hessian_names[] = {"format", "triangle", "projection", NULL};
	static const char *const triangles[] = {"full", "upper", "lower", NULL};
	static const char *const projections[] = {"none", "clamp", "abs", NULL};
	const struct api_field hessian = api_member(root, "hessian"), wanted = api_member(root, "outputs"),
	                       collision = api_member(root, "collision_outputs"), skip = api_member(root, "on_degenerate");
	int reaction = 0;
	e->outputs[API_POTENTIAL] = e->outputs[API_GRADIENT] = e->outputs[API_HESSIAN] = true;
	e->collision_outputs[FRIC_OUT_POTENTIAL] = e->collision_outputs[FRIC_OUT_TANGENTIAL_VELOCITY] = true;
	if (!api_check_choices(check, &wanted, outputs, e->outputs) ||
	    !api_check_choices(check, &collision, api_collision_output_names, e->collision_outputs) ||
	    !api_check_choice(check, &skip, reactions, &reaction))
		return false;
	e->batch.skip_degenerate = reaction == 1;
	if (!hessian.node)
		return true;
	if (!api_check_object(check, &hessian, hessian_names))
		return false;
	const struct api_field format = api_member(&hessian, "format"), triangle = api_member(&hessian, "triangle"),
	                       projection = api_member(&hessian, "projection");
	if (!api_check_choice(check, &format, api_hessian_formats, &e->format) ||
	    !api_check_choice(check, &triangle, triangles, &e->triangle) ||
	    !api_check_choice(check, &projection, projections, &e->projection))
		return false;
	return e->format != API_FACTORS || !triangle.node ||
	       api_fault_at(check->fault, 422, &triangle.path, "\"triangle\" goes with triplets and csr only");
}

/* The first contact that has a vertex twice. */
static bool fault_repeated(struct api_check *check, const struct api_field *field, enum fric_type type,
                           const struct fric_group *g)
{
	const size_t k = (size_t)fric_stencil_size(type);
	size_t i = 0;
	while (api_sweep_distinct(g->vertices + i * k, 1, k))
		i++;
	const int32_t *v = g->vertices + i * k;
	size_t a = 1, b = 0;
	while (v[a] != v[b])
		if (++b == a)
			a++, b = 0;
	const struct api_path contact = {&field->path, NULL, i};
	return api_fault_at(check->fault, 422, &contact, "contact %zu of %s: vertex %d is there twice", i, fric_type_name(type),
	                    v[a]);
}

static size_t count_contacts(const struct fric_batch *batch)
{
	size_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		n += batch->groups[type].n;
	return n;
}

/* The stencils of a group: in range, and no vertex twice in one contact. */
static bool check_stencils(struct api_check *check, const struct api_field *object, enum fric_type type,
                           const struct api_evaluation *e, struct fric_group *g)
{
	const struct api_field field = api_member(object, "vertices");
	const size_t k = (size_t)fric_stencil_size(type), row = k == 1 ? 0 : k;
	if (!api_check_present(check, &field, "the stencils of the contacts") ||
	    !api_check_rows(check, &field, row, &g->n) ||
	    !within(check, &field, "contacts", count_contacts(&e->batch), check->max_contacts) ||
	    !api_check_indices(check, &field, g->n, row, e->batch.n_vertices, "vertex", &g->vertices))
		return false;
	return api_sweep_distinct(g->vertices, g->n, k) || fault_repeated(check, &field, type, g);
}

/* Per-contact fields that are read alike. `only` is the dimension that a field belongs to, 0 for both. */
struct group_field {
	const char *name;
	size_t offset; /* of a struct fric_values in struct fric_group */
	enum api_range range;
	int only;
};

#define AT(member) offsetof(struct fric_group, member)
static const struct group_field group_fields[] = {
	{"normal_force", AT(normal_force), API_NON_NEGATIVE, 0},
	{"weight", AT(weight), API_ANY, 0},
	{"eps_v", AT(eps_v), API_POSITIVE, 0},
	{"mu_aniso", AT(mu_aniso), API_POSITIVE, 0},
	{"mu_s_aniso", AT(mu_s_aniso), API_NON_NEGATIVE, 3},
	{"mu_k_aniso", AT(mu_k_aniso), API_NON_NEGATIVE, 3},
	{"closest_point", AT(closest_point), API_ANY, 0},
	{"tangent_basis", AT(tangent_basis), API_ANY, 0},
	{"plane_normal", AT(plane_normal), API_ANY, 0},
	{"plane_origin", AT(plane_origin), API_ANY, 0},
};

static struct api_shape group_shape(const struct group_field *f, enum fric_type type, int dim, size_t n)
{
	const size_t d = (size_t)dim;
	struct api_shape shape = {.n = n, .one_for_all = true, .range = f->range};
	switch (f->offset) {
	case AT(mu_aniso):
	case AT(mu_s_aniso):
	case AT(mu_k_aniso):
		shape.n_inner = 1;
		shape.inner[0] = d - 1;
		shape.number_row = f->offset == AT(mu_aniso) && dim == 2;
		break;
	case AT(closest_point):
		shape.n_inner = 1;
		shape.inner[0] = (size_t)fric_closest_point_size(type);
		break;
	case AT(tangent_basis):
		shape.n_inner = 2;
		shape.inner[0] = d;
		shape.inner[1] = d - 1;
		break;
	case AT(plane_normal):
	case AT(plane_origin):
		shape.n_inner = 1;
		shape.inner[0] = d;
		break;
	default:
		break;
	}
	return shape;
}

static bool check_group_values(struct api_check *check, const struct api_field *object, enum fric_type type, int dim,
                               struct fric_group *g)
{
	const struct api_shape mu_shape = {.n = g->n, .one_for_all = true, .range = API_NON_NEGATIVE};
	if (!check_mu(check, object, &plain, &mu_shape, &g->mu_s, &g->mu_k))
		return false;
	for (size_t i = 0; i < sizeof(group_fields) / sizeof(group_fields[0]); i++) {
		const struct group_field *f = &group_fields[i];
		const struct api_field field = api_member(object, f->name);
		const struct api_shape shape = group_shape(f, type, dim, g->n);
		if (field.node && f->only && f->only != dim)
			return api_fault_at(check->fault, 422, &field.path, "\"%s\" exists in %dD only", f->name, f->only);
		if (!api_check_values(check, &field, &shape, (struct fric_values *)((char *)g + f->offset)))
			return false;
	}
	return true;
}

static bool check_plane_normals(struct api_check *check, const struct api_field *object, int dim,
                                const struct fric_group *g)
{
	const struct api_field field = api_member(object, "plane_normal");
	const size_t n_rows = !g->plane_normal.data ? 0 : g->plane_normal.stride ? g->n : 1;
	for (size_t i = 0; i < n_rows; i++) {
		const double *normal = g->plane_normal.data + i * g->plane_normal.stride;
		if (normal[0] != 0 || normal[1] != 0 || (dim == 3 && normal[2] != 0))
			continue;
		const struct api_array *array = api_document_array(check->document, field.node);
		const struct api_path entry = {&field.path, NULL, i};
		return api_fault_at(check->fault, 422, array->rank > 1 ? &entry : &field.path, "a plane's normal is zero");
	}
	return true;
}

/* closest_point and tangent_basis: both or neither, where the type has a closest point. */
static bool check_given_geometry(struct api_check *check, const struct api_field *object, enum fric_type type,
                                 const struct fric_group *g)
{
	const struct api_field point = api_member(object, "closest_point"), basis = api_member(object, "tangent_basis");
	if (!fric_closest_point_size(type))
		return true;
	if (g->closest_point.data)
		return api_check_present(check, &basis, "it goes together with \"closest_point\"");
	return !g->tangent_basis.data || api_check_present(check, &point, "it goes together with \"tangent_basis\"");
}

static bool check_group(struct api_check *check, const struct api_field *collisions, enum fric_type type,
                        struct api_evaluation *e)
{
	static const char *const names[] = {"vertices", "normal_force", "weight", "mu", "mu_s", "mu_k", "eps_v", "mu_aniso",
	                                    "mu_s_aniso", "mu_k_aniso", "tangent_basis", "closest_point", NULL, NULL, NULL};
	const char *allowed[sizeof(names) / sizeof(names[0])];
	const struct api_field object = api_member(collisions, fric_type_name(type));
	struct fric_group *g = &e->batch.groups[type];
	if (!object.node)
		return true;
	memcpy(allowed, names, sizeof(names));
	if (!fric_closest_point_size(type))
		allowed[11] = NULL; /* no closest point: not a field of this group */
	if (type == FRIC_PLANE_VERTEX) {
		allowed[11] = "plane_normal";
		allowed[12] = "plane_origin";
	}
	if (e->batch.dim == 2 && (type == FRIC_EDGE_EDGE || type == FRIC_FACE_VERTEX))
		return api_fault_at(check->fault, 422, &object.path, "\"%s\" exists in 3D only", fric_type_name(type));
	e->has_group[type] = true;
	return api_check_object(check, &object, allowed) && check_stencils(check, &object, type, e, g) &&
	       check_group_values(check, &object, type, e->batch.dim, g) &&
	       check_given_geometry(check, &object, type, g) && check_plane_normals(check, &object, e->batch.dim, g);
}

static bool check_collisions(struct api_check *check, const struct api_field *root, struct api_evaluation *e)
{
	static const char *const names[] = {"vertex_vertex", "edge_vertex", "edge_edge", "face_vertex", "plane_vertex", NULL};
	const struct api_field collisions = api_member(root, "collisions");
	if (!api_check_present(check, &collisions, "the contacts, in groups by type") ||
	    !api_check_object(check, &collisions, names))
		return false;
	if (json_object_size(collisions.node) == 0)
		return api_fault_at(check->fault, 422, &collisions.path, "at least one group is needed (it may be empty)");
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

/* A field that the group needs, and what for. Looked up last: nearly always there is nothing to complain about. */
static bool check_group_needed(struct api_check *check, const struct api_field *root, enum fric_type type,
                               const char *name, const char *why)
{
	const struct api_field collisions = api_member(root, "collisions"),
	                       group = api_member(&collisions, fric_type_name(type)), field = api_member(&group, name);
	return api_check_present(check, &field, why);
}

static bool check_forces_needed(struct api_check *check, const struct api_field *root, enum fric_type type,
                                const struct fric_group *g)
{
	if (g->normal_force.data)
		return true;
	if (g->tangent_basis.data)
		return check_group_needed(check, root, type, "normal_force", "given geometry has no distance to derive it from");
	const struct api_field barrier = api_member(root, "barrier");
	return api_check_present(check, &barrier, "a group without \"normal_force\" needs it");
}

static bool check_planes_needed(struct api_check *check, const struct api_field *root, enum fric_type type,
                                const struct fric_group *g)
{
	if (type != FRIC_PLANE_VERTEX)
		return true;
	if (!g->tangent_basis.data &&
	    !check_group_needed(check, root, type, "plane_normal", "it gives the contacts their tangent plane"))
		return false;
	return g->normal_force.data ||
	       check_group_needed(check, root, type, "plane_origin", "the barrier needs the distance from the plane");
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
	const struct api_field positions = api_member(root, "positions");
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
	const struct api_field friction = api_member(root, "friction"), mu = api_member(&friction, "mu"),
	                       eps_v = api_member(&friction, "eps_v"), materials = api_member(&friction, "materials"),
	                       plane_material = api_member(&materials, "plane_material");
	if (!has_mu)
		return api_check_present(check, friction.node ? &mu : &friction, "a group without coefficients of its own needs"
		                         " \"mu\", \"mu_s\" and \"mu_k\", per-vertex ones or \"materials\"");
	if (needs_material && !has_plane_material)
		return check_needed(check, &plane_material, type);
	return check_needed(check, friction.node ? &eps_v : &friction, type);
}

/* What a group that is not empty needs from elsewhere in the request. */
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
	static const char *const names[] = {"dim", "velocities", "positions", "lagged_velocities", "friction", "barrier",
	                                    "collisions", "outputs", "hessian", "collision_outputs", "on_degenerate", NULL};
	const struct api_field root = {check->document->root, {0}};
	bool has_plane_material = false;
	*evaluation = (struct api_evaluation){0};
	if (!api_check_object(check, &root, names) || !check_vertices(check, &root, evaluation) ||
	    !check_friction(check, &root, evaluation, &has_plane_material) ||
	    !check_barrier(check, &root, &evaluation->batch.barrier) || !check_collisions(check, &root, evaluation) ||
	    !check_answer(check, &root, evaluation))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (!check_needs(check, &root, type, evaluation, has_plane_material))
			return false;
	return true;
}
