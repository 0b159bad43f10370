/* Close pairs of a mesh. */
#include <math.h>
#include <stdatomic.h>

#include "core/base/parallel.h"
#include "core/find/close.h"
#include "core/find/merge.h"
#include "core/find/mesh.h"
#include "core/find/weights.h"

struct search {
	const struct fric_context *context;
	const struct fric_mesh *mesh;
	struct closing closing;
	struct weights weights;
	struct store store;
	struct records *records; /* [n_threads] */
	enum fric_code *codes;   /* [n_threads] */
	atomic_size_t next;
	atomic_bool failed;
};

/* ---- one pair ---- */

static double weight_of(const struct search *s, enum fric_type type, const int32_t *v)
{
	const struct weights *w = &s->weights;
	if (!w->vertex)
		return 1;
	switch (type) {
	case FRIC_FACE_VERTEX: return w->vertex[v[0]] / 4;
	case FRIC_EDGE_VERTEX: return w->vertex[v[0]] / 2;
	case FRIC_PLANE_VERTEX: return w->vertex[v[1]];
	default: return (w->edge[edge_between(s->mesh, v[0], v[1])] + w->edge[edge_between(s->mesh, v[2], v[3])]) / 4;
	}
}

static bool have_common(const int32_t *a, int n_a, const int32_t *b, int n_b)
{
	for (int i = 0; i < n_a; i++)
		for (int j = 0; j < n_b; j++)
			if (a[i] == b[j])
				return true;
	return false;
}

static bool boxes_apart(const struct search *s, const int32_t *a, int n_a, const int32_t *b, int n_b)
{
	const struct closing *c = &s->closing;
	for (int d = 0; d < c->dim; d++) {
		double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
		for (int k = 0; k < n_a + n_b; k++) {
			const int32_t v = k < n_a ? a[k] : b[k - n_a];
			const double x = c->positions[(size_t)v * (size_t)c->dim + (size_t)d];
			low[k >= n_a] = fmin(low[k >= n_a], x);
			high[k >= n_a] = fmax(high[k >= n_a], x);
		}
		if (low[0] - 2 * c->reach > high[1] || low[1] - 2 * c->reach > high[0])
			return true;
	}
	return false;
}

/* Sides a and b of n_a and n_b vertices. */
static enum fric_code try_pair(struct search *s, enum fric_type type, const int32_t *a, int n_a, const int32_t *b,
                               int n_b, struct records *records)
{
	int32_t v[FRIC_MAX_STENCIL];
	if (boxes_apart(s, a, n_a, b, n_b) || have_common(a, n_a, b, n_b) ||
	    (s->mesh->filter.any && sides_ignored(&s->mesh->filter, a, n_a, b, n_b)))
		return FRIC_OK;
	memcpy(v, a, (size_t)n_a * sizeof(*v));
	memcpy(v + n_a, b, (size_t)n_b * sizeof(*v));
	return fricp_close(&s->closing, type, v, weight_of(s, type, v), records);
}

/* ---- all pairs ---- */

/* Lists of primitives; rows: NULL or which of them take part. */
struct list {
	const int32_t *vertices;
	size_t n;
	int size;
	const int32_t *rows;
};

static const int32_t *item_of(const struct list *list, size_t i)
{
	return list->vertices + (size_t)list->size * (list->rows ? (size_t)list->rows[i] : i);
}

struct stage {
	struct search *search;
	enum fric_type type;
	struct list first, second;
	bool same; /* each pair of one list once */
};

enum { TAKEN_AT_A_TIME = 64 };

static void run_share(void *task, int share, int n_shares)
{
	const struct stage *stage = task;
	struct search *s = stage->search;
	enum fric_code code = FRIC_OK;
	(void)n_shares;
	while (code == FRIC_OK && !atomic_load(&s->failed)) {
		const size_t begin = atomic_fetch_add(&s->next, TAKEN_AT_A_TIME);
		if (begin >= stage->first.n)
			break;
		for (size_t i = begin; i < begin + TAKEN_AT_A_TIME && i < stage->first.n && code == FRIC_OK; i++) {
			if (fricp_stop_raised(s->context))
				code = FRIC_E_STOPPED;
			for (size_t j = stage->same ? i + 1 : 0; j < stage->second.n && code == FRIC_OK; j++)
				code = try_pair(s, stage->type, item_of(&stage->first, i), stage->first.size,
				                item_of(&stage->second, j), stage->second.size, &s->records[share]);
		}
	}
	s->codes[share] = code;
	if (code != FRIC_OK)
		atomic_store(&s->failed, true);
}

