/**
 * The shortest decimal of a double; among those of equal length, the nearest.
 *
 * A double v = c 2^q stands for all reals between the midpoints to its neighbours: an interval of width 2^q around v
 * (its lower half is half as wide where c = 2^52, as the spacing changes there), which includes its ends if c is even.
 * Any decimal in it reads back as v. Let 10^k <= width < 10^(k+1). Then
 *  - at least one multiple of 10^k lies in the interval: no more digits than those are needed;
 *  - at most one multiple of 10^(k+1) does: if there is one, it is the shortest, once its trailing zeros are removed;
 *  - otherwise the result is the multiple of 10^k next to v, the even one of two. It lies in the interval unless its
 *    lower half is the narrow one; then the result may be the one above.
 * So comparing v and both ends with the multiples 10^k s and 10^k (s + 1) around v, with the point half way between
 * them, and with multiples of 10^(k+1) decides everything.
 *
 * v and its ends are x 2^(q-2) with x = 4c, 4c - 2 (or 4c - 1), 4c + 2. In units of y = x 2^q / 10^k, they are compared
 * with integers. y is computed for v and for half the width, as products with the 128 bits of 10^-k, rounded up, and
 * kept as 64 bits, four of them after the point, and a second word. In units of that word, u = 2^-68, the product is
 * less than 1/2 too large, and cutting it off makes it less than 1 too small. The same holds for half the width. So
 * with 2 added (BIAS), v and its ends come out wrong by 0 to +4 u. scripts/powers_of_ten shows that for all q and all x
 * up to 2^55, y is an integer, or at least 5 u above one and 4 u below the next. Hence the second word is at most 4 if
 * y is an integer (and the bits after the point are then 0). Otherwise the bits after the point are not 0, once a 1 is
 * added there for a second word over 4. The result compares with integers as y itself does: there are no other cases,
 * and no fallback.
 *
 * Seventeen digits are then written in any case; trailing zeros are counted and overwritten. That leaves few branches
 * to predict, and short numbers need no special case.
 */
#include "api/numbers/print_double.h"

#include <stdbool.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "api/numbers/powers_of_ten.h"

__extension__ typedef unsigned __int128 uint128;

enum {
	FRACTION_BITS = 52,
	EXPONENT_BIAS = 1075, /* bias of q in c 2^q, where c is an integer */
	MAX_EXPONENT = 2047,
	DIGITS = 17,
	BEHIND_POINT = 4, /* bits of y after the point; the bits of a quarter of 10^k come before it */
	UNIT = 4 << BEHIND_POINT,
	BIAS = 2,
	LARGEST_ERROR = 4,
};
#define TEN_16 10000000000000000u
#define HIDDEN_BIT ((uint64_t)1 << FRACTION_BITS)

/* digits * 10^(exponent - 16); exponent belongs to the first digit */
struct decimal {
	uint64_t digits; /* DIGITS digits, the first of which is not 0 */
	int exponent;
};

/* floor(log10(2^q)) and floor(log10(3/4 2^q)) for the exponents of doubles */
static int log10_of_two(int q)
{
	return q * 1262611 >> 22;
}

static int log10_of_three_quarters(int q)
{
	return (q * 1262611 - 524031) >> 22;
}

/* v and the ends of its interval in units of 10^k / UNIT; the last bit is set if any bit beyond it is. */
struct interval {
	uint64_t value, below, above;
};

static inline uint64_t round_to_odd(uint128 y)
{
	return (uint64_t)(y >> 64) | ((uint64_t)y > LARGEST_ERROR);
}

static inline struct interval scale_interval(uint64_t c, int q, int k, bool narrow)
{
	const struct api_power_of_ten *power = &api_powers.of_ten[-k - API_LEAST_POWER];
	const int shift = q + api_log2_of_ten(-k) + 1 + BEHIND_POINT; /* 5 to 8 */
	const uint64_t x = 4 * c << shift, odd = c & 1;               /* odd: the ends do not belong to the interval */
	const uint128 half = ((uint128)power->high << (shift + 1)) | power->low >> (63 - shift);
	const uint128 value = (uint128)x * power->high + (uint64_t)((uint128)x * power->low >> 64) + BIAS;
	const uint128 below = narrow ? value - half / 2 : value - half;
	return (struct interval){round_to_odd(value), round_to_odd(below) + odd, round_to_odd(value + half) - odd};
}

/* Branch-free, because a branch could not be predicted. */
static inline uint64_t either(bool first, uint64_t a, uint64_t b)
{
	return b ^ ((a ^ b) & (0 - (uint64_t)first));
}

/* Chooses the multiple of 10^k, or of 10^(k+1), as explained above. */
static inline uint64_t choose(const struct interval *v, bool narrow)
{
	const uint64_t s = v->value / UNIT, ten = s / 10 * 10;
	const bool lower_ten = ten * UNIT >= v->below, upper_ten = (ten + 10) * UNIT <= v->above;
	const bool up = (v->value > s * UNIT + UNIT / 2 - (s & 1)) | (narrow & (s * UNIT < v->below));
	return either(lower_ten | upper_ten, ten + either(upper_ten, 10, 0), s + up);
}

