/* Conversion between decimals and doubles, compared with strtod, and the form of printed numbers. */
#include "api/numbers/numbers.h"
#include "api/numbers/print_double.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state = 88172645463325252u;

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static double random_finite(void)
{
	double value;
	do {
		uint64_t bits = random_bits();
		memcpy(&value, &bits, sizeof value);
	} while (!isfinite(value));
	return value;
}

/* The number ends in the middle of longer text, which must not matter. */
static void check_like_strtod(const char *text)
{
	struct api_number number;
	double expected = strtod(text, NULL);
	enum api_number_status status = api_number_read(text, text + strlen(text), &number);
	if (isinf(expected)) {
		assert_int_equal(status, API_NUMBER_OVERFLOW);
		return;
	}
	assert_int_equal(status, API_NUMBER_OK);
	if (bits_of(number.value) != bits_of(expected))
		fail_msg("%.60s read as %a instead of %a", text, number.value, expected);
	assert_ptr_equal(number.end, text + strlen(text));
	assert_int_equal(number.integer, !strpbrk(text, ".eE"));
}

static void reads_well_known_numbers(void **unused)
{
	(void)unused;
	static const char *const texts[] = {
		"0",
		"-0",
		"-0.0",
		"-0e5",
		"0e999999999999999999999",
		"-0.000e-99999999999999999999",
		"1",
		"-1",
		"12345678",
		"123456789",
		"1234567890123456789",
		"12345678901234567890",
		"9007199254740993",
		"9007199254740992.99",
		"9007199254740993.0000000001",
		"0.1",
		"4503599627370496.5",
		"4503599627370497.5",
		"4503599627370497.501",
		"4503599627370497.499",
		"-2251799813685248.25",
		"2251799813685248.75",
		"1125899906842624.125",
		"1125899906842624.375",
		"18014398509481986e-0",
		"9223372036854775807e-27",
		"9999999999999999999e-27",
		"9999999999999999999e-28",
		"0.0000000000000000000000000001234567890123456789",
		"0.00000000000000000001234567890123456789",
		"1e22",
		"1e23",
		"-1e-22",
		"1e-23",
		"123456789012345e22",
		"1.7976931348623157e308",
		"1.7976931348623158e308",
		"1.7976931348623159e308",
		"-1.8e308",
		"1e999",
		"-1e999",
		"1e99999999999999999999999",
		"1e18446744073709551617",
		"1e-18446744073709551617",
		"1E+2",
		"1E-2",
		"4.9406564584124654e-324",
		"2.4703282292062327e-324",
		"2.4703282292062328e-324",
		"2e-324",
		"-1e-400",
		"1e-99999999999999999999999",
		"2.2250738585072014e-308",
		"2.2250738585072011e-308",
		"2.2250738585072012e-308",
		"6.631236846766476e-316",
		"100000000000000016777215",
		"100000000000000016777216",
		"179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207"
		"09633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447573027006"
		"9855571366959622842"
		"914819860834936475292719074168444365510704342711559699508093042880",
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		check_like_strtod(texts[i]);
}

static char *zeros(char *p, size_t n)
{
	memset(p, '0', n);
	return p + n;
}

/* Hundreds of digits, with an exponent that compensates for them or does not. */
static void reads_long_numbers(void **unused)
{
	(void)unused;
	char text[4096];
	for (int exponent = -900; exponent <= 900; exponent += 4) {
		char *p = text;
		p = zeros(p + sprintf(p, "0."), 400);
		sprintf(p, "12345e%d", exponent);
		check_like_strtod(text);
		p = zeros(text + sprintf(text, "-1"), 400);
		sprintf(p, "e%d", exponent);
		check_like_strtod(text);
		p = zeros(text + sprintf(text, "7"), 800);
		p = zeros(p + sprintf(p, "."), 800);
		sprintf(p, "1e%d", exponent);
		check_like_strtod(text);
	}
	zeros(text, 500)[0] = '\0';
	text[1] = '.';
	check_like_strtod(text);
}

static void reads_a_million_digits(void **unused)
{
	(void)unused;
	const size_t n = 1000000;
	char *text = malloc(n + 32);
	char *p = zeros(text + sprintf(text, "0."), n);
	sprintf(p, "25e1000001");
	check_like_strtod(text);
	sprintf(p, "25e999000");
	check_like_strtod(text);
	sprintf(p, "25e1000400");
	check_like_strtod(text);
	free(text);
}

static void reads_random_numbers_like_strtod(void **unused)
{
	(void)unused;
	char text[64];
	for (int i = 0; i < 100000; i++) {
		double value = random_finite();
		snprintf(text, sizeof text, "%.*e", (int)(random_bits() % 25), value);
		check_like_strtod(text);
		snprintf(text, sizeof text, "%.*f", (int)(random_bits() % 12),
		         ldexp(value, -ilogb(value) + (int)(random_bits() % 70)));
		check_like_strtod(text);
		snprintf(text, sizeof text, "%lld", (long long)random_bits() >> random_bits() % 64);
		check_like_strtod(text);
		snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(random_bits() >> random_bits() % 64),
		         (unsigned long long)random_bits() >> random_bits() % 64, (int)(random_bits() % 700) - 350);
		check_like_strtod(text);
	}
}

