#include "core/geometry/geometry.h"

#include "tests/property/scene.h"
#include "tests/share.h"
#include "tests/unit/core/exact.h"

/* The positions of one stencil. */
struct stencil {
	double p[4][3];
};

static enum fric_code geometry(enum fric_type type, int dim, const struct stencil *s, struct fric_geometry *g)
{
	const double *const p[FRIC_MAX_STENCIL] = {s->p[0], s->p[1], s->p[2], s->p[3]};
	return fricp_stencil_geometry(type, dim, p, true, g);
}

static enum fric_code judge(enum fric_type type, int dim, struct stencil s)
{
	struct fric_geometry g;
	return geometry(type, dim, &s, &g);
}

static exact orthogonality(const double *basis)
{
	exact dot = 0;
	for (int i = 0; i < 3; i++)
		dot += (exact)basis[2 * i] * basis[2 * i + 1];
	return dot;
}

static struct exact3 axis(int i)
{
	struct exact3 a = {{0}};
	a.x[i] = 1;
	return a;
}

static void check_across(const double *basis, int dim, struct exact3 n)
{
	if (dim == 2) {
		assert_column(basis, 2, 0, ((struct exact3){{-n.x[1], n.x[0], 0}}));
		return;
	}
	const struct exact3 c = exact_cross(axis(exact_abs(n.x[1]) > exact_abs(n.x[0]) ? 0 : 1), n);
	assert_column(basis, 3, 0, c);
	assert_column(basis, 3, 1, exact_cross(n, c));
}

static void check_vertex_vertex(int dim, const struct stencil *s, const struct fric_geometry *g)
{
	const struct exact3 n = exact_between(s->p[0], s->p[1], dim);
	check_across(g->tangent_basis, dim, n);
	assert_exact(g->distance, exact_norm(n), 1e-15, 0);
}

static void check_edge_vertex(int dim, const struct stencil *s, const struct fric_geometry *g)
{
	const struct exact3 e = exact_between(s->p[1], s->p[2], dim), r = exact_between(s->p[1], s->p[0], dim);
	const struct exact3 n = exact_cross(e, r);
	assert_exact(g->closest_point[0], exact_dot(r, e) / exact_dot(e, e), 1e-15, 1);
	assert_column(g->tangent_basis, dim, 0, e);
	if (dim == 3)
		assert_column(g->tangent_basis, dim, 1, n);
	assert_exact(g->distance, exact_norm(n) / exact_norm(e), 1e-12, 0);
}

static void check_edge_edge(const struct stencil *s, const struct fric_geometry *g)
{
	const struct exact3 a = exact_between(s->p[0], s->p[1], 3), b = exact_between(s->p[2], s->p[3], 3);
	const struct exact3 r = exact_between(s->p[0], s->p[2], 3), n = exact_cross(a, b);
	assert_exact(g->closest_point[0], exact_dot(exact_cross(r, b), n) / exact_dot(n, n), 1e-13, 0.1);
	assert_exact(g->closest_point[1], exact_dot(exact_cross(r, a), n) / exact_dot(n, n), 1e-13, 0.1);
	assert_column(g->tangent_basis, 3, 0, a);
	assert_column(g->tangent_basis, 3, 1, exact_cross(n, a));
	assert_exact(g->distance, exact_abs(exact_dot(r, n)) / exact_norm(n), 1e-12, 1e-9);
}

static void check_face_vertex(const struct stencil *s, const struct fric_geometry *g)
{
	const struct exact3 e = exact_between(s->p[1], s->p[2], 3), f = exact_between(s->p[1], s->p[3], 3);
	const struct exact3 r = exact_between(s->p[1], s->p[0], 3), n = exact_cross(e, f);
	assert_exact(g->closest_point[0], exact_dot(exact_cross(r, f), n) / exact_dot(n, n), 1e-13, 0.1);
	assert_exact(g->closest_point[1], exact_dot(exact_cross(e, r), n) / exact_dot(n, n), 1e-13, 0.1);
	assert_column(g->tangent_basis, 3, 0, e);
	assert_column(g->tangent_basis, 3, 1, exact_cross(n, e));
	assert_exact(g->distance, exact_abs(exact_dot(r, n)) / exact_norm(n), 1e-12, 1e-9);
}

