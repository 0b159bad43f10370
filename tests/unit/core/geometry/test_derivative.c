#include "core/geometry/derivative.h"
#include "core/geometry/geometry.h"

#include "tests/unit/core/geometry/derivatives.h"

/* Compares tangents along a direction with central differences: the largest difference relative to the largest entry of
 * each kind of value. */
static void check_tangent(const struct geometry_case *c, const struct geometry_inputs *at,
                          const struct geometry_inputs *direction, exact h, double tolerance)
{
	static const int first[] = {0, 2, 8, 9};
	struct geometry_values tangent;
	struct exact_values expected;
	fricp_geometry_tangent(c, at, direction, &tangent, NULL);
	central_difference(c, at, direction, h, &expected);
	const long double *actual = numbers_of(&tangent);
	for (int kind = 0; kind < 3; kind++) {
		exact largest = 0;
		for (int e = first[kind]; e < first[kind + 1]; e++)
			largest = exact_abs(expected.x[e]) > largest ? exact_abs(expected.x[e]) : largest;
		for (int e = first[kind]; e < first[kind + 1]; e++)
			if (exact_abs(actual[e] - expected.x[e]) > tolerance * largest + 1e-24) {
				print_error("type %d dim %d distance %d grain %d value %d: %.20Lg, expected %.20Lg\n", c->type, c->dim,
				            c->has_distance, c->has_grain, e, actual[e], (long double)expected.x[e]);
				fail();
			}
	}
}

static void test_differences(void **state)
{
	(void)state;
	struct geometry_case cases[40];
	const size_t n = all_cases(cases);
	struct rng rng = {1};
	for (int round = 0; round < 40; round++)
		for (size_t k = 0; k < n; k++) {
			const struct geometry_inputs at = random_inputs(&rng, round % 4 == 3 ? 1000 : 0);
			const struct geometry_inputs direction = random_inputs(&rng, 0);
			check_tangent(&cases[k], &at, &direction, 1e-5, 1e-14);
		}
	assert_int_equal(n, 32);
}

/* One number at a time, so that none is confused with another. */
static void test_each_input(void **state)
{
	(void)state;
	struct geometry_case cases[40];
	const size_t n = all_cases(cases);
	struct rng rng = {2};
	for (size_t k = 0; k < n; k++) {
		const struct geometry_inputs at = random_inputs(&rng, 0);
		for (int e = 0; e < N_INPUTS; e++) {
			struct geometry_inputs direction = {{{0}}, {0}, {0}};
			numbers_of(&direction)[e] = 1;
			check_tangent(&cases[k], &at, &direction, 1e-5, 1e-14);
		}
	}
}

/* The cotangent of one value must equal the tangents of that value along each input. */
static void check_cotangent(const struct geometry_case *c, const struct geometry_inputs *at,
                            const struct geometry_values *cotangent, long double tolerance)
{
	struct geometry_values given = *cotangent;
	struct geometry_inputs out;
	long double expected[N_INPUTS], largest = 0;
	memset(&out, 0xff, sizeof(out));
	fricp_geometry_cotangent(c, at, cotangent, NULL, &out);
	for (int e = 0; e < N_INPUTS; e++) {
		struct geometry_inputs direction = {{{0}}, {0}, {0}};
		struct geometry_values tangent;
		numbers_of(&direction)[e] = 1;
		fricp_geometry_tangent(c, at, &direction, &tangent, NULL);
		expected[e] = (long double)inner_product(&given, &tangent, N_VALUES);
		for (int v = 0; v < N_VALUES; v++)
			largest = fmaxl(largest, fabsl(numbers_of(&given)[v] * numbers_of(&tangent)[v]));
	}
	for (int e = 0; e < N_INPUTS; e++)
		assert_near(numbers_of(&out)[e], expected[e], tolerance * largest);
}

static struct geometry_values random_cotangent(struct rng *rng)
{
	struct geometry_values v;
	for (int e = 0; e < N_VALUES; e++)
		numbers_of(&v)[e] = uniform(rng, -1, 1);
	return v;
}

static void test_transpose(void **state)
{
	(void)state;
	struct geometry_case cases[40];
	const size_t n = all_cases(cases);
	struct rng rng = {3};
	for (int round = 0; round < 20; round++)
		for (size_t k = 0; k < n; k++) {
			const struct geometry_inputs at = random_inputs(&rng, round % 4 == 3 ? 1000 : 0);
			const struct geometry_values cotangent = random_cotangent(&rng);
			check_cotangent(&cases[k], &at, &cotangent, 1e-17L);
		}
}

