#include "core/geometry/features.h"

#include <float.h>
#include <string.h>

#include "core/base/types.h"
#include "core/geometry/exact.h"
#include "core/geometry/features_fast.h"
#include "core/motion/stencil.h"

/* The points of a contact in canonical order, and where they stand in its stencil. */
struct primitives {
	int dim;
	const double *p[FRIC_MAX_STENCIL];
	int bit[FRIC_MAX_STENCIL]; /* of the stencil's member */
};

static int sign_of(struct dd x)
{
	return (x.hi > 0) - (x.hi < 0);
}

/* The sign of (to - from) . e */
static int along(const struct primitives *s, int from, int to, const struct vec *e)
{
	const struct vec r = difference(s->dim, s->p[from], s->p[to]);
	return sign_of(dot(&r, e));
}

static struct vec between(const struct primitives *s, int from, int to)
{
	return difference(s->dim, s->p[from], s->p[to]);
}

/* The sign of (r x e) . n, with r from one point to another. */
static int across(const struct primitives *s, int from, int to, const struct vec *e, const struct vec *n)
{
	const struct vec r = between(s, from, to), c = cross(&r, e);
	return sign_of(dot(&c, n));
}

/* ---- a point and an edge ---- */

/* The members of edge e0 e1 that are closest to point v; e0 is the lower vertex. */
static unsigned on_edge(const struct primitives *s, int v, int e0, int e1)
{
	const struct vec e = between(s, e0, e1);
	const unsigned first = 1u << e0, second = 1u << e1;
	if (e.is_zero || along(s, e0, v, &e) <= 0)
		return first;
	return along(s, e1, v, &e) >= 0 ? second : first | second;
}

/* The squared distance of point v from its closest point on an edge, times 2^exponent, for comparisons. */
static struct dd squared_gap(const struct primitives *s, int v, int e0, int e1, int *exponent)
{
	const unsigned on = on_edge(s, v, e0, e1);
	const bool is_second = on == 1u << e1;
	const struct vec r = between(s, is_second ? e1 : e0, v), e = between(s, e0, e1), n = cross(&r, &e);
	if (on & (on - 1)) {
		const struct dd nn = dot(&n, &n), ee = dot(&e, &e);
		const double q = dd_quotient(nn, ee);
		const struct dd rest = dd_subtract(nn, dd_multiply(ee, (struct dd){q, 0}));
		*exponent = 2 * (n.exponent - e.exponent);
		return dd_fast_sum(q, rest.hi / ee.hi);
	}
	*exponent = 2 * r.exponent;
	return dot(&r, &r);
}

static bool is_less(struct dd a, int exponent_a, struct dd b, int exponent_b)
{
	const int by = exponent_a - exponent_b;
	const struct dd scaled = {scalbn(a.hi, by), scalbn(a.lo, by)};
	return sign_of(dd_subtract(scaled, b)) < 0;
}

/* A point and an edge, which the other side may take from. */
struct candidate {
	int8_t v, e0, e1;
};

/* The members of the first candidate with the smallest distance. */
static unsigned nearest(const struct primitives *s, const struct candidate *candidates, int n)
{
	int best = 0, least_exponent = 0;
	struct dd least = {0, 0};
	for (int k = 0; k < n; k++) {
		int exponent;
		const struct dd gap = squared_gap(s, candidates[k].v, candidates[k].e0, candidates[k].e1, &exponent);
		if (k > 0 && !is_less(gap, exponent, least, least_exponent))
			continue;
		best = k;
		least = gap;
		least_exponent = exponent;
	}
	return 1u << candidates[best].v | on_edge(s, candidates[best].v, candidates[best].e0, candidates[best].e1);
}

/* ---- two edges ---- */

/* The ends of edges, each with the edge on the other side: a0-b, a1-b, b0-a, b1-a. */
static const struct candidate ends[4] = {{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}};

/* Parallel edges: on overlapping ones, the first end whose foot is on the other edge is as near as any. */
static unsigned overlapping_edges(const struct primitives *s)
{
	for (int k = 0; k < 4; k++) {
		const struct candidate c = ends[k];
		const struct vec e = between(s, c.e0, c.e1);
		if (along(s, c.e0, c.v, &e) >= 0 && along(s, c.e1, c.v, &e) <= 0)
			return 1u << c.v | on_edge(s, c.v, c.e0, c.e1);
	}
	return 0;
}

