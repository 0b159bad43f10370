#include "core/fric_mollifier.h"

#include <stdio.h>

#include "tests/unit/core/check.h"

static const char reference[] = "tests/reference/scalars_mp.txt";

static double call(const char *name, const char *transition, const double p[4]) /* y, mu_s, mu_k, eps_v */
{
	static const struct {
		const char *name;
		double (*of)(double, double);
	} plain[] = {{"smooth_friction_f0", fric_smooth_friction_f0},
	             {"smooth_friction_f1", fric_smooth_friction_f1},
	             {"smooth_friction_f2", fric_smooth_friction_f2},
	             {"smooth_friction_f1_over_x", fric_smooth_friction_f1_over_x},
	             {"smooth_friction_f2_x_minus_f1_over_x3", fric_smooth_friction_f2_x_minus_f1_over_x3}};
	static const struct {
		const char *name;
		double (*of)(double, double, double, double, enum fric_transition);
	} smooth[] = {{"smooth_mu", fric_smooth_mu},
	              {"smooth_mu_derivative", fric_smooth_mu_derivative},
	              {"smooth_mu_f0", fric_smooth_mu_f0},
	              {"smooth_mu_f1", fric_smooth_mu_f1},
	              {"smooth_mu_f2", fric_smooth_mu_f2},
	              {"smooth_mu_f1_over_x", fric_smooth_mu_f1_over_x},
	              {"smooth_mu_f2_x_minus_mu_f1_over_x3", fric_smooth_mu_f2_x_minus_mu_f1_over_x3}};
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (strcmp(name, plain[i].name) == 0)
			return plain[i].of(p[0], p[3]);
	for (size_t i = 0; i < sizeof(smooth) / sizeof(smooth[0]); i++)
		if (strcmp(name, smooth[i].name) == 0)
			return smooth[i].of(p[0], p[1], p[2], p[3],
			                    strcmp(transition, "quadratic") == 0 ? FRIC_QUADRATIC : FRIC_CUBIC);
	fail_msg("no function %s", name);
	return NAN;
}

/* scale: magnitude of the largest term, infinite if the value is. At a pole, a limit of either sign is right. */
static bool close_enough(double value, double expected, double scale)
{
	if (isinf(expected))
		return !isfinite(value);
	return fabs(value - expected) <= 4 * ulp(fmax(fabs(expected), scale));
}

static void test_reference(void **state)
{
	(void)state;
	FILE *file = fopen(reference, "r");
	char name[64], transition[16];
	double p[4], expected, scale;
	int n = 0, n_wrong = 0;
	if (!file)
		skip();
	while (fscanf(file, "%63s %15s %la %la %la %la %la %la", name, transition, &p[0], &p[1], &p[2], &p[3], &expected,
	              &scale) == 8) {
		const double value = call(name, transition, p);
		n++;
		if (!close_enough(value, expected, scale) && n_wrong++ < 20)
			print_error("%s %s y=%a mu_s=%a mu_k=%a eps_v=%a: %a, expected %a\n", name, transition, p[0], p[1], p[2],
			            p[3], value, expected);
	}
	assert_true(feof(file));
	fclose(file);
	assert_int_equal(n_wrong, 0);
	assert_true(n > 10000);
}

static const enum fric_transition transitions[] = {FRIC_CUBIC, FRIC_QUADRATIC};

static void test_parity(void **state)
{
	(void)state;
	for (int i = 0; i < 400; i++) {
		const double y = i * 0.007, eps = 1.3, s = 0.9, k = 0.2;
		const enum fric_transition t = transitions[i % 2];
		assert_bits(fric_smooth_friction_f0(-y, eps), fric_smooth_friction_f0(y, eps));
		assert_bits(fric_smooth_friction_f1(-y, eps), -fric_smooth_friction_f1(y, eps));
		assert_bits(fric_smooth_friction_f2(-y, eps), fric_smooth_friction_f2(y, eps));
		assert_bits(fric_smooth_friction_f1_over_x(-y, eps), fric_smooth_friction_f1_over_x(y, eps));
		assert_bits(fric_smooth_mu(-y, s, k, eps, t), fric_smooth_mu(y, s, k, eps, t));
		assert_true(fric_smooth_mu_derivative(-y, s, k, eps, t) == -fric_smooth_mu_derivative(y, s, k, eps, t));
		assert_bits(fric_smooth_mu_f0(-y, s, k, eps, t), fric_smooth_mu_f0(y, s, k, eps, t));
		assert_bits(fric_smooth_mu_f1(-y, s, k, eps, t), -fric_smooth_mu_f1(y, s, k, eps, t));
		assert_bits(fric_smooth_mu_f2(-y, s, k, eps, t), fric_smooth_mu_f2(y, s, k, eps, t));
		assert_bits(fric_smooth_mu_f1_over_x(-y, s, k, eps, t), fric_smooth_mu_f1_over_x(y, s, k, eps, t));
		assert_bits(fric_smooth_mu_f2_x_minus_mu_f1_over_x3(-y, s, k, eps, t),
		            fric_smooth_mu_f2_x_minus_mu_f1_over_x3(y, s, k, eps, t));
	}
}

/* All functions except the last are continuous at the knot and at the onset of sliding. */
static void test_continuity(void **state)
{
	(void)state;
	double (*const of[])(double, double, double, double, enum fric_transition) = {
		fric_smooth_mu,    fric_smooth_mu_derivative, fric_smooth_mu_f0,
		fric_smooth_mu_f1, fric_smooth_mu_f2,         fric_smooth_mu_f1_over_x};
	const double eps = 0.7;
	for (size_t f = 0; f < sizeof(of) / sizeof(of[0]); f++)
		for (int t = 0; t < 2; t++)
			for (double y = eps / 2; y <= eps; y += eps / 2) {
				const double below = of[f](nextafter(y, 0), 1, 0.1, eps, transitions[t]);
				const double above = of[f](nextafter(y, 1), 1, 0.1, eps, transitions[t]);
				const double at = of[f](y, 1, 0.1, eps, transitions[t]);
				assert_near(below, at, 1e-14);
				assert_near(above, at, 1e-14);
			}
}

