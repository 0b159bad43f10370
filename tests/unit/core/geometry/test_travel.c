#include "core/geometry/travel.h"

#include "tests/property/scene.h"
#include "tests/share.h"
#include "tests/unit/core/exact.h"

/* ---- distances in 113 bits, apart from core's code ---- */

struct pair {
	enum fric_type type;
	int dim;
	double p[4][3], v[4][3];
	double dmin, keep;
};

static struct exact3 at(const struct pair *pair, int k, exact s)
{
	struct exact3 x = {{0}};
	for (int d = 0; d < pair->dim; d++)
		x.x[d] = (exact)pair->p[k][d] + s * pair->v[k][d];
	return x;
}

static struct exact3 less(struct exact3 a, struct exact3 b)
{
	return (struct exact3){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

static exact to_edge(struct exact3 p, struct exact3 e0, struct exact3 e1)
{
	const struct exact3 e = less(e1, e0), r = less(p, e0), q = less(p, e1);
	const exact ee = exact_dot(e, e), along = exact_dot(r, e);
	if (along <= 0)
		return exact_dot(r, r);
	if (along >= ee)
		return exact_dot(q, q);
	const struct exact3 n = exact_cross(r, e);
	return exact_dot(n, n) / ee;
}

static exact smaller(exact a, exact b)
{
	return a < b ? a : b;
}

static exact squared_distance(const struct pair *pair, exact s)
{
	struct exact3 x[4];
	for (int k = 0; k < fric_stencil_size(pair->type); k++)
		x[k] = at(pair, k, s);
	if (pair->type == FRIC_VERTEX_VERTEX)
		return exact_dot(less(x[0], x[1]), less(x[0], x[1]));
	if (pair->type == FRIC_EDGE_VERTEX)
		return to_edge(x[0], x[1], x[2]);
	const bool edges = pair->type == FRIC_EDGE_EDGE;
	const struct exact3 a = edges ? less(x[1], x[0]) : less(x[2], x[1]), b = less(x[3], x[edges ? 2 : 1]),
						r = edges ? less(x[2], x[0]) : less(x[0], x[1]), n = exact_cross(a, b);
	const exact nn = exact_dot(n, n), rn = exact_dot(r, n), c0 = exact_dot(exact_cross(r, b), n),
				c1 = exact_dot(edges ? exact_cross(r, a) : exact_cross(a, r), n);
	exact least =
		edges ? smaller(smaller(to_edge(x[0], x[2], x[3]), to_edge(x[1], x[2], x[3])),
	                    smaller(to_edge(x[2], x[0], x[1]), to_edge(x[3], x[0], x[1])))
			  : smaller(smaller(to_edge(x[0], x[1], x[2]), to_edge(x[0], x[2], x[3])), to_edge(x[0], x[3], x[1]));
	if (c0 > 0 && c1 > 0 && (edges ? c0 < nn && c1 < nn : c0 + c1 < nn))
		least = smaller(least, rn * rn / nn);
	return least;
}

static bool is_of_first(const struct pair *pair, int k)
{
	return pair->type == FRIC_EDGE_EDGE ? k < 2 : k == 0;
}

/* By how much rounding of positions at s may change the distance. */
static exact rounded(const struct pair *pair, exact s)
{
	exact of_side[2] = {0};
	for (int k = 0; k < fric_stencil_size(pair->type); k++) {
		double x = 0, v = 0;
		for (int d = 0; d < pair->dim; d++) {
			x = fmax(x, fabs(pair->p[k][d]));
			v = fmax(v, fabs(pair->v[k][d]));
		}
		exact *most = &of_side[is_of_first(pair, k)];
		if (v > 0 && x + 2 * s * v > *most)
			*most = x + 2 * s * v;
	}
	return (of_side[0] + of_side[1]) * 0x1p-52;
}

/* What has to be left of distance - dmin, which is gap at 0. */
static exact kept(const struct pair *pair, exact gap, exact s)
{
	const exact rest = smaller((1 - 0x1p-20) * gap, 16 * rounded(pair, 0)), least = 2 * rounded(pair, s);
	const exact most = pair->keep * gap > rest ? pair->keep * gap : rest;
	return most > least ? most : least;
}

/* distance - dmin at the start */
static exact gap_of(const struct pair *pair)
{
	return exact_sqrt(squared_distance(pair, 0)) - pair->dmin;
}

/* (distance - dmin) over what has to be left of the gap */
static exact share(const struct pair *pair, exact gap, exact s)
{
	return (exact_sqrt(squared_distance(pair, s)) - pair->dmin) / kept(pair, gap, s);
}

static enum fric_code travel(const struct pair *pair, double bound, double *t)
{
	struct travel travel = {.type = pair->type, .dim = pair->dim, .dmin = pair->dmin, .keep = pair->keep};
	for (int k = 0; k < 4; k++) {
		travel.from[k] = pair->p[k];
		travel.direction[k] = pair->v[k];
	}
	return fricp_travel(&travel, bound, t);
}

/* The first sample in (0, 1] at which less is kept, made more precise by bisection; above 1 if there is none: an upper
 * bound on what can be travelled. */
static double first_below(const struct pair *pair, exact gap, int n, double from)
{
	for (int i = 1; i <= n; i++) {
		double low = from + (1 - from) * (i - 1) / n, high = from + (1 - from) * i / n;
		if (share(pair, gap, high) >= 1)
			continue;
		for (int times = 0; times < 30 && i > 1; times++) {
			const double middle = (low + high) / 2;
			if (share(pair, gap, middle) < 1)
				high = middle;
			else
				low = middle;
		}
		return high;
	}
	return 2;
}

/* The least share in an interval in which it has one minimum. What is too close may soon be behind, as edges may pass
 * through each other, so samples do not show it. */
static exact nearest_share(const struct pair *pair, exact gap, exact low, exact high)
{
	for (int times = 0; times < 130; times++) {
		const exact third = (high - low) / 3;
		if (share(pair, gap, low + third) < share(pair, gap, high - third))
			high -= third;
		else
			low += third;
	}
	return share(pair, gap, low);
}

static void show(const struct pair *pair)
{
	print_error("%s in %dD, dmin %a, keep %a\n", fric_type_name(pair->type), pair->dim, pair->dmin, pair->keep);
	for (int k = 0; k < fric_stencil_size(pair->type); k++)
		print_error("{%a, %a, %a}, {%a, %a, %a}\n", pair->p[k][0], pair->p[k][1], pair->p[k][2], pair->v[k][0],
		            pair->v[k][1], pair->v[k][2]);
}

/* Samples up to t keep enough; t is at least 0.8 times the first that does not. @return t */
static double check(const struct pair *pair, int n)
{
	const exact gap = gap_of(pair);
	double t = -1;
	assert_int_equal(travel(pair, 1, &t), FRIC_OK);
	assert_true(t >= 0 && t <= 1);
	for (int i = 1; i <= n && t > 0; i++)
		if (share(pair, gap, (exact)t * i / n) < 1) {
			show(pair);
			fail_msg("at %g of step %g only %.17g are kept", (double)i / n, t,
			         (double)share(pair, gap, (exact)t * i / n));
		}
	if (t >= 1)
		return t;
	double first = nearest_share(pair, gap, t, fmin(t * (1 + 0x1p-9), 1)) < 1 ? t : 2;
	if (first > 1)
		first = first_below(pair, gap, 40 * n, t);
	if (t < 0.8 * fmin(first, 1)) {
		show(pair);
		fail_msg("step %.17g, but %.17g would do", t, first);
	}
	return t;
}

static const enum fric_type types[4] = {FRIC_VERTEX_VERTEX, FRIC_EDGE_VERTEX, FRIC_EDGE_EDGE, FRIC_FACE_VERTEX};

static struct pair random_pair(struct rng *rng, int i)
{
	struct pair pair = {.type = types[i % 4], .dim = i % 4 < 2 && coin(rng) ? 2 : 3, .keep = uniform(rng, 0.01, 0.99)};
	const double speed = ldexp(1, (int)below(rng, 8) - 4), flat = coin(rng) ? 1 : ldexp(1, -(int)below(rng, 30));
	const int motion = (int)below(rng, 5);
	double common[3];
	for (int d = 0; d < 3; d++)
		common[d] = uniform(rng, -1, 1);
	for (int k = 0; k < 4; k++)
		for (int d = 0; d < pair.dim; d++) {
			pair.p[k][d] = uniform(rng, -1, 1) * (d == pair.dim - 1 ? flat : 1);
			/* alone: one member; like others: each side as a whole; flat: mostly along the other side */
			const bool first = is_of_first(&pair, k);
			pair.v[k][d] = motion == 0   ? uniform(rng, -1, 1) * speed
			               : motion == 1 ? (k == 0 ? common[d] * speed : 0)
			               : motion == 2 ? (first ? common[d] : 0) * speed
			               : motion == 3 ? uniform(rng, -1, 1) * speed * (d == pair.dim - 1 ? flat : 1)
			                             : (common[d] + 0.01 * uniform(rng, -1, 1)) * speed;
		}
	pair.dmin = coin(rng) ? 0 : uniform(rng, 0, 1) * (double)exact_sqrt(squared_distance(&pair, 0));
	return pair;
}

/* Moves the second side so that the distance becomes about 10^-digits. */
static void bring_close(struct pair *pair, struct rng *rng, double digits)
{
	const double wanted = pow(10, -digits), start = (double)exact_sqrt(squared_distance(pair, 0));
	struct pair motion = *pair;
	double low = 0, high = 1, towards[3];
	const bool edges = pair->type == FRIC_EDGE_EDGE;
	/* towards a point of the other side: there the distance is zero */
	for (int d = 0; d < 3; d++) {
		const double w[4] = {uniform(rng, 0, 1), uniform(rng, 0, 1), uniform(rng, 0, 1), uniform(rng, 0, 1)};
		(void)w;
		towards[d] = edges ? (pair->p[0][d] + pair->p[1][d]) / 2 - (pair->p[2][d] + pair->p[3][d]) / 2
		                   : pair->p[0][d] - (pair->type == FRIC_VERTEX_VERTEX ? pair->p[1][d]
		                                      : pair->type == FRIC_EDGE_VERTEX
		                                          ? (pair->p[1][d] + pair->p[2][d]) / 2
		                                          : (pair->p[1][d] + pair->p[2][d] + pair->p[3][d]) / 3);
	}
	for (int k = 0; k < 4; k++)
		for (int d = 0; d < 3; d++)
			motion.v[k][d] = (edges ? k > 1 : k > 0) ? towards[d] : 0;
	for (int times = 0; times < 60 && start > wanted; times++) {
		const double middle = (low + high) / 2;
		*(squared_distance(&motion, middle) > (exact)wanted * wanted ? &low : &high) = middle;
	}
	for (int k = edges ? 2 : 1; k < 4; k++)
		for (int d = 0; d < pair->dim; d++)
			pair->p[k][d] += low * towards[d];
	pair->dmin = 0;
}

static void turn_about(struct pair *pair, struct rng *rng)
{
	double axis[3], centre[3];
	for (int d = 0; d < 3; d++) {
		axis[d] = uniform(rng, -2, 2) * (pair->dim == 3 || d == 2);
		centre[d] = pair->p[1][d] + 0.1 * uniform(rng, -1, 1);
	}
	for (int k = 0; k < 4; k++)
		for (int d = 0; d < pair->dim; d++) {
			const int e = (d + 1) % 3, f = (d + 2) % 3;
			pair->v[k][d] = axis[e] * (pair->p[k][f] - centre[f]) - axis[f] * (pair->p[k][e] - centre[e]);
			pair->v[k][d] *= pair->type == FRIC_EDGE_EDGE ? (k < 2 ? 1 : 0.5) : (k == 0 ? 0.3 : 1);
		}
}

static void test_random(void **state)
{
	struct rng rng = {2408};
	size_t short_steps = 0;
	(void)state;
	for (int i = 0; i < 60000 / one_in(); i++) {
		const struct pair pair = random_pair(&rng, i);
		short_steps += check(&pair, 8) < 1;
	}
	assert_true(short_steps > 6000 / (size_t)one_in());
}

static void test_close(void **state)
{
	struct rng rng = {2409};
	size_t short_steps = 0;
	(void)state;
	for (int i = 0; i < 40000 / one_in(); i++) {
		struct pair pair = random_pair(&rng, i);
		bring_close(&pair, &rng, uniform(&rng, 1, 14));
		if (i % 3 == 0)
			turn_about(&pair, &rng);
		if (squared_distance(&pair, 0) == 0)
			continue;
		if (i % 5 == 0)
			pair.dmin = uniform(&rng, 0, 1) * (double)exact_sqrt(squared_distance(&pair, 0));
		short_steps += check(&pair, 8) < 1;
	}
	assert_true(short_steps > 4000 / (size_t)one_in());
}

/* A vertex above a triangle, at a distance of about that of neighbouring doubles. r is 2^-51 here. */
static struct pair above(double height, double x, double fall)
{
	struct pair pair = {.type = FRIC_FACE_VERTEX, .dim = 3, .keep = 0.1};
	const double p[4][3] = {{1, 0.25, height}, {0, 0, 0}, {1, 0, 0}, {1, 1, 0}};
	memcpy(pair.p, p, sizeof(p));
	for (int k = 0; k < 4; k++)
		pair.v[k][0] = x;
	pair.v[0][2] = -fall;
	return pair;
}

static double step_of(struct pair pair)
{
	double t = -1;
	assert_int_equal(travel(&pair, 1, &t), FRIC_OK);
	return t;
}

static void test_rounded_positions(void **state)
{
	const double r = 0x1p-51;
	(void)state;
	/* what is left of much, of little, and of nearly nothing */
	assert_near(step_of(above(1000 * r, 1e-300, 1000 * r)), 0.9, 0.001);
	assert_near(step_of(above(100 * r, 1e-300, 100 * r)), 0.84, 0.001);
	assert_in_range((long)(1e9 * step_of(above(10 * r, 1e-300, 10 * r))), 100, 1000);
	assert_true(step_of(above(1.5 * r, 1e-300, 1)) == 0);
	/* coming apart, moving together, and far */
	assert_true(step_of(above(10 * r, 1e-300, -1)) == 1);
	assert_true(step_of(above(10 * r, 0.25, 0)) == 1);
	assert_true(step_of(above(1.5 * r, 0.25, 0)) == 0);
	assert_near(step_of(above(10 * r, 32, 0)), 4 / 64.0, 0.001);
	/* no vertex moves */
	assert_true(step_of(above(1.5 * r, 0, 0)) == 1);
	/* only the triangle does */
	struct pair pair = above(2.5 * r, 0, 0);
	pair.v[1][2] = pair.v[2][2] = pair.v[3][2] = -1;
	assert_true(step_of(pair) == 1);
	pair.v[0][2] = -1;
	assert_true(step_of(pair) < 1);
}

static void test_rounded_plane(void **state)
{
	const double r = 0x1p-52, x[3] = {1, 0, 1 + 0x1p-52}, speed[3] = {1e-300, 0, -1};
	struct travel t = {FRIC_PLANE_VERTEX, 3, {x}, {speed}, {0, 0, 1}, {0, 0, 1}, 0, 0.1};
	double step;
	(void)state;
	assert_int_equal(fricp_travel(&t, 1, &step), FRIC_OK);
	assert_true(step == 0);
	t.origin[2] = 1 - 99 * r;
	assert_int_equal(fricp_travel(&t, 1, &step), FRIC_OK);
	assert_near(step / (84 * r), 1, 0.001);
	t.origin[2] = 1 + 101 * r;
	t.direction[0] = (const double[]){0, 0, 1};
	assert_int_equal(fricp_travel(&t, 1, &step), FRIC_OK);
	assert_near(step / (84 * r), 1, 0.001);
	t.direction[0] = (const double[]){64, 0, 0};
	assert_int_equal(fricp_travel(&t, 1, &step), FRIC_OK);
	assert_near(step, 98 / 256.0, 0.001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounded_positions),
		cmocka_unit_test(test_rounded_plane),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
