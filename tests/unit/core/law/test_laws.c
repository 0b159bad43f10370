/* Compares the scalar functions of stribeck, exponential, curve and adhesion with multi-precision values. */
#include <stdio.h>

#include "core/law/textbook.h"
#include "core/fric_mollifier.h"
#include "tests/unit/core/check.h"

static const char reference[] = "tests/reference/laws_mp.txt";

/* The curve of make_laws.py, with speeds scaled. */
enum { N_POINTS = 5 };
static const double speeds[N_POINTS] = {0, 0.25, 0.375, 1.5, 1.75}, factors[N_POINTS] = {1, 0.5, 1.25, 0, 0.125};

static enum fric_law_type type_named(const char *name)
{
	static const char *const names[] = {"smooth", "stribeck", "exponential", "curve", "adhesion"};
	int type = 0;
	while (strcmp(names[type], name) != 0)
		assert_true(++type < 5);
	return (enum fric_law_type)type;
}

static double call(const char *name, const double p[4], const struct fric_law *law)
{
	if (strcmp(name, "law_potential") == 0)
		return fric_law_potential(p[0], p[1], p[2], p[3], law);
	if (strcmp(name, "law_force") == 0)
		return fric_law_force(p[0], p[1], p[2], p[3], law);
	if (strcmp(name, "law_force_over_speed") == 0)
		return fric_law_force_over_speed(p[0], p[1], p[2], p[3], law);
	assert_string_equal(name, "law_force_derivative");
	return fric_law_force_derivative(p[0], p[1], p[2], p[3], law);
}

/* With the areas of a curve if they fit doubles, otherwise without. */
static double value_of(const char *law_name, const char *name, const double p[5], bool with_areas)
{
	double scaled[N_POINTS], areas[N_POINTS];
	struct fric_law law = {
		.type = type_named(law_name), .stribeck_speed = p[4], .curve = {N_POINTS, scaled, factors, NULL}};
	for (int k = 0; k < N_POINTS; k++)
		scaled[k] = speeds[k] * p[4];
	if (with_areas && fric_curve_areas(&law.curve, areas))
		law.curve.areas = areas;
	return call(name, p, &law);
}

static void test_reference(void **unused)
{
	FILE *file = fopen(reference, "r");
	char law[64], name[64];
	double p[5], expected, scale, allowed;
	int n = 0, n_wrong = 0;
	(void)unused;
	if (!file)
		skip();
	while (fscanf(file, "%63s %63s %la %la %la %la %la %la %la %la", law, name, &p[0], &p[1], &p[2], &p[3], &p[4],
	              &expected, &scale, &allowed) == 10) {
		const double value = value_of(law, name, p, n % 2), other = value_of(law, name, p, n % 2 == 0);
		n++;
		assert_true(fabs(other - expected) <= 8 * ulp(scale) + ulp(allowed));
		if (!(fabs(value - expected) <= 8 * ulp(scale) + ulp(allowed)) && n_wrong++ < 20)
			print_error("%s %s y=%a mu_s=%a mu_k=%a eps_v=%a speed=%a: %a, expected %a, %g ulp\n", law, name, p[0],
			            p[1], p[2], p[3], p[4], value, expected, fabs(value - expected) / ulp(scale));
	}
	assert_true(feof(file));
	fclose(file);
	assert_int_equal(n_wrong, 0);
	assert_true(n > 5000);
}

static void test_areas(void **unused)
{
	const double ones[3] = {1, 1, 1}, some[3] = {0, 0.5, 4}, vast[3] = {0, 1e308, 1.7e308}, twos[3] = {1, 2, 2};
	double areas[3];
	(void)unused;
	assert_true(fric_curve_areas(&(struct fric_curve){3, some, ones, NULL}, areas));
	assert_bits(areas[0], 0);
	assert_bits(areas[1], 0.5);
	assert_bits(areas[2], 4);
	assert_false(fric_curve_areas(&(struct fric_curve){3, vast, twos, NULL}, areas));
}

/* A drag is added to any law. */
static void test_viscous(void **unused)
{
	const struct fric_law law = {.type = FRIC_ADHESION, .viscous = 0.5};
	(void)unused;
	assert_bits(fric_law_potential(4, 0, 0, 1, &law), 4);
	assert_bits(fric_law_force(-4, 0, 0, 1, &law), -2);
	assert_bits(fric_law_force_over_speed(4, 0, 0, 1, &law), 0.5);
	assert_bits(fric_law_force_derivative(4, 0, 0, 1, &law), 0.5);
}

/* A curve with a step over 2^-30 to 2^-45 of its speeds: y - eps_v has more digits than a long double. */
static void test_short_pieces(void **state)
{
	static const double at_points[] = {1, 0.9, 0.3, 0.2}, eps[] = {0.1, 1e-3, 3e-7, 1e-9, 0.7};
	(void)state;
	for (int k = 0; k < 15 * 5 * 40; k++) {
		const double h = ldexp(1, -30 - k % 15), eps_v = eps[k / 15 % 5], part = (k / 75 + 0.5) / 40;
		const double points[] = {0, 1, 1 + h, 2}, y = 1 + eps_v + part * h;
		const struct fric_law law = {.type = FRIC_CURVE, .curve = {4, points, at_points, NULL}};
		const quad t = ((quad)y - eps_v - 1) / h, m0 = h * textbook_derivative(&law.curve, 1),
				   m1 = h * textbook_derivative(&law.curve, 2), t2 = t * t, t3 = t2 * t,
				   rise = (quad)at_points[2] - at_points[1];
		if (t < 0 || t > 1)
			continue;
		const quad force = at_points[1] + m0 * t + (3 * rise - 2 * m0 - m1) * t2 + (m0 + m1 - 2 * rise) * t3;
		const quad derivative = (m0 + 2 * (3 * rise - 2 * m0 - m1) * t + 3 * (m0 + m1 - 2 * rise) * t2) / h;
		assert_near(fric_law_force(y, 1, 1, eps_v, &law), (long double)force, 8 * ulp(0.9));
		assert_near(fric_law_force_derivative(y, 1, 1, eps_v, &law), (long double)derivative, 8 * ulp(1.8 / h));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_pieces),
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_areas),
		cmocka_unit_test(test_viscous),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