/* Adding the turn back completes the tangent, and the transpose uses the same turn. */
static void test_turn(void **state)
{
	(void)state;
	static const struct geometry_values none;
	static const long double one = 1;
	struct geometry_case cases[40];
	const size_t n = all_cases(cases);
	struct rng rng = {5};
	for (size_t k = 0; k < n; k++) {
		struct geometry_inputs at = random_inputs(&rng, 0), direction = random_inputs(&rng, 0), back;
		struct geometry_values whole, rest;
		long double turn;
		fricp_geometry_tangent(&cases[k], &at, &direction, &whole, NULL);
		fricp_geometry_tangent(&cases[k], &at, &direction, &rest, &turn);
		for (int j = 0; j < 2; j++)
			assert_true(rest.closest_point[j] == whole.closest_point[j]);
		assert_true(rest.distance == whole.distance);
		if (cases[k].dim == 2) {
			assert_true(turn == 0 && memcmp(rest.tangent_basis, whole.tangent_basis, sizeof(rest.tangent_basis)) == 0);
			continue;
		}
		fricp_geometry_cotangent(&cases[k], &at, &none, &one, &back);
		assert_near(turn, (long double)inner_product(&back, &direction, N_INPUTS), 1e-15L * fmaxl(1, fabsl(turn)));
		long double squared[2] = {0}, slant = 0;
		for (int d = 0; d < 3; d++) {
			const long double first = whole.tangent_basis[2 * d] - rest.tangent_basis[2 * d];
			const long double second = whole.tangent_basis[2 * d + 1] - rest.tangent_basis[2 * d + 1];
			squared[0] += first * first;
			squared[1] += second * second;
			slant += first * second;
		}
		assert_near(squared[0], turn * turn, 1e-15L * fmaxl(1, turn * turn));
		assert_near(squared[1], turn * turn, 1e-15L * fmaxl(1, turn * turn));
		assert_near(slant, 0, 1e-15L * fmaxl(1, turn * turn));
	}
}

/* Components beyond the dimension are not read, and neither are inputs that a contact lacks. */
static void test_unread(void **state)
{
	(void)state;
	struct rng rng = {4};
	const struct geometry_case c = {FRIC_EDGE_VERTEX, 2, false, false};
	struct geometry_inputs at = random_inputs(&rng, 0), direction = random_inputs(&rng, 0), out[2];
	struct geometry_values v[2], cotangent[2] = {random_cotangent(&rng)};
	fricp_geometry_tangent(&c, &at, &direction, &v[0], NULL);
	fricp_geometry_cotangent(&c, &at, &cotangent[0], NULL, &out[0]);
	cotangent[1] = cotangent[0];
	for (int e = 0; e < N_INPUTS; e++)
		if (e % 3 == 2 || e >= 9)
			numbers_of(&at)[e] = numbers_of(&direction)[e] = NAN;
	for (int e = 0; e < N_VALUES; e++)
		if (e == 1 || e > 3)
			numbers_of(&cotangent[1])[e] = NAN;
	fricp_geometry_tangent(&c, &at, &direction, &v[1], NULL);
	fricp_geometry_cotangent(&c, &at, &cotangent[1], NULL, &out[1]);
	for (int e = 0; e < N_VALUES; e++)
		assert_true(numbers_of(&v[0])[e] == numbers_of(&v[1])[e]);
	for (int e = 0; e < N_INPUTS; e++)
		assert_true(numbers_of(&out[0])[e] == numbers_of(&out[1])[e]);
}

/* Two edges, or two edges of a triangle, at an angle; p and q are points on them, a gap apart. cos and sin of a small
 * angle need not be exact. */
static struct geometry_inputs sliver(struct rng *rng, enum fric_type type, double angle, double gap)
{
	double basis[6];
	struct geometry_inputs in = random_inputs(rng, 0);
	random_basis(rng, 3, basis);
	const double p = uniform(rng, 0.2, 0.8), q = uniform(rng, 0.2, 0.8);
	for (int i = 0; i < 3; i++) {
		const int j = (i + 1) % 3, k = (i + 2) % 3;
		const double n = basis[2 * j] * basis[2 * k + 1] - basis[2 * k] * basis[2 * j + 1];
		const double a = basis[2 * i], b = cos(angle) * a + sin(angle) * basis[2 * i + 1];
		const double first = (double)in.position[1][i];
		in.grain[i] = (double)(in.grain[i] / 4 + a); /* not along the normal */
		if (type == FRIC_EDGE_EDGE) {
			in.position[0][i] = (double)(first - a);
			in.position[2][i] = (double)(first - (1 - p) * a + gap * n - q * b);
			in.position[3][i] = (double)(first - (1 - p) * a + gap * n + (1 - q) * b);
			continue;
		}
		in.position[2][i] = first + a;
		in.position[3][i] = type == FRIC_FACE_VERTEX ? first + b : 0;
		in.position[0][i] = type == FRIC_FACE_VERTEX ? first + p * a + q * b + gap * n : first + p * a + gap * n;
	}
	return in;
}