static void check_geometry(enum fric_type type, int dim, const struct stencil *s)
{
	struct fric_geometry g;
	assert_ok(geometry(type, dim, s, &g));
	if (type == FRIC_VERTEX_VERTEX)
		check_vertex_vertex(dim, s, &g);
	if (type == FRIC_EDGE_VERTEX)
		check_edge_vertex(dim, s, &g);
	if (type == FRIC_EDGE_EDGE)
		check_edge_edge(s, &g);
	if (type == FRIC_FACE_VERTEX)
		check_face_vertex(s, &g);
	for (int m = fric_closest_point_size(type); m < 2; m++)
		assert_bits(g.closest_point[m], 0);
	if (dim == 3)
		assert_exact(0, orthogonality(g.tangent_basis), 3e-16, 1);
}

static struct stencil random_stencil_positions(struct rng *rng, double offset)
{
	struct stencil s;
	for (int v = 0; v < 4; v++)
		for (int i = 0; i < 3; i++)
			s.p[v][i] = offset + uniform(rng, -1, 1);
	return s;
}

static void test_random(void **state)
{
	(void)state;
	struct rng rng = {1};
	for (int i = 0; i < 500; i++) {
		const struct stencil s = random_stencil_positions(&rng, i % 5 == 0 ? 1000 : 0);
		for (enum fric_type type = 0; type < FRIC_PLANE_VERTEX; type++) {
			check_geometry(type, 3, &s);
			if (type == FRIC_VERTEX_VERTEX || type == FRIC_EDGE_VERTEX)
				check_geometry(type, 2, &s);
		}
	}
}

/* Two edges that cross at their midpoints at an angle of `angle`, separated along their normal. */
static struct stencil crossing_edges(struct rng *rng, double angle)
{
	double basis[6], n[3];
	struct stencil s;
	random_basis(rng, 3, basis);
	const double p = uniform(rng, 0.2, 0.8), q = uniform(rng, 0.2, 0.8), gap = uniform(rng, 1e-4, 1e-2);
	const double origin[3] = {uniform(rng, -1, 1), uniform(rng, -1, 1), uniform(rng, -1, 1)};
	for (int i = 0; i < 3; i++) {
		const int j = (i + 1) % 3, k = (i + 2) % 3;
		n[i] = basis[2 * j] * basis[2 * k + 1] - basis[2 * k] * basis[2 * j + 1];
	}
	for (int i = 0; i < 3; i++) {
		const double a = basis[2 * i], b = cos(angle) * a + sin(angle) * basis[2 * i + 1];
		s.p[0][i] = origin[i] - p * a;
		s.p[1][i] = origin[i] + (1 - p) * a;
		s.p[2][i] = origin[i] + gap * n[i] - q * b;
		s.p[3][i] = origin[i] + gap * n[i] + (1 - q) * b;
	}
	return s;
}

/* check_edge_edge has tolerances much stricter than the promised 1e-9. */
static void test_nearly_parallel(void **state)
{
	(void)state;
	struct rng rng = {2};
	for (int i = 0; i < 300; i++) {
		const double angle = (double[]){1e-3, 1e-6, 1e-8, 1e-9}[i % 4];
		struct stencil s = crossing_edges(&rng, angle);
		check_geometry(FRIC_EDGE_EDGE, 3, &s);
	}
}

static void test_slivers(void **state)
{
	(void)state;
	struct rng rng = {3};
	for (int i = 0; i < 300; i++) {
		struct stencil s = random_stencil_positions(&rng, 0);
		const double height = (double[]){1e-3, 1e-6, 1e-8, 1e-9}[i % 4], along = uniform(&rng, 0.1, 0.9);
		for (int d = 0; d < 3; d++) {
			s.p[3][d] = s.p[1][d] + along * (s.p[2][d] - s.p[1][d]) + height * s.p[3][d];
			s.p[0][d] = (s.p[1][d] + s.p[2][d] + s.p[3][d]) / 3 + 1e-3 * s.p[0][d];
		}
		check_geometry(FRIC_FACE_VERTEX, 3, &s);
	}
}

