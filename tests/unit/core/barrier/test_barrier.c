#include "core/barrier/barrier.h"

#include <stdio.h>

#include "tests/unit/core/exact.h"

static const char values[] = "tests/reference/barrier_mp.txt", values_of_all[] = "tests/reference/barriers_mp.txt";
/* In the order of enum fric_barrier_type; the names are those in the second table of values. */
static const char *const types[] = {"clamped_log", "normalized_clamped_log", "clamped_log_squared", "cubic",
                                    "two_stage"};
enum { N_BARRIERS = sizeof(types) / sizeof(types[0]) };

static struct fric_barrier clamped_log(double dhat, double stiffness, double dmin)
{
	return (struct fric_barrier){.dhat = dhat, .stiffness = stiffness, .dmin = dmin};
}

static double force(struct fric_barrier barrier, double distance)
{
	double f = NAN;
	assert_ok(fricp_barrier_force(&barrier, distance, &f));
	return f;
}

/* b'(D) of every barrier, as written in docs/physics.md. */
static long double derivative_as_written(enum fric_barrier_type type, long double D, long double E)
{
	const long double L = logl(D / E), clamped = (E - D) * (2 * L - E / D + 1);
	const long double all[N_BARRIERS] = {clamped, clamped / (E * E), 2 * (D - E) * L * (L + (D - E) / D),
	                                     -2 / E * (D - E) * (D - E), D >= E / 2 ? D - E : -E * E / (4 * D)};
	return all[type];
}

/* -kappa b'(D) 2d, with physical scaling if the barrier has it. */
static long double as_written(struct fric_barrier b, double distance)
{
	const long double d = distance, dmin = b.dmin, dhat = b.dhat;
	const long double D = d * d - dmin * dmin, E = (2 * dmin + dhat) * dhat;
	const long double units = b.type == FRIC_NORMALIZED_CLAMPED_LOG ? 1 : E * E;
	const long double plain = D < E ? -b.stiffness * derivative_as_written(b.type, D, E) * 2 * d : 0;
	return b.scaling == FRIC_SCALING_PHYSICAL ? plain * dhat / units : plain;
}

static void test_formula(void **state)
{
	(void)state;
	const struct fric_barrier barriers[] = {clamped_log(1e-3, 1e4, 0), clamped_log(1, 1, 0), clamped_log(0.5, 3, 2),
	                                        clamped_log(1e-3, 1e4, 1e-3), clamped_log(7, 1e-5, 1e-6)};
	for (size_t i = 0; i < sizeof(barriers) / sizeof(barriers[0]); i++)
		for (int kind = 0; kind < 2 * N_BARRIERS; kind++)
			for (int k = 1; k < 100; k++) {
				struct fric_barrier b = barriers[i];
				b.type = (enum fric_barrier_type)(kind / 2);
				b.scaling = kind % 2 ? FRIC_SCALING_PHYSICAL : FRIC_SCALING_NONE;
				const double d = b.dmin + b.dhat * k / 100;
				assert_near(force(b, d) / as_written(b, d), 1, 1e-14);
			}
}

static bool is_right(struct fric_barrier b, double distance, double expected)
{
	const double f = force(b, distance);
	if (isinf(expected) || expected == 0 ? f == expected : fabs(f - expected) <= 8 * ulp(expected))
		return true;
	print_error("%s %d dmin %a dhat %a distance %a: %a, expected %a\n", types[b.type], b.scaling, b.dmin, b.dhat,
	            distance, f, expected);
	return false;
}

/* Compares with multi-precision values from the first double above dmin to the last below dmin + dhat, and with zero
 * beyond. */
static void test_reference(void **state)
{
	(void)state;
	FILE *file = fopen(values, "r");
	struct fric_barrier b = {0};
	double distance, expected;
	int n = 0, n_wrong = 0;
	assert_non_null(file);
	while (fscanf(file, "%la %la %la %la %la", &distance, &b.dhat, &b.stiffness, &b.dmin, &expected) == 5) {
		n++;
		n_wrong += !is_right(b, distance, expected);
	}
	(void)fclose(file);
	assert_true(n > 2000);
	assert_int_equal(n_wrong, 0);
}