/* Edges and triangle sides at angles down to 1e-9 rad, and vertices 1e-9 from an edge, are as accurate as all
 * others. */
static void test_near_degenerate(void **state)
{
	(void)state;
	static const enum fric_type types[] = {FRIC_EDGE_VERTEX, FRIC_EDGE_EDGE, FRIC_FACE_VERTEX};
	struct rng rng = {7};
	for (double small = 1e-1; small > 0.9e-9; small /= 10)
		for (int k = 0; k < 30; k++) {
			const enum fric_type type = types[k % 3];
			const double angle = k % 2 ? small : 1, gap = type == FRIC_EDGE_VERTEX || k % 2 == 0 ? small : 0.1;
			const struct geometry_inputs at = sliver(&rng, type, angle, gap), direction = random_inputs(&rng, 0);
			const struct geometry_case c = {type, 3, true, k % 5 == 0};
			const struct geometry_values cotangent = random_cotangent(&rng);
			check_tangent(&c, &at, &direction, small * 1e-4, 1e-12);
			check_cotangent(&c, &at, &cotangent, 1e-17L);
		}
}

/* Grains as close as 1e-9 rad to the normal, where the normal does not come from edges. */
static void test_grains_beside_normals(void **state)
{
	(void)state;
	static const enum fric_type types[] = {FRIC_VERTEX_VERTEX, FRIC_PLANE_VERTEX, FRIC_BODY_WORLD};
	struct rng rng = {6};
	for (double small = 1e-1; small > 0.9e-9; small /= 10)
		for (int k = 0; k < 30; k++) {
			const enum fric_type type = types[k % 3];
			struct geometry_inputs at = random_inputs(&rng, 0);
			const struct geometry_inputs direction = random_inputs(&rng, 0);
			const struct geometry_case c = {type, 3, type != FRIC_BODY_WORLD, true};
			for (int i = 0; i < 3; i++) {
				const exact n = type == FRIC_VERTEX_VERTEX ? at.position[0][i] - at.position[1][i] : at.normal[i];
				at.grain[i] = (double)(n + small * at.grain[i]);
			}
			check_tangent(&c, &at, &direction, small * 1e-4, 1e-12);
		}
}

/* Scaling lengths by 2^k scales tangents of points and bases by 2^-k and leaves tangents of distances unchanged, to the
 * bit. */
static void check_scaled(const struct geometry_case *c, const struct geometry_inputs *at,
                         const struct geometry_inputs *direction, int exponent)
{
	struct geometry_inputs from = *at, scaled, out[2];
	struct geometry_values v[2], cotangent = {{1, -2}, {3, 4, -5, 6, 7, 8}, 9};
	for (int e = 0; e < N_INPUTS; e++)
		numbers_of(&scaled)[e] = ldexpl(numbers_of(&from)[e], exponent);
	fricp_geometry_tangent(c, at, direction, &v[0], NULL);
	fricp_geometry_tangent(c, &scaled, direction, &v[1], NULL);
	for (int e = 0; e < N_VALUES; e++)
		assert_true(numbers_of(&v[0])[e] == ldexpl(numbers_of(&v[1])[e], e == 8 ? 0 : exponent));
	fricp_geometry_cotangent(c, at, &cotangent, NULL, &out[0]);
	cotangent.distance = ldexpl(cotangent.distance, -exponent);
	fricp_geometry_cotangent(c, &scaled, &cotangent, NULL, &out[1]);
	for (int e = 0; e < N_INPUTS; e++)
		assert_true(numbers_of(&out[0])[e] == ldexpl(numbers_of(&out[1])[e], exponent));
}

