/* Close pairs of a mesh. */
#include <math.h>
#include <stdatomic.h>

#include "core/base/parallel.h"
#include "core/find/close.h"
#include "core/find/merge.h"
#include "core/find/mesh.h"
#include "core/find/overlap.h"
#include "core/find/weights.h"

struct search {
	const struct fric_context *context;
	const struct fric_mesh *mesh;
	const struct overlap_kernels *kernels;
	struct closing closing;
	double reach; /* not less than that of `closing`, whatever the rounding of distances */
	struct order order;
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

/* ---- pairs of two trees ---- */

enum { PAIRS_AT_A_TIME = 2048, BLOCKS_AT_A_TIME = 16 };

struct stage {
	struct search *search;
	enum fric_type type;
	struct tree first, second;
	bool same; /* each pair of the first tree once */
};

/* The pairs of one thread. */
struct share {
	const struct stage *stage;
	struct records *records;
	struct sink sink;
	enum fric_code code;
	uint32_t first[PAIRS_AT_A_TIME], second[PAIRS_AT_A_TIME];
};

static const struct tree *second_of(const struct stage *stage)
{
	return stage->same ? &stage->first : &stage->second;
}

static void vertices_of(const struct search *s, const struct tree *t, size_t primitive, int32_t *v)
{
	const struct tree_row *ends = t->ends + primitive / TREE_LANES * (size_t)t->size;
	for (int k = 0; k < t->size; k++)
		v[k] = s->order.vertex[ends[k].lane[primitive % TREE_LANES]];
}

static void stencil_of(const struct stage *stage, const struct sink *sink, size_t i, int32_t v[FRIC_MAX_STENCIL])
{
	vertices_of(stage->search, &stage->first, sink->first[i], v);
	vertices_of(stage->search, second_of(stage), sink->second[i], v + stage->first.size);
}

static size_t keep_unfiltered(const struct stage *stage, struct sink *sink, size_t n)
{
	const struct filter *filter = &stage->search->mesh->filter;
	const int size = stage->first.size;
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		int32_t v[FRIC_MAX_STENCIL];
		stencil_of(stage, sink, i, v);
		if (sides_ignored(filter, v, size, v + size, second_of(stage)->size))
			continue;
		sink->first[kept] = sink->first[i];
		sink->second[kept++] = sink->second[i];
	}
	return kept;
}

/* Takes pairs whose boxes overlap. */
static bool drain(struct sink *sink)
{
	struct share *share = sink->task;
	const struct stage *stage = share->stage;
	struct search *s = stage->search;
	size_t n = sink->n;
	sink->n = 0;
	if (s->mesh->filter.any)
		n = keep_unfiltered(stage, sink, n);
	n = s->kernels->keep_near(&stage->first, second_of(stage), s->order.place, s->reach, sink, n);
	for (size_t i = 0; i < n && share->code == FRIC_OK; i++) {
		int32_t v[FRIC_MAX_STENCIL];
		stencil_of(stage, sink, i, v);
		share->code = fricp_close(&s->closing, stage->type, v, weight_of(s, stage->type, v), share->records);
	}
	if (fricp_stop_raised(s->context))
		share->code = FRIC_E_STOPPED;
	return share->code == FRIC_OK && !atomic_load_explicit(&s->failed, memory_order_relaxed);
}

static void run_share(void *task, int number, int n_shares)
{
	const struct stage *stage = task;
	struct search *s = stage->search;
	const size_t n = stage->first.n_blocks[0];
	struct share share = {.stage = stage, .records = &s->records[number]};
	share.sink = (struct sink){share.first, share.second, 0, PAIRS_AT_A_TIME, drain, &share};
	bool goes_on = true;
	(void)n_shares;
	while (goes_on) {
		const size_t begin = atomic_fetch_add(&s->next, BLOCKS_AT_A_TIME);
		if (begin >= n)
			break;
		for (size_t b = begin; b < begin + BLOCKS_AT_A_TIME && b < n && goes_on; b++)
			goes_on = s->kernels->collect(&stage->first, second_of(stage), b, s->reach, &share.sink);
		goes_on = goes_on && drain(&share.sink);
	}
	s->codes[number] = share.code;
	if (share.code != FRIC_OK)
		atomic_store(&s->failed, true);
}