static enum fric_barrier_type type_of(const char *word)
{
	for (int type = 0; type < N_BARRIERS; type++)
		if (strcmp(word, types[type]) == 0)
			return (enum fric_barrier_type)type;
	fail_msg("%s", word);
	return FRIC_CLAMPED_LOG;
}

/* Compares all barriers with multi-precision differences of the published functions. */
static void test_reference_of_all(void **state)
{
	(void)state;
	FILE *file = fopen(values_of_all, "r");
	struct fric_barrier b;
	char word[32];
	double distance, plain, physical;
	int n[N_BARRIERS] = {0}, n_wrong = 0;
	assert_non_null(file);
	while (fscanf(file, "%31s %la %la %la %la %la %la", word, &distance, &b.dhat, &b.stiffness, &b.dmin, &plain,
	              &physical) == 7) {
		b.type = type_of(word);
		b.scaling = FRIC_SCALING_NONE;
		n_wrong += !is_right(b, distance, plain);
		b.scaling = FRIC_SCALING_PHYSICAL;
		n_wrong += !is_right(b, distance, physical);
		n[b.type]++;
	}
	assert_true(feof(file));
	(void)fclose(file);
	for (int type = 0; type < N_BARRIERS; type++)
		assert_true(n[type] >= 400);
	assert_int_equal(n_wrong, 0);
}

/* b(D) of every barrier, as published. */
static long double published(enum fric_barrier_type type, long double D, long double E)
{
	const long double L = logl(D / E), b = -(D - E) * (D - E) * L;
	const long double all[N_BARRIERS] = {b, b / (E * E), (D - E) * (D - E) * L * L,
	                                     -2 / (3 * E) * (D - E) * (D - E) * (D - E),
	                                     D >= E / 2 ? (E - D) * (E - D) / 2 : -E * E / 4 * (logl(2 * D / E) - 0.5L)};
	return all[type];
}

/* Compares b'(D) with differences of b. two_stage changes its formula at d^2 = 0.5. */
static void test_derivative_of_the_barrier(void **state)
{
	(void)state;
	const long double h = 1e-6L;
	const double distances[] = {0.1, 0.3, 0.5, 0.7, 0.70710678118654752, 0.708, 0.9};
	for (int type = 0; type < N_BARRIERS; type++)
		for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
			const enum fric_barrier_type t = (enum fric_barrier_type)type;
			const long double d = distances[i], up = published(t, d * d + h, 1), down = published(t, d * d - h, 1);
			const double f = force((struct fric_barrier){.dhat = 1, .stiffness = 1, .type = t}, distances[i]);
			assert_near(f / (-(up - down) / (2 * h) * 2 * d), 1, 1e-7);
		}
}

/* Leading terms: near dmin + dhat the force vanishes as the square of the remaining distance; near dmin it has a
 * pole. */
static void test_ends(void **state)
{
	(void)state;
	const struct fric_barrier b = clamped_log(1, 1, 0);
	const double left = 0x1p-40, d = 1 - left;
	assert_near(force(b, d) / (3 * (2 * left) * (2 * left) * 2), 1, 1e-11);
	const struct fric_barrier odd = clamped_log(0.7, 1, 0);
	const double end = 0.7 - left, rest = (0.7 - end) * (0.7 + end); /* the first factor is exact */
	assert_near(force(odd, end) / (3 * rest * rest / end * 2), 1, 1e-11);
	assert_near(force(b, 1e-100) / 2e100, 1, 1e-15);
	const struct fric_barrier gap = clamped_log(1, 1, 1);
	const double above = 0x1p-30;
	assert_near(force(gap, 1 + above) / ((3 - 2 * above) * (3 - 2 * above) / (2 * above) * 2), 1, 1e-7);
}

