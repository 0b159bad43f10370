/* Compares derivatives of coefficients with respect to their inputs with differences, in long double, of their
 * definitions. */
#include <float.h>

#include "core/fric_mollifier.h"
#include "core/prepare/coefficients.h"
#include "core/prepare/matchstick.h"
#include "tests/unit/core/check.h"

enum { N_VERTICES = 6, N_MATERIALS = 3, MOST_NUMBERS = 9 };
static const int32_t stencil[] = {3, 0, 5, 2}, materials[N_VERTICES] = {0, 1, 2, 1, 0, 2};

/* ---- definitions (docs/physics.md 3) ---- */

/* The weights of all members on their sides: w[k] of member k, with the sign of its side. */
static void weights(enum fric_type type, long double a, long double b, long double w[4])
{
	const long double all[FRIC_N_VERTEX_TYPES][4] = {
		{1, -1, 0, 0}, {1, -(1 - a), -a, 0}, {1 - a, a, -(1 - b), -b}, {1, -(1 - a - b), -a, -b}, {1, 0, 0, 0}};
	memcpy(w, all[type], sizeof(all[type]));
}

static int sign_of(enum fric_type type, int k)
{
	return k == 0 || (type == FRIC_EDGE_EDGE && k == 1) ? 1 : -1;
}

static long double blended(enum fric_blend blend, long double a, long double b)
{
	const long double all[] = {(a + b) / 2, fminl(a, b), fmaxl(a, b), a * b, sqrtl(a * b), 2 * a * b / (a + b)};
	return all[blend];
}

static long double coefficient(const struct fric_friction *f, enum fric_type type, const long double *x, long double a,
                               long double b)
{
	const int n = fric_stencil_size(type);
	long double w[4], side[2] = {0}, sum = 0;
	weights(type, a, b, w);
	if (f->source == FRIC_MU_SCALAR)
		return x[0];
	if (f->source == FRIC_MU_VERTEX) {
		for (int k = 0; k < n; k++)
			side[sign_of(type, k) < 0] += fabsl(w[k]) * x[stencil[k]];
		return n == 1 ? side[0] : blended(f->blend, side[0], side[1]);
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (sign_of(type, i) > 0 && sign_of(type, j) < 0)
				sum -= w[i] * w[j] * x[materials[stencil[i]] * N_MATERIALS + materials[stencil[j]]];
	return n == 1 ? x[materials[stencil[0]] * N_MATERIALS + f->plane_material] : sum;
}

/* ---- comparisons ---- */

static const double numbers[MOST_NUMBERS] = {0.8, 0.3, 0.55, 0.2, 0.9, 0.45, 0.1, 0.35, 0.7};

static void check(const struct fric_friction *f, enum fric_type type)
{
	const double at[2] = {0.3, 0.45};
	const long double h = 0x1p-22L;
	struct coefficient_derivatives s;
	long double x[MOST_NUMBERS], by[MOST_NUMBERS] = {0};
	fricp_coefficient_derivatives(f, type, stencil, at, numbers, &s);
	for (int i = 0; i < MOST_NUMBERS; i++)
		x[i] = numbers[i];
	for (int k = 0; k < s.n; k++)
		by[s.at[k]] += s.by[k];
	for (int i = 0; i < MOST_NUMBERS; i++) {
		x[i] = numbers[i] + h;
		const long double up = coefficient(f, type, x, at[0], at[1]);
		x[i] = numbers[i] - h;
		assert_near(by[i], (up - coefficient(f, type, x, at[0], at[1])) / (2 * h), 1e-11);
		x[i] = numbers[i];
	}
	for (int m = 0; m < fric_closest_point_size(type); m++) {
		const long double da = m == 0 ? h : 0, db = m == 1 ? h : 0;
		const long double up = coefficient(f, type, x, at[0] + da, at[1] + db);
		const long double down = coefficient(f, type, x, at[0] - da, at[1] - db);
		assert_near(s.by_closest_point[m], (up - down) / (2 * h), 1e-11);
	}
}

static void test_sources(void **unused)
{
	(void)unused;
	struct fric_friction f = {
		.vertex_material = materials, .body_material = materials, .plane_material = 2, .n_materials = N_MATERIALS};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		for (f.blend = FRIC_MEAN; f.blend <= FRIC_HARMONIC_MEAN; f.blend++) {
			f.source = FRIC_MU_VERTEX;
			check(&f, type);
		}
		f.source = FRIC_MU_TABLE;
		check(&f, type);
		f.source = FRIC_MU_SCALAR;
		check(&f, type);
	}
}

static void test_bodies(void **unused)
{
	(void)unused;
	const struct fric_friction f = {
		.source = FRIC_MU_TABLE, .body_material = materials, .plane_material = 2, .n_materials = N_MATERIALS};
	const double at[2] = {0};
	struct coefficient_derivatives s;
	fricp_coefficient_derivatives(&f, FRIC_BODY_BODY, stencil, at, numbers, &s);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.at[0], 1 * N_MATERIALS + 0);
	assert_near(s.by[0], 1, 0);
	fricp_coefficient_derivatives(&f, FRIC_BODY_WORLD, stencil + 2, at, numbers, &s);
	assert_int_equal(s.at[0], 2 * N_MATERIALS + 2);
	assert_near(s.by[0], 1, 0);
}

