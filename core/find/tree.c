#include "core/find/tree.h"

#include <math.h>

#include "core/base/parallel.h"

struct planting {
	const struct fric_context *context;
	const struct fric_mesh *mesh;
	const struct order *order;
	enum tree_kind kind;
	const struct sweep *sweep;
	struct tree *tree;
	int32_t *ranks;     /* [n, size] of the primitives' vertices, in the order of the tree */
	int32_t *found;     /* [n, size] the same, sizes mixed */
	int16_t *exponents; /* [n] of the sizes of `found` */
	uint8_t *is_listed; /* which vertices are particles or edges are rods; NULL: all */
	size_t *starts;     /* [chunks of vertices] their first primitive */
	int16_t *extremes;  /* [chunks of vertices, 2] the lowest and highest exponent */
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

/* The corners of a primitive's box. */
struct corners {
	double low[3], high[3];
};

INLINE void extend(struct corners *c, int d, double x)
{
	c->low[d] = x < c->low[d] ? x : c->low[d];
	c->high[d] = x > c->high[d] ? x : c->high[d];
}

INLINE struct corners corners_of(const double *place, const int32_t *ranks, int size)
{
	struct corners c;
	for (int d = 0; d < 3; d++) {
		c.low[d] = c.high[d] = place[3 * (size_t)ranks[0] + (size_t)d];
		for (int k = 1; k < size; k++)
			extend(&c, d, place[3 * (size_t)ranks[k] + (size_t)d]);
	}
	return c;
}

/* Relative to the coordinates: more than corners of ways are rounded. */
static const double corner_rounding = 0x1p-50;

/* Extends a box to its primitive's way. @return the motion */
static double sweep_corners(const struct planting *p, const int32_t *ranks, int size, struct corners *c)
{
	const struct sweep *s = p->sweep;
	double motion = 0;
	for (int k = 0; k < size; k++) {
		const size_t rank = (size_t)ranks[k];
		motion = s->motion[rank] > motion ? s->motion[rank] : motion;
		for (size_t d = 0; d < 3; d++)
			extend(c, (int)d, p->order->place[3 * rank + d] + s->until * s->direction[3 * rank + d]);
	}
	for (int d = 0; d < 3; d++) {
		const double wanted = s->slope * motion;
		const double by = s->margin + (wanted < s->most ? wanted : s->most) +
		                  corner_rounding * (fabs(c->low[d]) + fabs(c->high[d]));
		c->low[d] -= by;
		c->high[d] += by;
	}
	return motion;
}

/* The exponent of the largest extent. */
static int16_t exponent_of(const struct planting *p, const int32_t *ranks, int size)
{
	struct corners c = corners_of(p->order->place, ranks, size);
	double extent = 0;
	if (p->sweep)
		sweep_corners(p, ranks, size, &c);
	for (int d = 0; d < 3; d++)
		extent = c.high[d] - c.low[d] > extent ? c.high[d] - c.low[d] : extent;
	uint64_t bits;
	memcpy(&bits, &extent, sizeof(bits));
	return (int16_t)(bits >> 52);
}

/* Distances at which rows, vertices and ranks are fetched in advance: vertices may have any numbers. */
enum { FETCH_ROWS = 24, FETCH_VERTICES = 16, FETCH_RANKS = 8 };

INLINE void fetch(const struct planting *p, const uint32_t *from, const int32_t *vertices, size_t r, int size)
{
	const struct order *o = p->order;
	if (r + FETCH_ROWS >= o->n)
		return;
	__builtin_prefetch(&from[o->vertex[r + FETCH_ROWS]]);
	__builtin_prefetch(&vertices[(size_t)size * from[o->vertex[r + FETCH_VERTICES]]]);
	const size_t row = from[o->vertex[r + FETCH_RANKS]];
	if (row < p->tree->n)
		for (int k = 1; k < size; k++)
			__builtin_prefetch(&o->rank[vertices[(size_t)size * row + (size_t)k]]);
}

/* Primitives by their lowest vertex, in the order of vertices. all: `is_listed` is not used. @return the next number */
INLINE size_t find_at_vertex(struct planting *p, const uint32_t *from, const int32_t *vertices, size_t v, size_t n,
                             int size, bool all, int16_t extremes[2])
{
	const struct order *o = p->order;
	for (uint32_t row = from[v]; row < from[v + 1]; row++) {
		int32_t *ranks = p->found + n * (size_t)size;
		if (!all && !p->is_listed[row])
			continue;
		for (int k = 0; k < size; k++)
			ranks[k] = o->rank[vertices[(size_t)size * row + (size_t)k]];
		const int16_t exponent = exponent_of(p, ranks, size);
		p->exponents[n++] = exponent;
		extremes[0] = exponent < extremes[0] ? exponent : extremes[0];
		extremes[1] = exponent > extremes[1] ? exponent : extremes[1];
	}
	return n;
}

INLINE void find_by_vertices(struct planting *p, const uint32_t *from, const int32_t *vertices, size_t chunk,
                             size_t begin, size_t end, int size, bool all)
{
	int16_t extremes[2] = {INT16_MAX, INT16_MIN};
	size_t n = p->starts[chunk];
	for (size_t r = begin; r < end; r++) {
		if (all)
			fetch(p, from, vertices, r, size);
		n = find_at_vertex(p, from, vertices, (size_t)p->order->vertex[r], n, size, all, extremes);
	}
	p->extremes[2 * chunk] = extremes[0];
	p->extremes[2 * chunk + 1] = extremes[1];
}

static void find_chunk(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	struct planting *p = task;
	const struct fric_mesh *m = p->mesh;
	(void)fault;
	switch (p->kind) {
	case TREE_EDGES: find_by_vertices(p, m->edges_from, m->edges, chunk, begin, end, 2, true); break;
	case TREE_RODS: find_by_vertices(p, m->edges_from, m->edges, chunk, begin, end, 2, false); break;
	default: find_by_vertices(p, m->faces_from, m->faces, chunk, begin, end, 3, true);
	}
}

static void count_chunk(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	struct planting *p = task;
	const uint32_t *from = p->tree->size == 2 ? p->mesh->edges_from : p->mesh->faces_from;
	size_t n = 0;
	(void)fault;
	for (size_t r = begin; r < end; r++) {
		const size_t v = (size_t)p->order->vertex[r];
		n += p->is_listed ? 0 : from[v + 1] - from[v];
		for (uint32_t row = from[v]; row < from[v + 1] && p->is_listed; row++)
			n += p->is_listed[row];
	}
	p->starts[chunk] = n;
}

static void find_points(struct planting *p)
{
	size_t n = 0;
	for (size_t r = 0; r < p->order->n; r++)
		if (!p->is_listed || p->is_listed[p->order->vertex[r]])
			p->ranks[n++] = (int32_t)r;
}

static enum fric_code find_primitives(struct planting *p)
{
	const size_t n = n_chunks(p->order->n, FRIC_CHUNK);
	enum fric_code code = fricp_parallel_chunks(p->context, p->order->n, count_chunk, p).code;
	for (size_t chunk = 0, sum = 0; chunk < n && code == FRIC_OK; chunk++) {
		const size_t count = p->starts[chunk];
		p->starts[chunk] = sum;
		sum += count;
	}
	return code == FRIC_OK ? fricp_parallel_chunks(p->context, p->order->n, find_chunk, p).code : code;
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

/* Whether all primitives are in one class. */
static bool are_alike(const struct planting *p, int mean)
{
	int16_t low = INT16_MAX, high = INT16_MIN;
	for (size_t chunk = 0; chunk < n_chunks(p->order->n, FRIC_CHUNK); chunk++) {
		low = p->extremes[2 * chunk] < low ? p->extremes[2 * chunk] : low;
		high = p->extremes[2 * chunk + 1] > high ? p->extremes[2 * chunk + 1] : high;
	}
	return class_of(low, mean) == class_of(high, mean);
}

/* Moves primitives of each class together, otherwise in their order. */
static void separate_sizes(struct planting *p)
{
	const int mean = mean_exponent(p);
	if (are_alike(p, mean)) {
		p->ranks = p->found;
		return;
	}
	const size_t size = (size_t)p->tree->size;
	size_t at[CLASSES + 1] = {0};
	for (size_t i = 0; i < p->tree->n; i++)
		at[class_of(p->exponents[i], mean) + 1]++;
	for (int c = 0; c < CLASSES; c++)
		at[c + 1] += at[c];
	for (size_t i = 0; i < p->tree->n; i++)
		memcpy(p->ranks + size * at[class_of(p->exponents[i], mean)]++, p->found + size * i, size * sizeof(int32_t));
}

/* ---- boxes ---- */

INLINE void set_block(const struct planting *p, size_t block, int size)
{
	struct tree *t = p->tree;
	struct boxes *boxes = &t->level[0][block];
	struct tree_row *ends = t->ends + block * (size_t)size;
	const size_t begin = block * TREE_LANES, n = t->n - begin < TREE_LANES ? t->n - begin : TREE_LANES;
	for (size_t lane = 0; lane < TREE_LANES; lane++) {
		struct corners c = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
		const int32_t *ranks = p->ranks + (size_t)size * (begin + lane);
		double motion = 0;
		if (lane < n)
			c = corners_of(p->order->place, ranks, size);
		if (lane < n && p->sweep)
			motion = sweep_corners(p, ranks, size, &c);
		if (p->sweep)
			t->motion[begin + lane] = motion;
		for (int k = 0; k < size; k++)
			ends[k].lane[lane] = lane < n ? ranks[k] : -1;
		for (int d = 0; d < 3; d++) {
			boxes->low[d][lane] = c.low[d];
			boxes->high[d][lane] = c.high[d];
		}
	}
}

static void fill_leaves(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct planting *p = task;
	(void)chunk, (void)fault;
	for (size_t block = begin; block < end && p->tree->size == 1; block++)
		set_block(p, block, 1);
	for (size_t block = begin; block < end && p->tree->size == 2; block++)
		set_block(p, block, 2);
	for (size_t block = begin; block < end && p->tree->size == 3; block++)
		set_block(p, block, 3);
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

/* The boxes around the starts and the directions of a block of primitives; empty ones without a block. */
static void set_moving(const struct planting *p, size_t block, struct boxes *at, struct boxes *speed, size_t lane)
{
	const struct tree *t = p->tree;
	const struct tree_row *ends = t->ends + block * (size_t)t->size;
	struct corners places = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}}, ways = places;
	for (int i = 0; i < t->size * TREE_LANES && block < t->n_blocks[0]; i++) {
		const int32_t rank = ends[i / TREE_LANES].lane[i % TREE_LANES];
		for (int d = 0; d < 3 && rank >= 0; d++) {
			extend(&places, d, p->order->place[3 * (size_t)rank + (size_t)d]);
			extend(&ways, d, p->sweep->direction[3 * (size_t)rank + (size_t)d]);
		}
	}
	for (int d = 0; d < 3; d++) {
		at->low[d][lane] = places.low[d];
		at->high[d][lane] = places.high[d];
		speed->low[d][lane] = ways.low[d];
		speed->high[d][lane] = ways.high[d];
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
			if (!t->at[p->level])
				continue;
			struct boxes *at = &t->at[p->level][block], *speed = &t->speed[p->level][block];
			if (p->level == 1) {
				set_moving(p, inner, at, speed, lane);
			} else {
				set_around(inner < n ? &t->at[p->level - 1][inner] : NULL, at, (int)lane);
				set_around(inner < n ? &t->speed[p->level - 1][inner] : NULL, speed, (int)lane);
			}
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
	const bool is_long = t->sweep && t->sweep->is_long;
	if (t->sweep)
		t->motion = store_take(store, t->n_blocks[0] * TREE_LANES, sizeof(*t->motion));
	if (is_long)
		t->at[1] = store_take(store, 2 * (sum - t->n_blocks[0]), sizeof(*t->at[1]));
	if (store->failed)
		return FRIC_E_MEMORY;
	for (int level = 1; level < t->n_levels; level++) {
		t->level[level] = t->level[level - 1] + t->n_blocks[level - 1];
		if (is_long && level > 1)
			t->at[level] = t->at[level - 1] + t->n_blocks[level - 1];
		if (is_long)
			t->speed[level] = t->at[level] + (sum - t->n_blocks[0]);
	}
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
                          enum tree_kind kind, const struct sweep *sweep, struct store *store, struct tree *tree)
{
	*tree = (struct tree){.size = size_of(kind), .n = number_of(mesh, kind), .sweep = sweep};
	struct store scratch = {.memory = context->memory};
	struct planting p = {.context = context, .mesh = mesh, .order = order, .kind = kind, .sweep = sweep, .tree = tree};
	const size_t size = (size_t)tree->size;
	p.ranks = store_take(&scratch, tree->n * size, sizeof(*p.ranks));
	enum fric_code code = scratch.failed ? FRIC_E_MEMORY : list_rows(&p, &scratch);
	if (code == FRIC_OK && size == 1) {
		find_points(&p);
	} else if (code == FRIC_OK) {
		const size_t n = n_chunks(order->n, FRIC_CHUNK);
		p.found = store_take(&scratch, tree->n * size, sizeof(*p.found));
		p.exponents = store_take(&scratch, tree->n, sizeof(*p.exponents));
		p.starts = store_take(&scratch, n, sizeof(*p.starts));
		p.extremes = store_take(&scratch, 2 * n, sizeof(*p.extremes));
		code = scratch.failed ? FRIC_E_MEMORY : find_primitives(&p);
		if (code == FRIC_OK)
			separate_sizes(&p);
	}
	if (code == FRIC_OK)
		code = take_blocks(tree, store);
	if (code == FRIC_OK)
		code = fill(&p);
	store_give_from(&scratch, 0);
	return code;
}
