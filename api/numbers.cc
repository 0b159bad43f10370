#include "numbers.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

namespace {

// Powers of ten that a double holds exactly.
constexpr double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int64_t max_ten = 22;
constexpr std::ptrdiff_t max_exact_digits = 19; // any 19 digits fit 64 bits
constexpr uint64_t max_exact = uint64_t{1} << 53;

constexpr int64_t max_five = 27; // the largest power of five that fits 64 bits

struct powers_of_five {
	uint64_t power[max_five + 1];
	constexpr powers_of_five() : power{}
	{
		power[0] = 1;
		for (int i = 1; i <= max_five; i++)
			power[i] = 5 * power[i - 1];
	}
};
constexpr powers_of_five fives;

__extension__ typedef unsigned __int128 two_words;

constexpr int64_t max_exponent = 100000000000000000; // where exponents saturate; no text has so many digits

// The parts of a number, as far as its text was read.
struct parts {
	bool negative;
	uint64_t digits;          // of integer and fraction, modulo 2^64
	std::ptrdiff_t n_digits;  // without the zeros in front
	int64_t exponent;         // the value is digits * 10^exponent
};

bool is_digit(char c)
{
	return static_cast<unsigned char>(c - '0') < 10;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
bool are_eight_digits(uint64_t v)
{
	return (((v + 0x4646464646464646) | (v - 0x3030303030303030)) & 0x8080808080808080) == 0;
}

// Neighbours are merged three times: 8 digits, 4 pairs, 2 fours, the number.
uint64_t eight_digits(uint64_t v)
{
	v -= 0x3030303030303030;
	v = v * 10 + (v >> 8);
	uint64_t outer = (v & 0x000000FF000000FF) * 0x000F424000000064;
	uint64_t inner = ((v >> 16) & 0x000000FF000000FF) * 0x0000271000000001;
	return (outer + inner) >> 32;
}

const char *read_eights(const char *p, const char *end, uint64_t &digits)
{
	uint64_t v;
	while (end - p >= 8 && (std::memcpy(&v, p, 8), are_eight_digits(v))) {
		digits = digits * 100000000 + eight_digits(v);
		p += 8;
	}
	return p;
}
#else
const char *read_eights(const char *p, const char *, uint64_t &)
{
	return p;
}
#endif

const char *read_digits(const char *p, const char *end, uint64_t &digits)
{
	p = read_eights(p, end, digits);
	for (; p < end && is_digit(*p); p++)
		digits = digits * 10 + static_cast<uint64_t>(*p - '0');
	return p;
}

// Each reader returns where it stopped; false: the grammar breaks there.
bool read_integer(const char *&p, const char *end, parts &number)
{
	number.negative = p < end && *p == '-';
	p += number.negative;
	const char *begin = p;
	if (p < end && *p == '0') {
		p++;
		return true;
	}
	p = read_digits(p, end, number.digits);
	number.n_digits = p - begin;
	return p > begin;
}

bool read_fraction(const char *&p, const char *end, parts &number)
{
	const char *begin = p;
	while (number.n_digits == 0 && p < end && *p == '0')
		p++;
	const char *first = p;
	p = read_digits(p, end, number.digits);
	number.n_digits += p - first;
	number.exponent -= p - begin;
	return p > begin;
}

bool read_exponent(const char *&p, const char *end, parts &number)
{
	bool negative = p < end && *p == '-';
	p += p < end && (*p == '-' || *p == '+');
	const char *begin = p;
	int64_t exponent = 0;
	for (; p < end && is_digit(*p); p++)
		if (exponent < max_exponent)
			exponent = exponent * 10 + (*p - '0');
	number.exponent += negative ? -exponent : exponent;
	return p > begin;
}

bool read_parts(const char *&p, const char *end, parts &number, bool &integer)
{
	if (!read_integer(p, end, number))
		return false;
	const char *begin = p;
	if (p < end && *p == '.' && !read_fraction(++p, end, number))
		return false;
	if (p < end && (*p == 'e' || *p == 'E') && !read_exponent(++p, end, number))
		return false;
	integer = p == begin;
	return true;
}

// Digits and power are exact, so that one rounding remains.
bool convert_exactly(const parts &number, double &value)
{
	if (number.n_digits > max_exact_digits || number.digits > max_exact)
		return false;
	if (number.exponent < -max_ten || number.exponent > max_ten)
		return false;
	value = static_cast<double>(number.digits);
	if (number.exponent < 0)
		value /= tens[-number.exponent];
	else
		value *= tens[number.exponent];
	if (number.negative)
		value = -value;
	return true;
}

double power_of_two(int64_t exponent)
{
	const uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
	double value;
	std::memcpy(&value, &bits, sizeof value);
	return value;
}

// digits / 5^k as a quotient of 63 or 64 bits and whether there is a remainder: its conversion is the one rounding. What
// programs print, 16 or 17 digits after a few zeros, comes this way, in half the time of from_chars.
bool convert_by_division(const parts &number, double &value)
{
	const int64_t k = -number.exponent;
	if (number.n_digits > max_exact_digits || number.digits == 0 || k < 0 || k > max_five)
		return false;
	const int up = __builtin_clzll(number.digits), five_up = __builtin_clzll(fives.power[k]);
	const two_words dividend = two_words{number.digits << up} << 63;
	const uint64_t divisor = fives.power[k] << five_up;
	const uint64_t quotient = static_cast<uint64_t>(dividend / divisor);
	const bool remains = static_cast<uint64_t>(dividend) != quotient * divisor;
	value = static_cast<double>(quotient | remains) * power_of_two(five_up - up - 63 - k);
	if (number.negative)
		value = -value;
	return true;
}

// from_chars reports too large and too small alike. Being out of range, and so not zero, it is too large if over 1.
bool is_over_one(const parts &number)
{
	return number.n_digits + number.exponent > 0;
}

} // namespace

enum api_number_status api_number_read(const char *text, const char *end, struct api_number *number)
{
	parts read = {};
	number->end = text;
	if (!read_parts(number->end, end, read, number->integer))
		return API_NUMBER_MALFORMED;
	if (convert_exactly(read, number->value) || convert_by_division(read, number->value))
		return API_NUMBER_OK;
	if (std::from_chars(text, number->end, number->value).ec == std::errc())
		return API_NUMBER_OK;
	if (is_over_one(read))
		return API_NUMBER_OVERFLOW;
	number->value = read.negative ? -0.0 : 0.0;
	return API_NUMBER_OK;
}

size_t api_real_write(double value, char *text)
{
	char *end = std::to_chars(text, text + API_NUMBER_BYTES - 2, value).ptr;
	size_t n = static_cast<size_t>(end - text);
	// Only whole numbers can come without '.' and 'e'.
	if (value == std::trunc(value) && !std::memchr(text, '.', n) && !std::memchr(text, 'e', n)) {
		text[n++] = '.';
		text[n++] = '0';
	}
	return n;
}

size_t api_integer_write(int64_t value, char *text)
{
	return static_cast<size_t>(std::to_chars(text, text + API_NUMBER_BYTES, value).ptr - text);
}
