/* Compares e^-t and the integral of e^-s^2 with multi-precision values, and tests functions built on them. */
#include <stdio.h>

#include "core/fric_mollifier.h"
#include "core/law/special.h"
#include "core/law/tail.h"
#include "tests/unit/core/check.h"

static const char reference[] = "tests/reference/special_mp.txt";

static void check_values(double t, const double expected[3])
{
	const struct decayed d = decay(t);
	const struct decayed_l e = decay_l(t);
	assert_near(d.left, expected[0], 1.5 * ulp(expected[0]));
	assert_near(d.lost, expected[1], 1.5 * ulp(expected[1]));
	assert_near(gauss_integral(t, decay(t * t).left), expected[2], 2.5 * ulp(expected[2]));
	assert_near((double)e.left, expected[0], ulp(expected[0]));
	assert_near((double)e.lost, expected[1], ulp(expected[1]));
	assert_near((double)gauss_integral_l(t, decay_l((long double)t * t).left), expected[2], 1.5 * ulp(expected[2]));
}

static void test_reference(void **unused)
{
	FILE *file = fopen(reference, "r");
	double t, expected[3];
	int n = 0;
	(void)unused;
	if (!file)
		skip();
	for (; fscanf(file, "%la %la %la %la", &t, &expected[0], &expected[1], &expected[2]) == 4; n++)
		check_values(t, expected);
	assert_true(feof(file));
	fclose(file);
	assert_true(n > 1000);
}

static void test_ends(void **unused)
{
	(void)unused;
	assert_bits(decay(0).left, 1);
	assert_bits(decay(0).lost, 0);
	assert_bits(decay(INFINITY).left, 0);
	assert_bits(decay(INFINITY).lost, 1);
	assert_bits(gauss_integral(0, 1), 0);
	assert_bits(gauss_integral(INFINITY, 0), 0x1.c5bf891b4ef6bp-1);
}

/* Whatever the coefficients, a decay begins at mu_s and does not exceed the larger one. */
static void test_bound(void **unused)
{
	(void)unused;
	for (int i = 0; i < 2000; i++)
		for (int k = 0; k < 8; k++) {
			const double mu_s = 0.1 + i * 0.00137, mu_k = i % 2 ? mu_s / (k + 1.3) : mu_s * (k + 1.3), q = 1 + k;
			const double z = 1 + (i % 3) * k * 0.1, top = fmax(mu_s, mu_k);
			const struct law_shape shape = law_tail(LAW_STRIBECK, NULL, 1 - z, q, 1 / q);
			const struct law_point a = {mu_s, mu_k, z, 1 - z, true, shape, false};
			assert_true(law_g1(LAW_STRIBECK, a) <= top);
			assert_near(z > 1 ? mu_s : law_g1(LAW_STRIBECK, a), mu_s, ulp(top));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
