#include "core/prepare/coefficients.h"

#include <float.h>

#include "tests/property/scene.h"

enum { N_VERTICES = 6 };
static const double certain[2];
static const int32_t stencil[] = {3, 0, 5, 2};

static struct fric_friction from_vertices(const double *mu, enum fric_blend blend)
{
	return (struct fric_friction){
		.source = FRIC_MU_VERTEX, .vertex_mu_s = mu, .vertex_mu_k = mu, .blend = blend, .eps_v = 1};
}

/* mu_s of a contact that must be accepted. */
static double coefficient(const struct fric_friction *f, enum fric_type type, double a, double b)
{
	double mu[2];
	assert_ok(fricp_contact_coefficients(f, type, stencil, (double[]){a, b}, certain, mu));
	return mu[0];
}

static enum fric_code judge(const struct fric_friction *f, enum fric_type type, double a, double b)
{
	double mu[2];
	return fricp_contact_coefficients(f, type, stencil, (double[]){a, b}, certain, mu);
}

static void test_scalar(void **state)
{
	(void)state;
	const struct fric_friction f = {.source = FRIC_MU_SCALAR, .mu_s = 0.7, .mu_k = 0.2};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		double mu[2];
		assert_ok(fricp_contact_coefficients(&f, type, stencil, (double[]){0.3, 0.4}, certain, mu));
		assert_bits(mu[0], 0.7);
		assert_bits(mu[1], 0.2);
	}
}

static void test_blends(void **state)
{
	(void)state;
	const double mu[N_VERTICES] = {0.8, 0, 0, 0.2};
	const double expected[] = {0.5, 0.2, 0.8, 0.16, 0.4, 0.32};
	for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
		const struct fric_friction f = from_vertices(mu, blend);
		assert_near(coefficient(&f, FRIC_VERTEX_VERTEX, 0, 0), expected[blend], 2e-16);
	}
}

/* Means of the smallest and the largest numbers are right to an ulp, and the mean of equal numbers is exact. */
static void test_means_at_the_ends_of_the_range(void **state)
{
	(void)state;
	const double tiny = 5e-324, numbers[] = {tiny, 2 * tiny, 3 * tiny, 7 * tiny, 0x1p-1060, DBL_MIN, 0.7, DBL_MAX};
	const int n = sizeof(numbers) / sizeof(numbers[0]);
	for (int i = 0; i < n * n; i++) {
		const double a = numbers[i / n], b = numbers[i % n], mu[N_VERTICES] = {a, 0, 0, b};
		const long double sum = (long double)a + b, expected[] = {sum / 2, 2 * ((long double)a * b) / sum};
		const enum fric_blend means[] = {FRIC_MEAN, FRIC_HARMONIC_MEAN};
		for (int j = 0; j < 2; j++) {
			const struct fric_friction f = from_vertices(mu, means[j]);
			const double mean = coefficient(&f, FRIC_VERTEX_VERTEX, 0, 0);
			assert_near(mean, expected[j], ulp((double)expected[j]));
			if (a == b)
				assert_bits(mean, a);
		}
	}
}

static void test_static_and_kinetic_apart(void **state)
{
	(void)state;
	const double s[N_VERTICES] = {0.8, 0, 0, 0.2}, k[N_VERTICES] = {0.4, 0, 0, 0.1};
	struct fric_friction f = from_vertices(s, FRIC_MAX);
	double mu[2];
	f.vertex_mu_k = k;
	assert_ok(fricp_contact_coefficients(&f, FRIC_VERTEX_VERTEX, stencil, (double[2]){0}, certain, mu));
	assert_bits(mu[0], 0.8);
	assert_bits(mu[1], 0.4);
}

/* Determines the weight of each vertex through blends that show only one side, or both. */
static void test_sides(void **state)
{
	(void)state;
	const double mu[N_VERTICES] = {1, 0, 2, 10, 0, 5}; /* stencil: 10 against 1, 5, 2 */
	const struct fric_friction max = from_vertices(mu, FRIC_MAX), min = from_vertices(mu, FRIC_MIN);
	assert_near(coefficient(&max, FRIC_EDGE_VERTEX, 0.25, 0), 10, 0);
	assert_near(coefficient(&min, FRIC_EDGE_VERTEX, 0.25, 0), 0.75 * 1 + 0.25 * 5, 1e-15);
	assert_near(coefficient(&max, FRIC_EDGE_EDGE, 0.25, 0.125), 0.75 * 10 + 0.25 * 1, 1e-15);
	assert_near(coefficient(&min, FRIC_EDGE_EDGE, 0.25, 0.125), 0.875 * 5 + 0.125 * 2, 1e-15);
	assert_near(coefficient(&min, FRIC_FACE_VERTEX, 0.25, 0.125), 0.625 * 1 + 0.25 * 5 + 0.125 * 2, 1e-15);
	for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
		const struct fric_friction f = from_vertices(mu, blend);
		assert_bits(coefficient(&f, FRIC_PLANE_VERTEX, 0, 0), 10); /* the vertex's coefficient */
	}
}

