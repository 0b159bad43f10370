#include "core/prepare/barrier.h"

#include <stdio.h>

#include "tests/unit/core/exact.h"

static const char values[] = "tests/reference/barrier_mp.txt";

static double force(struct fric_barrier barrier, double distance)
{
	double f = NAN;
	assert_ok(fricp_barrier_force(&barrier, distance, &f));
	return f;
}

/* -kappa b'(D) 2d with b' = -2 (D - Dhat) ln(D/Dhat) - (D - Dhat)^2/D, exactly as written. */
static long double as_written(struct fric_barrier b, double distance)
{
	const long double d = distance, dmin = b.dmin, dhat = b.dhat;
	const long double D = d * d - dmin * dmin, Dhat = (2 * dmin + dhat) * dhat;
	const long double derivative = -2 * (D - Dhat) * logl(D / Dhat) - (D - Dhat) * (D - Dhat) / D;
	return D < Dhat ? -b.stiffness * derivative * 2 * d : 0;
}

static void test_formula(void **state)
{
	(void)state;
	const struct fric_barrier barriers[] = {{1e-3, 1e4, 0}, {1, 1, 0}, {0.5, 3, 2}, {1e-3, 1e4, 1e-3}, {7, 1e-5, 1e-6}};
	for (size_t i = 0; i < sizeof(barriers) / sizeof(barriers[0]); i++)
		for (int k = 1; k < 100; k++) {
			const double d = barriers[i].dmin + barriers[i].dhat * k / 100;
			const long double expected = as_written(barriers[i], d);
			assert_near(force(barriers[i], d) / expected, 1, 1e-14);
		}
}

/* Multi-precision values, from the first double above dmin to the last below dmin + dhat, and from there on zero. */
static void test_reference(void **state)
{
	(void)state;
	FILE *file = fopen(values, "r");
	struct fric_barrier b;
	double distance, expected;
	int n = 0, n_wrong = 0;
	assert_non_null(file);
	while (fscanf(file, "%la %la %la %la %la", &distance, &b.dhat, &b.stiffness, &b.dmin, &expected) == 5) {
		const double f = force(b, distance);
		const bool right = isinf(expected) || expected == 0 ? f == expected : fabs(f - expected) <= 8 * ulp(expected);
		n++;
		n_wrong += !right;
		if (!right && n_wrong <= 5)
			print_error("dmin %a dhat %a distance %a: %a, expected %a\n", b.dmin, b.dhat, distance, f, expected);
	}
	(void)fclose(file);
	assert_true(n > 2000);
	assert_int_equal(n_wrong, 0);
}

/* Compares b'(D) with differences of b. */
static void test_derivative_of_the_barrier(void **state)
{
	(void)state;
	const long double Dhat = 1, h = 1e-6L;
	for (long double d = 0.1L; d < 1; d += 0.1L) {
		const long double D = d * d, up = D + h, down = D - h;
		const long double b_up = -(up - Dhat) * (up - Dhat) * logl(up / Dhat);
		const long double b_down = -(down - Dhat) * (down - Dhat) * logl(down / Dhat);
		const long double expected = -(b_up - b_down) / (2 * h) * 2 * d;
		assert_near(force((struct fric_barrier){1, 1, 0}, (double)d) / expected, 1, 1e-8);
	}
}

/* Leading terms: near dmin + dhat the force vanishes as the square of the remaining distance; near dmin it has a pole. */
static void test_ends(void **state)
{
	(void)state;
	const struct fric_barrier b = {1, 1, 0};
	const double left = 0x1p-40, d = 1 - left;
	assert_near(force(b, d) / (3 * (2 * left) * (2 * left) * 2), 1, 1e-11);
	const struct fric_barrier odd = {0.7, 1, 0};
	const double end = 0.7 - left, rest = (0.7 - end) * (0.7 + end); /* the first factor is exact */
	assert_near(force(odd, end) / (3 * rest * rest / end * 2), 1, 1e-11);
	assert_near(force(b, 1e-100) / 2e100, 1, 1e-15);
	const struct fric_barrier gap = {1, 1, 1};
	const double above = 0x1p-30;
	assert_near(force(gap, 1 + above) / ((3 - 2 * above) * (3 - 2 * above) / (2 * above) * 2), 1, 1e-7);
}

static void test_reach(void **state)
{
	(void)state;
	const struct fric_barrier b = {0.25, 10, 0.5};
	double f = NAN;
	assert_bits(force(b, 0.75), 0);
	assert_bits(force(b, 1e300), 0);
	assert_true(force(b, nextafter(0.75, 0)) > 0);
	assert_true(force(b, nextafter(0.5, 1)) > 0);
	assert_code(fricp_barrier_force(&b, 0.5, &f), FRIC_E_PENETRATION);
	assert_code(fricp_barrier_force(&b, 0, &f), FRIC_E_PENETRATION);
	assert_code(fricp_barrier_force(&(struct fric_barrier){1, 1, 0}, 0, &f), FRIC_E_PENETRATION);
	assert_true(force((struct fric_barrier){1, 1, 0}, 5e-324) > 0);
}

/* lambda scales as the cube of a length. */
static void test_scale(void **state)
{
	(void)state;
	const double reference = force((struct fric_barrier){0.25, 3, 0.5}, 0.6);
	for (int e = -300; e <= 300; e += 100) {
		const struct fric_barrier b = {ldexp(0.25, e), 3, ldexp(0.5, e)};
		assert_bits(force(b, ldexp(0.6, e)), ldexp(reference, 3 * e));
	}
	assert_true(isinf(force((struct fric_barrier){1e200, 1, 0}, 1e199)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formula),
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_derivative_of_the_barrier),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_scale),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
