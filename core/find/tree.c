#include "core/find/tree.h"

#include <math.h>

#include "core/base/parallel.h"

struct planting {
	const struct fric_context *context;
	const struct fric_mesh *mesh;
	const struct order *order;
	enum tree_kind kind;
	struct tree *tree;
	uint32_t *rows;     /* [n] rows of the mesh, in the order of the tree */
	uint32_t *found;    /* [n] the same, sizes mixed */
	int16_t *exponents; /* [n] of the sizes of `found` */
	uint8_t *is_listed; /* which vertices are particles or edges are rods; NULL: all */
	int level;          /* that is being filled */
};

/* ---- which primitives ---- */

static size_t number_of(const struct fric_mesh *m, enum tree_kind kind)
{
	const size_t numbers[] = {m->n_used, m->n_particles, m->n_edges, m->n_rods, m->n_faces};
	return numbers[kind];
}

static int size_of(enum tree_kind kind)
{
	static const int sizes[] = {1, 1, 2, 2, 3};
	return sizes[kind];
}

static bool are_points(enum tree_kind kind)
{
	return size_of(kind) == 1;
}

static const int32_t *vertices_of(const struct planting *p, const uint32_t *row)
{
	switch (size_of(p->kind)) {
	case 1: return (const int32_t *)row;
	case 2: return p->mesh->edges + 2 * (size_t)*row;
	default: return p->mesh->faces + 3 * (size_t)*row;
	}
}

/* Particles or rods, which are few or all. */
static enum fric_code list_rows(struct planting *p, struct store *scratch)
{
	const struct fric_mesh *m = p->mesh;
	const bool particles = p->kind == TREE_PARTICLES;
	const int32_t *listed = particles ? m->particles : m->rods;
	if (p->kind != TREE_PARTICLES && p->kind != TREE_RODS)
		return FRIC_OK;
	p->is_listed = store_take_zeroed(scratch, particles ? m->n_vertices : m->n_edges, 1);
	for (size_t i = 0; i < p->tree->n && p->is_listed; i++)
		p->is_listed[listed[i]] = 1;
	return p->is_listed ? FRIC_OK : FRIC_E_MEMORY;
}

/* The exponent of the largest extent; a small one for points. */
static int16_t exponent_of(const struct planting *p, const int32_t *v)
{
	double extent = 0;
	for (int d = 0; d < 3; d++) {
		double low = INFINITY, high = -INFINITY;
		for (int k = 0; k < size_of(p->kind); k++) {
			const double x = p->order->place[3 * (size_t)p->order->rank[v[k]] + (size_t)d];
			low = x < low ? x : low;
			high = x > high ? x : high;
		}
		extent = high - low > extent ? high - low : extent;
	}
	uint64_t bits;
	memcpy(&bits, &extent, sizeof(bits));
	return (int16_t)(bits >> 52);
}

/* Primitives by their lowest vertex, in the order of vertices. */
static enum fric_code find_rows(struct planting *p)
{
	const struct fric_mesh *m = p->mesh;
	const uint32_t *from = size_of(p->kind) == 2 ? m->edges_from : m->faces_from;
	size_t n = 0;
	for (size_t r = 0; r < p->order->n; r++) {
		const size_t v = (size_t)p->order->vertex[r];
		const uint32_t begin = are_points(p->kind) ? (uint32_t)v : from[v];
		const uint32_t end = are_points(p->kind) ? begin + 1 : from[v + 1];
		if (r % 65536 == 0 && fricp_stop_raised(p->context))
			return FRIC_E_STOPPED;
		for (uint32_t row = begin; row < end; row++) {
			if (p->is_listed && !p->is_listed[row])
				continue;
			p->found[n] = row;
			p->exponents[n++] = are_points(p->kind) ? 0 : exponent_of(p, vertices_of(p, &row));
		}
	}
	return FRIC_OK;
}

/* ---- sizes ---- */

/* A class of sizes is a factor of 16. Primitives of usual meshes are in the middle one. */
enum { CLASSES = 9, CLASS_BITS = 2, MIDDLE = CLASSES / 2, EXPONENTS = 1 << 11 };

static int class_of(int exponent, int mean)
{
	const int at = ((exponent - mean + 2) >> CLASS_BITS) + MIDDLE;
	return at < 0 ? 0 : at >= CLASSES ? CLASSES - 1 : at;
}

/* The mean of the sizes' exponents. */
static int mean_exponent(const struct planting *p)
{
	int64_t sum = 0;
	for (size_t i = 0; i < p->tree->n; i++)
		sum += p->exponents[i];
	return (int)(sum / (int64_t)(p->tree->n + !p->tree->n));
}

/* Moves primitives of each class together, otherwise in their order. */
static void separate_sizes(struct planting *p)
{
	const int mean = mean_exponent(p);
	size_t at[CLASSES + 1] = {0};
	for (size_t i = 0; i < p->tree->n; i++)
		at[class_of(p->exponents[i], mean) + 1]++;
	for (int c = 0; c < CLASSES; c++)
		at[c + 1] += at[c];
	for (size_t i = 0; i < p->tree->n; i++)
		p->rows[at[class_of(p->exponents[i], mean)]++] = p->found[i];
}