/* The conditions of a minimum at two vertices. */
static unsigned two_ends(const struct primitives *s, const struct vec *a, const struct vec *b)
{
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++) {
			const int by_a = along(s, i, 2 + j, a), by_b = along(s, i, 2 + j, b);
			if ((i == 0 ? by_a <= 0 : by_a >= 0) && (j == 0 ? by_b >= 0 : by_b <= 0))
				return 1u << i | 4u << j;
		}
	return 0;
}

/* The conditions of a minimum at a vertex of one edge and inside the other one. */
static unsigned end_and_edge(const struct primitives *s, const struct vec *a, const struct vec *b, const struct vec *n)
{
	for (int k = 0; k < 4; k++) {
		const bool of_a = k < 2, is_start = k % 2 == 0;
		const struct vec *other = of_a ? b : a;
		const int beyond = across(s, of_a ? k : 0, of_a ? 2 : k, other, n);
		if (is_start ? beyond > 0 : beyond < 0)
			continue;
		if (along(s, ends[k].e0, k, other) > 0 && along(s, ends[k].e1, k, other) < 0)
			return 1u << k | 1u << ends[k].e0 | 1u << ends[k].e1;
	}
	return 0;
}

static unsigned on_edges(const struct primitives *s)
{
	const struct vec a = between(s, 0, 1), b = between(s, 2, 3), n = cross(&a, &b);
	if (a.is_zero)
		return 1u | on_edge(s, 0, 2, 3);
	if (b.is_zero)
		return 1u << 2 | on_edge(s, 2, 0, 1);
	unsigned members = 0;
	if (sign_of(dot(&n, &n)) == 0)
		members = overlapping_edges(s);
	if (!members)
		members = two_ends(s, &a, &b);
	if (!members)
		members = end_and_edge(s, &a, &b, &n);
	if (!members)
		members = n.is_zero ? nearest(s, ends, 4) : 15;
	return members;
}

/* ---- a point and a triangle ---- */

/* The triangle's edges t0 t1, t1 t2, t2 t0. */
static const int edges[3][2] = {{1, 2}, {2, 3}, {3, 1}};

/* The vertices of a triangle lie on a line, parallel to e: the vertex at the foot of the point, or the first edge that
 * contains it. @return 0 if the foot is outside */
static unsigned on_line(const struct primitives *s, const struct vec *e)
{
	int at[FRIC_MAX_STENCIL];
	for (int k = 1; k < 4; k++)
		at[k] = along(s, k, 0, e);
	for (int k = 1; k < 4; k++)
		if (at[k] == 0)
			return 1u | 1u << k;
	for (int k = 0; k < 3; k++)
		if (at[edges[k][0]] != at[edges[k][1]])
			return 1u | 1u << edges[k][0] | 1u << edges[k][1];
	return 0;
}

static bool is_beyond(const struct primitives *s, int from, int to)
{
	const struct vec e = between(s, from, to);
	return along(s, from, 0, &e) <= 0;
}

static unsigned on_vertex(const struct primitives *s)
{
	for (int k = 0; k < 3; k++)
		if (is_beyond(s, 1 + k, 1 + (k + 1) % 3) && is_beyond(s, 1 + k, 1 + (k + 2) % 3))
			return 1u | 2u << k;
	return 0;
}

static unsigned on_side(const struct primitives *s, const struct vec *n)
{
	for (int k = 0; k < 3; k++) {
		const int from = edges[k][0], to = edges[k][1];
		const struct vec e = between(s, from, to);
		/* (e x r) . n <= 0 beyond the edge */
		if (across(s, from, 0, &e, n) >= 0 && along(s, from, 0, &e) > 0 && along(s, to, 0, &e) < 0)
			return 1u | 1u << from | 1u << to;
	}
	return 0;
}

static bool coincide(const struct primitives *s, int k, int l)
{
	return k == l || between(s, k, l).is_zero;
}

