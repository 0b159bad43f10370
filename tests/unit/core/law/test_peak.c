/* The transition `peak`: compares its scalar functions with multi-precision values, and tests its defining
 * properties. */
#include <stdio.h>

#include "core/base/quad.h"
#include "core/fric_mollifier.h"
#include "core/law/law.h"
#include "tests/unit/core/check.h"

static const char reference[] = "tests/reference/peak_mp.txt";
static const struct fric_law peak = {.transition = FRIC_PEAK};

static double call(const char *name, double y, double mu_s, double mu_k, double eps_v)
{
	if (strcmp(name, "law_potential") == 0)
		return fric_law_potential(y, mu_s, mu_k, eps_v, &peak);
	if (strcmp(name, "law_force") == 0)
		return fric_law_force(y, mu_s, mu_k, eps_v, &peak);
	if (strcmp(name, "law_force_over_speed") == 0)
		return fric_law_force_over_speed(y, mu_s, mu_k, eps_v, &peak);
	assert_string_equal(name, "law_force_derivative");
	return fric_law_force_derivative(y, mu_s, mu_k, eps_v, &peak);
}

static void test_reference(void **unused)
{
	FILE *file = fopen(reference, "r");
	char name[64];
	double p[4], expected, scale;
	int n = 0, n_wrong = 0;
	(void)unused;
	if (!file)
		skip();
	while (fscanf(file, "%63s %la %la %la %la %la %la", name, &p[0], &p[1], &p[2], &p[3], &expected, &scale) == 7) {
		const double value = call(name, p[0], p[1], p[2], p[3]);
		n++;
		if (!(fabs(value - expected) <= 8 * ulp(fmax(fabs(expected), scale))) && n_wrong++ < 20)
			print_error("%s y=%a mu_s=%a mu_k=%a eps_v=%a: %a, expected %a\n", name, p[0], p[1], p[2], p[3], value,
			            expected);
	}
	assert_true(feof(file));
	fclose(file);
	assert_int_equal(n_wrong, 0);
	assert_true(n > 5000);
}

/* Pairs of coefficients in [0, 2]^2: far apart, 1 ulp apart, equal, or one of them 0. */
static void nth_pair(int i, double mu[2])
{
	const double base = (i / 8) * 0.0625, next = nextafter(base, i & 1 ? 0 : 2);
	const double other[] = {next, next, base, 0, 2, 2 - base, base * (1 - 0x1p-30), base / 2};
	mu[0] = i % 16 < 8 ? base : other[i % 8];
	mu[1] = i % 16 < 8 ? other[i % 8] : base;
}
enum { N_PAIRS = 33 * 8 };

static double force(double y, const double mu[2])
{
	return fric_law_force(y, mu[0], mu[1], 1, &peak);
}

/* Computed in doubles, as kernels do. */
static double force_in_doubles(enum law t, double z, const double mu[2])
{
	const struct law_point a = {mu[0], mu[1], z, 1 - z, z >= 1, law_shape(t, mu[0], mu[1]), false};
	return law_g1(t, a) * (law_low(t, a) ? z : 1);
}

static double peak_in_doubles(double z, const double mu[2])
{
	return force_in_doubles(LAW_PEAK, z, mu);
}

/* Searches near the peak and everywhere: the force reaches the larger coefficient to the last bit, and never exceeds
 * it. */
static void check_maximum(double (*of)(double z, const double mu[2]), const double mu[2])
{
	const double top = fmax(mu[0], mu[1]), p = top > 0 ? 1 - (top - fmin(mu[0], mu[1])) / (2 * top) : 1;
	double most = 0;
	for (int k = -20; k <= 20; k++)
		most = fmax(most, of(p + k * 0x1p-53, mu));
	for (int k = -600; k <= 600; k++)
		most = fmax(most, of(p + copysign(ldexp(1, -abs(k) / 12 - 2), k), mu));
	for (int k = 0; k <= 3000; k++)
		most = fmax(most, of(k / 2000., mu));
	assert_bits(most, top);
}

static void test_maximum(void **unused)
{
	(void)unused;
	for (int i = 0; i < N_PAIRS; i++) {
		double mu[2];
		nth_pair(i, mu);
		check_maximum(force, mu);
		check_maximum(peak_in_doubles, mu);
	}
}

static bool same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Computing only the part of the shape that is needed at one place gives the same bits as the whole shape. */
static void check_shape_at(double z, const double mu[2])
{
	struct law_point a = {mu[0], mu[1], z, 1 - z, z >= 1, law_shape(LAW_PEAK, mu[0], mu[1]), false}, b = a;
	b.shape = law_shape_at(LAW_PEAK, mu[0], mu[1], b.r);
	assert_true(same_bits(law_g0(LAW_PEAK, b), law_g0(LAW_PEAK, a)));
	assert_true(same_bits(law_g1(LAW_PEAK, b), law_g1(LAW_PEAK, a)));
	assert_true(law_g2(LAW_PEAK, b) == law_g2(LAW_PEAK, a));
}

