/* Prints and reads numbers. Every 8 bytes of the input are the bits of a double and of an integer; together they form
 * an array of some type and shape; and the whole input is a text that may start with a number. */
#include "api/numbers/numbers.h"
#include "api/numbers/print_double.h"

#include <math.h>

#include "api/codec/print_array.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_BITS = 128 }; /* bytes; further ones serve as text only */

size_t oracle_real(double value, char *text, size_t bytes);

static bool same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* ---- printing ---- */

/* The text required by the contract: as from std::to_chars, but with a '.' or an 'e'. */
static size_t expected_text(double value, char text[80])
{
	size_t n = oracle_real(value, text, 64);
	if (!memchr(text, '.', n) && !memchr(text, 'e', n)) {
		text[n++] = '.';
		text[n++] = '0';
	}
	return n;
}

static void check_real(double value)
{
	char expected[80], *text = malloc(API_NUMBER_BYTES);
	const size_t n_expected = expected_text(value, expected), n = text ? api_real_write(value, text) : 0;
	FUZZ_CHECK(n == n_expected && !memcmp(text, expected, n), "%a is %.*s, not %.*s", value, (int)n, text,
	           (int)n_expected, expected);
	struct api_number number;
	FUZZ_CHECK(api_number_read(text, text + n, &number) == API_NUMBER_OK, "%.*s is refused", (int)n, text);
	FUZZ_CHECK(number.end == text + n && !number.integer, "%.*s is not read to its end", (int)n, text);
	FUZZ_CHECK(same_bits(number.value, value), "%.*s is read as %a", (int)n, text, number.value);
	free(text);
}

static void check_integer(int64_t value)
{
	char expected[32], text[API_NUMBER_BYTES];
	snprintf(expected, sizeof(expected), "%lld", (long long)value);
	const size_t n = api_integer_write(value, text);
	FUZZ_CHECK(n == strlen(expected) && !memcmp(text, expected, n), "%s", expected);
}

static void check_neighbours(double value)
{
	check_real(value);
	const double next = nextafter(value, INFINITY);
	if (isfinite(next))
		check_real(next);
}

/* Random bits mostly have extreme exponents, so also tries the same digits near 1, whole numbers, few digits, f32. */
static void check_bits(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof(value));
	check_integer((int64_t)bits);
	check_integer((int32_t)bits);
	if (isfinite(value))
		check_neighbours(value);
	bits = (bits & 0x801FFFFFFFFFFFFF) | (0x3C00000000000000 + (bits >> 57 << 52));
	memcpy(&value, &bits, sizeof(value));
	check_neighbours(value);
	check_real((double)(float)value);
	check_real(trunc(value * 1e6));
	check_real(trunc(value * 1e6) / 1e3);
}

/* ---- printing of arrays ---- */

/* The text of one number of an array. */
static size_t expected_entry(const struct api_array *array, size_t i, char text[80])
{
	long long integer = 0;
	switch (array->dtype) {
	case API_F64: return expected_text(((const double *)array->data)[i], text);
	case API_F32: return expected_text((double)((const float *)array->data)[i], text);
	case API_I32: integer = ((const int32_t *)array->data)[i]; break;
	case API_U32: integer = ((const uint32_t *)array->data)[i]; break;
	case API_I64: integer = ((const int64_t *)array->data)[i]; break;
	}
	return (size_t)snprintf(text, 80, "%lld", integer);
}

/* Checks everything below an element of a level; *i advances through the flat array. The bound API_MAX_RANK stops
 * compilers from unrolling the recursion further. @return the rest of the text */
static const char *check_rows(const struct api_array *array, int level, size_t *i, const char *text)
{
	char expected[80];
	if (level == array->rank || level == API_MAX_RANK) {
		const size_t n = expected_entry(array, (*i)++, expected);
		FUZZ_CHECK(!memcmp(text, expected, n), "%.30s, not %.*s", text, (int)n, expected);
		return text + n;
	}
	FUZZ_CHECK(*text == '[', "%.30s at entry %zu", text, *i);
	for (size_t row = 0; row < array->shape[level]; row++) {
		text = check_rows(array, level + 1, i, text + 1);
		FUZZ_CHECK(*text == (row + 1 < array->shape[level] ? ',' : ']'), "%.30s after entry %zu", text, *i);
	}
	return text + 1;
}