/* The lowest of the triangle's vertices that coincide with vertex k. */
static int lowest_at(const struct primitives *s, const int32_t *vertices, int k)
{
	int lowest = k;
	for (int l = 1; l < 4; l++)
		if (coincide(s, k, l) && vertices[l] < vertices[lowest])
			lowest = l;
	return lowest;
}

/* A triangle with an edge of no length is the first edge that has a length, and the lower of two vertices in one place.
 * @return 0 if there is no such edge */
static unsigned on_merged(const struct primitives *s, const int32_t *vertices)
{
	bool merged = false;
	for (int k = 0; k < 3; k++)
		merged |= coincide(s, edges[k][0], edges[k][1]);
	for (int k = 0; k < 3 && merged; k++) {
		const int from = edges[k][0], to = edges[k][1];
		if (coincide(s, from, to))
			continue;
		const unsigned on = on_edge(s, 0, from, to);
		return 1u | (on & (on - 1) ? on : 1u << lowest_at(s, vertices, on == 1u << from ? from : to));
	}
	return merged ? 1u | 1u << lowest_at(s, vertices, 1) : 0;
}

static unsigned on_triangle(const struct primitives *s, const int32_t *vertices)
{
	static const struct candidate sides[3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}};
	const struct vec a = between(s, 1, 2), b = between(s, 1, 3), n = cross(&a, &b);
	unsigned members = on_merged(s, vertices);
	if (!members)
		members = on_vertex(s);
	if (!members && sign_of(dot(&n, &n)) == 0)
		members = on_line(s, &a);
	if (!members)
		members = on_side(s, &n);
	if (!members)
		members = n.is_zero ? nearest(s, sides, 3) : 15;
	return members;
}

/* ---- any type ---- */

static void exchange(struct primitives *s, int i, int j)
{
	const double *p = s->p[i];
	const int bit = s->bit[i];
	s->p[i] = s->p[j];
	s->bit[i] = s->bit[j];
	s->p[j] = p;
	s->bit[j] = bit;
}

static int lower(int a, int b)
{
	return a < b ? a : b;
}

static int higher(int a, int b)
{
	return a > b ? a : b;
}

/* Whether edge b b' precedes edge a a' in lexical order, lower vertices first. */
static bool precedes(int b0, int b1, int a0, int a1)
{
	const int low_a = lower(a0, a1), low_b = lower(b0, b1);
	return low_b != low_a ? low_b < low_a : higher(b0, b1) < higher(a0, a1);
}

static struct primitives primitives_of(enum fric_type type, int dim, const double *const p[], const int32_t *v)
{
	struct primitives s = {.dim = dim};
	for (int k = 0; k < FRIC_MAX_STENCIL; k++) {
		s.p[k] = p[k < stencil_size_of(type) ? k : 0];
		s.bit[k] = k;
	}
	if (geometry_of(type) == POINT_LINE && v[2] < v[1])
		exchange(&s, 1, 2);
	if (geometry_of(type) != TWO_LINES)
		return s;
	if (v[1] < v[0])
		exchange(&s, 0, 1);
	if (v[3] < v[2])
		exchange(&s, 2, 3);
	if (precedes(v[2], v[3], v[0], v[1])) {
		exchange(&s, 0, 2);
		exchange(&s, 1, 3);
	}
	return s;
}

static bool differences_fit(enum fric_type type, int dim, const double *const p[])
{
	bool fit = true;
	for (int d = 0; d < dim; d++) {
		double low = p[0][d], high = low;
		for (int k = 1; k < stencil_size_of(type); k++) {
			low = fmin(low, p[k][d]);
			high = fmax(high, p[k][d]);
		}
		fit &= isfinite(high - low) != 0;
	}
	return fit;
}

static unsigned exact_feature(enum fric_type type, int dim, const double *const p[], const int32_t *vertices)
{
	const struct primitives s = primitives_of(type, dim, p, vertices);
	unsigned found = 0, members = 0;
	if (!differences_fit(type, dim, p))
		return 0;
	switch (geometry_of(type)) {
	case POINT_LINE: found = 1u | on_edge(&s, 0, 1, 2); break;
	case TWO_LINES: found = on_edges(&s); break;
	default: found = on_triangle(&s, vertices); break;
	}
	for (int k = 0; k < stencil_size_of(type); k++)
		if (found & 1u << k)
			members |= 1u << s.bit[k];
	return members;
}

