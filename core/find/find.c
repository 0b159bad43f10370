/* Close pairs of a mesh. */
#include "core/base/fault.h"
#include "core/base/parallel.h"
#include "core/find/close.h"
#include "core/find/merge.h"
#include "core/find/pairs.h"
#include "core/geometry/geometry_fast.h"

/* ---- weights by area: how much of the surface at rest each primitive stands for ---- */

/* NULL: every pair counts 1. */
struct weights {
	double *vertex; /* [n_vertices] a third of the areas of its faces; 2D: half the lengths of its edges */
	double *edge;   /* [n_edges] a third of the areas of its faces; 3D */
};

static struct v3 point(const struct fric_mesh *mesh, const double *rest, int32_t v)
{
	const double *p = rest + (size_t)v * (size_t)mesh->dim;
	return (struct v3){p[0], p[1], mesh->dim == 3 ? p[2] : 0};
}

/* The length of a vector, without overflow on the way. */
static double length(struct v3 a)
{
	const double largest = v3_largest(a),
				 scale = largest > 0x1p-1000 && largest < 0x1p+1000 ? inverse_power(largest) : 1;
	const struct v3 s = v3_times(scale, a);
	return sqrt(v3_dot(s, s)) / scale;
}

/* In long double, which keeps the digits of slivers' areas, and cannot overflow. */
static double area(const double *rest, const int32_t *face)
{
	const double *p[3] = {rest + 3 * (size_t)face[0], rest + 3 * (size_t)face[1], rest + 3 * (size_t)face[2]};
	long double sum = 0;
	for (int i = 0; i < 3; i++) {
		const int j = (i + 1) % 3, k = (i + 2) % 3;
		const long double x = ((long double)p[1][j] - p[0][j]) * ((long double)p[2][k] - p[0][k]) -
		                      ((long double)p[1][k] - p[0][k]) * ((long double)p[2][j] - p[0][j]);
		sum += x * x;
	}
	return (double)(sqrtl(sum) / 2);
}

static enum fric_code add_faces(const struct fric_context *context, const struct fric_mesh *mesh, const double *rest,
                                struct weights *w)
{
	for (size_t i = 0; i < mesh->n_faces; i++) {
		const int32_t *face = mesh->faces + 3 * i;
		const double third = area(rest, face) / 3;
		if (fricp_stop_raised_at(context, i))
			return FRIC_E_STOPPED;
		for (int k = 0; k < 3; k++) {
			w->vertex[face[k]] += third;
			w->edge[edge_between(mesh, face[k], face[(k + 1) % 3])] += third;
		}
	}
	return FRIC_OK;
}

static enum fric_code add_edges(const struct fric_context *context, const struct fric_mesh *mesh, const double *rest,
                                struct weights *w)
{
	for (size_t i = 0; i < mesh->n_edges; i++) {
		const int32_t *edge = mesh->edges + 2 * i;
		const double half = length(v3_minus(point(mesh, rest, edge[1]), point(mesh, rest, edge[0]))) / 2;
		if (fricp_stop_raised_at(context, i))
			return FRIC_E_STOPPED;
		w->vertex[edge[0]] += half;
		w->vertex[edge[1]] += half;
	}
	return FRIC_OK;
}

/**
 * @param rest   [n_vertices, dim]
 * @param store  gives the arrays
 * @return FRIC_OK, FRIC_E_MEMORY, FRIC_E_STOPPED, or FRIC_E_NOT_FINITE if an area does not fit a double
 */
static enum fric_code find_weights(const struct fric_context *context, const struct fric_mesh *mesh, const double *rest,
                                   struct store *store, struct weights *weights)
{
	weights->vertex = store_take_zeroed(store, mesh->n_vertices, sizeof(double));
	weights->edge = store_take_zeroed(store, mesh->dim == 3 ? mesh->n_edges : 0, sizeof(double));
	if (store->failed)
		return FRIC_E_MEMORY;
	const enum fric_code code = (mesh->dim == 3 ? add_faces : add_edges)(context, mesh, rest, weights);
	double sum = 0;
	for (size_t v = 0; v < mesh->n_vertices; v++)
		sum += weights->vertex[v] * 0; /* NaN unless all are finite */
	return code == FRIC_OK && sum != 0 ? FRIC_E_NOT_FINITE : code;
}

/* ---- pairs ---- */

struct search {
	const struct fric_mesh *mesh;
	struct closing closing;
	struct order order;
	struct weights weights;
	struct store store;
	struct records *records; /* [n_threads] */
	struct ceiling ceiling;
};