/* The shortest decimal of c 2^q, c > 0. */
static inline struct decimal shortest(uint64_t c, int q)
{
	const bool narrow = c == HIDDEN_BIT && q > 1 - EXPONENT_BIAS;
	const int k = narrow ? log10_of_three_quarters(q) : log10_of_two(q);
	const struct interval v = scale_interval(c, q, k, narrow);
	const uint64_t chosen = choose(&v, narrow);
	const bool one_less = chosen < TEN_16;
	struct decimal decimal = {either(one_less, 10 * chosen, chosen), k + DIGITS - 1 - one_less};
	while (decimal.digits < TEN_16) { /* subnormal numbers */
		decimal.digits *= 10;
		decimal.exponent--;
	}
	return decimal;
}

/* ---- digits to text ---- */

/* Splits n < 10^8 into eight digits, one per byte, the first in the lowest. Fours, pairs and digits are split off in
 * place. */
static inline uint64_t eight_digits(uint64_t n)
{
	const uint64_t fours = (n << 32) - n / 10000 * (((uint64_t)10000 << 32) - 1);
	const uint64_t hundreds = fours * 10486 >> 20 & 0x0000007F0000007F;
	const uint64_t pairs = (fours << 16) - hundreds * ((100 << 16) - 1);
	const uint64_t high = pairs * 103 >> 10 & 0x000F000F000F000F;
	return (pairs << 8) - high * ((10 << 8) - 1);
}

static inline uint64_t in_ascii(uint64_t digits)
{
	return digits | 0x3030303030303030;
}

static inline void store_eight(char *text, uint64_t ascii)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	ascii = __builtin_bswap64(ascii);
#endif
	memcpy(text, &ascii, sizeof(ascii));
}

/* DIGITS digits, of which n remain without trailing zeros. */
struct digits {
	char first;
	union sixteen {
		uint64_t eight[2];
#ifdef __SSE2__
		__m128i all;
#endif
	} rest; /* the remaining digits in ASCII */
	int n;
};

#ifdef __SSE2__
/* Does the steps of eight_digits for two halves at once. */
static inline __m128i sixteen_digits(uint64_t next, uint64_t last)
{
	const __m128i n = _mm_set_epi64x((long long)last, (long long)next);
	const __m128i thousands = _mm_srli_epi64(_mm_mul_epu32(n, _mm_set1_epi64x(0xD1B71759)), 45);
	const __m128i units = _mm_sub_epi64(n, _mm_mul_epu32(thousands, _mm_set1_epi64x(10000)));
	const __m128i fours = _mm_or_si128(thousands, _mm_slli_epi64(units, 32));
	const __m128i hundreds = _mm_srli_epi16(_mm_mulhi_epu16(fours, _mm_set1_epi32(5243)), 3);
	const __m128i below = _mm_sub_epi32(fours, _mm_mullo_epi16(hundreds, _mm_set1_epi32(100)));
	const __m128i pairs = _mm_or_si128(hundreds, _mm_slli_epi32(below, 16));
	const __m128i high = _mm_mulhi_epu16(pairs, _mm_set1_epi16(6554));
	const __m128i low = _mm_sub_epi16(pairs, _mm_mullo_epi16(high, _mm_set1_epi16(10)));
	return _mm_or_si128(high, _mm_slli_epi16(low, 8));
}

static inline struct digits split_rest(char first, uint64_t next, uint64_t last)
{
	const __m128i digits = sixteen_digits(next, last);
	const unsigned zeros = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(digits, _mm_setzero_si128()));
	const unsigned kept = 2 * (zeros ^ 0xFFFF) + 1;
	return (struct digits){first, {.all = _mm_or_si128(digits, _mm_set1_epi8('0'))}, 32 - __builtin_clz(kept)};
}

static inline void store_sixteen(char *text, union sixteen ascii)
{
	_mm_storeu_si128((__m128i *)(void *)text, ascii.all);
}
#else
static inline struct digits split_rest(char first, uint64_t next, uint64_t last)
{
	const uint64_t a = eight_digits(next), b = eight_digits(last);
	const int n = b ? DIGITS - __builtin_clzll(b) / 8 : a ? DIGITS - 8 - __builtin_clzll(a) / 8 : 1;
	return (struct digits){first, {.eight = {in_ascii(a), in_ascii(b)}}, n};
}

static inline void store_sixteen(char *text, union sixteen ascii)
{
	store_eight(text, ascii.eight[0]);
	store_eight(text + 8, ascii.eight[1]);
}
#endif