static struct v3 point(int dim, const double *p)
{
	return (struct v3){p[0], p[1], dim == 3 ? p[2] : 0};
}

unsigned fricp_closest_feature(enum fric_type type, int dim, const double *const p[FRIC_MAX_STENCIL],
                               const int32_t *vertices)
{
	struct fast_feature f = {(1 << stencil_size_of(type)) - 1, true};
	if (geometry_of(type) == POINT_LINE)
		f = fast_edge_vertex_feature(point(dim, p[0]), point(dim, p[1]), point(dim, p[2]));
	if (geometry_of(type) == TWO_LINES)
		f = fast_edge_edge_feature(point(dim, p[0]), point(dim, p[1]), point(dim, p[2]), point(dim, p[3]));
	if (geometry_of(type) == POINT_TRIANGLE)
		f = fast_face_vertex_feature(point(dim, p[0]), point(dim, p[1]), point(dim, p[2]), point(dim, p[3]));
	return f.certain ? (unsigned)f.members : exact_feature(type, dim, p, vertices);
}

bool fricp_edges_within(const double *const p[FRIC_MAX_STENCIL], double limit)
{
	static const double rounding = 0x1p-40;
	const struct v3 a = v3_minus(point(3, p[1]), point(3, p[0])), b = v3_minus(point(3, p[3]), point(3, p[2]));
	const struct v3 n = v3_cross(a, b);
	const double c = v3_dot(n, n), size = v3_dot(a, a) * v3_dot(b, b);
	if (fabs(c - limit) > rounding * size && size > 0x1p-900)
		return c < limit;
	const struct vec first = difference(3, p[0], p[1]), second = difference(3, p[2], p[3]);
	if (!first.finite || !second.finite)
		return false;
	const struct vec across_both = cross(&first, &second);
	const struct dd squared = dot(&across_both, &across_both);
	const int by = 2 * across_both.exponent;
	return sign_of(dd_subtract((struct dd){scalbn(squared.hi, by), scalbn(squared.lo, by)}, (struct dd){limit, 0})) < 0;
}

/* ---- the feature as a contact ---- */

/* The type of a contact of these numbers of members on its sides. */
static enum fric_type type_of(enum fric_type type, int first, int second)
{
	if (faces_world(type) || first + second == stencil_size_of(type))
		return type;
	return first + second == 2 ? FRIC_VERTEX_VERTEX : FRIC_EDGE_VERTEX;
}

/* Members of one side, in the order of the stencil; n of them. */
struct side_members {
	int n;
	int8_t member[3];
};

static void sort_edge(struct side_members *side, const int32_t *vertices)
{
	if (side->n == 2 && vertices[side->member[1]] < vertices[side->member[0]]) {
		const int8_t m = side->member[0];
		side->member[0] = side->member[1];
		side->member[1] = m;
	}
}

/* Whether the second side comes first in canonical order. */
static bool comes_first(const struct side_members *second, const struct side_members *first, const int32_t *v)
{
	if (first->n != second->n)
		return second->n < first->n;
	const int last = first->n - 1;
	return precedes(v[second->member[0]], v[second->member[last]], v[first->member[0]], v[first->member[last]]);
}

/* Derives the coordinate of member k of the stencil from the feature's closest point. */
static struct feature_coordinate coordinate_of(const struct feature *f, int k)
{
	const struct member *members = stencil_members(f->type);
	for (int l = 0; l < stencil_size_of(f->type); l++) {
		if (f->member[l] != k)
			continue;
		for (int other = 0; members[l].origin == l && other < stencil_size_of(f->type); other++)
			if (other != l && members[other].origin == l)
				return (struct feature_coordinate){1, -1, (int8_t)members[other].coordinate};
		return members[l].origin == l ? (struct feature_coordinate){1, 0, 0}
		                              : (struct feature_coordinate){0, 1, (int8_t)members[l].coordinate};
	}
	return (struct feature_coordinate){0, 0, 0};
}

