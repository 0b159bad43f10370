#include "api/validate/mesh.h"

#include "api/base/account.h"
#include "api/validate/request.h"
#include "api/validate/stencils.h"

/* Reads primitives of k vertices. @param noun  one of them, for messages */
static void check_primitives(struct api_check *check, const struct api_field *field, size_t k, const char *noun,
                             size_t n_vertices, size_t *n, const int32_t **rows)
{
	const struct api_stencils of = {k, n_vertices, "vertex", "vertex", noun, NULL, API_E_REPEATED_VERTEX};
	size_t found;
	if (!field->node || !api_check_rows(check, field, k == 1 ? 0 : k, &found))
		return;
	api_check_stencils(check, field, &of, found, rows);
	*n = *rows ? found : 0;
}

static void check_planes(struct api_check *check, struct api_field *planes, size_t dim, struct fric_surface *surface)
{
	if (!api_check_inner(check, planes))
		return;
	const struct api_field normal = api_ruled(planes, &api_planes, API_PLANES_NORMAL),
						   origin = api_ruled(planes, &api_planes, API_PLANES_ORIGIN);
	struct fric_values normals = {0}, origins = {0};
	size_t n = API_UNKNOWN_LENGTH;
	api_check_present(check, &normal, "the normal of every plane, [p, dim]");
	api_check_present(check, &origin, "a point of every plane, [p, dim]");
	if (normal.node && dim != API_UNKNOWN_LENGTH && !api_check_rows(check, &normal, dim, &n))
		n = API_UNKNOWN_LENGTH;
	const struct api_shape shape = {.n = n, .n_inner = 1, .inner = {dim}};
	if (n != API_UNKNOWN_LENGTH) /* otherwise its fault has been reported */
		api_check_values(check, &normal, &shape, &normals);
	api_check_values(check, &origin, &shape, &origins);
	if (n == API_UNKNOWN_LENGTH || !normals.data || !origins.data)
		return;
	api_check_directions(check, &normal, &normals, n, dim, API_E_ZERO_NORMAL, "a plane's normal is zero");
	surface->n_planes = n;
	surface->plane_normals = normals.data;
	surface->plane_origins = origins.data;
}

/* Reads the labels of vertices, and which of them ignore each other. */
static void check_labels(struct api_check *check, const struct api_field *mesh, size_t n_vertices,
                         struct fric_surface *surface)
{
	enum { MOST = INT32_MAX };
	const struct api_field body = api_ruled(mesh, &api_mesh, API_MESH_BODY),
						   ignore = api_ruled(mesh, &api_mesh, API_MESH_IGNORE);
	size_t n;
	api_check_indices(check, &body, n_vertices, 0, MOST, "label", &surface->body);
	if (!ignore.node)
		return;
	api_check_present(check, &body, "\"ignore\" has pairs of its labels");
	if (api_check_rows(check, &ignore, 2, &n) &&
	    api_check_indices(check, &ignore, n, 2, MOST, "label", &surface->ignored))
		surface->n_ignored = n;
}

/* Marks the vertices of faces and edges. @return false if the request was stopped */
static bool mark(const int32_t *vertices, size_t n, unsigned char *marks)
{
	for (size_t i = 0; i < n; i++) {
		if (i % API_SPAN == 0 && api_account_is_stopped())
			return false;
		marks[vertices[i]] = 1;
	}
	return true;
}

/* Requires that no particle belongs to a face or an edge. */
static void check_particles(struct api_check *check, const struct api_field *field, size_t n_vertices,
                            const struct fric_surface *s)
{
	if (s->n_particles == 0 || check->fault->status)
		return;
	unsigned char *marks = api_arena_array(check->arena, n_vertices, 1);
	if (!marks || !api_account_zero(marks, n_vertices) || !mark(s->faces, 3 * s->n_faces, marks) ||
	    !mark(s->edges, 2 * s->n_edges, marks)) {
		api_fault_no_memory(check->fault);
		return;
	}
	for (size_t i = 0; i < s->n_particles && !api_fault_is_full(check->fault); i++)
		if (marks[s->particles[i]])
			api_fault_entry(check, API_E_CONFLICTING_FIELDS, field, i,
			                "vertex %d belongs to a face or an edge: \"vertices\" lists the others", s->particles[i]);
}

void api_check_mesh(struct api_check *check, struct api_field *mesh, size_t n_vertices, size_t dim,
                    struct fric_surface *surface)
{
	if (!api_check_inner(check, mesh))
		return;
	const struct api_field faces = api_ruled(mesh, &api_mesh, API_MESH_FACES),
						   edges = api_ruled(mesh, &api_mesh, API_MESH_EDGES),
						   particles = api_ruled(mesh, &api_mesh, API_MESH_VERTICES),
						   rest = api_ruled(mesh, &api_mesh, API_MESH_REST_POSITIONS),
						   fixed = api_ruled(mesh, &api_mesh, API_MESH_FIXED);
	struct api_field planes = api_ruled(mesh, &api_mesh, API_MESH_PLANES);
	if (!faces.node || api_check_exists(check, &faces, dim))
		check_primitives(check, &faces, 3, "face", n_vertices, &surface->n_faces, &surface->faces);
	check_primitives(check, &edges, 2, "edge", n_vertices, &surface->n_edges, &surface->edges);
	check_primitives(check, &particles, 1, "vertex", n_vertices, &surface->n_particles, &surface->particles);
	check_particles(check, &particles, n_vertices, surface);
	check_planes(check, &planes, dim, surface);
	api_check_per_vertex(check, &rest, n_vertices, dim, &surface->rest_positions);
	check_labels(check, mesh, n_vertices, surface);
	check_primitives(check, &fixed, 1, "vertex", n_vertices, &surface->n_fixed, &surface->fixed);
}
