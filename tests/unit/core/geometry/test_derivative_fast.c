#include "core/geometry/derivative_fast.h"

#include "core/geometry/geometry.h"
#include "tests/unit/core/geometry/derivatives.h"

/* A contact and its lagged quantities, as doubles. */
struct lagged {
	struct geometry_case contact;
	struct geometry_inputs at;
	struct fric_geometry geometry;
	struct v3 p[4], first, second;
};

static struct v3 v3_from(const long double *x)
{
	return (struct v3){(double)x[0], (double)x[1], (double)x[2]};
}

static struct lagged lag(enum fric_type type, const struct geometry_inputs *at)
{
	struct lagged c = {.contact = {type, 3, true, false}, .at = *at};
	double x[4][3];
	const double *const p[4] = {x[0], x[1], x[2], x[3]};
	for (int v = 0; v < 4; v++) {
		for (int i = 0; i < 3; i++)
			x[v][i] = (double)at->position[v][i];
		c.p[v] = v3_from(at->position[v]);
	}
	assert_ok(fricp_stencil_geometry(type, 3, p, true, &c.geometry));
	const double *b = c.geometry.tangent_basis;
	c.first = (struct v3){b[0], b[2], b[4]};
	c.second = (struct v3){b[1], b[3], b[5]};
	return c;
}

static struct fast_edges edges_of(enum fric_type type, const struct v3 p[4])
{
	return fast_edges_of(type, (struct fast_members){p[0], p[1], p[2], p[3]});
}

static struct fast_frame frame_of(const struct lagged *c)
{
	return fast_frame_of(c->contact.type, edges_of(c->contact.type, c->p), c->geometry.closest_point[0],
	                     c->geometry.closest_point[1], c->first, c->second);
}

static void positions_of(enum fric_type type, const struct fast_frame *g, struct fast_change d, struct v3 p[4])
{
	memset(p, 0, 4 * sizeof(*p));
	for (int l = 0; l < fric_stencil_size(type); l++)
		p[l] = fast_position_of(type, fast_cotangent_of(type, g, d), l);
}

static double component(struct v3 a, int i)
{
	return i == 0 ? a.x : i == 1 ? a.y : a.z;
}

/* Tangents of basis and distance, from three numbers and a frame. */
static struct geometry_values values_of(const struct fast_frame *g, struct fast_change d)
{
	struct geometry_values v = {{d.a, d.b}, {0}, d.distance};
	for (int i = 0; i < 3; i++) {
		const double n = component(g->n, i);
		v.tangent_basis[2 * i] = d.turn * component(g->s, i) - d.tilt_first * n;
		v.tangent_basis[2 * i + 1] = -d.turn * component(g->f, i) - d.tilt_second * n;
	}
	return v;
}

static struct fast_change change_of(const struct fast_frame *g, const struct geometry_values *cotangent)
{
	const long double *p = cotangent->tangent_basis;
	const struct v3 first = {(double)p[0], (double)p[2], (double)p[4]};
	const struct v3 second = {(double)p[1], (double)p[3], (double)p[5]};
	return (struct fast_change){(double)cotangent->closest_point[0],
	                            (double)cotangent->closest_point[1],
	                            v3_dot(first, g->s) - v3_dot(second, g->f),
	                            -v3_dot(first, g->n),
	                            -v3_dot(second, g->n),
	                            (double)cotangent->distance};
}

/* The largest difference of n numbers, relative to the largest of them, or absolute if all are small. */
static double difference(const long double *a, const long double *b, int n)
{
	long double largest = 0.01L, off = 0;
	for (int e = 0; e < n; e++) {
		largest = fmaxl(largest, fabsl(b[e]));
		off = fmaxl(off, fabsl(a[e] - b[e]));
	}
	return (double)(off / largest);
}

static void check_tangent(const struct lagged *c, const struct fast_frame *g, const struct geometry_inputs *direction,
                          double tolerance)
{
	struct v3 d[4];
	struct geometry_values expected;
	for (int v = 0; v < 4; v++)
		d[v] = v3_from(direction->position[v]);
	const struct geometry_values actual =
		values_of(g, fast_tangent_of(c->contact.type, g, edges_of(c->contact.type, d)));
	fricp_geometry_tangent(&c->contact, &c->at, direction, &expected, NULL);
	assert_near(difference(actual.closest_point, expected.closest_point, 2), 0, tolerance);
	assert_near(difference(actual.tangent_basis, expected.tangent_basis, 6), 0, tolerance);
	assert_near(difference(&actual.distance, &expected.distance, 1), 0, tolerance);
}

static void check_cotangent(const struct lagged *c, const struct fast_frame *g, const struct geometry_values *cotangent,
                            double tolerance)
{
	struct v3 p[4];
	struct geometry_inputs actual = {{{0}}, {0}, {0}}, expected;
	positions_of(c->contact.type, g, change_of(g, cotangent), p);
	for (int v = 0; v < 4; v++)
		for (int i = 0; i < 3; i++)
			actual.position[v][i] = component(p[v], i);
	fricp_geometry_cotangent(&c->contact, &c->at, cotangent, NULL, &expected);
	assert_near(difference(numbers_of(&actual), numbers_of(&expected), 12), 0, tolerance);
}

static struct geometry_values random_cotangent(struct rng *rng)
{
	struct geometry_values v;
	for (int e = 0; e < N_VALUES; e++)
		numbers_of(&v)[e] = uniform(rng, -1, 1);
	return v;
}