struct feature fricp_feature_of(enum fric_type type, unsigned members, const int32_t *vertices)
{
	struct feature f = {.type = type, .member = {0, 1, 2, 3}};
	struct side_members side[2] = {{0}, {0}};
	for (int k = 0; k < stencil_size_of(type); k++)
		if (members & 1u << k) {
			struct side_members *s = &side[stencil_members(type)[k].sign < 0];
			s->member[s->n++] = (int8_t)k;
		}
	f.type = type_of(type, side[0].n, side[1].n);
	for (int s = 0; s < 2; s++)
		sort_edge(&side[s], vertices);
	f.exchanged = side[1].n && comes_first(&side[1], &side[0], vertices);
	for (int s = 0, at = 0; s < 2; s++)
		for (int k = 0; k < side[s != f.exchanged].n; k++)
			f.member[at++] = side[s != f.exchanged].member[k];
	for (int k = 0; k < stencil_size_of(type); k++) {
		const struct member m = stencil_members(type)[k];
		if (m.origin != k)
			f.coordinate[m.coordinate] = coordinate_of(&f, k);
	}
	f.without_origin = f.coordinate[0].slope && f.coordinate[1].slope && geometry_of(f.type) == POINT_LINE;
	return f;
}

/* ---- all features of a type ---- */

static unsigned n_on(unsigned side)
{
	return (side & 1) + (side >> 1 & 1) + (side >> 2 & 1) + (side >> 3 & 1);
}

/* The members of the second side. */
static unsigned second_side(enum fric_type type)
{
	unsigned side = 0;
	for (int k = 0; k < stencil_size_of(type); k++)
		side |= stencil_members(type)[k].sign < 0 ? 1u << k : 0;
	return side;
}

static int lowest_bit(unsigned members)
{
	int bit = 0;
	while (!(members >> bit & 1))
		bit++;
	return bit;
}

/* The two members whose order matters: the vertices of two sides, or of the edge that faces a vertex. */
static void find_compared(struct feature_table *table, unsigned members, unsigned first, unsigned second)
{
	const unsigned edge = n_on(first) == 2 ? first : second;
	if (n_on(first) == 1 && n_on(second) == 1) {
		table->first[members] = (uint8_t)lowest_bit(first);
		table->second[members] = (uint8_t)lowest_bit(second);
	} else if (n_on(members) == 3) {
		table->first[members] = (uint8_t)lowest_bit(edge);
		table->second[members] = (uint8_t)lowest_bit(edge & (edge - 1));
	}
}

/* Lists the features of some members, from indices in every order that matters. */
static void list_orders(enum fric_type type, unsigned members, struct feature_table *table)
{
	static const int32_t two_edges[8][4] = {{0, 1, 2, 3}, {1, 0, 2, 3}, {0, 1, 3, 2}, {1, 0, 3, 2},
	                                        {2, 3, 0, 1}, {3, 2, 0, 1}, {2, 3, 1, 0}, {3, 2, 1, 0}};
	const int first = table->first[members], second = table->second[members];
	if (table->two_edges && members == 15) {
		for (int order = 0; order < 8; order++)
			table->of[members][order] = fricp_feature_of(type, members, two_edges[order]);
		return;
	}
	for (int order = 0; order < (first == second ? 1 : 2); order++) {
		int32_t v[FRIC_MAX_STENCIL] = {0, 1, 2, 3};
		v[first] = order ? 5 : 4;
		v[second] = order ? 4 : 5;
		table->of[members][order] = fricp_feature_of(type, members, v);
	}
}

void fricp_list_features(enum fric_type type, struct feature_table *table)
{
	const unsigned all = (1u << stencil_size_of(type)) - 1, second = second_side(type) & all, first = all & ~second;
	memset(table->first, 0, sizeof(table->first));
	memset(table->second, 0, sizeof(table->second));
	table->two_edges = geometry_of(type) == TWO_LINES;
	table->of[0][0] = whole_stencil(type);
	for (unsigned members = 1; members <= all && second; members++) {
		if (!(members & first) || !(members & second))
			continue;
		find_compared(table, members, members & first, members & second);
		list_orders(type, members, table);
	}
}