static void print(const struct api_array *array)
{
	const size_t bound = api_print_array_bound(array);
	char *text = malloc(bound); /* exactly that many bytes, so that the sanitizer detects overruns */
	FUZZ_CHECK(text, "out of memory");
	const size_t n = api_print_array(array, 1, NULL, text);
	size_t i = 0;
	FUZZ_CHECK(n > 0 && n <= bound, "%zu bytes of %zu", n, bound);
	FUZZ_CHECK(check_rows(array, 0, &i, text) == text + n && i == array->n, "%zu entries", i);
	free(text);
}

/* Shapes the n numbers as [n], [n/2, 2], [n/6, 3, 2] or [n/12, 2, 3, 2]. */
static void give_shape(struct api_array *array, int rank, size_t n)
{
	static const size_t inner[][3] = {{1, 1, 1}, {2, 1, 1}, {3, 2, 1}, {2, 3, 2}};
	const size_t *lengths = inner[rank - 1], row = lengths[0] * lengths[1] * lengths[2];
	array->rank = rank;
	array->shape[0] = n / row;
	for (int i = 1; i < rank; i++)
		array->shape[i] = lengths[i - 1];
	array->n = n / row * row;
}

/* Responses contain finite numbers only. */
static void make_finite(const struct api_array *array, void *data)
{
	double *f64 = data;
	float *f32 = data;
	for (size_t i = 0; i < array->n && array->dtype == API_F64; i++)
		f64[i] = isfinite(f64[i]) ? f64[i] : 0.5;
	for (size_t i = 0; i < array->n && array->dtype == API_F32; i++)
		f32[i] = isfinite(f32[i]) ? f32[i] : 0.5f;
}

static void check_array(const uint8_t *bytes, size_t n)
{
	if (n < 8)
		return;
	void *data = fuzz_copy(bytes, n);
	struct api_array array = {.dtype = (enum api_dtype)(bytes[0] % 5), .data = data};
	give_shape(&array, 1 + bytes[1] % 4, n / api_dtype_bytes(array.dtype));
	make_finite(&array, data);
	if (array.n)
		print(&array);
	free(data);
}

/* ---- reading ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *p)
{
	while (is_digit(*p))
		p++;
	return p;
}

/* Finds the longest number of JSON's grammar at the start of a terminated text. @return the position after it, or of
 * the first violation */
static const char *grammar(const char *p, bool *well_formed, bool *integer)
{
	p += *p == '-';
	*well_formed = is_digit(*p);
	p = *p == '0' ? p + 1 : skip_digits(p);
	*integer = *p != '.' && *p != 'e' && *p != 'E';
	if (*well_formed && *p == '.') {
		*well_formed = is_digit(*++p);
		p = skip_digits(p);
	}
	if (*well_formed && (*p == 'e' || *p == 'E')) {
		p++;
		p += *p == '-' || *p == '+';
		*well_formed = is_digit(*p);
		p = skip_digits(p);
	}
	return p;
}

/* text: terminated after the number */
static void check_value(const char *text, enum api_number_status status, const struct api_number *number, bool integer)
{
	const double value = strtod(text, NULL);
	FUZZ_CHECK(!isfinite(value) == (status == API_NUMBER_OVERFLOW), "%a, %d", value, (int)status);
	if (status == API_NUMBER_OK)
		FUZZ_CHECK(same_bits(number->value, value) && number->integer == integer, "%a, not %a", number->value, value);
}

static void check_text(const uint8_t *data, size_t n)
{
	char *terminated = calloc(n + 1, 1), *text = fuzz_copy(data, n);
	FUZZ_CHECK(terminated, "out of memory");
	if (n)
		memcpy(terminated, data, n);
	bool well_formed, integer;
	const ptrdiff_t length = grammar(terminated, &well_formed, &integer) - terminated;
	struct api_number number;
	const enum api_number_status status = api_number_read(text, text + n, &number);
	FUZZ_CHECK(well_formed == (status != API_NUMBER_MALFORMED), "status %d", (int)status);
	if (status != API_NUMBER_OVERFLOW)
		FUZZ_CHECK(number.end - text == length, "ends at %td, not %td", number.end - text, length);
	terminated[length] = '\0';
	if (well_formed)
		check_value(terminated, status, &number, integer);
	free(terminated);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t bits;
	const size_t n = size < MOST_BITS ? size : MOST_BITS;
	check_text(data, size);
	check_array(data, n);
	for (size_t i = 0; i + sizeof(bits) <= n; i += sizeof(bits)) {
		memcpy(&bits, data + i, sizeof(bits));
		check_bits(bits);
	}
	return 0;
}
