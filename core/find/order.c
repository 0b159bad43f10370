#include "core/find/order.h"

#include <math.h>

#include "core/base/inline.h"
#include "core/base/parallel.h"
#include "core/find/sort.h"

/* An item is the place of a vertex on the curve, then the vertex. */
enum { AXIS_BITS = 11, VERTEX_BITS = 31, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, N_DIGITS = 3 };
static const uint64_t vertex_mask = (1u << VERTEX_BITS) - 1;

struct ordering {
	const struct fric_context *context;
	size_t dim;
	const double *positions;
	uint64_t *items, *other; /* [n] */
	double low[3], scale;    /* halves of the lowest coordinates; cells per half of a length */
};

/* ---- places on the curve ---- */

enum { PLACED_AT_A_TIME = 64 };

struct cells {
	uint32_t x[3][PLACED_AT_A_TIME];
};

/* Turns coordinates into the bits of places on the curve, those of an axis in one word (Skilling 2004). Loops over
 * vertices are innermost and free of branches, so that they vectorise. */
static void transform(struct cells *cells, int dim)
{
	uint32_t *x0 = cells->x[0];
	for (int bit = AXIS_BITS - 1; bit > 0; bit--) {
		const uint32_t below = (1u << bit) - 1;
		for (int k = 0; k < dim; k++) {
			uint32_t *x = cells->x[k];
			INDEPENDENT
			for (int i = 0; i < PLACED_AT_A_TIME; i++) {
				const uint32_t is_set = 0u - (x[i] >> bit & 1u), exchanged = (x0[i] ^ x[i]) & below & ~is_set;
				x[i] ^= exchanged;
				x0[i] ^= k == 0 ? is_set & below : exchanged | (is_set & below);
			}
		}
	}
	for (int i = 0; i < PLACED_AT_A_TIME; i++) {
		for (int k = 1; k < dim; k++)
			cells->x[k][i] ^= cells->x[k - 1][i];
		uint32_t t = cells->x[dim - 1][i];
		t ^= t >> 1;
		t ^= t >> 2;
		t ^= t >> 4;
		t ^= t >> 8;
		t >>= 1; /* bits below an odd number of ones */
		for (int k = 0; k < dim; k++)
			cells->x[k][i] ^= t;
	}
}

/* Two zeros between any two bits. */
INLINE uint64_t spread(uint64_t x)
{
	x = (x | x << 16) & 0xff0000ffu;
	x = (x | x << 8) & 0x0f00f00fu;
	x = (x | x << 4) & 0xc30c30c3u;
	return (x | x << 2) & 0x249249249u;
}

/* Places n items, at most PLACED_AT_A_TIME. */
static void place_few(const struct ordering *o, uint64_t *items, size_t n)
{
	const double last = (1 << AXIS_BITS) - 1;
	struct cells cells = {{{0}}};
	for (size_t i = 0; i < n; i++) {
		const double *p = o->positions + (items[i] & vertex_mask) * o->dim;
		for (size_t d = 0; d < o->dim; d++) {
			const double at = (p[d] / 2 - o->low[d]) * o->scale;
			cells.x[d][i] = at > 0 ? (uint32_t)(int32_t)(at < last ? at : last) : 0;
		}
	}
	transform(&cells, (int)o->dim);
	for (size_t i = 0; i < n; i++)
		items[i] = (spread(cells.x[0][i]) << 2 | spread(cells.x[1][i]) << 1 | spread(cells.x[2][i])) << VERTEX_BITS |
		           (items[i] & vertex_mask);
}

static void place(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct ordering *o = task;
	(void)chunk, (void)fault;
	for (size_t at = begin; at < end; at += PLACED_AT_A_TIME)
		place_few(o, o->items + at, end - at < PLACED_AT_A_TIME ? end - at : PLACED_AT_A_TIME);
}

/* The box of some vertices: a cube, because flat boxes need few cells across. Halves, so that nothing overflows.
 * @return whether it has an extent */
static bool set_box(struct ordering *o, const uint64_t *items, size_t n)
{
	double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, extent = 0;
	for (size_t i = 0; i < n; i++) {
		const double *p = o->positions + (items[i] & vertex_mask) * o->dim;
		for (size_t d = 0; d < o->dim && d < 3; d++) {
			low[d] = p[d] < low[d] ? p[d] : low[d];
			high[d] = p[d] > high[d] ? p[d] : high[d];
		}
	}
	for (size_t d = 0; d < o->dim && d < 3; d++) {
		o->low[d] = low[d] / 2;
		extent = fmax(extent, high[d] / 2 - low[d] / 2);
	}
	o->scale = (1 << AXIS_BITS) / extent;
	return extent > 0;
}

/* ---- sorting ---- */

struct digits {
	uint32_t count[N_DIGITS][DIGITS];
};

static size_t digit_of(uint64_t item, int digit)
{
	return item >> (VERTEX_BITS + digit * DIGIT_BITS) & (DIGITS - 1);
}

