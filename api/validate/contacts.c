#include "api/validate/contacts.h"

#include <math.h>
#include <string.h>

#include "api/validate/law.h"
#include "api/validate/mesh.h"
#include "api/validate/request.h"
#include "api/validate/stencils.h"

/* A fault can leave the dimension and the number of vertices unknown. */
struct finding {
	struct api_check *check;
	struct api_contacts_request *out;
	struct api_field root;
	size_t dim, n_vertices;
};

static struct api_field member(const struct finding *f, int rule)
{
	return api_ruled(&f->root, &api_contacts_request, rule);
}

static void check_positions(struct finding *f)
{
	const struct api_field field = member(f, API_CONTACTS_POSITIONS);
	size_t n;
	f->n_vertices = API_UNKNOWN_LENGTH;
	if (!api_check_present(f->check, &field, "where the contacts are sought, [n_vertices, dim]") ||
	    f->dim == API_UNKNOWN_LENGTH || !api_check_rows(f->check, &field, f->dim, &n) ||
	    !api_check_at_most(f->check, &field, "vertices", n, api_check_limits(f->check)->max_vertices))
		return;
	f->n_vertices = n;
	api_check_per_vertex(f->check, &field, n, f->dim, &f->out->positions);
}

static void check_distances(struct finding *f)
{
	const struct api_field distance = member(f, API_CONTACTS_DISTANCE),
						   min_distance = member(f, API_CONTACTS_MIN_DISTANCE);
	struct fric_finding *to = &f->out->finding;
	api_check_present(f->check, &distance, "pairs that are closer are contacts");
	if (api_check_real(f->check, &distance, &to->distance) &&
	    api_check_real(f->check, &min_distance, &to->min_distance) && !isfinite(to->distance + to->min_distance))
		api_fault_at(f->check->fault, API_E_OUT_OF_RANGE, &min_distance.path,
		             "the sum of \"distance\" and \"min_distance\" does not fit a double");
}

/* ---- candidates ---- */

static size_t count_candidates(const struct finding *f)
{
	size_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		n += f->out->candidates[type].n;
	return n;
}

static void check_plane_field(struct finding *f, const struct api_field *field, size_t n, struct fric_values *out)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N] = n, [API_DIM] = f->dim};
	const struct api_shape shape = api_shape_of(field->rule, lengths);
	api_check_values(f->check, field, &shape, out);
}

static void check_planes_of_candidates(struct finding *f, const struct api_field *object, struct fric_group *g,
                                       size_t n)
{
	const struct api_object *rules = &api_candidate_groups[FRIC_PLANE_VERTEX];
	const struct api_field normal = api_ruled(object, rules, API_CANDIDATE_PLANE_NORMAL),
						   origin = api_ruled(object, rules, API_CANDIDATE_PLANE_ORIGIN);
	check_plane_field(f, &normal, n, &g->plane_normal);
	check_plane_field(f, &origin, n, &g->plane_origin);
	api_check_directions(f->check, &normal, &g->plane_normal, n, f->dim, API_E_ZERO_NORMAL, "a plane's normal is zero");
	if (n == 0)
		return;
	api_check_present(f->check, &normal, "the planes of the candidates");
	api_check_present(f->check, &origin, "the distance is measured from it");
}

static void check_candidates_of(struct finding *f, const struct api_field *candidates, enum fric_type type)
{
	struct api_field object = api_ruled(candidates, &api_candidates, (int)type);
	struct fric_group *g = &f->out->candidates[type];
	const size_t k = (size_t)fric_stencil_size(type);
	const struct api_stencils of = {
		k, f->n_vertices, "vertex", "vertex", "candidate", fric_type_name(type), API_E_REPEATED_VERTEX};
	size_t n = API_UNKNOWN_LENGTH;
	if (!object.node || !api_check_exists(f->check, &object, f->dim) || !api_check_inner(f->check, &object))
		return;
	const struct api_field vertices = api_ruled(&object, &api_candidate_groups[type], API_CANDIDATE_VERTICES);
	if (api_check_present(f->check, &vertices, "the stencils of the pairs") &&
	    api_check_rows(f->check, &vertices, k == 1 ? 0 : k, &n)) {
		g->n = n;
		if (api_check_at_most(f->check, &vertices, "candidates", count_candidates(f),
		                      api_check_limits(f->check)->max_contacts))
			api_check_stencils(f->check, &vertices, &of, n, &g->vertices);
	}
	if (type == FRIC_PLANE_VERTEX)
		check_planes_of_candidates(f, &object, g, n);
}

static void check_candidates(struct finding *f, struct api_field *candidates)
{
	if (!api_check_inner(f->check, candidates))
		return;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		check_candidates_of(f, candidates, type);
}

/* ---- what may touch ---- */