/* A side may be negative if the final coefficient is not. */
static void test_negative_sides(void **state)
{
	(void)state;
	const double mu[N_VERTICES] = {1, 0, 0, 0.5, 0, 0.25}; /* vertex 0.5; edge from 1 to 0.25 */
	const double beyond = 2;                               /* the edge's value is -0.5 there */
	const bool accepted[] = {true, false, true, false, false, false};
	for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
		const struct fric_friction f = from_vertices(mu, blend);
		assert_code(judge(&f, FRIC_EDGE_VERTEX, beyond, 0), accepted[blend] ? FRIC_OK : FRIC_E_NEGATIVE_COEFFICIENT);
	}
	const struct fric_friction mean = from_vertices(mu, FRIC_MEAN);
	assert_code(judge(&mean, FRIC_EDGE_VERTEX, 2.1, 0), FRIC_E_NEGATIVE_COEFFICIENT);
	assert_bits(coefficient(&mean, FRIC_EDGE_VERTEX, 2, 0), 0);
}

static void test_both_sides_negative(void **state)
{
	(void)state;
	const double mu[N_VERTICES] = {0, 0, 0.25, 1, 0, 1}; /* at 2 the edges have -1 and -0.5 */
	const bool accepted[] = {false, false, false, true, true, false};
	for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
		const struct fric_friction f = from_vertices(mu, blend);
		assert_code(judge(&f, FRIC_EDGE_EDGE, 2, 2), accepted[blend] ? FRIC_OK : FRIC_E_NEGATIVE_COEFFICIENT);
	}
}

/* One negative kinetic coefficient is enough for a refusal. */
static void test_negative_kinetic(void **state)
{
	(void)state;
	const double s[N_VERTICES] = {1, 1, 1, 1, 1, 1}, k[N_VERTICES] = {1, 0, 0, 0.5, 0, 0.25};
	struct fric_friction f = from_vertices(s, FRIC_MIN);
	f.vertex_mu_k = k;
	assert_code(judge(&f, FRIC_EDGE_VERTEX, 2, 0), FRIC_E_NEGATIVE_COEFFICIENT);
	assert_ok(judge(&f, FRIC_EDGE_VERTEX, 1, 0));
}

static void test_zero_sides(void **state)
{
	(void)state;
	const double none[N_VERTICES] = {0}, one[N_VERTICES] = {0, 0, 0, 0.5};
	for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
		const struct fric_friction f = from_vertices(none, blend), g = from_vertices(one, blend);
		assert_near(coefficient(&f, FRIC_VERTEX_VERTEX, 0, 0), 0, 0);
		assert_near(coefficient(&g, FRIC_VERTEX_VERTEX, 0, 0),
		            blend == FRIC_MAX    ? 0.5
		            : blend == FRIC_MEAN ? 0.25
		                                 : 0,
		            0);
	}
}

/* If one side is zero, blends that are products are zero, whatever the sign of the other side. The edge goes from 1 to
 * 0.25, and has -0.5 at 2. */
static void test_zero_and_a_negative_side(void **state)
{
	(void)state;
	const double zero_first[N_VERTICES] = {1, 0, 0, 0, 0, 0.25};        /* the vertex has 0 */
	const double zero_last[N_VERTICES] = {0, 0, 0, 1, 0, 0}, below = 2; /* edges: -1 at 2, and 0 */
	const bool accepted[] = {false, false, true, true, true, true};
	for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
		const struct fric_friction f = from_vertices(zero_first, blend), g = from_vertices(zero_last, blend);
		const enum fric_code expected = accepted[blend] ? FRIC_OK : FRIC_E_NEGATIVE_COEFFICIENT;
		assert_code(judge(&f, FRIC_EDGE_VERTEX, below, 0), expected);
		assert_code(judge(&g, FRIC_EDGE_EDGE, below, 0), expected);
		if (accepted[blend]) {
			assert_bits(coefficient(&f, FRIC_EDGE_VERTEX, below, 0), 0);
			assert_bits(coefficient(&g, FRIC_EDGE_EDGE, below, 0), 0);
		}
	}
}

/* No intermediate result overflows or underflows; equal values yield (almost) the same value. */
static void test_extreme_blends(void **state)
{
	(void)state;
	const double values[] = {1e-320, 1e-200, 0.3, 1e200, 1.7e308};
	for (int i = 0; i < 5; i++) {
		const double mu[N_VERTICES] = {values[i], values[i], values[i], values[i], values[i], values[i]};
		for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
			const struct fric_friction f = from_vertices(mu, blend);
			if (blend != FRIC_PRODUCT)
				assert_near(coefficient(&f, FRIC_EDGE_EDGE, 0.3, 0.6), values[i], ulp(values[i]));
		}
	}
	const double large[N_VERTICES] = {1e200, 0, 0, 1e200};
	const struct fric_friction product = from_vertices(large, FRIC_PRODUCT);
	assert_code(judge(&product, FRIC_VERTEX_VERTEX, 0, 0), FRIC_E_NOT_FINITE);
}

