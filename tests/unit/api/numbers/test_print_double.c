/* Compares every printed byte with std::to_chars.
 * PRINT_CASES=N  random bit patterns (default: 2 million, or a share) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/numbers/print_double.h"
#include "tests/share.h"

size_t oracle_real(double value, char *text, size_t bytes);
size_t oracle_integer(int64_t value, char *text, size_t bytes);

enum { GUARD = 0x7e };

static uint64_t state = 88172645463325252u;

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double from_bits(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint64_t to_bits(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Also checks that nothing beyond API_NUMBER_BYTES is touched. */
static void check_real(double value)
{
	char text[API_NUMBER_BYTES + 8], expected[64];
	if (!isfinite(value))
		return;
	memset(text, GUARD, sizeof(text));
	size_t n = oracle_real(value, expected, sizeof(expected) - 2), m = api_real_write(value, text);
	if (!memchr(expected, '.', n) && !memchr(expected, 'e', n)) {
		memcpy(expected + n, ".0", 2);
		n += 2;
	}
	if (m != n || memcmp(text, expected, n) != 0)
		fail_msg("%a is printed as %.*s instead of %.*s", value, (int)m, text, (int)n, expected);
	for (size_t i = API_NUMBER_BYTES; i < sizeof(text); i++)
		assert_int_equal(text[i], GUARD);
}

static void check_both_signs(double value)
{
	check_real(value);
	check_real(-value);
}

static void check_around(double value, int distance)
{
	const uint64_t bits = to_bits(value);
	for (int i = -distance; i <= distance; i++)
		if (i >= 0 || bits >= (uint64_t)-i)
			check_both_signs(from_bits(bits + (uint64_t)i));
}

static void powers_of_two_and_around(void **unused)
{
	(void)unused;
	for (int q = -1074; q <= 1023; q++)
		check_around(ldexp(1, q), 40);
}

static void powers_of_ten_and_around(void **unused)
{
	(void)unused;
	char text[32];
	for (int digit = 1; digit <= 99; digit++)
		for (int p = -325; p <= 308; p++) {
			snprintf(text, sizeof(text), "%de%d", digit, p);
			check_around(strtod(text, NULL), digit == 1 ? 40 : 2);
		}
}

static void ends_of_the_range(void **unused)
{
	(void)unused;
	check_around(0, 20000);
	check_around(0x1p-1022, 20000);
	check_around(0x1.fffffffffffffp+1023, 20000);
	check_around(0x1p53, 20000);
	check_around(1e22, 20000);
}

static void numbers_below_the_normal_ones(void **unused)
{
	(void)unused;
	for (int i = 0; i < 200000; i++)
		check_both_signs(from_bits(random_bits() >> (12 + i % 52)));
}

/* Ties between two shortest decimals, and bounds of intervals that are short decimals: significands with few bits
 * set. */
static void significands_with_few_bits(void **unused)
{
	(void)unused;
	for (int exponent = 0; exponent < 2047; exponent++)
		for (int bit = 0; bit < 52; bit++) {
			const uint64_t base = (uint64_t)exponent << 52, one = (uint64_t)1 << bit;
			check_real(from_bits(base + one));
			check_real(from_bits(base + one - 1));
			check_real(from_bits(base + (((uint64_t)1 << 52) - one)));
			check_real(from_bits(base + (one | random_bits() % one)));
		}
}

static void whole_numbers(void **unused)
{
	(void)unused;
	for (int i = 0; i < 200000; i++) {
		check_both_signs(i);
		check_both_signs((double)(random_bits() >> i % 64));
		check_both_signs((double)(random_bits() >> i % 64) * (double)(1 << i % 17));
		check_both_signs((double)(random_bits() % 1000) * pow(10, i % 23));
	}
}

static void short_decimals(void **unused)
{
	(void)unused;
	char text[64];
	for (int i = 0; i < 400000; i++) {
		const int digits = i % 17;
		snprintf(text, sizeof(text), "%.*e", digits, from_bits(random_bits() % ((uint64_t)2047 << 52)));
		check_real(strtod(text, NULL));
		snprintf(text, sizeof(text), "%llu.%0*llu", (unsigned long long)random_bits() >> (20 + i % 44), digits + 1,
		         (unsigned long long)random_bits() % 10000);
		check_real(strtod(text, NULL));
	}
}

static void random_bit_patterns(void **unused)
{
	(void)unused;
	const char *cases = getenv("PRINT_CASES");
	for (long i = cases ? atol(cases) : 2000000 / one_in(); i > 0; i--)
		check_real(from_bits(random_bits()));
}

/* As in answers: any significand, exponents within a few decades. */
static void usual_numbers(void **unused)
{
	(void)unused;
	for (int i = 0; i < 500000; i++)
		check_real(((double)(random_bits() >> 11) * 0x1p-53 - 0.5) * pow(10, i % 24 - 8));
}

static void check_integer(int64_t value)
{
	char text[API_NUMBER_BYTES + 8], expected[64];
	memset(text, GUARD, sizeof(text));
	const size_t n = oracle_integer(value, expected, sizeof(expected)), m = api_integer_write(value, text);
	if (m != n || memcmp(text, expected, n) != 0)
		fail_msg("%lld is printed as %.*s", (long long)value, (int)m, text);
	for (size_t i = API_NUMBER_BYTES; i < sizeof(text); i++)
		assert_int_equal(text[i], GUARD);
}

static void integers(void **unused)
{
	(void)unused;
	int64_t ten = 1;
	for (int digits = 1; digits <= 19; digits++, ten *= digits <= 18 ? 10 : 1)
		for (int64_t i = -20; i <= 20; i++) {
			check_integer(ten + i);
			check_integer(-ten + i);
		}
	for (int i = 0; i < 500000; i++) {
		check_integer((int64_t)random_bits() >> i % 64);
		check_integer(i);
	}
	check_integer(INT64_MAX);
	check_integer(INT64_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(powers_of_two_and_around),
		cmocka_unit_test(powers_of_ten_and_around),
		cmocka_unit_test(ends_of_the_range),
		cmocka_unit_test(numbers_below_the_normal_ones),
		cmocka_unit_test(significands_with_few_bits),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(short_decimals),
		cmocka_unit_test(random_bit_patterns),
		cmocka_unit_test(usual_numbers),
		cmocka_unit_test(integers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