static void test_length_scale(void **state)
{
	(void)state;
	struct rng rng = {4};
	const int exponents[] = {-300, -37, -1, 1, 37, 300};
	for (int i = 0; i < 600; i++) {
		const struct stencil s = i % 2 ? crossing_edges(&rng, 1e-8) : random_stencil_positions(&rng, 0);
		struct stencil scaled;
		struct fric_geometry g, h;
		const enum fric_type type = (enum fric_type)(i % FRIC_PLANE_VERTEX);
		for (int v = 0; v < 4; v++)
			for (int d = 0; d < 3; d++)
				scaled.p[v][d] = ldexp(s.p[v][d], exponents[i % 6]);
		if (geometry(type, 3, &s, &g) != geometry(type, 3, &scaled, &h))
			fail();
		assert_all_bits(h.tangent_basis, g.tangent_basis, 6);
		assert_all_bits(h.closest_point, g.closest_point, 2);
		assert_bits(h.distance, ldexp(g.distance, exponents[i % 6]));
	}
}

/* |n_y| > |n_x| selects x^ x n, otherwise y^ x n. A difference in the last bit decides. */
static void test_axis_ties(void **state)
{
	(void)state;
	const double up = nextafter(0.3, 1);
	const double normals[][3] = {{0.3, 0.3, 0.5}, {0.3, -0.3, 0.5}, {-0.3, 0.3, 0}, {0.3, up, 0.5}, {up, 0.3, 0.5},
	                             {-0.3, -up, 1},  {0, 0, 1},        {0, 0, -2},     {1, 0, 0},      {0, 1, 0},
	                             {0, -1e-300, 1}, {1e-300, 0, 1},   {3, 3, 3}};
	for (size_t i = 0; i < sizeof(normals) / sizeof(normals[0]); i++) {
		struct stencil s = {{{0}}};
		double basis[6];
		const struct exact3 n = {{normals[i][0], normals[i][1], normals[i][2]}};
		memcpy(s.p[1], normals[i], sizeof(s.p[1]));
		check_geometry(FRIC_VERTEX_VERTEX, 3, &s);
		fricp_plane_basis(3, normals[i], basis);
		check_across(basis, 3, n);
	}
	/* n_x = 0.3 and n_y = 0.3 + 2^-60 would be equal after rounding, but must not be rounded. */
	struct stencil s = {{{0, -0x1p-60, 0}, {0.3, 0.3, 0.5}}};
	check_geometry(FRIC_VERTEX_VERTEX, 3, &s);
	s.p[0][1] = 0x1p-60;
	check_geometry(FRIC_VERTEX_VERTEX, 3, &s);
}

static void test_plane(void **state)
{
	(void)state;
	struct rng rng = {5};
	for (int i = 0; i < 300; i++) {
		const struct stencil s = random_stencil_positions(&rng, 0);
		double normal[3], basis[6], again[6], distance;
		for (int dim = 2; dim <= 3; dim++) {
			const double length = (double[]){1, 1e-300, 1e300, 1e-3}[i % 4];
			const struct exact3 r = exact_between(s.p[1], s.p[2], dim);
			struct exact3 n = {{0}};
			for (int d = 0; d < dim; d++)
				n.x[d] = normal[d] = length * s.p[0][d];
			fricp_plane_basis(dim, normal, basis);
			check_across(basis, dim, n);
			for (int d = 0; d < dim; d++)
				normal[d] = ldexp(normal[d], 10);
			fricp_plane_basis(dim, normal, again);
			assert_all_bits(again, basis, (size_t)(dim * (dim - 1)));
			assert_ok(fricp_plane_distance(dim, normal, s.p[1], s.p[2], &distance));
			assert_exact(distance, exact_abs(exact_dot(r, n)) / exact_norm(n), 1e-12, 1e-9);
		}
	}
}