/* The order of the sides does not matter, even for very different values. */
static void test_blends_are_symmetric(void **state)
{
	(void)state;
	const double pairs[][2] = {{0.3, 0.7}, {1e-5, 0.9}, {1e300, 1e-300}, {1e-308, 1e308}};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const double ab[N_VERTICES] = {pairs[i][0], 0, 0, pairs[i][1]};
		const double ba[N_VERTICES] = {pairs[i][1], 0, 0, pairs[i][0]};
		for (enum fric_blend blend = FRIC_MEAN; blend <= FRIC_HARMONIC_MEAN; blend++) {
			const struct fric_friction f = from_vertices(ab, blend), g = from_vertices(ba, blend);
			const double x = coefficient(&f, FRIC_VERTEX_VERTEX, 0, 0), y = coefficient(&g, FRIC_VERTEX_VERTEX, 0, 0);
			assert_near(x, y, 2 * ulp(x));
		}
	}
}

static const int32_t materials[N_VERTICES] = {0, 0, 2, 1, 0, 2}; /* materials of the stencil: 1, 0, 2, 2 */
static const double table[9] = {0.1, 0.2, 0.3, 0.2, 0.4, 0.5, 0.3, 0.5, 0.6};

static struct fric_friction from_table(const int32_t *vertex_material)
{
	return (struct fric_friction){.source = FRIC_MU_TABLE,
	                              .vertex_material = vertex_material,
	                              .plane_material = 2,
	                              .n_materials = 3,
	                              .material_mu_s = table,
	                              .material_mu_k = table};
}

static void test_table(void **state)
{
	(void)state;
	const struct fric_friction f = from_table(materials);
	assert_bits(coefficient(&f, FRIC_VERTEX_VERTEX, 0, 0), 0.2);
	assert_bits(coefficient(&f, FRIC_PLANE_VERTEX, 0, 0), 0.5);
	assert_near(coefficient(&f, FRIC_EDGE_VERTEX, 0.25, 0), 0.75 * 0.2 + 0.25 * 0.5, 1e-16);
	assert_near(coefficient(&f, FRIC_FACE_VERTEX, 0.25, 0.5), 0.25 * 0.2 + 0.75 * 0.5, 2e-16);
	/* the first edge has materials 1 and 0, the second one 2 and 2 */
	assert_near(coefficient(&f, FRIC_EDGE_EDGE, 0.25, 0.9), 0.75 * 0.5 + 0.25 * 0.3, 2e-16);
	assert_code(judge(&f, FRIC_EDGE_VERTEX, -0.7, 0), FRIC_E_NEGATIVE_COEFFICIENT);
}

static void test_table_sums_over_both_sides(void **state)
{
	(void)state;
	const int32_t mixed[N_VERTICES] = {1, 0, 2, 0, 0, 1}; /* materials of the stencil: 0, 1, 1, 2 */
	const struct fric_friction f = from_table(mixed);
	const double a[] = {0.7, 0.3}, b[] = {0.4, 0.6};
	double expected = 0;
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
			expected += a[i] * b[j] * table[3 * i + 1 + j];
	assert_near(coefficient(&f, FRIC_EDGE_EDGE, 0.3, 0.6), expected, 2e-16);
}

/* Closest points may be inside or outside the primitives. */
static void test_uniform_materials_give_the_entry(void **state)
{
	(void)state;
	const int32_t uniform_materials[N_VERTICES] = {1, 1, 1, 1, 1, 1};
	const int32_t uniform_sides[N_VERTICES] = {0, 0, 0, 1, 0, 0};
	const struct fric_friction f = from_table(uniform_materials), g = from_table(uniform_sides);
	struct rng rng = {9};
	for (int i = 0; i < 100; i++) {
		const double a = uniform(&rng, -3, 3), b = uniform(&rng, -3, 3);
		for (enum fric_type type = 0; type < FRIC_PLANE_VERTEX; type++)
			assert_bits(coefficient(&f, type, a, b), 0.4);
		assert_bits(coefficient(&g, FRIC_EDGE_VERTEX, a, b), 0.2);
		assert_bits(coefficient(&g, FRIC_FACE_VERTEX, a, b), 0.2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalar),
		cmocka_unit_test(test_blends),
		cmocka_unit_test(test_means_at_the_ends_of_the_range),
		cmocka_unit_test(test_static_and_kinetic_apart),
		cmocka_unit_test(test_sides),
		cmocka_unit_test(test_negative_sides),
		cmocka_unit_test(test_both_sides_negative),
		cmocka_unit_test(test_negative_kinetic),
		cmocka_unit_test(test_zero_sides),
		cmocka_unit_test(test_zero_and_a_negative_side),
		cmocka_unit_test(test_extreme_blends),
		cmocka_unit_test(test_blends_are_symmetric),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_sums_over_both_sides),
		cmocka_unit_test(test_uniform_materials_give_the_entry),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
