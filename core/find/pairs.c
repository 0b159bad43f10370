#include "core/find/pairs.h"

#include <stdatomic.h>

#include "core/base/parallel.h"

struct walk {
	const struct pairing *pairing;
	const struct overlap_kernels *kernels;
	struct store store;
	enum fric_code *codes; /* [n_threads] */
	atomic_size_t next;
	atomic_bool failed;
};

/* ---- pairs of two trees ---- */

enum { PAIRS_AT_A_TIME = 2048, BLOCKS_AT_A_TIME = 16 };

struct stage {
	struct walk *walk;
	enum fric_type type;
	struct tree first, second;
	bool same; /* each pair of the first tree once */
};

/* The pairs of one thread. */
struct share {
	const struct stage *stage;
	int number;
	struct sink sink;
	enum fric_code code;
	uint32_t first[PAIRS_AT_A_TIME], second[PAIRS_AT_A_TIME];
};

static const struct tree *second_of(const struct stage *stage)
{
	return stage->same ? &stage->first : &stage->second;
}

static void vertices_of(const struct pairing *p, const struct tree *t, size_t primitive, int32_t *v)
{
	const struct tree_row *ends = t->ends + primitive / TREE_LANES * (size_t)t->size;
	for (int k = 0; k < t->size; k++)
		v[k] = p->order->vertex[ends[k].lane[primitive % TREE_LANES]];
}

static void stencil_of(const struct stage *stage, const struct sink *sink, size_t i, int32_t v[FRIC_MAX_STENCIL])
{
	vertices_of(stage->walk->pairing, &stage->first, sink->first[i], v);
	vertices_of(stage->walk->pairing, second_of(stage), sink->second[i], v + stage->first.size);
}

static size_t keep_unfiltered(const struct stage *stage, struct sink *sink, size_t n)
{
	const struct filter *filter = &stage->walk->pairing->mesh->filter;
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
	const struct pairing *p = stage->walk->pairing;
	const double slope = p->slope ? p->slope(p->task) : 0;
	size_t n = sink->n;
	sink->n = 0;
	if (p->mesh->filter.any)
		n = keep_unfiltered(stage, sink, n);
	n = stage->walk->kernels->keep_near(&stage->first, second_of(stage), p->order->place, p->reach, slope, sink, n);
	for (size_t i = 0; i < n && share->code == FRIC_OK; i++) {
		int32_t v[FRIC_MAX_STENCIL];
		stencil_of(stage, sink, i, v);
		share->code = p->visit(p->task, share->number, stage->type, v);
	}
	if (fricp_stop_raised(p->context))
		share->code = FRIC_E_STOPPED;
	return share->code == FRIC_OK && !atomic_load_explicit(&stage->walk->failed, memory_order_relaxed);
}

static void run_share(void *task, int number, int n_shares)
{
	const struct stage *stage = task;
	struct walk *walk = stage->walk;
	const size_t n = stage->first.n_blocks[0];
	const double reach = walk->pairing->sweep ? 0 : walk->pairing->reach;
	struct share share = {.stage = stage, .number = number};
	share.sink = (struct sink){share.first, share.second, 0, PAIRS_AT_A_TIME, drain, &share};
	bool goes_on = true;
	(void)n_shares;
	while (goes_on) {
		const size_t begin = atomic_fetch_add(&walk->next, BLOCKS_AT_A_TIME);
		if (begin >= n)
			break;
		for (size_t b = begin; b < begin + BLOCKS_AT_A_TIME && b < n && goes_on; b++)
			goes_on = walk->kernels->collect(&stage->first, second_of(stage), b, reach, &share.sink);
		goes_on = goes_on && drain(&share.sink);
	}
	walk->codes[number] = share.code;
	if (share.code != FRIC_OK)
		atomic_store(&walk->failed, true);
}

static enum fric_code first_code(const struct walk *walk)
{
	enum fric_code code = FRIC_OK;
	for (int i = 0; i < walk->pairing->context->n_threads; i++)
		if (walk->codes[i] != FRIC_OK && (code == FRIC_OK || walk->codes[i] < code))
			code = walk->codes[i];
	return code;
}

/* Runs `work` on all threads, which set `codes`. */
static enum fric_code run(struct walk *walk, size_t n, void (*work)(void *task, int share, int n_shares), void *task)
{
	const struct fric_context *context = walk->pairing->context;
	memset(walk->codes, 0, (size_t)context->n_threads * sizeof(*walk->codes));
	atomic_store(&walk->next, 0);
	fricp_parallel_shares(context, n, work, task);
	return first_code(walk);
}

static enum fric_code run_stage(struct walk *walk, enum fric_type type, enum tree_kind first, enum tree_kind second)
{
	const struct pairing *p = walk->pairing;
	struct stage stage = {.walk = walk, .type = type, .same = first == second};
	const int mark = walk->store.n;
	enum fric_code code = fricp_tree(p->context, p->mesh, p->order, first, p->sweep, &walk->store, &stage.first);
	if (code == FRIC_OK && !stage.same)
		code = fricp_tree(p->context, p->mesh, p->order, second, p->sweep, &walk->store, &stage.second);
	if (code == FRIC_OK)
		code = run(walk, stage.first.n, run_share, &stage);
	store_give_from(&walk->store, mark);
	return code;
}

/* ---- vertices and planes ---- */

enum { PLANES_AT_A_TIME = 1 << 16 }; /* between two looks at the stop flag */

static void vertex_share(void *task, int number, int n_shares)
{
	struct walk *walk = task;
	const struct pairing *p = walk->pairing;
	const size_t n = p->mesh->n_used, begin = n * (size_t)number / (size_t)n_shares,
				 end = n * ((size_t)number + 1) / (size_t)n_shares;
	const size_t each = 1 + PLANES_AT_A_TIME / (p->mesh->n_planes + 1);
	enum fric_code code = FRIC_OK;
	for (size_t i = begin; i < end && code == FRIC_OK; i++) {
		if (!p->mesh->filter.fixed[p->mesh->used[i]])
			code = p->visit_vertex(p->task, number, p->mesh->used[i]);
		if (i % each == 0 && fricp_stop_raised(p->context))
			code = FRIC_E_STOPPED;
	}
	walk->codes[number] = code;
}

/* ---- everything ---- */

enum fric_code fricp_pairs(const struct pairing *p)
{
	const struct fric_mesh *m = p->mesh;
	const bool flat = m->dim == 2;
	struct walk walk = {.pairing = p, .kernels = fricp_overlap_of(p->context), .store = {.memory = p->context->memory}};
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
	walk.codes = store_take(&walk.store, (size_t)p->context->n_threads, sizeof(*walk.codes));
	enum fric_code code = walk.codes ? FRIC_OK : FRIC_E_MEMORY;
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]) && code == FRIC_OK; i++)
		if (stages[i].exists)
			code = run_stage(&walk, stages[i].type, stages[i].first, stages[i].second);
	if (code == FRIC_OK && m->n_planes > 0)
		code = run(&walk, m->n_used, vertex_share, &walk);
	store_give_from(&walk.store, 0);
	return code;
}
