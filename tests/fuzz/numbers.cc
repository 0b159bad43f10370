// Printing and reading of numbers. Every 8 bytes of the input are the bits of a double and those of an integer; all of
// them together are an array of some type and shape, and the whole input is a text that may start with a number.

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "api/print_array.h"
}
#include "api/numbers.h"
#include "tests/fuzz/fuzz.h"

namespace {

constexpr size_t most_bits = 128; // bytes; what follows is part of a text only

bool same_bits(double a, double b)
{
	return std::memcmp(&a, &b, sizeof a) == 0;
}

// ---- printing ----

// The text that the contract asks for: the shortest, with a '.' or an 'e' in it.
size_t expected_text(double value, char *text)
{
	char *end = std::to_chars(text, text + 64, value).ptr;
	size_t n = static_cast<size_t>(end - text);
	if (!std::memchr(text, '.', n) && !std::memchr(text, 'e', n)) {
		text[n++] = '.';
		text[n++] = '0';
	}
	return n;
}

void check_real(double value)
{
	char expected[80], zero[128];
	const size_t n_expected = expected_text(value, expected);
	char *text = static_cast<char *>(fuzz_copy(zero, API_NUMBER_BYTES));
	const size_t n = api_real_write(value, text);
	FUZZ_CHECK(n == n_expected && std::memcmp(text, expected, n) == 0, "%a is %.*s, not %.*s", value,
	           static_cast<int>(n), text, static_cast<int>(n_expected), expected);
	struct api_number number;
	FUZZ_CHECK(api_number_read(text, text + n, &number) == API_NUMBER_OK, "%.*s is refused", static_cast<int>(n), text);
	FUZZ_CHECK(number.end == text + n && !number.integer, "%.*s is not read to its end", static_cast<int>(n), text);
	FUZZ_CHECK(same_bits(number.value, value), "%.*s is read as %a", static_cast<int>(n), text, number.value);
	std::free(text);
}

void check_integer(int64_t value)
{
	char expected[32], text[API_NUMBER_BYTES];
	std::snprintf(expected, sizeof expected, "%lld", static_cast<long long>(value));
	const size_t n = api_integer_write(value, text);
	FUZZ_CHECK(n == std::strlen(expected) && std::memcmp(text, expected, n) == 0, "%s", expected);
}

void check_neighbours(double value)
{
	check_real(value);
	const double next = std::nextafter(value, INFINITY);
	if (std::isfinite(next))
		check_real(next);
}

// Most bits are numbers of a size that nobody uses: the same digits near 1, few digits, whole ones, single precision.
void check_bits(uint64_t bits)
{
	double value;
	std::memcpy(&value, &bits, sizeof value);
	check_integer(static_cast<int64_t>(bits));
	check_integer(static_cast<int32_t>(bits));
	if (std::isfinite(value))
		check_neighbours(value);
	bits = (bits & 0x801FFFFFFFFFFFFF) | (0x3C00000000000000 + (bits >> 57 << 52));
	std::memcpy(&value, &bits, sizeof value);
	check_neighbours(value);
	check_real(static_cast<double>(static_cast<float>(value)));
	check_real(std::trunc(value * 1e6));
	check_real(std::trunc(value * 1e6) / 1e3);
}

// ---- printing of arrays ----

// Of one number of an array.
size_t expected_entry(const struct api_array &array, size_t i, char *text)
{
	long long integer = 0;
	switch (array.dtype) {
	case API_F64: return expected_text(static_cast<const double *>(array.data)[i], text);
	case API_F32: return expected_text(static_cast<double>(static_cast<const float *>(array.data)[i]), text);
	case API_I32: integer = static_cast<const int32_t *>(array.data)[i]; break;
	case API_U32: integer = static_cast<const uint32_t *>(array.data)[i]; break;
	case API_I64: integer = static_cast<const int64_t *>(array.data)[i]; break;
	}
	return static_cast<size_t>(std::snprintf(text, 64, "%lld", integer));
}

// *i goes through the flat array; the text is compared as it is made.
const char *check_rows(const struct api_array &array, int level, size_t &i, const char *text)
{
	char expected[80];
	if (level == array.rank) {
		const size_t n = expected_entry(array, i, expected);
		FUZZ_CHECK(std::memcmp(text, expected, n) == 0, "entry %zu is %.30s, not %.*s", i, text, static_cast<int>(n), expected);
		i++;
		return text + n;
	}
	FUZZ_CHECK(*text == '[', "%.30s at entry %zu", text, i);
	for (size_t row = 0; row < array.shape[level]; row++) {
		text = check_rows(array, level + 1, i, text + 1);
		FUZZ_CHECK(*text == (row + 1 < array.shape[level] ? ',' : ']'), "%.30s behind entry %zu", text, i);
	}
	return text + 1;
}

void print(const struct api_array &array)
{
	const size_t bound = api_print_array_bound(&array);
	char *text = static_cast<char *>(std::malloc(bound)); // just so many, for the sanitizer to see what lies behind
	FUZZ_CHECK(text, "out of memory");
	const size_t n = api_print_array(&array, 1, nullptr, text);
	size_t i = 0;
	FUZZ_CHECK(n > 0 && n <= bound, "%zu bytes of %zu", n, bound);
	FUZZ_CHECK(check_rows(array, 0, i, text) == text + n && i == array.n, "%zu entries", i);
	std::free(text);
}

// [n], [n/2, 2], [n/6, 3, 2] or [n/12, 2, 3, 2] of what there is.
void give_shape(struct api_array &array, int rank, size_t n)
{
	static const size_t inner[][3] = {{1, 1, 1}, {2, 1, 1}, {3, 2, 1}, {2, 3, 2}};
	const size_t *lengths = inner[rank - 1], row = lengths[0] * lengths[1] * lengths[2];
	array.rank = rank;
	array.shape[0] = n / row;
	for (int i = 1; i < rank; i++)
		array.shape[i] = lengths[i - 1];
	array.n = n / row * row;
}

// Reals that are not finite cannot be in an answer: their exponents lose a bit.
void make_finite(const struct api_array &array, char *data)
{
	const size_t size = array.dtype == API_F64 ? 8 : 4, high = array.dtype == API_F64 ? 6 : 2;
	for (size_t i = 0; i < array.n && array.dtype <= API_F32; i++)
		if (!std::isfinite(size == 8 ? static_cast<const double *>(array.data)[i]
		                             : static_cast<double>(static_cast<const float *>(array.data)[i])))
			data[i * size + high + 1] = static_cast<char>(data[i * size + high + 1] ^ 0x40);
}

void check_array(const uint8_t *data, size_t bytes)
{
	struct api_array array = {};
	if (bytes < 8)
		return;
	array.dtype = static_cast<enum api_dtype>(data[0] % 5);
	const size_t size = array.dtype == API_F64 || array.dtype == API_I64 ? 8 : 4;
	char *numbers = static_cast<char *>(fuzz_copy(data, bytes));
	array.data = numbers;
	give_shape(array, 1 + data[1] % 4, bytes / size);
	make_finite(array, numbers);
	if (array.n)
		print(array);
	std::free(numbers);
}

// ---- reading ----

bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

const char *skip_digits(const char *p)
{
	while (is_digit(*p))
		p++;
	return p;
}

// One past the longest number of JSON's grammar at the start of a terminated text; where it breaks if there is none.
const char *grammar(const char *p, bool &well_formed, bool &integer)
{
	p += *p == '-';
	well_formed = is_digit(*p);
	p = *p == '0' ? p + 1 : skip_digits(p);
	integer = *p != '.' && *p != 'e' && *p != 'E';
	if (well_formed && *p == '.') {
		well_formed = is_digit(*++p);
		p = skip_digits(p);
	}
	if (well_formed && (*p == 'e' || *p == 'E')) {
		p++;
		p += *p == '-' || *p == '+';
		well_formed = is_digit(*p);
		p = skip_digits(p);
	}
	return p;
}

void check_text(const uint8_t *data, size_t n)
{
	char *terminated = static_cast<char *>(std::calloc(n + 1, 1)), *text = static_cast<char *>(fuzz_copy(data, n));
	FUZZ_CHECK(terminated, "out of memory");
	if (n)
		std::memcpy(terminated, data, n);
	bool well_formed, integer;
	const ptrdiff_t length = grammar(terminated, well_formed, integer) - terminated;
	struct api_number number;
	const enum api_number_status status = api_number_read(text, text + n, &number);
	FUZZ_CHECK(well_formed == (status != API_NUMBER_MALFORMED), "status %d", static_cast<int>(status));
	if (status != API_NUMBER_OVERFLOW)
		FUZZ_CHECK(number.end - text == length, "ends at %td, not %td", number.end - text, length);
	if (well_formed) {
		terminated[length] = '\0';
		const double value = std::strtod(terminated, nullptr);
		FUZZ_CHECK(std::isinf(value) == (status == API_NUMBER_OVERFLOW), "%a, %d", value, static_cast<int>(status));
		FUZZ_CHECK(std::isinf(value) || (same_bits(number.value, value) && number.integer == integer), "%a, not %a",
		           number.value, value);
	}
	std::free(terminated);
	std::free(text);
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t bits;
	check_text(data, size);
	check_array(data, size < most_bits ? size : most_bits);
	size = size < most_bits ? size : most_bits;
	for (size_t i = 0; i + sizeof bits <= size; i += sizeof bits) {
		std::memcpy(&bits, data + i, sizeof bits);
		check_bits(bits);
	}
	return 0;
}
