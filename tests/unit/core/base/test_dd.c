#include "core/base/dd.h"

#include "tests/property/scene.h"
#include "tests/unit/core/exact.h"

static exact of(struct dd a)
{
	return (exact)a.hi + a.lo;
}

static struct dd random_dd(struct rng *rng)
{
	const double hi = ldexp(uniform(rng, -2, 2), (int)below(rng, 20) - 10);
	return dd_sum(hi, hi * uniform(rng, -1, 1) * 0x1p-54);
}

static void check(struct dd actual, exact expected, exact size)
{
	assert_true(exact_abs(of(actual) - expected) <= size);
	assert_bits(actual.hi + actual.lo, actual.hi); /* normalised */
}

static void test_arithmetic(void **state)
{
	(void)state;
	struct rng rng = {7};
	for (int i = 0; i < 20000; i++) {
		const struct dd a = random_dd(&rng);
		struct dd b = random_dd(&rng);
		if (i % 3 == 0) /* nearly equal numbers cancel */
			b = dd_sum(a.hi, a.lo * uniform(&rng, 0, 2));
		const exact size = exact_abs(of(a)) + exact_abs(of(b)); /* 113 bits may not hold hi + lo */
		check(dd_subtract(a, b), of(a) - of(b), exact_abs(of(a) - of(b)) * 0x1p-102 + size * 0x1p-112);
		check(dd_add(a, b), of(a) + of(b), exact_abs(of(a) + of(b)) * 0x1p-102 + size * 0x1p-112);
		check(dd_multiply(a, b), of(a) * of(b), exact_abs(of(a) * of(b)) * 0x1p-102);
		assert_exact(dd_quotient(a, b), of(a) / of(b), 1.2e-16, 0);
	}
}

static void test_exactness(void **state)
{
	(void)state;
	struct rng rng = {8};
	for (int i = 0; i < 20000; i++) {
		const double a = uniform(&rng, -1, 1), b = uniform(&rng, -1, 1) * (i % 2 ? 1 : 1e-9);
		assert_true(of(dd_difference(a, b)) == (exact)a - b);
		assert_true(of(dd_product(a, b)) == (exact)a * b);
		assert_true(of(dd_negate(dd_product(a, b))) == -(exact)a * b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_exactness)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