/* Ranges of up to LEAST items keep their order, those of up to FEW are sorted by insertion. */
enum { LEAST = 8, FEW = 32, DEEPEST = 100 };

/* Sorts by place and, as it is stable, by vertex; digits that all items share take no time. The result is in `items`. */
static enum fric_code sort_items(const struct ordering *o, uint64_t *items, uint64_t *other, size_t n,
                                 struct digits *digits)
{
	uint64_t *from = items, *to = other;
	memset(digits, 0, sizeof(*digits));
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < N_DIGITS; k++)
			digits->count[k][digit_of(items[i], k)]++;
	for (int k = 0; k < N_DIGITS; k++) {
		uint32_t *count = digits->count[k], sum = 0;
		if (count[digit_of(items[0], k)] == n)
			continue;
		if (fricp_stop_raised(o->context))
			return FRIC_E_STOPPED;
		for (size_t d = 0; d < DIGITS; d++) {
			const uint32_t c = count[d];
			count[d] = sum;
			sum += c;
		}
		for (size_t i = 0; i < n; i++)
			to[count[digit_of(from[i], k)]++] = from[i];
		uint64_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, n * sizeof(*items));
	return FRIC_OK;
}

static enum fric_code order_range(struct ordering *o, size_t begin, size_t n, int depth, struct digits *digits);

/* The curve does not distinguish the items of a cell. They are ordered in a box of their own, which resolves clusters
 * of any size. */
static enum fric_code order_cells(struct ordering *o, size_t begin, size_t n, int depth, struct digits *digits)
{
	const uint64_t *items = o->items + begin;
	enum fric_code code = FRIC_OK;
	for (size_t i = 0, end; i < n && code == FRIC_OK; i = end) {
		for (end = i + 1; end < n && items[end] >> VERTEX_BITS == items[i] >> VERTEX_BITS;)
			end++;
		if (end - i > LEAST && end - i < n)
			code = order_range(o, begin + i, end - i, depth + 1, digits);
	}
	return code;
}

static enum fric_code order_range(struct ordering *o, size_t begin, size_t n, int depth, struct digits *digits)
{
	uint64_t *items = o->items + begin;
	enum fric_code code = FRIC_OK;
	if (!set_box(o, items, n))
		return FRIC_OK;
	if (depth == 0)
		code = fricp_parallel_chunks(o->context, n, place, o).code;
	for (size_t i = 0; i < n && depth > 0; i += PLACED_AT_A_TIME)
		place_few(o, items + i, n - i < PLACED_AT_A_TIME ? n - i : PLACED_AT_A_TIME);
	if (n <= FEW)
		sort_few(items, n, sizeof(*items), number_before, NULL);
	else if (code == FRIC_OK)
		code = sort_items(o, items, o->other + begin, n, digits);
	return code == FRIC_OK && depth < DEEPEST ? order_cells(o, begin, n, depth, digits) : code;
}

/* ---- the order ---- */

struct setting {
	const struct ordering *ordering;
	struct order *order;
};

static void set_order(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct setting *s = task;
	const struct ordering *o = s->ordering;
	struct order *order = s->order;
	(void)chunk, (void)fault;
	for (size_t i = begin; i < end; i++) {
		const size_t v = o->items[i] & vertex_mask;
		order->vertex[i] = (int32_t)v;
		order->rank[v] = (int32_t)i;
		for (size_t d = 0; d < 3; d++)
			order->place[3 * i + d] = d < o->dim ? o->positions[v * o->dim + d] : 0;
	}
}

enum fric_code fricp_order(const struct fric_context *context, int dim, size_t n_vertices, const double *positions,
                           const int32_t *listed, size_t n, struct store *store, struct order *order)
{
	struct store scratch = {.memory = context->memory};
	struct ordering o = {.context = context, .dim = (size_t)dim, .positions = positions};
	o.items = store_take(&scratch, n, sizeof(*o.items));
	o.other = store_take(&scratch, n, sizeof(*o.other));
	struct digits *digits = store_take(&scratch, 1, sizeof(*digits));
	order->n = n;
	order->vertex = store_take(store, n, sizeof(*order->vertex));
	order->rank = store_take(store, n_vertices, sizeof(*order->rank));
	order->place = store_take(store, 3 * n, sizeof(*order->place));
	enum fric_code code = scratch.failed || store->failed ? FRIC_E_MEMORY : FRIC_OK;
	for (size_t i = 0; i < n && code == FRIC_OK; i++)
		o.items[i] = (uint64_t)listed[i];
	if (code == FRIC_OK && n > 0)
		code = order_range(&o, 0, n, 0, digits);
	if (code == FRIC_OK)
		code = fricp_parallel_chunks(context, n, set_order, &(struct setting){&o, order}).code;
	store_give_from(&scratch, 0);
	return code;
}
