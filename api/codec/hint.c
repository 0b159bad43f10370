#include "api/codec/hint.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/base/account.h"

enum { MOST_DEPTH = 16, LENGTH_BYTES = 8, FRAME_STEP = 64 };

/* ---- whole bodies ---- */

static bool starts_with(const char *body, size_t bytes, const char *start, size_t n)
{
	return bytes >= n && !memcmp(body, start, n);
}

const char *api_hint_of_body(const char *body, size_t bytes)
{
	static const struct {
		const char *start;
		size_t n;
		const char *words;
	} kinds[] = {
		{"\x1f\x8b", 2, "the body is compressed with gzip; send it uncompressed"},
		{"\x28\xb5\x2f\xfd", 4, "the body is compressed with zstd; send it uncompressed"},
		{"\xef\xbb\xbf", 3, "the body begins with a byte order mark; JSON is UTF-8 without one"},
		{"\xff\xfe", 2, "the body is UTF-16; JSON is UTF-8"},
		{"\xfe\xff", 2, "the body is UTF-16; JSON is UTF-8"},
		{"@", 1, "the body is the name of a file; curl sends the contents with --data-binary @FILE"},
		{"b'", 2, "the body is the printed form of Python bytes; send the bytes themselves"},
		{"--", 2, "the body is a multipart form; send the JSON text alone, with curl --data-binary @FILE"},
		{"x\x9c", 2, "the body is compressed with zlib; send it uncompressed"},
		{"{\0", 2, "the body is UTF-16; JSON is UTF-8"},
		{"PK\x03\x04", 4, "the body is a zip archive, such as a .npz file; send its arrays in JSON, or in a frame"},
		{"\x93NUMPY", 6, "the body is a NumPy file; send the array in JSON, or in a frame"},
		{"\x80\x04\x95", 3, "the body is a pickle; send json.dumps(batch)"},
		{"\x80\x05\x95", 3, "the body is a pickle; send json.dumps(batch)"},
		{"<", 1, "the body is XML or HTML; send JSON"},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (starts_with(body, bytes, kinds[i].start, kinds[i].n))
			return kinds[i].words;
	return NULL;
}

bool api_looks_like_frame(const char *body, size_t bytes)
{
	uint64_t n;
	if (bytes < LENGTH_BYTES + 1)
		return false;
	memcpy(&n, body, LENGTH_BYTES);
	return n > 0 && n <= bytes - LENGTH_BYTES && (LENGTH_BYTES + n) % FRAME_STEP == 0 && body[LENGTH_BYTES] == '{';
}

/* Skips at most MOST_BLANKS leading blanks. */
bool api_looks_like_json(const char *body, size_t bytes)
{
	enum { MOST_BLANKS = 64 };
	const char *end = body + (bytes < MOST_BLANKS ? bytes : MOST_BLANKS), *p = api_skip_blanks(body, end);
	if (p == end || (*p != '{' && *p != '['))
		return false;
	p = api_skip_blanks(p + 1, end);
	return p == end || strchr("\"}]'[{-0123456789", *p);
}

/* ---- the place of a fault ---- */

/* An open container, and the current position in it. */
struct level {
	bool is_object, at_key;
	const char *key;
	size_t key_bytes, index;
};

struct walk {
	struct level levels[MOST_DEPTH];
	int depth; /* may exceed the array of levels */
};

static struct level *top(struct walk *w)
{
	return w->depth > 0 && w->depth <= MOST_DEPTH ? &w->levels[w->depth - 1] : NULL;
}

static const char *skip_text(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

static const char *step(struct walk *w, const char *p, const char *end)
{
	struct level *level = top(w);
	if (*p == '"') {
		const char *after = skip_text(p, end);
		if (level && level->at_key) {
			level->key = p + 1;
			level->key_bytes = (size_t)(after - p) - 2;
		}
		return after;
	}
	if (*p == '{' || *p == '[') {
		if (++w->depth <= MOST_DEPTH)
			*top(w) = (struct level){.is_object = *p == '{', .at_key = *p == '{'};
	} else if ((*p == '}' || *p == ']') && w->depth > 0) {
		w->depth--;
	} else if (*p == ',' && level) {
		level->index++;
		level->at_key = level->is_object;
	} else if (*p == ':' && level) {
		level->at_key = false;
	}
	return p + 1;
}

/* Appends a token to a pointer. @return false if it does not fit, or does not follow from the text */
static bool add_token(const struct level *level, char *pointer, size_t bytes, size_t *at)
{
	char number[24];
	const char *key = level->is_object ? level->key : number;
	const size_t n = level->is_object ? level->key_bytes
	                                  : (size_t)snprintf(number, sizeof(number), "%zu", level->index);
	if (level->is_object && (level->at_key || !key || memchr(key, '\\', n)))
		return false;
	if (*at + 2 * n + 2 > bytes)
		return false;
	pointer[(*at)++] = '/';
	for (size_t i = 0; i < n; i++) {
		pointer[(*at)++] = key[i] == '~' || key[i] == '/' ? '~' : key[i];
		if (key[i] == '~' || key[i] == '/')
			pointer[(*at)++] = key[i] == '~' ? '0' : '1';
	}
	pointer[*at] = '\0';
	return true;
}

void api_hint_place(const char *text, size_t offset, char *pointer, size_t bytes)
{
	struct walk w = {.depth = 0};
	const char *p = text, *end = text + offset;
	size_t at = 0;
	pointer[0] = '\0';
	for (size_t n = 0; p < end; n++) {
		if (n % API_LOOK_BYTES == 0 && api_account_is_stopped())
			return;
		p = step(&w, p, end);
	}
	bool ok = w.depth <= MOST_DEPTH;
	for (int i = 0; ok && i < w.depth; i++)
		ok = add_token(&w.levels[i], pointer, bytes, &at);
	if (!ok)
		pointer[0] = '\0';
}

/* ---- explaining a fault ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The place of a fault, whose characters are '\0' outside the text. */
struct spot {
	const char *text;
	size_t bytes, at;
};

static char at(const struct spot *s, long places)
{
	const size_t i = s->at + (size_t)places;
	return (places >= 0 || s->at >= (size_t)-places) && i < s->bytes ? s->text[i] : '\0';
}

/* The character before the spot, skipping blanks. */
static char before(const struct spot *s)
{
	size_t i = s->at;
	while (i > 0 && s->at - i < 64 && api_is_blank(s->text[i - 1]))
		i--;
	return i > 0 ? s->text[i - 1] : '\0';
}

/* The length of the word at the spot, with its sign, if the list contains it; 0 otherwise. */
static size_t word_among(const struct spot *s, const char *const words[])
{
	const size_t sign = at(s, 0) == '-' || at(s, 0) == '+';
	for (int i = 0; words[i]; i++) {
		const size_t n = strlen(words[i]);
		if (s->bytes - s->at >= sign + n && !strncasecmp(s->text + s->at + sign, words[i], n) &&
		    !api_is_letter(at(s, (long)(sign + n))))
			return sign + n;
	}
	return 0;
}

/* Explains a number that is malformed right after its sign, such as -inf. */
static bool explain_not_finite(struct spot s, struct api_text_fault *fault)
{
	static const char *const words[] = {"NaN", "Infinity", "Inf", "NA", NULL};
	if (at(&s, -1) == '-')
		s.at--;
	const size_t n = word_among(&s, words);
	if (n == 0)
		return false;
	fault->code = API_E_NAN_IN_JSON;
	snprintf(fault->detail, sizeof(fault->detail),
	         "%.*s is not JSON: numbers must be finite; find out where it comes from (Python: json.dumps(batch,"
	         " allow_nan=False) refuses it before it is sent)",
	         (int)n, s.text + s.at);
	api_hint_place(s.text, s.at, fault->pointer, sizeof(fault->pointer));
	return true;
}

static const char *hint_of_word(const struct spot *s)
{
	static const char *const of_true[] = {"True", NULL}, *const of_false[] = {"False", NULL},
							 *const of_nothing[] = {"None", "nil", "null", "undefined", "nothing", "missing", NULL};
	if (word_among(s, of_true))
		return "in JSON, write true";
	if (word_among(s, of_false))
		return "in JSON, write false";
	return word_among(s, of_nothing) ? "leave out fields without a value" : NULL;
}

/* A hint for any other word in place of a value, such as np.float64(0.02), array([...]) or cubic. */
static const char *hint_of_text(const struct spot *s, const char *detail)
{
	const bool value_due = !strncmp(detail, "invalid token", strlen("invalid token")) && s->at > 0;
	size_t n = 0;
	while (value_due && (api_is_letter(at(s, (long)n)) || is_digit(at(s, (long)n))))
		n++;
	if (n == 0)
		return NULL;
	return at(s, (long)n) == '(' || at(s, (long)n) == '.' ? "this is a printed form, not JSON: use json.dumps(batch)"
	                                                      : "strings need double quotes";
}

/* A hint for number formats of other languages. */
static const char *hint_of_digits(const struct spot *s)
{
	const char c = at(s, 0), last = at(s, -1);
	if ((c == 'x' || c == 'X') && last == '0')
		return "numbers must be decimal";
	if (c == '_' && is_digit(last))
		return "numbers must not contain separators";
	if (c == '/' && is_digit(last) && is_digit(at(s, 1)))
		return "write a quotient as a decimal number: 0.5";
	if (c == '#' && last == '.')
		return "1.#INF and the like stand for infinity and NaN, which JSON lacks";
	return c == '.' && at(s, 1) == '.' ? "an array printed with ... is incomplete" : NULL;
}

static const char *hint_of_number(const struct spot *s)
{
	const char c = at(s, 0), last = at(s, -1);
	if (c == '.' && is_digit(at(s, 1)))
		return "a digit must precede the point: 0.5";
	if (c == '+')
		return "numbers must not have a plus sign";
	if (last == '.')
		return "digits must follow the point: 1.0";
	if (is_digit(c) && last == '0')
		return at(s, -2) == ',' && is_digit(at(s, -3))
		           ? "numbers must not begin with 0, and the decimal separator is a point"
		           : "numbers must not begin with 0";
	if ((c == 'd' || c == 'D') && is_digit(last))
		return "write exponents with e: 1e-3";
	return api_is_letter(c) && (is_digit(last) || last == '.') ? "numbers must not have a suffix" : NULL;
}

static const char *hint_of_sign(const struct spot *s)
{
	const char c = at(s, 0), last = before(s);
	if (c == '\xe2' && at(s, 1) == '\x80')
		return "JSON uses straight double quotes";
	if (c == '\'' || c == '`')
		return "JSON uses double quotes (in a shell: single quotes around the whole text)";
	if (c == '#' || c == '%' || (c == '/' && (at(s, 1) == '/' || at(s, 1) == '*')))
		return "JSON has no comments";
	if ((c == '}' || c == ']') && last == ',')
		return "remove the comma before it";
	if (c == ';')
		return "each row must be an array: [[1, 2], [3, 4]]";
	if (c == '(')
		return "write arrays with square brackets";
	return NULL;
}

#define OBJECT "a request must be an object: {\"dim\": 3, ...}"

static const char *hint_of_rest(const struct spot *s, const char *detail)
{
	const bool name_due = !strncmp(detail, "string or '}'", strlen("string or '}'"));
	const char c = at(s, 0), last = before(s);
	if (!strncmp(detail, "text follows", strlen("text follows")))
		return c == '}' || c == ']' ? "there is an extra bracket"
		       : c == '{'           ? "a request must be a single document"
		                            : OBJECT;
	if (!c && s->at + 1 == s->bytes)
		return "this is the end of a C string: send strlen(text) bytes";
	if (!strncmp(detail, "unable to decode", strlen("unable to decode")))
		return "JSON is UTF-8";
	if (s->at == 0)
		return OBJECT;
	if (s->at >= s->bytes)
		return "the text ends too early: is it truncated?";
	if (name_due && api_is_letter(c))
		return "names need double quotes";
	if (c && strchr("\"{[-0123456789", c) && (is_digit(last) || (last && strchr("\"]}", last))))
		return "is a comma missing before it?";
	return NULL;
}

static const char *hint_at(const struct spot *s, const char *detail)
{
	const char *hint = hint_of_word(s);
	hint = hint ? hint : hint_of_digits(s);
	hint = hint ? hint : hint_of_number(s);
	hint = hint ? hint : hint_of_sign(s);
	hint = hint ? hint : hint_of_text(s, detail);
	return hint ? hint : hint_of_rest(s, detail);
}

void api_hint_add(const char *text, size_t bytes, struct api_text_fault *fault)
{
	const struct spot spot = {text, bytes, fault->offset};
	const char *hint = fault->offset < LENGTH_BYTES + 1 ? api_hint_of_body(text, bytes) : NULL;
	if (!hint && api_looks_like_frame(text, bytes))
		hint = "the body is a frame; its Content-Type is application/vnd.frictiond.frame";
	if (hint) {
		fault->code = API_E_NOT_JSON;
		fault->offset = 0;
		fault->line = fault->column = 1;
		snprintf(fault->detail, sizeof(fault->detail), "%s", hint);
		return;
	}
	hint = fault->code == API_E_MALFORMED_JSON && !explain_not_finite(spot, fault) ? hint_at(&spot, fault->detail)
	                                                                               : NULL;
	const size_t n = strlen(fault->detail);
	if (hint)
		snprintf(fault->detail + n, sizeof(fault->detail) - n, "; %s", hint);
}