/* Leading terms of all barriers: powers of rest = E - D at the end of the reach, and of D near dmin. */
static void test_ends_of_all(void **state)
{
	(void)state;
	const double left = 0x1p-40, rest = left * (2 - left), d = 1 - left, near = 0x1p-30, D = near * near;
	const double log_squared = -2 * log(near);
	const struct {
		double end, start;
	} expected[N_BARRIERS] = {{3 * rest * rest, 1 / D},
	                          {3 * rest * rest, 1 / D},
	                          {4 * rest * rest * rest, 2 * log_squared * (1 / D + log_squared)},
	                          {2 * rest * rest, 2},
	                          {rest, 1 / (4 * D)}};
	for (int type = 0; type < N_BARRIERS; type++) {
		const struct fric_barrier b = {.dhat = 1, .stiffness = 1, .type = (enum fric_barrier_type)type};
		assert_near(force(b, d) / (expected[type].end * 2), 1, 1e-11);
		assert_near(force(b, near) / (expected[type].start * 2 * near), 1, 1e-15 + 1e2 * D);
	}
}

static void check_reach(enum fric_barrier_type type, enum fric_barrier_scaling scaling)
{
	const struct fric_barrier b = {.dhat = 0.25, .stiffness = 10, .dmin = 0.5, .type = type, .scaling = scaling};
	const struct fric_barrier thin = {.dhat = 1, .stiffness = 1, .type = type, .scaling = scaling};
	double f = NAN;
	assert_bits(force(b, 0.75), 0);
	assert_bits(force(b, 1e300), 0);
	assert_true(force(b, nextafter(0.75, 0)) > 0);
	assert_true(force(b, nextafter(0.5, 1)) > 0);
	assert_code(fricp_barrier_force(&b, 0.5, &f), FRIC_E_PENETRATION);
	assert_code(fricp_barrier_force(&b, 0, &f), FRIC_E_PENETRATION);
	assert_code(fricp_barrier_force(&thin, 0, &f), FRIC_E_PENETRATION);
	assert_true(force(thin, 5e-324) > 0);
}

static void test_reach(void **state)
{
	(void)state;
	for (int type = 0; type < N_BARRIERS; type++) {
		check_reach((enum fric_barrier_type)type, FRIC_SCALING_NONE);
		check_reach((enum fric_barrier_type)type, FRIC_SCALING_PHYSICAL);
	}
}

/* The force is highest at dmin and decreases to 0, without a jump where a formula changes. */
static void test_falls(void **state)
{
	(void)state;
	for (int type = 0; type < N_BARRIERS; type++) {
		struct fric_barrier b = {.dhat = 0.5, .stiffness = 1, .dmin = 3, .type = (enum fric_barrier_type)type};
		double before = INFINITY;
		for (int i = 1; i <= 4096; i++) {
			const double f = force(b, 3 + 0.5 * i / 4096);
			assert_true(f < before);
			before = f;
		}
		assert_bits(before, 0);
	}
}

/* The force scales with the unit of length through b, d^2 and d: to the power 3, -1 (normalized) or 0 (physical). */
static void test_scale(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2 * N_BARRIERS; kind++) {
		struct fric_barrier b = clamped_log(0.25, 3, 0.5);
		b.type = (enum fric_barrier_type)(kind / 2);
		b.scaling = kind % 2 ? FRIC_SCALING_PHYSICAL : FRIC_SCALING_NONE;
		const double reference = force(b, 0.6);
		const int power = b.scaling == FRIC_SCALING_PHYSICAL ? 0 : b.type == FRIC_NORMALIZED_CLAMPED_LOG ? -1 : 3;
		for (int e = -300; e <= 300; e += 50) {
			b.dhat = ldexp(0.25, e);
			b.dmin = ldexp(0.5, e);
			const double f = ldexp(force(b, ldexp(0.6, e)), -power * e);
			assert_near(f, reference, abs(e) < 90 ? 0 : 4 * ulp(reference));
		}
	}
	assert_true(isinf(force(clamped_log(1e200, 1, 0), 1e199)));
}

/* Sizes at which squares and cubes of lengths overflow or underflow although the force does not. */
static void test_extreme_sizes(void **state)
{
	(void)state;
	struct fric_barrier b = clamped_log(1, 1, 0);
	b.scaling = FRIC_SCALING_PHYSICAL;
	for (int type = 0; type < N_BARRIERS; type++)
		for (int sign = -1; sign <= 1; sign += 2) {
			b.type = (enum fric_barrier_type)type;
			b.dhat = ldexp(1, 1000 * sign);
			assert_near(force(b, b.dhat * 0.75) / as_written((struct fric_barrier){1, 1, 0, b.type, b.scaling}, 0.75),
			            1, 1e-15);
		}
}