/* ---- boxes ---- */

static void set_primitive(const struct planting *p, size_t block, int lane)
{
	struct tree *t = p->tree;
	const size_t i = block * TREE_LANES + (size_t)lane;
	struct boxes *boxes = &t->level[0][block];
	for (int k = 0; k < t->size; k++) {
		const int32_t rank = i < t->n ? p->order->rank[vertices_of(p, &p->rows[i])[k]] : -1;
		t->ends[block * (size_t)t->size + (size_t)k].lane[lane] = rank;
		for (int d = 0; d < 3; d++) {
			const double x = rank < 0 ? INFINITY : p->order->place[3 * (size_t)rank + (size_t)d];
			double *low = &boxes->low[d][lane], *high = &boxes->high[d][lane];
			*low = k == 0 || x < *low ? x : *low;
			*high = rank < 0 ? -INFINITY : k == 0 || x > *high ? x : *high;
		}
	}
}

static void fill_leaves(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct planting *p = task;
	(void)chunk, (void)fault;
	for (size_t block = begin; block < end; block++)
		for (int lane = 0; lane < TREE_LANES; lane++)
			set_primitive(p, block, lane);
}

/* The box around the boxes of a block. */
static void set_around(const struct boxes *inner, struct boxes *outer, int lane)
{
	for (int d = 0; d < 3; d++) {
		double low = INFINITY, high = -INFINITY;
		for (int l = 0; l < TREE_LANES && inner; l++) {
			low = inner->low[d][l] < low ? inner->low[d][l] : low;
			high = inner->high[d][l] > high ? inner->high[d][l] : high;
		}
		outer->low[d][lane] = low;
		outer->high[d][lane] = high;
	}
}

static void fill_level(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct planting *p = task;
	const struct tree *t = p->tree;
	const size_t n = t->n_blocks[p->level - 1];
	(void)chunk, (void)fault;
	for (size_t block = begin; block < end; block++)
		for (size_t lane = 0; lane < TREE_LANES; lane++) {
			const size_t inner = block * TREE_LANES + lane;
			set_around(inner < n ? &t->level[p->level - 1][inner] : NULL, &t->level[p->level][block], (int)lane);
		}
}

static enum fric_code take_blocks(struct tree *t, struct store *store)
{
	t->n_blocks[0] = n_chunks(t->n, TREE_LANES);
	t->n_blocks[0] += !t->n_blocks[0];
	t->n_levels = 1;
	do {
		t->n_blocks[t->n_levels] = n_chunks(t->n_blocks[t->n_levels - 1], TREE_LANES);
	} while (t->n_blocks[t->n_levels++] > 1);
	size_t sum = 0;
	for (int level = 0; level < t->n_levels; level++)
		sum += t->n_blocks[level];
	t->ends = store_take(store, t->n_blocks[0] * (size_t)t->size, sizeof(*t->ends));
	t->level[0] = store_take(store, sum, sizeof(*t->level[0]));
	if (store->failed)
		return FRIC_E_MEMORY;
	for (int level = 1; level < t->n_levels; level++)
		t->level[level] = t->level[level - 1] + t->n_blocks[level - 1];
	return FRIC_OK;
}

static enum fric_code fill(struct planting *p)
{
	enum fric_code code = fricp_parallel_chunks(p->context, p->tree->n_blocks[0], fill_leaves, p).code;
	for (p->level = 1; p->level < p->tree->n_levels && code == FRIC_OK; p->level++)
		code = fricp_parallel_chunks(p->context, p->tree->n_blocks[p->level], fill_level, p).code;
	return code;
}

enum fric_code fricp_tree(const struct fric_context *context, const struct fric_mesh *mesh, const struct order *order,
                          enum tree_kind kind, struct store *store, struct tree *tree)
{
	*tree = (struct tree){.size = size_of(kind), .n = number_of(mesh, kind)};
	struct store scratch = {.memory = context->memory};
	struct planting p = {.context = context, .mesh = mesh, .order = order, .kind = kind, .tree = tree};
	p.rows = store_take(&scratch, tree->n, sizeof(*p.rows));
	p.found = store_take(&scratch, tree->n, sizeof(*p.found));
	p.exponents = store_take(&scratch, tree->n, sizeof(*p.exponents));
	enum fric_code code = scratch.failed ? FRIC_E_MEMORY : list_rows(&p, &scratch);
	if (code == FRIC_OK)
		code = find_rows(&p);
	if (code == FRIC_OK) {
		separate_sizes(&p);
		code = take_blocks(tree, store);
	}
	if (code == FRIC_OK)
		code = fill(&p);
	store_give_from(&scratch, 0);
	return code;
}