static struct coefficient_derivatives of_two(enum fric_blend blend, double a, double b)
{
	const double mu[N_VERTICES] = {b, 0, 0, a}, at[2] = {0};
	const struct fric_friction f = {.source = FRIC_MU_VERTEX, .blend = blend};
	struct coefficient_derivatives s;
	fricp_coefficient_derivatives(&f, FRIC_VERTEX_VERTEX, stencil, at, mu, &s);
	return s;
}

/* Compares second derivatives with differences of first derivatives. */
static void test_second_derivatives(void **unused)
{
	(void)unused;
	static const double tangent[MOST_NUMBERS] = {0.5, -1, 0.25, 2, 1, -0.75};
	const double at[2] = {0.3, 0.45}, h = 0x1p-20;
	struct fric_friction f = {.source = FRIC_MU_VERTEX};
	double up[MOST_NUMBERS], down[MOST_NUMBERS];
	for (int i = 0; i < MOST_NUMBERS; i++) {
		up[i] = numbers[i] + h * tangent[i];
		down[i] = numbers[i] - h * tangent[i];
	}
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		for (f.blend = FRIC_MEAN; f.blend <= FRIC_HARMONIC_MEAN; f.blend++) {
			struct coefficient_derivatives p, q;
			long double by[FRIC_MAX_STENCIL];
			fricp_coefficient_derivatives(&f, type, stencil, at, up, &p);
			fricp_coefficient_derivatives(&f, type, stencil, at, down, &q);
			fricp_coefficient_second_derivatives(&f, type, stencil, at, numbers, tangent, by);
			for (int k = 0; k < p.n; k++)
				assert_near(by[k], (p.by[k] - q.by[k]) / (2 * h), 1e-9);
			fricp_coefficient_second_derivatives(&f, type, stencil, at, numbers, NULL, by);
			assert_true(by[0] == 0 && by[1] == 0);
		}
}

/* At a pole, a blend does not change along a direction that leaves both sides unchanged. */
static void test_second_derivatives_at_poles(void **unused)
{
	(void)unused;
	const double mu[2][N_VERTICES] = {{0.5, 0, 0, 0}, {0, 0, 0, 0.5}}, at[2] = {0};
	const double elsewhere[N_VERTICES] = {0, 1, 1, 0, 1, 0};
	struct fric_friction f = {.source = FRIC_MU_VERTEX};
	long double by[FRIC_MAX_STENCIL];
	for (int zero = 0; zero < 2; zero++)
		for (f.blend = FRIC_MEAN; f.blend <= FRIC_HARMONIC_MEAN; f.blend++) {
			fricp_coefficient_second_derivatives(&f, FRIC_VERTEX_VERTEX, stencil, at, mu[zero], elsewhere, by);
			assert_true(by[0] == 0 && by[1] == 0);
		}
}

/* Places where blends have knots and poles. */
static void test_knots(void **unused)
{
	(void)unused;
	for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
		const bool first = blend == FRIC_MIN || blend == FRIC_MAX;
		const struct coefficient_derivatives same = of_two(blend, 0.5, 0.5), zero = of_two(blend, 0, 0);
		assert_near(same.by[0], first ? 1 : 0.5, 0);
		assert_near(same.by[1], first ? 0 : 0.5, 0);
		assert_near(zero.by[0], first ? 1 : blend == FRIC_PRODUCT ? 0 : 0.5, 0);
		assert_near(zero.by[1], first || blend == FRIC_PRODUCT ? 0 : 0.5, 0);
	}
	const struct coefficient_derivatives half = of_two(FRIC_HARMONIC_MEAN, 0, 0.5),
										 pole = of_two(FRIC_GEOMETRIC_MEAN, 0, 0.5);
	assert_near(half.by[0], 2, 0);
	assert_near(half.by[1], 0, 0);
	assert_true(isinf(pole.by[0]));
	assert_near(pole.by[1], 0, 0);
	const long double rest[2] = {0};
	const double none[N_VERTICES] = {1, 1, 1, 0, 1, 1}, some[N_VERTICES] = {0, 0, 0, 1, 0, 0};
	assert_near(coefficient_tangent(&pole, none, rest), 0, 0);
	assert_true(isinf(coefficient_tangent(&pole, some, rest)));
	assert_near(coefficient_tangent(&pole, NULL, rest), 0, 0);
}