/* ---- derivatives ---- */

/* Within four ulp; for by_distance and by_dhat, which change sign, four ulp of the larger of the two. */
static bool derivatives_right(const struct fric_barrier *b, double distance, const double expected[5])
{
	struct barrier_derivatives s;
	fricp_barrier_derivatives(b, distance, &s);
	const long double actual[5] = {s.force, s.by_distance, s.by_dhat, s.by_stiffness, s.by_dmin};
	const long double per_length = fabsl(expected[0]) / b->dhat;
	bool right = true;
	for (int i = 0; i < 5; i++) {
		const long double size = i == 1 || i == 2 || i == 4 ? fabs(expected[i]) + per_length : fabs(expected[i]);
		const bool beyond = isinf(expected[i]) && (double)actual[i] == expected[i];
		if (beyond || fabsl(actual[i] - expected[i]) <= 0x1p-50L * size + 5e-324L)
			continue;
		right = false;
		print_error("%s %d dmin %a dhat %a distance %a: derivative %d is %.17Lg, expected %.17g\n", types[b->type],
		            b->scaling, b->dmin, b->dhat, distance, i, actual[i], expected[i]);
	}
	return right;
}

static void test_derivatives(void **state)
{
	(void)state;
	FILE *file = fopen("tests/reference/derivatives_mp.txt", "r");
	char line[1024], word[32];
	int n = 0, n_wrong = 0, physical;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		struct fric_barrier b;
		double d, v[5];
		if (sscanf(line, "barrier %31s %d %la %la %la %la %la %la %la %la %la", word, &physical, &b.dhat, &b.stiffness,
		           &b.dmin, &d, &v[0], &v[1], &v[2], &v[3], &v[4]) != 11)
			continue;
		b.type = type_of(word);
		b.scaling = physical ? FRIC_SCALING_PHYSICAL : FRIC_SCALING_NONE;
		n_wrong += !derivatives_right(&b, d, v);
		n++;
	}
	(void)fclose(file);
	assert_int_equal(n, N_BARRIERS * 7 * 9 * 2);
	assert_int_equal(n_wrong, 0);
}

/* The force is homogeneous in all lengths together, and equals the result of fricp_barrier_force. */
static void test_degree(void **state)
{
	(void)state;
	static const int degrees[N_BARRIERS] = {3, -1, 3, 3, 3};
	for (int kind = 0; kind < 2 * N_BARRIERS; kind++)
		for (int k = 1; k < 120; k++) {
			const struct fric_barrier b = {.dhat = 0.5,
			                               .stiffness = 3,
			                               .dmin = k % 3 * 0.25,
			                               .type = (enum fric_barrier_type)(kind / 2),
			                               .scaling = kind % 2 ? FRIC_SCALING_PHYSICAL : FRIC_SCALING_NONE};
			const double d = b.dmin + b.dhat * k / 100;
			const bool normalized = b.type == FRIC_NORMALIZED_CLAMPED_LOG;
			const int degree = kind % 2 ? (normalized ? 0 : degrees[b.type] - 3) : degrees[b.type];
			struct barrier_derivatives s;
			fricp_barrier_derivatives(&b, d, &s);
			const long double sum = s.by_distance * d + s.by_dhat * b.dhat + s.by_dmin * b.dmin;
			const long double size = fabsl(s.by_distance * d) + fabsl(s.by_dhat * b.dhat) + fabsl(s.by_dmin * b.dmin);
			assert_near(s.force, force(b, d), 1e-15 * force(b, d));
			assert_near(s.by_stiffness * b.stiffness, s.force, 1e-18 * s.force);
			assert_near(sum, degree * s.force, 1e-17 * size);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formula),
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_reference_of_all),
		cmocka_unit_test(test_derivative_of_the_barrier),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_derivatives),
		cmocka_unit_test(test_degree),
		cmocka_unit_test(test_ends_of_all),
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_falls),
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_extreme_sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
