#include "core/find/order.h"

#include <math.h>

#include "core/base/inline.h"
#include "core/base/parallel.h"

enum { AXIS_BITS = 21, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, N_DIGITS = 6 };

/* A vertex and its place on the curve. */
struct item {
	uint64_t key;
	int64_t vertex;
};

struct ordering {
	const struct fric_context *context;
	size_t dim;
	const double *positions;
	struct item *items, *other; /* [n] */
	double low[3], scale;       /* halves of the lowest coordinates; cells per half of a length */
};

/* ---- keys ---- */

/* Coordinates to the bits of the place on the curve (Skilling 2004), without branches so that a loop vectorises. */
INLINE void to_curve(uint32_t x[3])
{
	UNROLL
	for (int bit = AXIS_BITS - 1; bit > 0; bit--) {
		const uint32_t below = (1u << bit) - 1;
		for (int i = 0; i < 3; i++) {
			const uint32_t is_set = 0u - (x[i] >> bit & 1u), exchanged = (x[0] ^ x[i]) & below & ~is_set;
			x[0] ^= exchanged | (is_set & below);
			x[i] ^= exchanged;
		}
	}
	x[1] ^= x[0];
	x[2] ^= x[1];
	uint32_t t = x[2] ^ (x[2] >> 1);
	t ^= t >> 2;
	t ^= t >> 4;
	t ^= t >> 8;
	t ^= t >> 16;
	t = (t >> 1); /* bits above an odd number of ones */
	for (int i = 0; i < 3; i++)
		x[i] ^= t;
}

/* Two zeros between any two bits. */
INLINE uint64_t spread(uint64_t x)
{
	x = (x | x << 32) & 0x1f00000000ffffu;
	x = (x | x << 16) & 0x1f0000ff0000ffu;
	x = (x | x << 8) & 0x100f00f00f00f00fu;
	x = (x | x << 4) & 0x10c30c30c30c30c3u;
	return (x | x << 2) & 0x1249249249249249u;
}

enum { KEYS_AT_A_TIME = 64 };

static void set_keys(const struct ordering *o, struct item *items, size_t n)
{
	const double last = (1 << AXIS_BITS) - 1;
	for (size_t begin = 0; begin < n; begin += KEYS_AT_A_TIME) {
		const size_t count = n - begin < KEYS_AT_A_TIME ? n - begin : KEYS_AT_A_TIME;
		uint32_t x[3][KEYS_AT_A_TIME] = {{0}};
		uint64_t key[KEYS_AT_A_TIME];
		for (size_t d = 0; d < o->dim; d++)
			for (size_t i = 0; i < count; i++) {
				const double at = (o->positions[(size_t)items[begin + i].vertex * o->dim + d] / 2 - o->low[d]) *
				                  o->scale;
				x[d][i] = at > 0 ? (uint32_t)(at < last ? at : last) : 0;
			}
#pragma omp simd
		for (int i = 0; i < KEYS_AT_A_TIME; i++) {
			uint32_t cell[3] = {x[0][i], x[1][i], x[2][i]};
			to_curve(cell);
			key[i] = spread(cell[0]) << 2 | spread(cell[1]) << 1 | spread(cell[2]);
		}
		for (size_t i = 0; i < count; i++)
			items[begin + i].key = key[i];
	}
}

/* The box of some vertices: a cube, as flat boxes have no use for many cells across. Halves, so that nothing overflows.
 * @return whether it has an extent */
static bool set_box(struct ordering *o, const struct item *items, size_t n)
{
	double extent = 0;
	for (size_t d = 0; d < o->dim; d++) {
		double low = INFINITY, high = -INFINITY;
		for (size_t i = 0; i < n; i++) {
			const double x = o->positions[(size_t)items[i].vertex * o->dim + d];
			low = x < low ? x : low;
			high = x > high ? x : high;
		}
		o->low[d] = low / 2;
		extent = fmax(extent, high / 2 - low / 2);
	}
	o->scale = (1 << AXIS_BITS) / extent;
	return extent > 0;
}

/* ---- sorting ---- */

struct digits {
	uint32_t count[N_DIGITS][DIGITS];
};

static size_t digit_of(uint64_t key, int digit)
{
	return key >> (digit * DIGIT_BITS) & (DIGITS - 1);
}

/* Sorts by key, stably; digits that all keys share take no time. The result is in `items`. */
static enum fric_code sort_items(struct ordering *o, struct item *items, struct item *other, size_t n,
                                 struct digits *digits)
{
	struct item *from = items, *to = other;
	memset(digits, 0, sizeof(*digits));
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < N_DIGITS; k++)
			digits->count[k][digit_of(items[i].key, k)]++;
	for (int k = 0; k < N_DIGITS; k++) {
		uint32_t *count = digits->count[k], sum = 0;
		if (count[digit_of(items[0].key, k)] == n)
			continue;
		if (fricp_stop_raised(o->context))
			return FRIC_E_STOPPED;
		for (size_t d = 0; d < DIGITS; d++) {
			const uint32_t c = count[d];
			count[d] = sum;
			sum += c;
		}
		for (size_t i = 0; i < n; i++)
			to[count[digit_of(from[i].key, k)]++] = from[i];
		struct item *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, n * sizeof(*items));
	return FRIC_OK;
}

enum { FEW = 64, DEEPEST = 64 };

/* Orders a range of items. Many in one cell, of which the curve knows nothing, are ordered in a box of their own: so
 * clusters of any size are resolved. */
static enum fric_code order_range(struct ordering *o, size_t begin, size_t n, int depth, struct digits *digits)
{
	struct item *items = o->items + begin;
	if (!set_box(o, items, n))
		return FRIC_OK;
	set_keys(o, items, n);
	enum fric_code code = sort_items(o, items, o->other + begin, n, digits);
	for (size_t i = 0, end; i < n && code == FRIC_OK && depth < DEEPEST; i = end) {
		for (end = i + 1; end < n && items[end].key == items[i].key;)
			end++;
		if (end - i > FEW && end - i < n)
			code = order_range(o, begin + i, end - i, depth + 1, digits);
	}
	return code;
}

/* ---- the order ---- */

static void set_order(const struct ordering *o, struct order *order)
{
	for (size_t i = 0; i < order->n; i++) {
		const size_t v = (size_t)o->items[i].vertex;
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
		o.items[i] = (struct item){0, listed[i]};
	if (code == FRIC_OK && n > 0)
		code = order_range(&o, 0, n, 0, digits);
	if (code == FRIC_OK)
		set_order(&o, order);
	store_give_from(&scratch, 0);
	return code;
}