static void test_scaling(void **state)
{
	(void)state;
	struct geometry_case cases[40];
	const size_t n = all_cases(cases);
	struct rng rng = {6};
	for (size_t k = 0; k < n; k++)
		for (int exponent = -300; exponent <= 300; exponent += 150) {
			const struct geometry_inputs at = random_inputs(&rng, 0), direction = random_inputs(&rng, 0);
			check_scaled(&cases[k], &at, &direction, exponent);
		}
	const struct geometry_inputs at = sliver(&rng, FRIC_EDGE_EDGE, 1e-8, 0.1), direction = random_inputs(&rng, 0);
	check_scaled(&(struct geometry_case){FRIC_EDGE_EDGE, 3, true, true}, &at, &direction, -300);
	check_scaled(&(struct geometry_case){FRIC_EDGE_EDGE, 3, true, true}, &at, &direction, 300);
}

/* No intermediate result overflows if coordinates are as large as doubles allow, or as small. */
static void test_extremes(void **state)
{
	(void)state;
	struct rng rng = {7};
	const struct geometry_inputs at = random_inputs(&rng, 0), direction = random_inputs(&rng, 0);
	for (enum fric_type type = 0; type < FRIC_PLANE_VERTEX; type++) {
		check_scaled(&(struct geometry_case){type, 3, true, true}, &at, &direction, 1020);
		check_scaled(&(struct geometry_case){type, 3, true, true}, &at, &direction, -1020);
	}
}

/* If the distance is zero (on the plane, on the line, where lines cross), the derivative is that of the side to which
 * the normal points, as to the right of the kink of |x|. */
static void test_no_distance(void **state)
{
	(void)state;
	const struct geometry_inputs up = {.position = {{0, 0, 1}}};
	struct geometry_values v;
	struct geometry_inputs at = {.position = {{0.25L, 0.25L}, {0}, {1}, {0, 1}}};
	fricp_geometry_tangent(&(struct geometry_case){FRIC_FACE_VERTEX, 3, true, false}, &at, &up, &v, NULL);
	assert_true(v.distance == 1);
	at = (struct geometry_inputs){.position = {{3, 4, 0}, {1, 1, 0}}, .normal = {0, 0, 2}};
	fricp_geometry_tangent(&(struct geometry_case){FRIC_PLANE_VERTEX, 3, true, false}, &at, &up, &v, NULL);
	assert_true(v.distance == 1);
	const struct geometry_inputs aside = {.position = {{0, 1}}};
	at = (struct geometry_inputs){.position = {{0.25L}, {0}, {1}}};
	fricp_geometry_tangent(&(struct geometry_case){FRIC_EDGE_VERTEX, 2, true, false}, &at, &aside, &v, NULL);
	assert_true(v.distance == 1 && v.closest_point[0] == 0);
}

/* If components of n are equal, derivatives use the axis that the basis uses: y. */
static void test_axis(void **state)
{
	(void)state;
	const struct geometry_case c = {FRIC_VERTEX_VERTEX, 3, true, false};
	const struct geometry_inputs at = {.position = {{0}, {1, 1, 0.5L}}};
	struct geometry_values v;
	const struct geometry_inputs along_y = {.position = {{0}, {0, 1, 0}}}, along_x = {.position = {{0}, {1, 0, 0}}};
	/* e = y x n = (n_z, 0, -n_x): independent of n_y, even where n_y decides the choice of axis */
	fricp_geometry_tangent(&c, &at, &along_y, &v, NULL);
	assert_near(v.tangent_basis[0], 0, 1e-18L);
	assert_near(v.tangent_basis[4], 0, 1e-18L);
	/* d(0.5, -n_x)/sqrt(n_x^2 + 0.25) at n_x = 1 */
	fricp_geometry_tangent(&c, &at, &along_x, &v, NULL);
	assert_near(v.tangent_basis[0], -0.5L / powl(1.25L, 1.5L), 1e-18L);
	assert_near(v.tangent_basis[4], -0.25L / powl(1.25L, 1.5L), 1e-18L);
	check_tangent(&c, &at, &along_y, 1e-5, 1e-14);
}