/* The point halfway between two doubles, to as many digits as fit into 64 bits, and the neighbours of that number. */
static void reads_numbers_half_way(void **unused)
{
	(void)unused;
	char text[64];
	for (int i = 0; i < 100000; i++) {
		const double value = random_finite(), above = nextafter(value, INFINITY);
		if (!isfinite(above))
			continue;
		const long double middle = ((long double)value + (long double)above) / 2;
		snprintf(text, sizeof text, "%.*Le", 15 + i % 6, middle);
		check_like_strtod(text);
		char *last = strchr(text, 'e') - 1;
		*last = *last == '9' ? '8' : (char)(*last + 1);
		check_like_strtod(text);
		snprintf(text, sizeof text, "0.000%llu", (unsigned long long)random_bits() >> i % 32);
		check_like_strtod(text);
		snprintf(text, sizeof text, "%llu.5", (unsigned long long)(random_bits() | 1) >> (11 - i % 4));
		check_like_strtod(text);
	}
}

/* Up to 19 digits and a fraction, as programs print them. An odd number of 54 bits is exactly between two doubles. */
static void reads_usual_numbers_like_strtod(void **unused)
{
	(void)unused;
	char text[64];
	for (int i = 0; i < 200000; i++) {
		const unsigned long long digits = random_bits() >> random_bits() % 64;
		snprintf(text, sizeof text, "%llue-%d", digits, (int)(random_bits() % 32));
		check_like_strtod(text);
		snprintf(text, sizeof text, "-0.%0*llu", (int)(random_bits() % 24), digits);
		check_like_strtod(text);
		const uint64_t odd = random_bits() >> 10 | (uint64_t)1 << 53 | 1;
		const int halvings = (int)(random_bits() % 10);
		snprintf(text, sizeof text, "%.*Lf", halvings, ldexpl((long double)odd, -halvings));
		check_like_strtod(text);
		snprintf(text, sizeof text, "%.17g", 1e3 * ldexp((double)odd, -54 - i % 40));
		check_like_strtod(text);
	}
}

static void stops_where_the_grammar_does(void **unused)
{
	(void)unused;
	static const struct {
		const char *text;
		enum api_number_status status;
		int end;
	} cases[] = {
		{"", API_NUMBER_MALFORMED, 0},     {"-", API_NUMBER_MALFORMED, 1},   {"-a", API_NUMBER_MALFORMED, 1},
		{"+1", API_NUMBER_MALFORMED, 0},   {".5", API_NUMBER_MALFORMED, 0},  {"1.", API_NUMBER_MALFORMED, 2},
		{"1.e5", API_NUMBER_MALFORMED, 2}, {"1e", API_NUMBER_MALFORMED, 2},  {"1e+", API_NUMBER_MALFORMED, 3},
		{"-.5", API_NUMBER_MALFORMED, 1},  {"inf", API_NUMBER_MALFORMED, 0}, {"--1", API_NUMBER_MALFORMED, 1},
		{"1.5.3", API_NUMBER_OK, 3},       {"01", API_NUMBER_OK, 1},         {"-01", API_NUMBER_OK, 2},
		{"1e5e5", API_NUMBER_OK, 3},       {"1 2", API_NUMBER_OK, 1},        {"0x10", API_NUMBER_OK, 1},
		{"12345678:", API_NUMBER_OK, 8},   {"1234567/", API_NUMBER_OK, 7},   {"00000000", API_NUMBER_OK, 1},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct api_number number;
		const char *text = cases[i].text;
		assert_int_equal(api_number_read(text, text + strlen(text), &number), cases[i].status);
		assert_int_equal(number.end - text, cases[i].end);
	}
}