/* The difference fits a double, but its length does not. */
static void test_plane_too_far_away(void **state)
{
	(void)state;
	const double normal[3] = {1, 1, 1}, origin[3] = {0}, far[3] = {1.7e308, 1.7e308, 1.7e308},
				 near[3] = {1e308, 1e308, 1e307};
	double distance;
	assert_code(fricp_plane_distance(3, normal, origin, far, &distance), FRIC_E_NOT_FINITE);
	assert_ok(fricp_plane_distance(3, normal, origin, near, &distance));
	assert_near(distance / 1e308 * sqrt(3), 2.1, 1e-14);
}

/* The distance of contacts that nearly touch, for which a product of plain doubles has hardly any correct digits. */
static void test_small_distances(void **state)
{
	(void)state;
	struct rng rng = {17};
	for (int i = 0; i < 2000; i++) {
		const enum fric_type type = i % 2 ? FRIC_EDGE_EDGE : FRIC_FACE_VERTEX;
		struct stencil s = random_stencil_positions(&rng, 0);
		struct fric_geometry precise, plain;
		const double near = ldexp(1, -(int)below(&rng, 30));
		for (int d = 0; d < 3; d++) { /* in the triangle or where the edges cross, except for a small gap */
			const double at = type == FRIC_EDGE_EDGE ? (s.p[2][d] + s.p[3][d]) / 2 - (s.p[1][d] - s.p[0][d]) / 2
			                                         : (s.p[1][d] + s.p[2][d] + s.p[3][d]) / 3;
			const double by = uniform(&rng, -near, near), length = s.p[1][d] - s.p[0][d];
			s.p[0][d] = at + by;
			if (type == FRIC_EDGE_EDGE)
				s.p[1][d] = s.p[0][d] + length;
		}
		const double *const p[FRIC_MAX_STENCIL] = {s.p[0], s.p[1], s.p[2], s.p[3]};
		if (fricp_stencil_geometry(type, 3, p, true, &precise) != FRIC_OK)
			continue;
		assert_ok(fricp_stencil_geometry(type, 3, p, false, &plain));
		assert_near(plain.distance / precise.distance, 1, 1e-11);
	}
}

/* Change of a coordinate of the closest point if every number of every vertex changes by a rounding, and the coordinate
 * too, in units of that rounding. */
static double sensitivity(enum fric_type type, struct stencil s, const struct fric_geometry *at, int m)
{
	double sum = 1 + fabs(at->closest_point[m]);
	for (int v = 0; v < fric_stencil_size(type); v++)
		for (int d = 0; d < 3; d++) {
			const double old = s.p[v][d], by = ldexp(fmax(1, fabs(old)), -30); /* large enough to be measurable */
			struct fric_geometry moved;
			s.p[v][d] = old + by;
			assert_ok(geometry(type, 3, &s, &moved));
			s.p[v][d] = old;
			sum += fabs(moved.closest_point[m] - at->closest_point[m]) / by * fabs(old);
		}
	return sum;
}