/* Contacts of random shape: those reported as good must be accurate, and most are good. */
static void test_random(void **state)
{
	(void)state;
	struct rng rng = {1};
	int good = 0;
	for (int k = 0; k < 4000; k++) {
		const struct geometry_inputs at = random_inputs(&rng, 0), direction = random_inputs(&rng, 0);
		const struct geometry_values cotangent = random_cotangent(&rng);
		const struct lagged c = lag((enum fric_type)(k % 4), &at);
		const struct fast_frame g = frame_of(&c);
		if (!g.good)
			continue;
		good++;
		check_tangent(&c, &g, &direction, 1e-10);
		check_cotangent(&c, &g, &cotangent, 1e-10);
	}
	assert_in_range(good, 3800, 4000);
}

/* A tangent of one quantity alone (one coordinate of the closest point, one tilt, ...) leaves the others unchanged. */
static void test_each_cotangent(void **state)
{
	(void)state;
	struct rng rng = {2};
	for (int k = 0; k < 4 * N_VALUES; k++) {
		const struct geometry_inputs at = random_inputs(&rng, 0);
		const struct lagged c = lag((enum fric_type)(k % 4), &at);
		const struct fast_frame g = frame_of(&c);
		struct geometry_values cotangent = {{0}, {0}, 0};
		numbers_of(&cotangent)[k / 4] = 1;
		if (k / 4 < fric_closest_point_size(c.contact.type) || k / 4 > 1)
			check_cotangent(&c, &g, &cotangent, 1e-12);
	}
}

/* Contacts as close as barriers allow: distances of 1e-9 of an edge. */
static void test_close(void **state)
{
	(void)state;
	struct rng rng = {3};
	for (int k = 0; k < 100; k++) {
		struct geometry_inputs at = random_inputs(&rng, 0), direction = random_inputs(&rng, 0);
		for (int i = 0; i < 2; i++) {
			at.position[0][i] = 0.5L + i / 4.0L;
			for (int v = 1; v < 4; v++)
				at.position[v][i] = v == i + 2;
		}
		for (int v = 1; v < 4; v++)
			at.position[v][2] = 0;
		at.position[0][2] = k % 2 ? 0x1p-30 : -0x1p-30;
		const struct lagged c = lag(FRIC_FACE_VERTEX, &at);
		const struct fast_frame g = frame_of(&c);
		assert_true(g.good);
		check_tangent(&c, &g, &direction, 1e-13);
		check_cotangent(&c, &g, &(struct geometry_values){{1, 2}, {3, 4, 5, 6, 7, 8}, 9}, 1e-13);
	}
}

static bool is_good(enum fric_type type, struct fast_members at, double closest_point, struct v3 second)
{
	const struct v3 x = {1, 0, 0};
	return fast_frame_of(type, fast_edges_of(type, at), closest_point, 0, x, second).good;
}

/* Degenerate or nearly degenerate contacts are not good. */
static void test_not_good(void **state)
{
	(void)state;
	const struct v3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1}, o = {0}, up = {0.25, 0, 1}, tilted = {1, 1e-3, 0};
	const struct v3 diagonal = {1, 1, 0.5}, near = {0.25, 1e-4, 0};
	assert_false(is_good(FRIC_FACE_VERTEX, (struct fast_members){up, o, x, tilted}, 0.25, y));
	assert_true(is_good(FRIC_FACE_VERTEX, (struct fast_members){up, o, x, y}, 0.25, y));
	assert_false(is_good(FRIC_FACE_VERTEX, (struct fast_members){{0.25, 0.25, 0}, o, x, y}, 0, y));
	assert_false(is_good(FRIC_VERTEX_VERTEX, (struct fast_members){o, diagonal, o, o}, 0, y));
	/* The scaling used for the basis rounds both components to zero, so they are equal. */
	const struct v3 long_one = {0x1p-1074, 0x1p-1073, 8}, short_one = {0x1p-20, 0x1p-19, 8};
	assert_false(is_good(FRIC_VERTEX_VERTEX, (struct fast_members){o, long_one, o, o}, 0, y));
	assert_true(is_good(FRIC_VERTEX_VERTEX, (struct fast_members){o, short_one, o, o}, 0, y));
	assert_false(is_good(FRIC_EDGE_VERTEX, (struct fast_members){near, o, x, o}, 0.25, z));
	assert_true(is_good(FRIC_EDGE_VERTEX, (struct fast_members){{0.25, 1e-2, 0}, o, x, o}, 0.25, z));
}

/* Scaling lengths by 2^k changes only exponents. */
static void test_scaling(void **state)
{
	(void)state;
	struct rng rng = {4};
	for (int k = 0; k < 40; k++) {
		const struct geometry_inputs at = random_inputs(&rng, 0), direction = random_inputs(&rng, 0);
		struct lagged c = lag((enum fric_type)(k % 4), &at);
		const struct fast_frame g = frame_of(&c);
		const int exponent = k < 20 ? 300 : -300;
		struct v3 d[4];
		for (int v = 0; v < 4; v++) {
			d[v] = v3_from(direction.position[v]);
			c.p[v] = v3_times(ldexp(1, exponent), c.p[v]);
		}
		const struct fast_frame scaled = frame_of(&c);
		const struct fast_edges e = edges_of(c.contact.type, d);
		const struct fast_change one = fast_tangent_of(c.contact.type, &g, e);
		const struct fast_change other = fast_tangent_of(c.contact.type, &scaled, e);
		assert_int_equal(g.good, scaled.good);
		assert_bits(ldexp(other.a, exponent), one.a);
		assert_bits(ldexp(other.b, exponent), one.b);
		assert_bits(ldexp(other.turn, exponent), one.turn);
		assert_bits(ldexp(other.tilt_first, exponent), one.tilt_first);
		assert_bits(ldexp(other.tilt_second, exponent), one.tilt_second);
		assert_bits(other.distance, one.distance);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),   cmocka_unit_test(test_each_cotangent), cmocka_unit_test(test_close),
		cmocka_unit_test(test_not_good), cmocka_unit_test(test_scaling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