/* A side whose vertices all have zero stays zero wherever the closest point is. */
static void test_zero_side(void **unused)
{
	(void)unused;
	const double mu[N_VERTICES] = {0, 0, 0, 0.5, 0, 0}, at[2] = {0.25, 0.5};
	const struct fric_friction f = {.source = FRIC_MU_VERTEX, .blend = FRIC_GEOMETRIC_MEAN};
	struct coefficient_derivatives s;
	fricp_coefficient_derivatives(&f, FRIC_FACE_VERTEX, stencil, at, mu, &s);
	assert_near(s.by_closest_point[0], 0, 0);
	assert_near(s.by_closest_point[1], 0, 0);
	assert_near(s.by[0], 0, 0);
	assert_true(isinf(s.by[1]) && isinf(s.by[2]) && isinf(s.by[3]));
}

/* ---- ellipses ---- */

static void test_ellipse(void **unused)
{
	(void)unused;
	const double axes[2] = {0.3, 0.8};
	const long double h = 0x1p-22L;
	for (int k = 0; k < 12; k++) {
		const long double slip[2] = {3 * cosl(k + 0.1L), 3 * sinl(k + 0.1L)};
		const struct matchstick m = matchstick_along(slip, 1);
		struct ellipse_derivatives s;
		ellipse_derivatives(axes, m.direction, &s);
		assert_near(s.mu, hypotl(axes[0] * slip[0], axes[1] * slip[1]) / 3, 1e-17);
		for (int i = 0; i < 2; i++) {
			const long double unit[2] = {i == 0, i == 1};
			long double derivative[2], up[2] = {slip[0], slip[1]}, down[2] = {slip[0], slip[1]};
			up[i] += h;
			down[i] -= h;
			const struct matchstick p = matchstick_along(up, 1), q = matchstick_along(down, 1);
			const long double turn = matchstick_turn(&m, unit);
			matchstick_turn_cotangent(&m, 1, derivative);
			assert_near(derivative[i], turn, 1e-18);
			for (int j = 0; j < 2; j++)
				assert_near((j == 0 ? -turn : turn) * m.direction[1 - j], (p.direction[j] - q.direction[j]) / (2 * h),
				            1e-11);
			const long double change = hypotl(axes[0] * p.direction[0], axes[1] * p.direction[1]) -
			                           hypotl(axes[0] * q.direction[0], axes[1] * q.direction[1]);
			assert_near(s.by_turn * turn, change / (2 * h), 1e-11);
			assert_near(s.by_axis[i],
			            (hypotl((axes[0] + unit[0] * h) * m.direction[0], (axes[1] + unit[1] * h) * m.direction[1]) -
			             hypotl((axes[0] - unit[0] * h) * m.direction[0], (axes[1] - unit[1] * h) * m.direction[1])) /
			                (2 * h),
			            1e-11);
		}
	}
}

static void test_ellipse_at_rest(void **unused)
{
	(void)unused;
	const long double slow[2] = {0, 0.9e-10L}, faster[2] = {0, 1.1e-10L}, change[2] = {1, 1};
	long double derivative[2];
	const struct matchstick m = matchstick_along(slow, 1), n = matchstick_along(faster, 1);
	assert_true(m.direction[0] == 1 && m.direction[1] == 0);
	assert_true(matchstick_turn(&m, change) == 0);
	matchstick_turn_cotangent(&m, 1, derivative);
	assert_true(derivative[0] == 0 && derivative[1] == 0);
	assert_true(n.direction[0] == 0 && n.direction[1] == 1);
	assert_near(matchstick_turn(&n, change) * 1.1e-10L, -1, 1e-15);
}

/* If the axis along the slip is zero, the coefficient is zero, and grows with that axis and with the share of the other
 * axis. */
static void test_flat_ellipse(void **unused)
{
	(void)unused;
	const double axes[2] = {0, 0.3};
	const long double along[2] = {1, 0}, against[2] = {-1, 0};
	struct ellipse_derivatives s;
	ellipse_derivatives(axes, along, &s);
	assert_near(s.mu, 0, 0);
	assert_near(s.by_axis[0], 1, 0);
	assert_near(s.by_axis[1], 0, 0);
	assert_near(s.by_turn, 0.3, 1e-16);
	ellipse_derivatives(axes, against, &s);
	assert_near(s.by_axis[0], 1, 0);
	assert_near(s.by_turn, -0.3, 1e-16);
}

/* If the axes are mu + d and mu, the coefficient is mu + d cos^2, to first order in d. */
static void test_nearly_round_ellipse(void **unused)
{
	(void)unused;
	const double axes[2] = {0.7 + 0x1p-50, 0.7};
	const long double slip[2] = {3, 4};
	const struct matchstick m = matchstick_along(slip, 1);
	struct ellipse_derivatives s;
	ellipse_derivatives(axes, m.direction, &s);
	assert_near(s.by_turn / (-0x1p-49L * 12 / 25), 1, 1e-14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_second_derivatives),
		cmocka_unit_test(test_second_derivatives_at_poles),
		cmocka_unit_test(test_knots),
		cmocka_unit_test(test_zero_side),
		cmocka_unit_test(test_ellipse),
		cmocka_unit_test(test_ellipse_at_rest),
		cmocka_unit_test(test_flat_ellipse),
		cmocka_unit_test(test_nearly_round_ellipse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