/* The first code of all shares; memory and the stop flag come before results. */
static enum fric_code first_code(const struct search *s)
{
	enum fric_code code = FRIC_OK;
	for (int i = 0; i < s->context->n_threads; i++)
		if (s->codes[i] != FRIC_OK && (code == FRIC_OK || s->codes[i] < code))
			code = s->codes[i];
	return code;
}

static enum fric_code run_stage(struct search *s, enum fric_type type, enum tree_kind first, enum tree_kind second)
{
	struct stage stage = {.search = s, .type = type, .same = first == second};
	const int mark = s->store.n;
	enum fric_code code = fricp_tree(s->context, s->mesh, &s->order, first, &s->store, &stage.first);
	if (code == FRIC_OK && !stage.same)
		code = fricp_tree(s->context, s->mesh, &s->order, second, &s->store, &stage.second);
	if (code == FRIC_OK && stage.first.n > 0 && second_of(&stage)->n > 0) {
		memset(s->codes, 0, (size_t)s->context->n_threads * sizeof(*s->codes));
		atomic_store(&s->next, 0);
		fricp_parallel_shares(s->context, stage.first.n, run_share, &stage);
		code = first_code(s);
	}
	store_give_from(&s->store, mark);
	return code;
}

/* ---- planes ---- */

static void plane_share(void *task, int number, int n_shares)
{
	struct search *s = task;
	const struct fric_mesh *mesh = s->mesh;
	const size_t begin = mesh->n_used * (size_t)number / (size_t)n_shares,
				 end = mesh->n_used * ((size_t)number + 1) / (size_t)n_shares;
	enum fric_code code = FRIC_OK;
	for (size_t i = begin; i < end && code == FRIC_OK; i++) {
		int32_t v[2] = {0, mesh->used[i]};
		for (size_t p = 0; p < mesh->n_planes && code == FRIC_OK && !mesh->filter.fixed[v[1]]; p++) {
			v[0] = (int32_t)p;
			code =
				fricp_close(&s->closing, FRIC_PLANE_VERTEX, v, weight_of(s, FRIC_PLANE_VERTEX, v), &s->records[number]);
		}
		if (i % 256 == 0 && fricp_stop_raised(s->context))
			code = FRIC_E_STOPPED;
	}
	s->codes[number] = code;
}

static enum fric_code find_planes(struct search *s)
{
	if (s->mesh->n_planes == 0)
		return FRIC_OK;
	memset(s->codes, 0, (size_t)s->context->n_threads * sizeof(*s->codes));
	fricp_parallel_shares(s->context, s->mesh->n_used, plane_share, s);
	return first_code(s);
}

/* ---- everything ---- */

static enum fric_code find_all(struct search *s)
{
	const struct fric_mesh *m = s->mesh;
	const bool flat = m->dim == 2;
	const struct {
		bool exists;
		enum fric_type type;
		enum tree_kind first, second;
	} stages[] = {
		{m->n_particles > 1, FRIC_VERTEX_VERTEX, TREE_PARTICLES, TREE_PARTICLES},
		{flat && m->n_edges > 0, FRIC_EDGE_VERTEX, TREE_VERTICES, TREE_EDGES},
		{m->n_particles > 0 && m->n_rods > 0, FRIC_EDGE_VERTEX, TREE_PARTICLES, TREE_RODS},
		{!flat && m->n_edges > 1, FRIC_EDGE_EDGE, TREE_EDGES, TREE_EDGES},
		{m->n_faces > 0, FRIC_FACE_VERTEX, TREE_VERTICES, TREE_FACES},
	};
	enum fric_code code =
		fricp_order(s->context, m->dim, m->n_vertices, s->closing.positions, m->used, m->n_used, &s->store, &s->order);
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]) && code == FRIC_OK; i++)
		if (stages[i].exists)
			code = run_stage(s, stages[i].type, stages[i].first, stages[i].second);
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
	const double reach = finding->distance + finding->min_distance;
	struct search s = {.context = context,
	                   .mesh = mesh,
	                   .kernels = fricp_overlap_of(context),
	                   .reach = reach * (1 + 0x1p-40),
	                   .store = {.memory = context->memory},
	                   .closing = {.dim = mesh->dim,
	                               .merge = finding->merge,
	                               .reach = reach,
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