static void test_shape_at(void **unused)
{
	(void)unused;
	for (int i = 0; i < N_PAIRS; i++) {
		double mu[2];
		nth_pair(i, mu);
		const double top = fmax(mu[0], mu[1]), p = top > 0 ? 1 - (top - fmin(mu[0], mu[1])) / (2 * top) : 1;
		for (int k = -20; k <= 20; k++)
			check_shape_at(p + k * 0x1p-53, mu);
		for (int k = 0; k <= 3000; k++)
			check_shape_at(k / 2000., mu);
	}
}

/* For speeds and coefficients at which doubles are exact, each law gives the bits of mu f1, in both forms. */
static void test_the_bits_of_f1(void **unused)
{
	(void)unused;
	for (int i = 0; i <= 32; i++)
		for (int k = 0; k <= 768; k++) {
			const double mu[2] = {i * 0.0625, i * 0.0625}, z = k * 0x1p-9;
			const double expected = mu[0] * fric_smooth_friction_f1(z, 1);
			assert_bits(force(z, mu), expected);
			assert_bits(peak_in_doubles(z, mu), expected);
			for (enum fric_transition t = FRIC_CUBIC; t <= FRIC_QUADRATIC; t++) {
				assert_bits(fric_law_force(z, mu[0], mu[1], 1, &(struct fric_law){.transition = t}), expected);
				assert_bits(force_in_doubles((enum law)t, z, mu), expected);
			}
		}
}

/* Whether the exact value is so close to the middle between two doubles that either may be the rounded one. */
static bool halfway(quad exact, double value)
{
	const quad off = exact - (quad)value;
	return (off < 0 ? -off : off) >= 0.495 * (quad)ulp((double)exact);
}

/* For mu_s = mu_k the law is mu_s f1, rounded to the nearest double as for cubic and quadratic, or to the other one if
 * the value is halfway between two. */
static void test_without_peak(void **unused)
{
	(void)unused;
	for (int i = 1; i <= 32; i++)
		for (int k = 0; k <= 2000; k++) {
			const double mu[2] = {i * 0.0625 - 0x1p-51, i * 0.0625 - 0x1p-51}, y = k / 1990., value = force(y, mu);
			const quad z = y < 1 ? y : 1, exact = (quad)mu[0] * (z * (2 - z));
			const quad off = exact - (quad)value;
			assert_true((off < 0 ? -off : off) <= 0.505 * (quad)ulp((double)exact));
			for (enum fric_transition t = FRIC_CUBIC; t <= FRIC_QUADRATIC; t++)
				assert_true(same_bits(fric_law_force(y, mu[0], mu[1], 1, &(struct fric_law){.transition = t}), value) ||
				            halfway(exact, value));
			assert_near(fric_law_potential(y, mu[0], mu[0], 1, &peak), mu[0] * fric_smooth_friction_f0(y, 1),
			            4 * ulp(2.));
		}
}

/* G1 and G2 do not jump: a small step changes them by no more than their steepest derivative allows. */
static void test_smoothness(void **unused)
{
	(void)unused;
	for (int i = 0; i < N_PAIRS; i++) {
		double mu[2];
		nth_pair(i, mu);
		const double top = fmax(mu[0], mu[1]), w = top > 0 ? (top - fmin(mu[0], mu[1])) / (2 * top) : 0, h = w / 64;
		for (double z = 1 - 2 * w; h > 0x1p-40 && z < 1 + w; z += h) {
			const double change = fric_law_force_derivative(z + h, mu[0], mu[1], 1, &peak) -
			                      fric_law_force_derivative(z, mu[0], mu[1], 1, &peak);
			assert_true(fabs(change) <= (8 * top / w + 8 * mu[0]) * h * 1.01 + 1e-14 * top / w + 0x1p-1060);
			assert_true(fabs(force(z + h, mu) - force(z, mu)) <= 4 * top * h * 1.01 + 1e-15);
		}
	}
}

/* From eps_v on friction is kinetic: potential and force are mu_k times those of a contact without static friction. */
static void test_ends(void **unused)
{
	(void)unused;
	for (int i = 0; i < N_PAIRS; i++) {
		double mu[2];
		nth_pair(i, mu);
		for (double eps_v = 1e-150; eps_v < 1e151; eps_v *= 1e30) {
			assert_bits(fric_law_potential(eps_v, mu[0], mu[1], eps_v, &peak), mu[1] * eps_v);
			assert_bits(fric_law_force(eps_v, mu[0], mu[1], eps_v, &peak), mu[1]);
			assert_bits(fric_law_force_derivative(eps_v, mu[0], mu[1], eps_v, &peak), 0);
			assert_bits(fric_law_force(0, mu[0], mu[1], eps_v, &peak), 0);
		}
	}
	assert_bits(fric_law_force(0.3, 0, 0, 1, &peak), 0);
	assert_bits(fric_law_potential(0.3, 0, 0, 1, &peak), 0);
	assert_bits(fric_law_force_derivative(0.3, 0, 0, 1, &peak), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference), cmocka_unit_test(test_maximum),        cmocka_unit_test(test_without_peak),
		cmocka_unit_test(test_shape_at),  cmocka_unit_test(test_the_bits_of_f1), cmocka_unit_test(test_smoothness),
		cmocka_unit_test(test_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