static void check_primitives(struct finding *f)
{
	static const char both[] = "\"mesh\" and \"candidates\" both determine the pairs: leave one out";
	struct api_field mesh = member(f, API_CONTACTS_MESH), candidates = member(f, API_CONTACTS_CANDIDATES);
	struct fric_surface *surface = &f->out->surface;
	f->out->has_mesh = mesh.node;
	if (mesh.node && candidates.node) {
		api_fault_at(f->check->fault, API_E_CONFLICTING_FIELDS, &mesh.path, both);
		api_fault_at(f->check->fault, API_E_CONFLICTING_FIELDS, &candidates.path, both);
		return;
	}
	if (!api_is_given(f->check, &candidates))
		api_check_present(f->check, &mesh, "a mesh, or \"candidates\", determines what may touch");
	if (f->dim != API_UNKNOWN_LENGTH && f->n_vertices != API_UNKNOWN_LENGTH)
		*surface = (struct fric_surface){.dim = (int)f->dim, .n_vertices = f->n_vertices};
	if (mesh.node)
		api_check_mesh(f->check, &mesh, f->n_vertices, f->dim, surface);
	check_candidates(f, &candidates);
}

/* Weights by area are defined for pairs of a surface; rods are found with the mesh. */
static void check_weighting(struct finding *f)
{
	const struct api_field field = member(f, API_CONTACTS_WEIGHTING), mesh = member(f, API_CONTACTS_MESH);
	const struct fric_surface *surface = &f->out->surface;
	int which = FRIC_WEIGHT_COUNT;
	api_check_word(f->check, &field, &which);
	f->out->finding.weighting = (enum fric_weighting)which;
	if (which != FRIC_WEIGHT_AREA)
		return;
	if (!mesh.node && !f->check->fault->status)
		api_fault_at(f->check->fault, API_E_CONFLICTING_FIELDS, &field.path,
		             "candidates have no surface, and no weights by area");
	if (surface->n_particles)
		api_fault_at(f->check->fault, API_E_CONFLICTING_FIELDS, &field.path,
		             "particles have no area: leave \"vertices\" of the mesh out");
}

/* ---- the rest ---- */

void api_check_previous(struct api_check *check, struct api_field *previous, size_t n_vertices, size_t dim,
                        struct fric_group groups[FRIC_N_VERTEX_TYPES])
{
	if (!api_check_inner(check, previous))
		return;
	const struct api_field positions = api_ruled(previous, &api_previous, API_PREVIOUS_POSITIONS);
	const double *unused;
	struct api_lagged lagged = {0};
	struct api_query query = {0};
	struct api_request_check w = {.check = check,
	                              .lagged = &lagged,
	                              .query = &query,
	                              .dim = dim,
	                              .n_vertices = n_vertices,
	                              .law = API_UNKNOWN_LAW,
	                              .collisions = api_ruled(previous, &api_previous, API_PREVIOUS_COLLISIONS)};
	api_check_per_vertex(check, &positions, n_vertices, dim, &unused);
	if (!api_check_present(check, &w.collisions, "the earlier contacts, with \"anchor\"") ||
	    !api_check_inner(check, &w.collisions))
		return;
	api_check_groups(&w, FRIC_N_VERTEX_TYPES);
	memcpy(groups, lagged.batch.groups, FRIC_N_VERTEX_TYPES * sizeof(*groups));
}

static void check_outputs(struct finding *f)
{
	const struct api_field outputs = member(f, API_CONTACTS_OUTPUTS), merge = member(f, API_CONTACTS_MERGE);
	struct api_field step = member(f, API_CONTACTS_LONGEST_STEP);
	f->out->finding.merge = f->out->outputs[API_FOUND_COLLISIONS] = true;
	api_check_bool(f->check, &merge, &f->out->finding.merge);
	api_check_choices(f->check, &outputs, outputs.rule->words, f->out->outputs);
	api_check_step(f->check, &step, f->out->outputs[API_FOUND_LONGEST_STEP], f->n_vertices, f->dim,
	               &f->out->step_direction, &f->out->keep);
}

bool api_check_contacts(struct api_check *check, struct api_contacts_request *out)
{
	struct finding f = {.check = check, .out = out};
	*out = (struct api_contacts_request){0};
	if (!api_check_root(check, &api_contacts_request, NULL, &f.root))
		return false;
	const struct api_field dim = member(&f, API_CONTACTS_DIM);
	struct api_field previous = member(&f, API_CONTACTS_PREVIOUS);
	f.dim = api_check_dimension(check, &dim);
	check_positions(&f);
	check_distances(&f);
	check_primitives(&f);
	check_weighting(&f);
	out->has_previous = previous.node;
	api_check_previous(check, &previous, f.n_vertices, f.dim, out->previous);
	check_outputs(&f);
	out->dim = f.dim;
	out->n_vertices = f.n_vertices;
	return !check->fault->status;
}
