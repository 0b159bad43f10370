#include "core/geometry/features.h"

#include "core/geometry/geometry.h"
#include "core/motion/stencil.h"
#include "tests/property/scene.h"
#include "tests/share.h"
#include "tests/unit/core/exact.h"

/* ---- every feature of contacts whose coordinates are small integers, in exact rationals ---- */

struct point {
	int64_t x[3];
};

static struct point minus(struct point a, struct point b)
{
	return (struct point){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

static int64_t times(struct point a, struct point b)
{
	return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static struct point normal_of(struct point a, struct point b)
{
	return (struct point){
		{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

/* A squared distance, over > 0; over 0: the feature has no closest point inside. */
struct ratio {
	int64_t top, over;
};

__extension__ typedef __int128 wide;

static int compare(struct ratio a, struct ratio b)
{
	const wide left = (wide)a.top * b.over, right = (wide)b.top * a.over;
	return (left > right) - (left < right);
}

static struct ratio of_points(struct point p, struct point q)
{
	return (struct ratio){times(minus(p, q), minus(p, q)), 1};
}

static struct ratio of_edge(struct point p, struct point e0, struct point e1)
{
	const struct point e = minus(e1, e0), r = minus(p, e0);
	const int64_t ee = times(e, e), along = times(r, e);
	return along > 0 && along < ee ? (struct ratio){times(r, r) * ee - along * along, ee} : (struct ratio){0, 0};
}

static struct ratio of_edges(struct point a0, struct point a1, struct point b0, struct point b1)
{
	const struct point a = minus(a1, a0), b = minus(b1, b0), r = minus(b0, a0), n = normal_of(a, b);
	const int64_t nn = times(n, n), s = times(normal_of(r, b), n), t = times(normal_of(r, a), n);
	const bool inside = s > 0 && s < nn && t > 0 && t < nn;
	return inside ? (struct ratio){times(r, n) * times(r, n), nn} : (struct ratio){0, 0};
}

static struct ratio of_triangle(struct point p, struct point t0, struct point t1, struct point t2)
{
	const struct point a = minus(t1, t0), b = minus(t2, t0), r = minus(p, t0), n = normal_of(a, b);
	const int64_t nn = times(n, n), w1 = times(normal_of(r, b), n), w2 = times(normal_of(a, r), n);
	const bool inside = w1 > 0 && w2 > 0 && w1 + w2 < nn;
	return inside ? (struct ratio){times(r, n) * times(r, n), nn} : (struct ratio){0, 0};
}

struct best {
	unsigned members;
	struct ratio gap;
};

/* Takes a feature if it is nearer than all before. */
static void offer(struct best *best, unsigned members, struct ratio gap)
{
	if (gap.over > 0 && (!best->members || compare(gap, best->gap) < 0))
		*best = (struct best){members, gap};
}

struct whole {
	enum fric_type type;
	struct point p[4];
	int32_t vertices[4];
	bool dropped[4]; /* the higher vertex of an edge of no length */
};

static void drop(struct whole *c, int k, int l)
{
	if (times(minus(c->p[k], c->p[l]), minus(c->p[k], c->p[l])) == 0)
		c->dropped[c->vertices[k] < c->vertices[l] ? l : k] = true;
}

static void offer_edge(const struct whole *c, struct best *best, int v, int e0, int e1)
{
	if (c->dropped[v])
		return;
	if (!c->dropped[e0])
		offer(best, 1u << v | 1u << e0, of_points(c->p[v], c->p[e0]));
	if (!c->dropped[e1])
		offer(best, 1u << v | 1u << e1, of_points(c->p[v], c->p[e1]));
	if (!c->dropped[e0] && !c->dropped[e1])
		offer(best, 1u << v | 1u << e0 | 1u << e1, of_edge(c->p[v], c->p[e0], c->p[e1]));
}

static int first_of(const struct whole *c, int k, int l)
{
	return c->vertices[k] < c->vertices[l] ? k : l;
}

static unsigned expected_feature(struct whole *c)
{
	struct best best = {0, {0, 0}};
	if (c->type == FRIC_EDGE_VERTEX) {
		drop(c, 1, 2);
		offer_edge(c, &best, 0, 1, 2);
	}
	if (c->type == FRIC_FACE_VERTEX) {
		/* of vertices in one place the lowest; then edges in this order, whatever is dropped */
		for (int n = 0; n < 9; n++)
			for (int k = 1; k < 4; k++)
				if (c->vertices[k] == n)
					offer(&best, 1u | 1u << k, of_points(c->p[0], c->p[k]));
		offer_edge(c, &best, 0, 1, 2);
		offer_edge(c, &best, 0, 2, 3);
		offer_edge(c, &best, 0, 3, 1);
		offer(&best, 15, of_triangle(c->p[0], c->p[1], c->p[2], c->p[3]));
	}
	if (c->type == FRIC_EDGE_EDGE) {
		const int low[2] = {first_of(c, 0, 1), first_of(c, 2, 3)}, high[2] = {1 - low[0], 5 - low[1]};
		const int32_t *v = c->vertices;
		const int a = v[low[1]] != v[low[0]] ? v[low[1]] < v[low[0]] : v[high[1]] < v[high[0]], b = 1 - a;
		drop(c, 0, 1);
		drop(c, 2, 3);
		offer_edge(c, &best, low[a], low[b], high[b]);
		offer_edge(c, &best, high[a], low[b], high[b]);
		offer_edge(c, &best, low[b], low[a], high[a]);
		offer_edge(c, &best, high[b], low[a], high[a]);
		offer(&best, 15, of_edges(c->p[0], c->p[1], c->p[2], c->p[3]));
	}
	return best.members;
}

static unsigned found_feature(enum fric_type type, int dim, double p[4][3], const int32_t *vertices)
{
	const double *const q[4] = {p[0], p[1], p[2], p[3]};
	return fricp_closest_feature(type, dim, q, vertices);
}

static void number_vertices(struct rng *rng, int32_t vertices[4])
{
	for (int k = 0; k < 4; k++) {
		vertices[k] = (int32_t)below(rng, 9);
		for (int l = 0; l < k; l++)
			if (vertices[l] == vertices[k]) {
				k--;
				break;
			}
	}
}

static const enum fric_type types[3] = {FRIC_EDGE_VERTEX, FRIC_EDGE_EDGE, FRIC_FACE_VERTEX};

/* On small grids most contacts are on borders between features, parallel or degenerate. */
static void check_grid(struct rng *rng, enum fric_type type, int dim, size_t width, int exponent)
{
	struct whole c = {.type = type};
	double p[4][3] = {{0}};
	number_vertices(rng, c.vertices);
	for (int k = 0; k < 4; k++)
		for (int d = 0; d < dim; d++) {
			c.p[k].x[d] = (int64_t)below(rng, width);
			p[k][d] = ldexp((double)c.p[k].x[d] - 2, exponent);
		}
	const unsigned found = found_feature(type, dim, p, c.vertices), expected = expected_feature(&c);
	if (found == expected)
		return;
	for (int k = 0; k < 4; k++)
		print_error("%d: %d %d %d\n", c.vertices[k], (int)c.p[k].x[0], (int)c.p[k].x[1], (int)c.p[k].x[2]);
	fail_msg("%s: members %x, expected %x", fric_type_name(type), found, expected);
}

static void test_grids(void **state)
{
	struct rng rng = {24};
	(void)state;
	for (int i = 0; i < 60000; i += step_in_share(2, 5))
		for (int t = 0; t < 3; t++) {
			check_grid(&rng, types[t], 3, 2 + below(&rng, 7), (int)below(&rng, 3) * 300 - 300);
			check_grid(&rng, FRIC_EDGE_VERTEX, 2, 2 + below(&rng, 7), 0);
		}
}

/* ---- random contacts: no point of the primitives is nearer than the feature's closest points ---- */

struct place {
	double a, b;
};

static exact squared_at(enum fric_type type, double p[4][3], double a, double b)
{
	double w[4] = {0};
	exact sum = 0;
	stencil_weights(type, a, b, w);
	for (int d = 0; d < 3; d++) {
		exact x = 0;
		for (int k = 0; k < stencil_size_of(type); k++)
			x += (exact)w[k] * p[k][d];
		sum += x * x;
	}
	return sum;
}

/* A point of a grid over the primitives. */
static struct place sample(enum fric_type type, int i, int j, int n)
{
	const double a = (double)i / n, b = (double)j / n;
	return type == FRIC_FACE_VERTEX && a + b > 1 ? (struct place){1 - a, 1 - b} : (struct place){a, b};
}

static struct place clamped_place(enum fric_type type, double p[4][3], const int32_t *vertices, unsigned members)
{
	const struct feature f = fricp_feature_of(type, members, vertices);
	const double *q[4] = {0};
	struct fric_geometry g;
	double out[2];
	for (int k = 0; k < stencil_size_of(f.type); k++)
		q[k] = p[f.member[k]];
	assert_int_equal(fricp_stencil_geometry(f.type, 3, q, true, &g), FRIC_OK);
	feature_closest_point(&f, g.closest_point, out);
	assert_true(fabs((double)exact_sqrt(squared_at(type, p, out[0], out[1])) - g.distance) < 1e-12);
	return (struct place){out[0], out[1]};
}

static void check_random(struct rng *rng, enum fric_type type, double flat)
{
	double p[4][3] = {{0}};
	int32_t vertices[4];
	number_vertices(rng, vertices);
	for (int k = 0; k < 4; k++)
		for (int d = 0; d < 3; d++)
			p[k][d] = uniform(rng, -1, 1) * (d == 2 ? flat : 1);
	const unsigned members = found_feature(type, 3, p, vertices);
	const struct place at = clamped_place(type, p, vertices, members);
	const exact least = squared_at(type, p, at.a, at.b);
	assert_true(at.a >= 0 && at.b >= 0 && at.a <= 1 && at.b <= 1);
	for (int i = 0; i <= 12; i++)
		for (int j = 0; j <= 12; j++) {
			const struct place s = sample(type, i, j, 12);
			/* the square has its slope at the minimum; its points are rounded */
			assert_true(squared_at(type, p, s.a, s.b) >= least - 1e-15);
		}
}

static void test_random(void **state)
{
	struct rng rng = {7};
	(void)state;
	for (int i = 0; i < 3000; i += step_in_share(4, 7))
		for (int t = 0; t < 3; t++)
			check_random(&rng, types[t], (i % 3 == 0) ? 1 : (i % 3 == 1) ? 1e-3 : 1e-7);
}

/* ---- borders ---- */

/* A vertex a rounding beside the plane through an end of an edge: the sign is that of the exact difference. */
static void test_beside_a_border(void **state)
{
	const int32_t vertices[3] = {0, 1, 2};
	double p[4][3] = {{0, 0.3, 0.1}, {0.1, 0.7, 0.2}, {1.1, 1.7, 0.2}};
	(void)state;
	/* (p - e0) . (1, 1, 0) = 0 up to rounding of the coordinates */
	p[0][0] = p[1][0] + 0.25;
	p[0][1] = p[1][1] - 0.25;
	const exact along = ((exact)p[0][0] - p[1][0]) * ((exact)p[2][0] - p[1][0]) +
	                    ((exact)p[0][1] - p[1][1]) * ((exact)p[2][1] - p[1][1]);
	assert_true(along != 0);
	assert_int_equal(found_feature(FRIC_EDGE_VERTEX, 3, p, vertices), along > 0 ? 7 : 3);
	for (int i = -2; i <= 2; i++) {
		double q[4][3] = {{ldexp(i, -60), 1, 0}, {0, 0, 0}, {1, 0, 0}};
		assert_int_equal(found_feature(FRIC_EDGE_VERTEX, 3, q, vertices), i > 0 ? 7 : 3);
	}
}

/* Vertices beside an end of an edge, off the border by roundings alone, which doubles would often decide wrongly. */
static void test_rounded_borders(void **state)
{
	const int32_t vertices[4] = {0, 1, 2, 3};
	struct rng rng = {11};
	int inside = 0;
	(void)state;
	for (int i = 0; i < 4000; i++) {
		double p[4][3] = {{0}}, e[3], x[3];
		for (int d = 0; d < 3; d++) {
			p[1][d] = uniform(&rng, -1, 1);
			e[d] = uniform(&rng, -1, 1);
			x[d] = uniform(&rng, -1, 1);
			p[2][d] = p[1][d] + e[d];
		}
		for (int d = 0; d < 3; d++)
			p[0][d] = p[1][d] + (e[(d + 1) % 3] * x[(d + 2) % 3] - e[(d + 2) % 3] * x[(d + 1) % 3]);
		const exact along = exact_dot(exact_between(p[1], p[0], 3), exact_between(p[1], p[2], 3));
		assert_int_equal(found_feature(FRIC_EDGE_VERTEX, 3, p, vertices), along > 0 ? 7 : 3);
		inside += along > 0;
	}
	assert_true(inside > 1000 && inside < 3000);
}

/* Edges that are parallel only within rounding never count as crossing. */
static void test_nearly_parallel(void **state)
{
	const int32_t vertices[4] = {0, 1, 2, 3};
	struct rng rng = {5};
	(void)state;
	for (int i = 0; i < 2000; i++) {
		double p[4][3];
		const double angle = ldexp(uniform(&rng, 0.5, 1), -38 - i % 20);
		for (int d = 0; d < 3; d++) {
			p[0][d] = uniform(&rng, -1, 1);
			p[1][d] = p[0][d] + (d == 0);
			p[2][d] = p[0][d] + (d == 0 ? uniform(&rng, -1.5, 1.5) : d == 1 ? uniform(&rng, -1e-13, 1e-13) : 0.5);
			p[3][d] = p[2][d] + (d == 0 ? uniform(&rng, 0.1, 2) : d == 1 ? angle : 0);
		}
		const unsigned members = found_feature(FRIC_EDGE_EDGE, 3, p, vertices);
		assert_true(members != 0);
		(void)clamped_place(FRIC_EDGE_EDGE, p, vertices, members);
	}
}

static void test_short_edges(void **state)
{
	const int32_t up[4] = {0, 1, 2, 3}, down[4] = {3, 2, 1, 0};
	double edge[4][3] = {{1, 2, 0}, {1, 1, 1}, {nextafter(1, 2), 1, 1}};
	double sides[4][3] = {{1, 1, 1}, {nextafter(1, 2), 1, 1}, {0, 0, 3}, {4, 5, 3}};
	double face[4][3] = {{1, 1, 2}, {1, 1, 1}, {3, 0, 0}, {nextafter(1, 2), 1, 1}};
	(void)state;
	assert_int_equal(found_feature(FRIC_EDGE_VERTEX, 3, edge, up), 1 | 2);
	assert_int_equal(found_feature(FRIC_EDGE_VERTEX, 3, edge, down), 1 | 4);
	assert_int_equal(found_feature(FRIC_EDGE_EDGE, 3, sides, up), 1 | 4 | 8);
	assert_int_equal(found_feature(FRIC_EDGE_EDGE, 3, sides, down), 2 | 4 | 8);
	assert_int_equal(found_feature(FRIC_FACE_VERTEX, 3, face, up), 1 | 2);
	assert_int_equal(found_feature(FRIC_FACE_VERTEX, 3, face, down), 1 | 8);
}

static void test_too_far(void **state)
{
	const int32_t vertices[4] = {0, 1, 2, 3};
	double p[4][3] = {{0, 0, 0}, {1, 0, 0}, {-1.7e308, 1, 0}, {1.7e308, 1, 0}};
	(void)state;
	for (int t = 0; t < 3; t++)
		assert_int_equal(found_feature(types[t], 3, p, vertices), types[t] == FRIC_EDGE_VERTEX ? 7 : 0);
}

/* ---- features as contacts ---- */

static void check_feature(enum fric_type type, unsigned members, const int32_t *vertices, enum fric_type own,
                          const int *order, bool exchanged)
{
	const struct feature f = fricp_feature_of(type, members, vertices);
	assert_int_equal(f.type, own);
	for (int k = 0; k < stencil_size_of(own); k++)
		assert_int_equal(f.member[k], order[k]);
	assert_int_equal(f.exchanged, exchanged);
}

static void test_canonical_order(void **state)
{
	const int32_t v[4] = {7, 3, 5, 4};
	(void)state;
	check_feature(FRIC_VERTEX_VERTEX, 3, v, FRIC_VERTEX_VERTEX, (int[]){1, 0}, true);
	check_feature(FRIC_EDGE_VERTEX, 7, v, FRIC_EDGE_VERTEX, (int[]){0, 1, 2}, false);
	check_feature(FRIC_EDGE_VERTEX, 5, v, FRIC_VERTEX_VERTEX, (int[]){2, 0}, true);
	check_feature(FRIC_EDGE_EDGE, 15, v, FRIC_EDGE_EDGE, (int[]){1, 0, 3, 2}, false);
	check_feature(FRIC_EDGE_EDGE, 1 | 2 | 4, v, FRIC_EDGE_VERTEX, (int[]){2, 1, 0}, true);
	check_feature(FRIC_EDGE_EDGE, 1 | 4 | 8, v, FRIC_EDGE_VERTEX, (int[]){0, 3, 2}, false);
	check_feature(FRIC_EDGE_EDGE, 2 | 4, v, FRIC_VERTEX_VERTEX, (int[]){1, 2}, false);
	check_feature(FRIC_FACE_VERTEX, 15, v, FRIC_FACE_VERTEX, (int[]){0, 1, 2, 3}, false);
	check_feature(FRIC_FACE_VERTEX, 1 | 4 | 8, v, FRIC_EDGE_VERTEX, (int[]){0, 3, 2}, false);
	check_feature(FRIC_PLANE_VERTEX, 1, v, FRIC_PLANE_VERTEX, (int[]){0}, false);
}

/* The table gives what fricp_feature_of finds, for every feature and order of indices. */
static void test_table(void **state)
{
	struct rng rng = {4};
	struct feature_table tables[3];
	bool seen[3][16][8] = {{{false}}};
	int n_seen = 0;
	(void)state;
	for (int t = 0; t < 3; t++)
		fricp_list_features(types[t], &tables[t]);
	for (int i = 0; i < 6000; i++) {
		double p[4][3];
		int32_t vertices[4];
		const int t = i % 3;
		number_vertices(&rng, vertices);
		for (int k = 0; k < 4; k++)
			for (int d = 0; d < 3; d++)
				p[k][d] = uniform(&rng, -1, 1);
		const unsigned members = found_feature(types[t], 3, p, vertices);
		const unsigned order = feature_order(&tables[t], members, vertices);
		const struct feature f = fricp_feature_of(types[t], members, vertices);
		assert_true(order < 8);
		assert_memory_equal(&tables[t].of[members][order], &f, sizeof(f));
		n_seen += !seen[t][members][order];
		seen[t][members][order] = true;
	}
	assert_int_equal(n_seen, 6 + 24 + 13);
	for (int t = 0; t < 3; t++) {
		const struct feature whole = whole_stencil(types[t]);
		assert_memory_equal(&tables[t].of[0][0], &whole, sizeof(whole));
	}
}

/* The coordinates of the stencil give the feature's weights at its members, and 0 at the others. */
static void test_weights(void **state)
{
	struct rng rng = {3};
	(void)state;
	for (int i = 0; i < 3000; i++) {
		double p[4][3], own[4] = {0}, whole[4] = {0}, at[2];
		int32_t vertices[4];
		const enum fric_type type = types[i % 3];
		number_vertices(&rng, vertices);
		for (int k = 0; k < 4; k++)
			for (int d = 0; d < 3; d++)
				p[k][d] = uniform(&rng, -1, 1);
		const unsigned members = found_feature(type, 3, p, vertices);
		const struct feature f = fricp_feature_of(type, members, vertices);
		const double a = uniform(&rng, 0, 0.5), b = uniform(&rng, 0, 0.5);
		stencil_weights(f.type, a, b, own);
		feature_closest_point(&f, (double[]){a, b}, at);
		stencil_weights(type, at[0], at[1], whole);
		for (int k = 0; k < stencil_size_of(f.type); k++) {
			assert_true(fabs(whole[f.member[k]] - (f.exchanged ? -own[k] : own[k])) < 1e-15);
			whole[f.member[k]] = 0;
		}
		for (int k = 0; k < stencil_size_of(type); k++)
			assert_true(whole[k] == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grids),           cmocka_unit_test(test_random),
		cmocka_unit_test(test_beside_a_border), cmocka_unit_test(test_rounded_borders),
		cmocka_unit_test(test_nearly_parallel), cmocka_unit_test(test_short_edges),
		cmocka_unit_test(test_too_far),         cmocka_unit_test(test_canonical_order),
		cmocka_unit_test(test_weights),         cmocka_unit_test(test_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
