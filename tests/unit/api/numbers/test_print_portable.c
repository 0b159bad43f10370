/* The form without vector instructions prints the same bytes. On machines without them it is compared with itself. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#undef __SSE2__
#define api_real_write portable_real_write
#define api_integer_write portable_integer_write
#include "api/numbers/print_double.c"
#undef api_real_write
#undef api_integer_write

size_t api_real_write(double value, char *text);
size_t api_integer_write(int64_t value, char *text);

static uint64_t state = 88172645463325252u;

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void check_real(double value)
{
	char text[API_NUMBER_BYTES], expected[API_NUMBER_BYTES];
	const size_t n = api_real_write(value, expected), m = portable_real_write(value, text);
	if (m != n || memcmp(text, expected, n) != 0)
		fail_msg("%a is printed as %.*s instead of %.*s", value, (int)m, text, (int)n, expected);
}

static void same_reals(void **unused)
{
	(void)unused;
	for (int i = 0; i < 300000; i++) {
		const uint64_t bits = random_bits();
		double value;
		memcpy(&value, &bits, sizeof(value));
		if (isfinite(value))
			check_real(value);
		check_real((double)(bits >> i % 64) / (double)(1 + i % 1000));
		check_real((double)i / 64);
		check_real(ldexp(1, i % 2098 - 1074));
	}
}

static void same_integers(void **unused)
{
	(void)unused;
	for (int i = 0; i < 300000; i++) {
		char text[API_NUMBER_BYTES], expected[API_NUMBER_BYTES];
		const int64_t value = (int64_t)random_bits() >> i % 64;
		const size_t n = api_integer_write(value, expected);
		assert_int_equal(portable_integer_write(value, text), n);
		assert_memory_equal(text, expected, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_reals),
		cmocka_unit_test(same_integers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
