#include "api/numbers/numbers.h"

#include <charconv>
#include <cstring>
#include <system_error>

#include "api/numbers/powers_of_ten.h"

namespace
{

__extension__ typedef unsigned __int128 uint128;

// Powers of ten that a double holds exactly.
constexpr double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int64_t max_ten = 22;
constexpr std::ptrdiff_t max_exact_digits = 19; // any 19 digits fit 64 bits
constexpr uint64_t max_exact = uint64_t{1} << 53;
constexpr std::ptrdiff_t least_long = 12;
constexpr uint64_t one_in_highest_byte = uint64_t{1} << 56;

constexpr int64_t max_exponent = 100000000000000000; // where exponents saturate; no text has this many digits

// The parts of a number, as far as its text has been read.
struct parts {
	bool negative;
	uint64_t digits; // integer and fraction as one number, modulo 2^64
	std::ptrdiff_t n_digits;
	int64_t exponent; // the value is digits * 10^exponent
};

bool is_digit(char c)
{
	return static_cast<unsigned char>(c - '0') < 10;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
// For each byte that is not a digit, sets its highest bit, up to the first such byte; the bits above that are
// arbitrary.
uint64_t not_digits(uint64_t v)
{
	return ((v + 0x4646464646464646) | (v - 0x3030303030303030)) & 0x8080808080808080;
}

// The number formed by eight bytes from 0 to 9, the first digit in the lowest byte. Neighbours are merged three times:
// into pairs, into fours, into the number.
uint64_t merge_eight(uint64_t v)
{
	v = v * 10 + (v >> 8);
	uint64_t outer = (v & 0x000000FF000000FF) * 0x000F424000000064;
	uint64_t inner = ((v >> 16) & 0x000000FF000000FF) * 0x0000271000000001;
	return (outer + inner) >> 32;
}

constexpr uint64_t small_tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

// Continues while eight bytes are left; done tells whether something other than a digit ended them. The bytes after the
// last digit are shifted out and replaced by leading zeros.
inline const char *read_eights(const char *p, const char *end, uint64_t &digits, bool &done)
{
	uint64_t v;
	while (end - p >= 8) {
		std::memcpy(&v, p, 8);
		const uint64_t others = not_digits(v);
		v -= 0x3030303030303030;
		if (others) {
			const int n = __builtin_ctzll(others) / 8;
			digits = digits * small_tens[n] + merge_eight(v << 8 << (56 - 8 * n));
			done = true;
			return p + n;
		}
		digits = digits * 100000000 + merge_eight(v);
		p += 8;
	}
	return p;
}
#else
inline const char *read_eights(const char *p, const char *, uint64_t &, bool &)
{
	return p;
}
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
// Counts at most seven zeros after "0.", without a branch, because their number is unpredictable. text: least_long
// digits
inline std::ptrdiff_t zeros_in_front(const char *text)
{
	uint64_t v;
	std::memcpy(&v, text + 2, 8);
	const std::ptrdiff_t zeros = 1 + __builtin_ctzll((v ^ 0x3030303030303030) | one_in_highest_byte) / 8;
	return zeros & -static_cast<std::ptrdiff_t>((text[0] == '0') & (text[1] == '.'));
}
#else
inline std::ptrdiff_t zeros_in_front(const char *)
{
	return 0;
}
#endif

inline const char *read_digits(const char *p, const char *end, uint64_t &digits)
{
	bool done = false;
	p = read_eights(p, end, digits, done);
	for (; !done && p < end && is_digit(*p); p++)
		digits = digits * 10 + static_cast<uint64_t>(*p - '0');
	return p;
}

// Each reader moves p to where it stopped, and returns false if the text is malformed there.
inline bool read_integer(const char *&p, const char *end, parts &number)
{
	number.negative = p < end && *p == '-';
	p += number.negative;
	const char *begin = p;
	if (end - p > 1 && is_digit(p[0]) && !is_digit(p[1]))
		number.digits = static_cast<uint64_t>(*p++ - '0');
	else
		p = read_digits(p, end, number.digits);
	if (p - begin > 1 && *begin == '0') {
		number.digits = 0;
		p = begin + 1;
	}
	number.n_digits = p - begin;
	return p > begin;
}

inline bool read_fraction(const char *&p, const char *end, parts &number)
{
	const char *begin = p;
	p = read_digits(p, end, number.digits);
	number.n_digits += p - begin;
	number.exponent -= p - begin;
	return p > begin;
}

inline bool read_exponent(const char *&p, const char *end, parts &number)
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

inline bool read_parts(const char *&p, const char *end, parts &number, bool &integer)
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

// The number of digits, without leading zeros.
std::ptrdiff_t significant_digits(const char *p, const parts &number)
{
	std::ptrdiff_t n = number.n_digits;
	for (p += number.negative; n > 0 && (*p == '0' || *p == '.'); p++)
		n -= *p == '0';
	return n;
}

// Whether number.digits contains all digits.
inline bool are_digits_exact(const char *text, const parts &number)
{
	if (number.n_digits < least_long)
		return true;
	return number.n_digits - zeros_in_front(text + number.negative) <= max_exact_digits ||
	       significant_digits(text, number) <= max_exact_digits;
}

// Converts a number whose digits and power of ten are exact, so that there is a single rounding.
inline bool convert_exactly(const parts &number, double &value)
{
	if (number.digits > max_exact)
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

// Multiplies the 64 bits of the digits by the 128 of the power of ten. The product is too large by less than 2^64 in
// 2^192, that is, by less than one in the 128 bits used here, which is as much as is cut off below them. The 128 bits
// therefore round as the number does, unless they lie half way between two doubles.
inline bool convert_by_table(const parts &number, double &value)
{
	if (number.exponent < API_LEAST_POWER || number.exponent > API_MOST_POWER || number.digits == 0)
		return false;
	const int power = static_cast<int>(number.exponent), zeros = __builtin_clzll(number.digits);
	const api_power_of_ten &ten = api_powers.of_ten[power - API_LEAST_POWER];
	const uint64_t digits = number.digits << zeros;
	const uint128 product = static_cast<uint128>(digits) * ten.high + (static_cast<uint128>(digits) * ten.low >> 64);
	const int top = static_cast<int>(product >> 127);
	const uint128 left = product << (1 - top); // with the first bit of the significand in front
	const uint128 half = static_cast<uint128>(1) << (127 - 53), below = left & (2 * half - 1);
	const int exponent = api_log2_of_ten(power) + 1086 - zeros + top;
	if (exponent < 1 || exponent > 2045 || below - (half - 2) <= 4)
		return false;
	const uint64_t bits = (static_cast<uint64_t>(exponent - 1) << 52) + static_cast<uint64_t>(left >> 75) +
	                      (below > half) + (static_cast<uint64_t>(number.negative) << 63);
	std::memcpy(&value, &bits, sizeof value);
	return true;
}

// from_chars reports overflow and underflow in the same way. A number out of range is not zero, so it overflows if it
// is above 1.
bool is_over_one(const char *text, const char *end, const parts &number)
{
	std::ptrdiff_t zeros = 0;
	for (const char *p = text; p < end && (*p < '1' || *p > '9') && *p != 'e' && *p != 'E'; p++)
		zeros += *p == '0';
	return number.n_digits - zeros + number.exponent > 0;
}

} // namespace

enum api_number_status api_number_read(const char *text, const char *end, struct api_number *number)
{
	parts read = {};
	number->end = text;
	if (!read_parts(number->end, end, read, number->integer))
		return API_NUMBER_MALFORMED;
	if (are_digits_exact(text, read) && (convert_exactly(read, number->value) || convert_by_table(read, number->value)))
		return API_NUMBER_OK;
	if (std::from_chars(text, number->end, number->value).ec == std::errc())
		return API_NUMBER_OK;
	if (is_over_one(text, number->end, read))
		return API_NUMBER_OVERFLOW;
	number->value = read.negative ? -0.0 : 0.0;
	return API_NUMBER_OK;
}