static void reads_no_further_than_the_end(void **unused)
{
	(void)unused;
	struct api_number number;
	const char *text = "1234567890.5e3";
	static const double expected[] = {1, 12, 123, 1234, 12345, 123456, 1234567, 12345678, 123456789, 1234567890};
	for (int n = 1; n <= 10; n++) {
		assert_int_equal(api_number_read(text, text + n, &number), API_NUMBER_OK);
		assert_true(number.value == expected[n - 1] && number.integer && number.end == text + n);
	}
	assert_int_equal(api_number_read(text, text + 11, &number), API_NUMBER_MALFORMED);
	assert_int_equal(api_number_read(text, text + 12, &number), API_NUMBER_OK);
	assert_true(number.value == 1234567890.5 && !number.integer);
}

static void check_written(double value, const char *expected)
{
	char text[API_NUMBER_BYTES];
	size_t n = api_real_write(value, text);
	assert_int_equal(n, strlen(expected));
	assert_memory_equal(text, expected, n);
}

static void writes_reals_as_reals(void **unused)
{
	(void)unused;
	check_written(0, "0.0");
	check_written(-0.0, "-0.0");
	check_written(1, "1.0");
	check_written(-12345, "-12345.0");
	check_written(0.1, "0.1");
	check_written(1e22, "1e+22");
	check_written(1e5, "1e+05");
	check_written(5e-324, "5e-324");
	check_written(-2.2250738585072014e-308, "-2.2250738585072014e-308");
	check_written(1.7976931348623157e308, "1.7976931348623157e+308");
	check_written(0.30000000000000004, "0.30000000000000004");
}

static void check_round_trip(double value)
{
	char text[API_NUMBER_BYTES];
	struct api_number number;
	size_t n = api_real_write(value, text);
	assert_true(n < API_NUMBER_BYTES - 1);
	assert_int_equal(api_number_read(text, text + n, &number), API_NUMBER_OK);
	assert_ptr_equal(number.end, text + n);
	assert_false(number.integer);
	assert_true(bits_of(number.value) == bits_of(value));
}

static void written_reals_read_back(void **unused)
{
	(void)unused;
	for (int i = 0; i < 200000; i++) {
		double value = random_finite();
		check_round_trip(value);
		check_round_trip(ldexp(value, -ilogb(value) - 1030 - i % 44));
		check_round_trip(trunc(ldexp(value, -ilogb(value) + i % 70)));
	}
}

static void writes_integers(void **unused)
{
	(void)unused;
	static const int64_t values[] = {0, 1, -1, 42, INT32_MIN, INT64_MAX, INT64_MIN};
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		char text[API_NUMBER_BYTES], expected[API_NUMBER_BYTES];
		snprintf(expected, sizeof expected, "%lld", (long long)values[i]);
		size_t n = api_integer_write(values[i], text);
		assert_int_equal(n, strlen(expected));
		assert_memory_equal(text, expected, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_well_known_numbers),
		cmocka_unit_test(reads_long_numbers),
		cmocka_unit_test(reads_a_million_digits),
		cmocka_unit_test(reads_random_numbers_like_strtod),
		cmocka_unit_test(reads_numbers_half_way),
		cmocka_unit_test(reads_usual_numbers_like_strtod),
		cmocka_unit_test(stops_where_the_grammar_does),
		cmocka_unit_test(reads_no_further_than_the_end),
		cmocka_unit_test(writes_reals_as_reals),
		cmocka_unit_test(written_reals_read_back),
		cmocka_unit_test(writes_integers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
