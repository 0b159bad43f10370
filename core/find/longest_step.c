/* The longest step of a mesh: the least that any of its pairs allows, each tried. */
#include "core/base/fault.h"
#include "core/base/parallel.h"
#include "core/base/types.h"
#include "core/find/mesh.h"
#include "core/geometry/travel.h"

struct stepping {
	const struct fric_context *context;
	const struct fric_mesh *mesh;
	const double *positions, *direction;
	double dmin, keep;
	struct fric_mesh_step *step;
};

struct side {
	const int32_t *vertices;
	int n;
};

static bool is_pair(const struct stepping *s, struct side a, struct side b)
{
	for (int i = 0; i < a.n; i++)
		for (int j = 0; j < b.n; j++)
			if (a.vertices[i] == b.vertices[j])
				return false;
	return !s->mesh->filter.any || !sides_ignored(&s->mesh->filter, a.vertices, a.n, b.vertices, b.n);
}

static enum fric_code take_step(struct stepping *s, enum fric_type type, const int32_t *v, int32_t plane)
{
	const size_t dim = (size_t)s->mesh->dim;
	struct travel t = {.type = type, .dim = s->mesh->dim, .dmin = s->dmin, .keep = s->keep};
	for (int k = 0; k < stencil_size_of(type); k++) {
		t.from[k] = s->positions + (size_t)v[k] * dim;
		t.direction[k] = s->direction + (size_t)v[k] * dim;
	}
	for (size_t d = 0; d < dim && plane >= 0; d++) {
		t.normal[d] = s->mesh->plane_normals[(size_t)plane * dim + d];
		t.origin[d] = s->mesh->plane_origins[(size_t)plane * dim + d];
	}
	double step = 1;
	const enum fric_code code = fricp_travel(&t, s->step->step, &step);
	if (code != FRIC_OK || step < s->step->step) {
		*s->step = (struct fric_mesh_step){step, type, {0}, plane};
		memcpy(s->step->vertices, v, (size_t)stencil_size_of(type) * sizeof(*v));
	}
	return code;
}

static enum fric_code take_pair(struct stepping *s, enum fric_type type, struct side a, struct side b)
{
	int32_t v[FRIC_MAX_STENCIL];
	if (!is_pair(s, a, b))
		return FRIC_OK;
	memcpy(v, a.vertices, (size_t)a.n * sizeof(*v));
	memcpy(v + a.n, b.vertices, (size_t)b.n * sizeof(*v));
	return take_step(s, type, v, -1);
}

struct list {
	const int32_t *vertices, *rows; /* rows: NULL, or which of them take part */
	size_t n;
	int size;
};

static struct side item_of(const struct list *list, size_t i)
{
	return (struct side){list->vertices + (size_t)list->size * (list->rows ? (size_t)list->rows[i] : i), list->size};
}

static enum fric_code take_all(struct stepping *s, enum fric_type type, const struct list *first,
                               const struct list *second)
{
	enum fric_code code = FRIC_OK;
	for (size_t i = 0; i < first->n && code == FRIC_OK; i++) {
		if (fricp_stop_raised(s->context))
			return FRIC_E_STOPPED;
		for (size_t j = first == second ? i + 1 : 0; j < second->n && code == FRIC_OK; j++)
			code = take_pair(s, type, item_of(first, i), item_of(second, j));
	}
	return code;
}

static enum fric_code take_planes(struct stepping *s)
{
	const struct fric_mesh *m = s->mesh;
	enum fric_code code = FRIC_OK;
	for (size_t p = 0; p < m->n_planes && code == FRIC_OK; p++)
		for (size_t i = 0; i < m->n_used && code == FRIC_OK; i++)
			if (!m->filter.fixed[m->used[i]])
				code = take_step(s, FRIC_PLANE_VERTEX, &m->used[i], (int32_t)p);
	return code;
}

enum fric_code fric_mesh_longest_step(const struct fric_context *context, const struct fric_mesh *mesh,
                                      const double *positions, const double *direction, double min_distance,
                                      double keep, struct fric_mesh_step *step, struct fric_error *error)
{
	const struct list vertices = {mesh->used, NULL, mesh->n_used, 1}, edges = {mesh->edges, NULL, mesh->n_edges, 2},
					  faces = {mesh->faces, NULL, mesh->n_faces, 3},
					  particles = {mesh->particles, NULL, mesh->n_particles, 1},
					  rods = {mesh->edges, mesh->rods, mesh->n_rods, 2};
	struct stepping s = {context, mesh, positions, direction, min_distance, keep, step};
	const bool flat = mesh->dim == 2;
	*step = (struct fric_mesh_step){1, FRIC_VERTEX_VERTEX, {-1, -1, -1, -1}, -1};
	enum fric_code code = take_all(&s, FRIC_VERTEX_VERTEX, &particles, &particles);
	if (code == FRIC_OK)
		code = take_all(&s, FRIC_EDGE_VERTEX, flat ? &vertices : &particles, flat ? &edges : &rods);
	if (code == FRIC_OK && !flat)
		code = take_all(&s, FRIC_EDGE_EDGE, &edges, &edges);
	if (code == FRIC_OK && !flat)
		code = take_all(&s, FRIC_FACE_VERTEX, &vertices, &faces);
	return report_code(code == FRIC_OK ? take_planes(&s) : code, error);
}
