#include "api/pages/inflate.h"

#include <stdint.h>
#include <string.h>

enum { HEADER = 10, TRAILER = 8, MAX_BITS = 15, N_LITERALS = 288, N_DISTANCES = 32, END = 256 };

struct stream {
	const unsigned char *in, *in_end;
	uint64_t bits; /* read, but not used yet; the next bit is the lowest */
	int n_bits;
	unsigned char *out, *begin, *out_end;
	bool broken;
};

/* A prefix code: codes of one length are consecutive, in the order of their symbols. */
struct code {
	uint16_t n[MAX_BITS + 1]; /* codes of each length */
	uint16_t symbols[N_LITERALS];
};

static unsigned take_bits(struct stream *s, int n)
{
	while (s->n_bits < n) {
		s->broken |= s->in >= s->in_end;
		s->bits |= (uint64_t)(s->in < s->in_end ? *s->in++ : 0) << s->n_bits;
		s->n_bits += 8;
	}
	const unsigned bits = (unsigned)(s->bits & ((1u << n) - 1));
	s->bits >>= n;
	s->n_bits -= n;
	return bits;
}

static void set_code(struct code *code, const unsigned char *lengths, int n)
{
	uint16_t next[MAX_BITS + 2] = {0};
	memset(code->n, 0, sizeof code->n);
	for (int i = 0; i < n; i++)
		code->n[lengths[i]]++;
	code->n[0] = 0;
	for (int length = 1; length <= MAX_BITS; length++)
		next[length + 1] = (uint16_t)(next[length] + code->n[length]);
	for (int i = 0; i < n; i++)
		if (lengths[i])
			code->symbols[next[lengths[i]]++] = (uint16_t)i;
}

/* The first code of a length follows the last one of the length before it, with a 0 appended. */
static int take_symbol(struct stream *s, const struct code *code)
{
	int value = 0, first = 0, index = 0;
	for (int length = 1; length <= MAX_BITS; length++) {
		value = value << 1 | (int)take_bits(s, 1);
		const int n = code->n[length];
		if (value - first < n)
			return code->symbols[index + value - first];
		index += n;
		first = (first + n) << 1;
	}
	s->broken = true;
	return END;
}

/* ---- blocks ---- */

/* Copies a string that came before, which may overlap its copy. */
static void repeat(struct stream *s, size_t distance, size_t n)
{
	if (distance > (size_t)(s->out - s->begin) || n > (size_t)(s->out_end - s->out)) {
		s->broken = true;
		return;
	}
	for (; n > 0; n--, s->out++)
		*s->out = s->out[-(ptrdiff_t)distance];
}

/* Lengths and distances come in intervals, each 2^extra long, that double every `step`. */
static size_t take_number(struct stream *s, int symbol, int step, size_t least)
{
	if (symbol < 2 * step)
		return least + (size_t)symbol;
	const int extra = symbol / step - 1;
	return least + ((size_t)(symbol % step + step) << extra) + take_bits(s, extra);
}

static void take_match(struct stream *s, int symbol, const struct code *distances)
{
	const size_t n = symbol == 28 ? 258 : take_number(s, symbol, 4, 3);
	const int far = take_symbol(s, distances);
	s->broken |= symbol > 28 || far >= 30;
	if (!s->broken)
		repeat(s, take_number(s, far, 2, 1), n);
}

static void take_block(struct stream *s, const struct code *literals, const struct code *distances)
{
	for (int symbol; !s->broken && (symbol = take_symbol(s, literals)) != END;)
		if (symbol > END)
			take_match(s, symbol - END - 1, distances);
		else if (s->out < s->out_end)
			*s->out++ = (unsigned char)symbol;
		else
			s->broken = true;
}

static void take_stored(struct stream *s)
{
	take_bits(s, s->n_bits % 8);
	const size_t n = take_bits(s, 16);
	take_bits(s, 16);
	s->broken |= n > (size_t)(s->out_end - s->out);
	for (size_t i = 0; i < n && !s->broken; i++)
		*s->out++ = (unsigned char)take_bits(s, 8);
}

static void take_fixed(struct stream *s)
{
	unsigned char lengths[N_LITERALS];
	struct code literals, distances;
	for (int i = 0; i < N_LITERALS; i++)
		lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	set_code(&literals, lengths, N_LITERALS);
	memset(lengths, 5, N_DISTANCES);
	set_code(&distances, lengths, N_DISTANCES);
	take_block(s, &literals, &distances);
}

/* Reads the lengths of n codes: one by one, or the last length or zero several times. */
static bool take_lengths(struct stream *s, const struct code *code, unsigned char *lengths, int n)
{
	for (int i = 0; i < n && !s->broken;) {
		const int symbol = take_symbol(s, code);
		const unsigned char value = symbol < 16 ? (unsigned char)symbol : symbol == 16 && i ? lengths[i - 1] : 0;
		int times = symbol < 16    ? 1
		            : symbol == 16 ? 3 + (int)take_bits(s, 2)
		            : symbol == 17 ? 3 + (int)take_bits(s, 3)
		                           : 11 + (int)take_bits(s, 7);
		s->broken |= times > n - i;
		for (; times > 0 && !s->broken; times--)
			lengths[i++] = value;
	}
	return !s->broken;
}

static void take_dynamic(struct stream *s)
{
	static const unsigned char order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
	unsigned char lengths[N_LITERALS + N_DISTANCES] = {0};
	struct code literals, distances;
	const int n_literals = (int)take_bits(s, 5) + 257, n_distances = (int)take_bits(s, 5) + 1;
	const int n_lengths = (int)take_bits(s, 4) + 4;
	for (int i = 0; i < n_lengths; i++)
		lengths[order[i]] = (unsigned char)take_bits(s, 3);
	set_code(&literals, lengths, 19);
	s->broken |= n_literals > N_LITERALS;
	if (s->broken || !take_lengths(s, &literals, lengths, n_literals + n_distances))
		return;
	set_code(&literals, lengths, n_literals);
	set_code(&distances, lengths + n_literals, n_distances);
	take_block(s, &literals, &distances);
}

bool api_inflate(const char *gzip, size_t n, char *text, size_t bytes)
{
	if (n < HEADER + TRAILER)
		return false;
	const unsigned char *in = (const unsigned char *)gzip;
	unsigned char *out = (unsigned char *)text;
	struct stream s = {.in = in + HEADER, .in_end = in + n - TRAILER, .out = out, .begin = out, .out_end = out + bytes};
	bool is_last = false;
	while (!is_last && !s.broken) {
		is_last = take_bits(&s, 1);
		switch (take_bits(&s, 2)) {
		case 0: take_stored(&s); break;
		case 1: take_fixed(&s); break;
		case 2: take_dynamic(&s); break;
		default: s.broken = true;
		}
	}
	return !s.broken && s.out == s.out_end;
}