static double edge_weight(const struct search *s, const int32_t *v)
{
	return s->weights.edge[edge_between(s->mesh, v[0], v[1])];
}

static double weight_of(const struct search *s, enum fric_type type, const int32_t *v)
{
	const struct weights *w = &s->weights;
	if (!w->vertex)
		return 1;
	switch (type) {
	case FRIC_FACE_VERTEX: return w->vertex[v[0]] / 4;
	case FRIC_EDGE_VERTEX: return w->vertex[v[0]] / 2;
	case FRIC_PLANE_VERTEX: return w->vertex[v[1]];
	default: return (edge_weight(s, v) + edge_weight(s, v + 2)) / 4;
	}
}

static enum fric_code visit(void *task, int share, enum fric_type type, const int32_t v[FRIC_MAX_STENCIL])
{
	struct search *s = task;
	return fricp_close(&s->closing, type, v, weight_of(s, type, v), &s->records[share]);
}

static enum fric_code visit_vertex(void *task, int share, int32_t vertex)
{
	struct search *s = task;
	enum fric_code code = FRIC_OK;
	for (size_t p = 0; p < s->mesh->n_planes && code == FRIC_OK; p++)
		code = visit(s, share, FRIC_PLANE_VERTEX, (const int32_t[FRIC_MAX_STENCIL]){(int32_t)p, vertex});
	return code;
}

static enum fric_code find_all(const struct fric_context *context, struct search *s)
{
	const struct fric_mesh *m = s->mesh;
	/* At least the limit of distances, which are rounded. */
	const double reach = s->closing.reach * (1 + 0x1p-40);
	const struct pairing pairing = {.context = context,
	                                .mesh = m,
	                                .order = &s->order,
	                                .reach = reach,
	                                .visit = visit,
	                                .visit_vertex = visit_vertex,
	                                .task = s};
	const enum fric_code code =
		fricp_order(context, m->dim, m->n_vertices, s->closing.positions, m->used, m->n_used, &s->store, &s->order);
	return code == FRIC_OK ? fricp_pairs(&pairing) : code;
}

/* Counts exactly, also records in blocks that are not full. */
static enum fric_code check_number(const struct search *s, size_t n_threads)
{
	size_t n = 0;
	for (size_t i = 0; i < n_threads; i++)
		for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
			n += s->records[i].n[type];
	return n <= s->ceiling.most ? FRIC_OK : FRIC_E_TOO_MANY;
}

static enum fric_code search(const struct fric_context *context, struct search *s, enum fric_weighting weighting,
                             struct fric_found **found)
{
	const struct fric_mesh *mesh = s->mesh;
	const size_t n_threads = (size_t)context->n_threads;
	const size_t n_keys = mesh->n_vertices > mesh->n_planes ? mesh->n_vertices : mesh->n_planes;
	s->records = store_take_zeroed(&s->store, n_threads, sizeof(*s->records));
	if (!s->records)
		return FRIC_E_MEMORY;
	for (size_t i = 0; i < n_threads; i++)
		s->records[i] = (struct records){.memory = context->memory, .ceiling = &s->ceiling};
	enum fric_code code = FRIC_OK;
	if (weighting == FRIC_WEIGHT_AREA)
		code = find_weights(context, mesh, s->closing.rest, &s->store, &s->weights);
	if (code == FRIC_OK)
		code = find_all(context, s);
	if (code == FRIC_OK)
		code = check_number(s, n_threads);
	if (code == FRIC_OK)
		code = fricp_merge(context, s->records, (int)n_threads, n_keys, found);
	for (size_t i = 0; i < n_threads; i++)
		fricp_records_free(&s->records[i]);
	return code;
}

enum fric_code fric_find(const struct fric_context *context, const struct fric_mesh *mesh, const double *positions,
                         const struct fric_finding *finding, struct fric_found **found, struct fric_error *error)
{
	struct search s = {.mesh = mesh,
	                   .store = {.memory = context->memory},
	                   .ceiling = {.most = finding->most ? finding->most : SIZE_MAX},
	                   .closing = {.dim = mesh->dim,
	                               .merge = finding->merge,
	                               .reach = finding->distance + finding->min_distance,
	                               .positions = positions,
	                               .rest = mesh->rest ? mesh->rest : positions,
	                               .normals = mesh->plane_normals,
	                               .origins = mesh->plane_origins,
	                               .normal_stride = (size_t)mesh->dim,
	                               .origin_stride = (size_t)mesh->dim}};
	*found = NULL;
	const enum fric_code code = search(context, &s, finding->weighting, found);
	store_give_from(&s.store, 0);
	return report_code(code, error);
}