static inline struct digits split(uint64_t digits)
{
	const uint64_t nine = digits / 100000000, first = nine / 100000000;
	return split_rest((char)('0' + first), nine - first * 100000000, digits - nine * 100000000);
}

static inline void store_all(char *text, const struct digits *digits)
{
	text[0] = digits->first;
	store_sixteen(text + 1, digits->rest);
}

static char *write_exponent(char *text, int exponent)
{
	const unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
	*text++ = 'e';
	*text++ = exponent < 0 ? '-' : '+';
	if (size >= 100)
		*text++ = (char)('0' + size / 100);
	*text++ = (char)('0' + size / 10 % 10);
	*text++ = (char)('0' + size % 10);
	return text;
}

static char *write_scientific(char *text, const struct digits *digits, int exponent)
{
	text[0] = digits->first;
	text[1] = '.';
	store_sixteen(text + 2, digits->rest);
	return write_exponent(text + digits->n + (digits->n > 1), exponent);
}

/* Writes a number with exponent -4 to -1. */
static char *write_small(char *text, const struct digits *digits, int exponent)
{
	static const char zeros[8] = {'0', '.', '0', '0', '0', '0', '0', '0'};
	memcpy(text, zeros, sizeof(zeros));
	store_all(text + 1 - exponent, digits);
	return text + 1 - exponent + digits->n;
}

/* Writes a number with the point between digits. The digits after it are moved by one place in registers, because
 * loading bytes that were just stored would stall. */
static char *write_mixed(char *text, const struct digits *digits, int exponent)
{
	const uint128 after = ((uint128)digits->rest.eight[1] << 64 | digits->rest.eight[0]) >> 8 * exponent;
	store_all(text, digits);
	text[exponent + 1] = '.';
	store_eight(text + exponent + 2, (uint64_t)after);
	store_eight(text + exponent + 10, (uint64_t)(after >> 64));
	return text + digits->n + 1;
}

/* Writes a whole number below 10^22. From 2^53 on, the shortest digits are followed by digits of the exact value
 * instead of zeros. */
static char *write_whole(char *text, const struct digits *digits, int exponent, uint64_t c, int q)
{
	if (q > 0) {
		const uint128 whole = (uint128)c << q;
		const uint64_t tail = (uint64_t)(whole % TEN_16);
		text += api_integer_write((int64_t)(whole / TEN_16), text);
		if (whole < TEN_16)
			text--;
		store_eight(text, in_ascii(eight_digits(tail / 100000000)));
		store_eight(text + 8, in_ascii(eight_digits(tail % 100000000)));
		text += 16;
	} else {
		store_all(text, digits);
		text += exponent + 1;
	}
	*text++ = '.';
	*text++ = '0';
	return text;
}

/* Whether the notation without an exponent is at most as long as the other one. */
static bool is_fixed(const struct digits *digits, int exponent)
{
	const int single = digits->n == 1;
	return exponent >= -4 + single && exponent + 1 - digits->n <= 5 - single;
}

static char *write_positive(char *text, uint64_t c, int q)
{
	const struct decimal decimal = shortest(c, q);
	const struct digits digits = split(decimal.digits);
	const int exponent = decimal.exponent;
	if (!is_fixed(&digits, exponent))
		return write_scientific(text, &digits, exponent);
	if (exponent < 0)
		return write_small(text, &digits, exponent);
	if (digits.n > exponent + 1)
		return write_mixed(text, &digits, exponent);
	return write_whole(text, &digits, exponent, c, q);
}

size_t api_real_write(double value, char *text)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	char *at = text;
	*at = '-';
	at += bits >> 63;
	const int exponent = (int)(bits >> FRACTION_BITS & MAX_EXPONENT);
	const uint64_t fraction = bits & (HIDDEN_BIT - 1);
	if (exponent == MAX_EXPONENT)
		return 0;
	if (exponent)
		return (size_t)(write_positive(at, HIDDEN_BIT | fraction, exponent - EXPONENT_BIAS) - text);
	if (fraction)
		return (size_t)(write_positive(at, fraction, 1 - EXPONENT_BIAS) - text);
	*at++ = '0';
	*at++ = '.';
	*at++ = '0';
	return (size_t)(at - text);
}

/* Writes the digits of n < 10^8 without leading zeros. */
static inline char *write_short(char *text, uint64_t n)
{
	const uint64_t digits = eight_digits(n);
	const int zeros = n ? __builtin_ctzll(digits) / 8 : 7;
	store_eight(text, in_ascii(digits) >> 8 * zeros);
	return text + 8 - zeros;
}

static char *write_natural(char *text, uint64_t n)
{
	if (n < 100000000)
		return write_short(text, n);
	text = write_natural(text, n / 100000000);
	store_eight(text, in_ascii(eight_digits(n % 100000000)));
	return text + 8;
}

size_t api_integer_write(int64_t value, char *text)
{
	char *at = text;
	*at = '-';
	at += value < 0;
	return (size_t)(write_natural(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value) - text);
}