/* Closest points that are far away in either coordinate, and edges that are nearly parallel. */
static void test_uncertainty(void **state)
{
	(void)state;
	static const struct {
		enum fric_type type;
		struct stencil s;
	} cases[] = {
		{FRIC_EDGE_EDGE, {{{0, 0, 0}, {1, 0, 0}, {0.5, -3000, 1}, {0.5, -2999, 1}}}},
		{FRIC_EDGE_EDGE, {{{-5000, 0, 0}, {-4999, 0, 0}, {0.5, -1, 1}, {0.5, 1, 1}}}},
		{FRIC_EDGE_EDGE, {{{0, 0, 0}, {1, 0, 0}, {0, -1, 1}, {1, -0.998, 1}}}},
		{FRIC_EDGE_EDGE, {{{0, 0, 0}, {1, 0, 0}, {0.5, -1, 0.001}, {0.5, -0.999, 0.001}}}},
		{FRIC_EDGE_EDGE, {{{-1, 0.5, 0}, {-0.999, 0.5, 0}, {0, 0, 0.001}, {0, 1, 0.001}}}},
		{FRIC_FACE_VERTEX, {{{0.5, 4000, 1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}},
		{FRIC_FACE_VERTEX, {{{4000, 0.5, 1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}},
		{FRIC_FACE_VERTEX, {{{0.3, 0.3, 1000}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}},
		{FRIC_FACE_VERTEX, {{{0.3, 0.001, 1}, {0, 0, 0}, {1, 0, 0}, {1, 0.002, 0}}}},
		{FRIC_FACE_VERTEX, {{{1.3, 1.001, 2}, {1, 1, 1}, {2, 1, 1}, {2, 1.002, 1}}}},
		{FRIC_EDGE_VERTEX, {{{3000, 1, 0}, {0, 0, 0}, {1, 0, 0}}}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct stencil *s = &cases[i].s;
		const double *const p[FRIC_MAX_STENCIL] = {s->p[0], s->p[1], s->p[2], s->p[3]};
		struct fric_geometry g;
		assert_ok(geometry(cases[i].type, 3, s, &g));
		double uncertain[2];
		fricp_derived_uncertainty(cases[i].type, 3, p, g.closest_point, uncertain);
		for (int m = 0; m < fric_closest_point_size(cases[i].type); m++) {
			const double moved = 0x1p-53 * sensitivity(cases[i].type, *s, &g, m);
			if (uncertain[m] < moved || uncertain[m] > 10 * moved)
				fail_msg("%zu: %g, roundings bring %g", i, uncertain[m], moved);
		}
	}
}

static void test_zero_lengths(void **state)
{
	(void)state;
	const double just = 1e-15, above = nextafter(1e-15, 1);
	assert_code(judge(FRIC_VERTEX_VERTEX, 3, (struct stencil){{{1, 0, 0}, {1, just, 0}}}), FRIC_E_COINCIDENT_VERTICES);
	assert_ok(judge(FRIC_VERTEX_VERTEX, 3, (struct stencil){{{1, 0, 0}, {1, above, 0}}}));
	assert_code(judge(FRIC_VERTEX_VERTEX, 2, (struct stencil){{{-1, 0}, {-1, just}}}), FRIC_E_COINCIDENT_VERTICES);
	assert_ok(judge(FRIC_VERTEX_VERTEX, 2, (struct stencil){{{-1, 0}, {-1, above}}}));
	assert_code(judge(FRIC_VERTEX_VERTEX, 3, (struct stencil){{{0}}}), FRIC_E_COINCIDENT_VERTICES);
	assert_ok(judge(FRIC_VERTEX_VERTEX, 3, (struct stencil){{{0}, {5e-324}}}));
	assert_code(judge(FRIC_EDGE_VERTEX, 3, (struct stencil){{{5, 5, 5}, {1, 0, 0}, {1, just, 0}}}),
	            FRIC_E_ZERO_LENGTH_EDGE);
	assert_ok(judge(FRIC_EDGE_VERTEX, 3, (struct stencil){{{5, 5, 5}, {1, 0, 0}, {1, above, 0}}}));
	assert_code(judge(FRIC_EDGE_VERTEX, 2, (struct stencil){{{5, 5}, {1, 0}, {1, just}}}), FRIC_E_ZERO_LENGTH_EDGE);
	assert_ok(judge(FRIC_EDGE_VERTEX, 2, (struct stencil){{{5, 5}, {1, 0}, {1, above}}}));
	const struct stencil first = {{{1, 0, 0}, {1, just, 0}, {2, 0, 1}, {0, 0, 3}}};
	const struct stencil second = {{{2, 0, 1}, {0, 0, 3}, {1, 0, 0}, {1, just, 0}}};
	assert_code(judge(FRIC_EDGE_EDGE, 3, first), FRIC_E_ZERO_LENGTH_EDGE);
	assert_code(judge(FRIC_EDGE_EDGE, 3, second), FRIC_E_ZERO_LENGTH_EDGE);
	struct stencil good = first;
	good.p[1][1] = above;
	assert_ok(judge(FRIC_EDGE_EDGE, 3, good));
}

/* The largest coordinate of the two ends determines the result, whatever its axis and sign. */
static void test_zero_length_is_relative(void **state)
{
	(void)state;
	assert_code(judge(FRIC_VERTEX_VERTEX, 3, (struct stencil){{{0, 0, -1e20}, {1e4, 0, -1e20}}}),
	            FRIC_E_COINCIDENT_VERTICES);
	assert_ok(judge(FRIC_VERTEX_VERTEX, 3, (struct stencil){{{0, 0, -1e20}, {2e5, 0, -1e20}}}));
	assert_ok(judge(FRIC_VERTEX_VERTEX, 3, (struct stencil){{{0, 0, 1e-200}, {0, 1e-210, 1e-200}}}));
}

static void test_vertex_on_edge(void **state)
{
	(void)state;
	const double just = 1e-12, above = nextafter(1e-12, 1);
	assert_code(judge(FRIC_EDGE_VERTEX, 3, (struct stencil){{{1, just, 0}, {0, 0, 0}, {2, 0, 0}}}),
	            FRIC_E_VERTEX_ON_EDGE);
	assert_ok(judge(FRIC_EDGE_VERTEX, 3, (struct stencil){{{1, above, 0}, {0, 0, 0}, {2, 0, 0}}}));
	assert_code(judge(FRIC_EDGE_VERTEX, 3, (struct stencil){{{7, 0, 0}, {0, 0, 0}, {2, 0, 0}}}), FRIC_E_VERTEX_ON_EDGE);
	assert_code(judge(FRIC_EDGE_VERTEX, 3, (struct stencil){{{1, 1, 1}, {1, 1, 1}, {2, 0, 0}}}), FRIC_E_VERTEX_ON_EDGE);
	assert_code(judge(FRIC_EDGE_VERTEX, 3, (struct stencil){{{2, 0, 0}, {1, 1, 1}, {2, 0, 0}}}), FRIC_E_VERTEX_ON_EDGE);
	/* The vertex is as near to the end of the edge as the resolution of its coordinates allows. */
	assert_code(judge(FRIC_EDGE_VERTEX, 3, (struct stencil){{{1, 1e-15, 0}, {1, 0, 0}, {1, 0, 3}}}),
	            FRIC_E_VERTEX_ON_EDGE);
	assert_ok(judge(FRIC_EDGE_VERTEX, 3, (struct stencil){{{1, nextafter(1e-15, 1), 0}, {1, 0, 0}, {1, 0, 0x1p-20}}}));
	/* In 2D the tangent is the edge, so this causes no error. */
	assert_ok(judge(FRIC_EDGE_VERTEX, 2, (struct stencil){{{1, 0}, {0, 0}, {2, 0}}}));
	assert_ok(judge(FRIC_EDGE_VERTEX, 2, (struct stencil){{{1, 1}, {1, 1}, {2, 0}}}));
}

static void test_parallel_edges(void **state)
{
	(void)state;
	const struct stencil s = {{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, 1e-12, 1}}};
	struct stencil above = s;
	above.p[3][1] = nextafter(1e-12, 1);
	assert_code(judge(FRIC_EDGE_EDGE, 3, s), FRIC_E_PARALLEL_EDGES);
	assert_ok(judge(FRIC_EDGE_EDGE, 3, above));
	struct rng rng = {6};
	struct stencil same = random_stencil_positions(&rng, 0);
	memcpy(same.p[2], same.p[1], sizeof(same.p[0]));
	memcpy(same.p[3], same.p[0], sizeof(same.p[0]));
	assert_code(judge(FRIC_EDGE_EDGE, 3, same), FRIC_E_PARALLEL_EDGES);
}

static void test_collapsed_triangle(void **state)
{
	(void)state;
	const struct stencil s = {{{5, 5, 5}, {0, 0, 0}, {2, 0, 0}, {1, 1e-12, 0}}};
	struct stencil other = s;
	assert_code(judge(FRIC_FACE_VERTEX, 3, s), FRIC_E_COLLAPSED_TRIANGLE);
	other.p[3][1] = nextafter(1e-12, 1);
	assert_ok(judge(FRIC_FACE_VERTEX, 3, other));
	const struct stencil first = {{{5, 5, 5}, {1, 0, 0}, {1, 1e-15, 0}, {1, 0, 1}}};
	const struct stencil second = {{{5, 5, 5}, {1, 0, 0}, {1, 0, 1}, {1, 1e-15, 0}}};
	assert_code(judge(FRIC_FACE_VERTEX, 3, first), FRIC_E_COLLAPSED_TRIANGLE); /* an edge of length zero */
	assert_code(judge(FRIC_FACE_VERTEX, 3, second), FRIC_E_COLLAPSED_TRIANGLE);
	for (int i = 0; i < 3; i++) { /* two coincident corners */
		struct stencil double_corner = {{{5, 5, 5}, {1, 2, 3}, {3, 1, 2}, {7, 5, 1}}};
		memcpy(double_corner.p[1 + i], double_corner.p[1 + (i + 1) % 3], sizeof(s.p[0]));
		assert_code(judge(FRIC_FACE_VERTEX, 3, double_corner), FRIC_E_COLLAPSED_TRIANGLE);
	}
}

/* Differences that overflow. */
static void test_overflow(void **state)
{
	(void)state;
	const struct stencil s = {{{-1.7e308, 0, 0}, {1.7e308, 1, 0}, {0, 1, 0}, {0, 0, 1}}};
	for (enum fric_type type = 0; type < FRIC_PLANE_VERTEX; type++)
		assert_code(judge(type, 3, s), FRIC_E_NOT_FINITE);
	double distance;
	assert_code(fricp_plane_distance(3, (double[]){1, 0, 0}, s.p[0], s.p[1], &distance), FRIC_E_NOT_FINITE);
}

/* The differences fit doubles, but their ratio overflows. */
static void test_closest_point_that_overflows(void **state)
{
	(void)state;
	const struct stencil s = {{{1e200, 1e200, 0}, {0, 0, 0}, {1e-200, 0, 0}, {0, 1e-200, 0}}};
	assert_code(judge(FRIC_EDGE_VERTEX, 3, s), FRIC_E_NOT_FINITE);
	assert_code(judge(FRIC_EDGE_VERTEX, 2, s), FRIC_E_NOT_FINITE);
	assert_code(judge(FRIC_FACE_VERTEX, 3, s), FRIC_E_NOT_FINITE);
}

static void test_known_values(void **state)
{
	(void)state;
	struct fric_geometry g;
	const struct stencil edges = {{{0, 0, 0}, {4, 0, 0}, {1, -1, 3}, {1, 3, 3}}};
	assert_ok(geometry(FRIC_EDGE_EDGE, 3, &edges, &g));
	assert_bits(g.closest_point[0], 0.25);
	assert_bits(g.closest_point[1], 0.25);
	assert_bits(g.distance, 3);
	const struct stencil outside = {{{-2, 1, 0}, {0, 0, 0}, {4, 0, 0}}};
	assert_ok(geometry(FRIC_EDGE_VERTEX, 3, &outside, &g));
	assert_bits(g.closest_point[0], -0.5); /* not clamped */
	assert_bits(g.distance, 1);
	const struct stencil face = {{{1, 2, -5}, {0, 0, 0}, {4, 0, 0}, {0, 4, 0}}};
	assert_ok(geometry(FRIC_FACE_VERTEX, 3, &face, &g));
	assert_bits(g.closest_point[0], 0.25);
	assert_bits(g.closest_point[1], 0.5);
	assert_bits(g.distance, 5);
	assert_near(g.tangent_basis[3], 1, 0); /* [x^, y^] */
}

/* Distances must be correct even if their squares underflow: a vertex 1e-200 from the line of an edge of length 1. */
static void test_tiny_distance_in_2d(void **state)
{
	(void)state;
	const double distances[] = {1e-100, 1e-160, 1e-200, 1e-300};
	for (int i = 0; i < 4; i++) {
		struct fric_geometry g;
		const struct stencil s = {{{0.5, distances[i]}, {0, 0}, {1, 0}}};
		assert_ok(geometry(FRIC_EDGE_VERTEX, 2, &s, &g));
		assert_near(g.distance / distances[i], 1, 1e-15);
	}
}

/* a . (b x c) of integers below 2^52, exact if the result is below 2^110: each sum of products of 26-bit parts with the
 * 78 bits of the other factors is exact in quad, and so are differences of these sums. */
static exact exact_volume(struct exact3 a, struct exact3 b, struct exact3 c)
{
	exact sums[3] = {0};
	for (int i = 0; i < 3; i++)
		for (int turn = 1; turn < 3; turn++)
			for (int y = 0; y < 2; y++)
				for (int z = 0; z < 2; z++) {
					const double u = (double)b.x[(i + turn) % 3], v = (double)c.x[(i + 3 - turn) % 3];
					const double u1 = rint(u * 0x1p-26) * 0x1p+26, v1 = rint(v * 0x1p-26) * 0x1p+26;
					const exact term = a.x[i] * (y ? u1 : u - u1) * (z ? v1 : v - v1);
					sums[y + z] += turn == 1 ? term : -term;
				}
	return (sums[2] + sums[1]) + sums[0];
}

/* Slivers, and edges that are nearly parallel, at 1e-15 of their length from what they nearly touch: double-double
 * loses the digits of r . n there. Coordinates are integers. */
static void test_touching_slivers(void **state)
{
	(void)state;
	uint64_t seed = 9;
	double nearest = 1;
	for (int k = 0; k < 200000; k += step_in_share(5, 11)) { /* no divisors of the numbers below */
		double p[4][3], a[3], r[3];
		const double *const q[4] = {p[0], p[1], p[2], p[3]};
		const double part = (double)(k % 7 + 1) / 8, far = k % 3 ? 0x1p+49 : 0x1p+34, side = ldexp(far, -4 * (k % 8));
		const bool edges = k & 1;
		for (int i = 0; i < 3; i++) {
			double x[3];
			for (int j = 0; j < 3; j++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				x[j] = (double)(int64_t)seed * 0x1p-63;
			}
			a[i] = rint(far * x[0]);
			r[i] = rint(part * a[i] + x[1]);
			p[edges ? 0 : 1][i] = 3;
			p[edges ? 1 : 2][i] = 3 + a[i];
			p[edges ? 2 : 0][i] = 3 + r[i];
			p[3][i] = (edges ? 3 + r[i] : 3) + a[i] + rint(side * x[2]);
		}
		const double *const begin = p[edges ? 2 : 1];
		const struct exact3 e = exact_between(p[edges ? 0 : 1], p[edges ? 1 : 2], 3), f = exact_between(begin, p[3], 3),
							s = exact_between(p[edges ? 0 : 1], p[edges ? 2 : 0], 3), n = exact_cross(e, f);
		const exact along = exact_abs(exact_volume(s, e, f)), distance = along / (along > 0 ? exact_norm(n) : 1);
		struct fric_geometry g;
		if (fricp_stencil_geometry(edges ? FRIC_EDGE_EDGE : FRIC_FACE_VERTEX, 3, q, true, &g) != FRIC_OK)
			continue;
		assert_exact(g.distance, distance, 1e-15, 0);
		if (along > 0)
			nearest = fmin(nearest, (double)(distance / exact_norm(e)));
	}
	assert_true(nearest < 1e-15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_touching_slivers),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_nearly_parallel),
		cmocka_unit_test(test_slivers),
		cmocka_unit_test(test_length_scale),
		cmocka_unit_test(test_axis_ties),
		cmocka_unit_test(test_plane),
		cmocka_unit_test(test_zero_lengths),
		cmocka_unit_test(test_plane_too_far_away),
		cmocka_unit_test(test_small_distances),
		cmocka_unit_test(test_uncertainty),
		cmocka_unit_test(test_zero_length_is_relative),
		cmocka_unit_test(test_vertex_on_edge),
		cmocka_unit_test(test_parallel_edges),
		cmocka_unit_test(test_collapsed_triangle),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_closest_point_that_overflows),
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_tiny_distance_in_2d),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