/* n_x is smaller than n_y by less than a rounding: the axis is x, as for the basis. */
static void test_axis_chosen_by_less_than_a_rounding(void **state)
{
	(void)state;
	const struct geometry_inputs along_x = {.position = {{0}, {1, 0, 0}}}, along_y = {.position = {{0}, {0, 1, 0}}};
	const double p0[3] = {0x1p-1074, 0, 0}, p1[3] = {1, 1, 0.5}, *p[FRIC_MAX_STENCIL] = {p0, p1};
	const struct geometry_inputs at = {.position = {{p0[0]}, {p1[0], p1[1], p1[2]}}};
	for (int has_distance = 0; has_distance < 2; has_distance++) {
		const struct geometry_case c = {FRIC_VERTEX_VERTEX, 3, has_distance, false};
		struct fric_geometry g;
		struct geometry_values v;
		assert_int_equal(fricp_stencil_geometry(FRIC_VERTEX_VERTEX, 3, p, true, &g), FRIC_OK);
		assert_true(g.tangent_basis[0] == 0 && g.tangent_basis[2] < 0);
		/* e = x x n = (0, -n_z, n_y) */
		fricp_geometry_tangent(&c, &at, &along_x, &v, NULL);
		assert_near(v.tangent_basis[2], 0, 1e-18L);
		assert_near(v.tangent_basis[4], 0, 1e-18L);
		fricp_geometry_tangent(&c, &at, &along_y, &v, NULL);
		assert_near(v.tangent_basis[2], 0.5L / powl(1.25L, 1.5L), 1e-18L);
		assert_near(v.tangent_basis[4], 0.25L / powl(1.25L, 1.5L), 1e-18L);
	}
}

/* Numbers so small that they vanish when a basis is made also vanish for its derivatives. */
static void test_axis_of_a_long_normal(void **state)
{
	(void)state;
	static const double normals[][3] = {
		{0x1p-1074, 0x1p-1073, 8}, {0x1p-1074, 0x1p-1073, 0x1p-1072}, {3, -4, 5}, {-4, 3, 5}};
	for (size_t i = 0; i < sizeof(normals) / sizeof(*normals); i++) {
		const double *n = normals[i];
		const struct geometry_inputs at = {.normal = {n[0], n[1], n[2]}};
		const struct geometry_case c = {FRIC_PLANE_VERTEX, 3, false, false};
		double basis[6];
		struct geometry_inputs direction = {.normal = {n[2], 0, 0}};
		struct geometry_values v;
		fricp_plane_basis(3, n, basis);
		const int axis = basis[0] == 0 ? 0 : 1;
		assert_int_equal(fricp_plane_axis(n), axis);
		assert_int_equal(fricp_vertices_axis((double[3]){0}, n), axis);
		fricp_geometry_tangent(&c, &at, &direction, &v, NULL);
		assert_near(v.tangent_basis[2 * axis], 0, 1e-18L);
		direction = (struct geometry_inputs){.normal = {0, n[2], 0}};
		fricp_geometry_tangent(&c, &at, &direction, &v, NULL);
		assert_near(v.tangent_basis[2 * axis], 0, 1e-18L);
	}
}

static void test_unit_normal(void **state)
{
	(void)state;
	const long double normal[3] = {2, 0, 0}, x[3] = {5, 3, -4}, junk[3] = {2, 0, NAN};
	long double out[3];
	fricp_unit_normal_derivative(3, normal, x, out);
	assert_true(out[0] == 0 && out[1] == 1.5L && out[2] == -2);
	fricp_unit_normal_derivative(2, junk, x, out);
	assert_true(out[0] == 0 && out[1] == 1.5L && out[2] == 0);
	struct rng rng = {8};
	const struct geometry_inputs in = random_inputs(&rng, 0);
	const long double *n = in.normal, *t = in.grain, h = 1e-6L;
	long double norms[2] = {0};
	for (int i = 0; i < 3; i++) {
		norms[0] += (n[i] + h * t[i]) * (n[i] + h * t[i]);
		norms[1] += (n[i] - h * t[i]) * (n[i] - h * t[i]);
	}
	fricp_unit_normal_derivative(3, n, t, out);
	for (int i = 0; i < 3; i++) {
		const long double plus = (n[i] + h * t[i]) / sqrtl(norms[0]), minus = (n[i] - h * t[i]) / sqrtl(norms[1]);
		assert_near(out[i], (plus - minus) / (2 * h), 1e-10L);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_each_input),
		cmocka_unit_test(test_transpose),
		cmocka_unit_test(test_turn),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_near_degenerate),
		cmocka_unit_test(test_grains_beside_normals),
		cmocka_unit_test(test_scaling),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_no_distance),
		cmocka_unit_test(test_axis),
		cmocka_unit_test(test_axis_chosen_by_less_than_a_rounding),
		cmocka_unit_test(test_axis_of_a_long_normal),
		cmocka_unit_test(test_unit_normal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