static enum fric_code run_stage(struct search *s, struct stage stage)
{
	stage.search = s;
	for (int i = 0; i < s->context->n_threads; i++)
		s->codes[i] = FRIC_OK;
	atomic_store(&s->next, 0);
	fricp_parallel_shares(s->context, stage.first.n, run_share, &stage);
	for (int i = 0; i < s->context->n_threads; i++)
		if (s->codes[i] != FRIC_OK)
			return s->codes[i];
	return FRIC_OK;
}

static enum fric_code find_planes(struct search *s)
{
	const struct fric_mesh *mesh = s->mesh;
	for (size_t p = 0; p < mesh->n_planes; p++)
		for (size_t i = 0; i < mesh->n_used; i++) {
			const int32_t v[2] = {(int32_t)p, mesh->used[i]};
			if (mesh->filter.fixed[v[1]])
				continue;
			if (fricp_stop_raised(s->context))
				return FRIC_E_STOPPED;
			const enum fric_code code =
				fricp_close(&s->closing, FRIC_PLANE_VERTEX, v, weight_of(s, FRIC_PLANE_VERTEX, v), &s->records[0]);
			if (code != FRIC_OK)
				return code;
		}
	return FRIC_OK;
}

static enum fric_code find_all(struct search *s)
{
	const struct fric_mesh *m = s->mesh;
	const struct list vertices = {m->used, m->n_used, 1, NULL}, edges = {m->edges, m->n_edges, 2, NULL},
					  faces = {m->faces, m->n_faces, 3, NULL}, particles = {m->particles, m->n_particles, 1, NULL},
					  rods = {m->edges, m->n_rods, 2, m->rods};
	const bool flat = m->dim == 2;
	const struct stage stages[] = {
		{NULL, FRIC_VERTEX_VERTEX, particles, particles, true},
		{NULL, FRIC_EDGE_VERTEX, flat ? vertices : particles, flat ? edges : rods, false},
		{NULL, FRIC_EDGE_EDGE, edges, edges, true},
		{NULL, FRIC_FACE_VERTEX, vertices, faces, false},
	};
	enum fric_code code = FRIC_OK;
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]) && code == FRIC_OK; i++)
		if (!flat || stages[i].type != FRIC_EDGE_EDGE)
			code = run_stage(s, stages[i]);
	return code == FRIC_OK ? find_planes(s) : code;
}

static enum fric_code search(struct search *s, enum fric_weighting weighting, struct fric_found **found)
{
	const struct fric_mesh *mesh = s->mesh;
	const size_t n_threads = (size_t)s->context->n_threads;
	const size_t n_keys = mesh->n_vertices > mesh->n_planes ? mesh->n_vertices : mesh->n_planes;
	s->records = store_take_zeroed(&s->store, n_threads, sizeof(*s->records));
	s->codes = store_take_zeroed(&s->store, n_threads, sizeof(*s->codes));
	if (s->store.failed)
		return FRIC_E_MEMORY;
	for (size_t i = 0; i < n_threads; i++)
		s->records[i].memory = s->context->memory;
	enum fric_code code = FRIC_OK;
	if (weighting == FRIC_WEIGHT_AREA)
		code = fricp_weights(s->context, mesh, s->closing.rest, &s->store, &s->weights);
	if (code == FRIC_OK)
		code = find_all(s);
	if (code == FRIC_OK)
		code = fricp_merge(s->context, s->records, (int)n_threads, n_keys, found);
	for (size_t i = 0; i < n_threads; i++)
		fricp_records_free(&s->records[i]);
	return code;
}

enum fric_code fric_find(const struct fric_context *context, const struct fric_mesh *mesh, const double *positions,
                         const struct fric_finding *finding, struct fric_found **found, struct fric_error *error)
{
	struct search s = {.context = context,
	                   .mesh = mesh,
	                   .store = {.memory = context->memory},
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
	const enum fric_code code = search(&s, finding->weighting, found);
	store_give_from(&s.store, 0);
	return report_code(code, error);
}
