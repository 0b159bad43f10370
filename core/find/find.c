/* Close pairs of a mesh. */
#include "core/base/fault.h"
#include "core/find/close.h"
#include "core/find/merge.h"
#include "core/find/pairs.h"
#include "core/find/weights.h"

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
	/* Not less than the limit of distances, which are rounded. */
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
		code = fricp_weights(context, mesh, s->closing.rest, &s->store, &s->weights);
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