static void test_poles(void **state)
{
	(void)state;
	assert_true(!isfinite(fric_smooth_friction_f2_x_minus_f1_over_x3(0, 1)));
	for (int t = 0; t < 2; t++) {
		assert_true(!isfinite(fric_smooth_mu_f2_x_minus_mu_f1_over_x3(0, 0.5, 0.1, 1, transitions[t])));
		assert_true(fric_smooth_mu_f2_x_minus_mu_f1_over_x3(0x1p-600, 0.5, 0.1, 1, transitions[t]) == -0x1p599);
	}
	/* Without static friction there is no pole. */
	assert_bits(fric_smooth_mu_f2_x_minus_mu_f1_over_x3(0, 0, 0.5, 2, FRIC_CUBIC), 12 * 0.5 / 8);
	assert_bits(fric_smooth_mu_f2_x_minus_mu_f1_over_x3(0, 0, 0.5, 2, FRIC_QUADRATIC), 8 * 0.5 / 8);
}

static void test_integral(void **state)
{
	(void)state;
	const double eps = 1e-3, s = 0.8, k = 0.3, h = 1e-6 * eps;
	for (int t = 0; t < 2; t++)
		for (double y = -1.995 * eps; y < 2 * eps; y += 0.03 * eps) {
			const double f0 = (fric_smooth_friction_f0(y + h, eps) - fric_smooth_friction_f0(y - h, eps)) / (2 * h);
			const double g0 = (fric_smooth_mu_f0(y + h, s, k, eps, transitions[t]) -
			                   fric_smooth_mu_f0(y - h, s, k, eps, transitions[t])) /
			                  (2 * h);
			const double g1 = (fric_smooth_mu_f1(y + h, s, k, eps, transitions[t]) -
			                   fric_smooth_mu_f1(y - h, s, k, eps, transitions[t])) /
			                  (2 * h);
			const double mu =
				(fric_smooth_mu(y + h, s, k, eps, transitions[t]) - fric_smooth_mu(y - h, s, k, eps, transitions[t])) /
				(2 * h);
			assert_near(f0, fric_smooth_friction_f1(y, eps), 1e-9);
			assert_near(g0, fric_smooth_mu_f1(y, s, k, eps, transitions[t]), 1e-9);
			assert_near(g1 * eps, fric_smooth_mu_f2(y, s, k, eps, transitions[t]) * eps, 1e-5);
			assert_near(mu * eps, fric_smooth_mu_derivative(y, s, k, eps, transitions[t]) * eps, 1e-5);
		}
}

static void test_known_values(void **state)
{
	(void)state;
	assert_bits(fric_smooth_friction_f0(0, 3), 1);
	assert_bits(fric_smooth_friction_f0(5, 3), 5);
	assert_bits(fric_smooth_friction_f1(1.5, 3), 0.75);
	assert_bits(fric_smooth_friction_f1(3, 3), 1);
	assert_bits(fric_smooth_friction_f2(3, 3), 0);
	assert_bits(fric_smooth_friction_f1_over_x(0, 4), 0.5);
	for (int t = 0; t < 2; t++) {
		assert_bits(fric_smooth_mu(0, 1, 0.25, 2, transitions[t]), 1);
		assert_bits(fric_smooth_mu(1, 1, 0.25, 2, transitions[t]), 0.625);
		assert_bits(fric_smooth_mu(2, 1, 0.25, 2, transitions[t]), 0.25);
		assert_bits(fric_smooth_mu_f0(8, 1, 0.25, 2, transitions[t]), 2);
	}
	assert_near(fric_smooth_mu_f0(0, 1, 0.1, 1, FRIC_CUBIC), (17 * 0.1 - 7) / 30, 1e-16);
	assert_near(fric_smooth_mu_f0(0, 1, 0.1, 1, FRIC_QUADRATIC), (27 * 0.1 - 11) / 48, 1e-16);
}

static void test_matchstick(void **state)
{
	(void)state;
	double d[2];
	fric_matchstick_direction((double[]){3e-200, -4e-200}, 1e-210, d);
	assert_near(d[0], 0.6, 1e-16);
	assert_near(d[1], -0.8, 1e-16);
	fric_matchstick_direction((double[]){3e200, 4e200}, 1, d);
	assert_near(d[1], 0.8, 1e-16);
	fric_matchstick_direction((double[]){0, 0}, 0, d);
	assert_bits(d[0], 1);
	assert_bits(d[1], 0);
	fric_matchstick_direction((double[]){0, -1e-10}, 1e-10, d); /* at the threshold, not below it */
	assert_near(d[0], 0, 0);
	assert_bits(d[1], -1);
	fric_matchstick_direction((double[]){0, nextafter(1e-10, 0)}, 1e-10, d);
	assert_bits(d[0], 1);
	assert_bits(d[1], 0);
	assert_near(fric_matchstick_mu((double[]){0.6, 0.8}, (double[]){0.5, 1}), sqrt(0.09 + 0.64), 1e-16);
	assert_bits(fric_matchstick_mu((double[]){1, 0}, (double[]){1e-300, 1}), 1e-300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference),  cmocka_unit_test(test_parity),   cmocka_unit_test(test_continuity),
		cmocka_unit_test(test_poles),      cmocka_unit_test(test_integral), cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_matchstick),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
