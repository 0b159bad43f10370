#include "server/http/wire.h"

#include <string.h>
#include <strings.h>

struct text {
	char *bytes;
	size_t n;
};

enum { TLS_HANDSHAKE = 0x16 }; /* type of a client's first record: RFC 8446, 5.1 */

static const char replacement_head[] = "GET / HTTP/1.1\r\nHost: -\r\n\r\n";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	const char letter = (char)(c | 0x20);
	return letter >= 'a' && letter <= 'z';
}

/* Whether a text consists of letters, digits and the given signs. */
static bool is_of(const char *text, size_t n, const char *signs)
{
	for (size_t i = 0; i < n; i++)
		if (!is_letter(text[i]) && !is_digit(text[i]) && (!text[i] || !strchr(signs, text[i])))
			return false;
	return true;
}

static bool is_token(const char *text, size_t n)
{
	return n > 0 && is_of(text, n, "-!#$%&'*+.^_`|~");
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static struct text trimmed(struct text text)
{
	while (text.n > 0 && is_space(text.bytes[0]))
		text.bytes++, text.n--;
	while (text.n > 0 && is_space(text.bytes[text.n - 1]))
		text.n--;
	return text;
}

static bool equals(struct text text, const char *word)
{
	return text.n == strlen(word) && strncasecmp(text.bytes, word, text.n) == 0;
}

void srv_wire_open(struct srv_wire *wire)
{
	*wire = (struct srv_wire){.state = SRV_WIRE_REQUEST_LINE};
}

static bool in_head(const struct srv_wire *wire)
{
	return wire->state == SRV_WIRE_REQUEST_LINE || wire->state == SRV_WIRE_FIELD;
}

static bool in_chunks(const struct srv_wire *wire)
{
	return wire->state == SRV_WIRE_CHUNK_SIZE || wire->state == SRV_WIRE_CHUNK_END || wire->state == SRV_WIRE_TRAILER;
}

static void put(struct srv_wire_out *out, const char *bytes, size_t n)
{
	memmove(out->bytes + out->n, bytes, n);
	out->n += n;
}

static void let_through(struct srv_wire *wire, struct srv_wire_out *out)
{
	out->ready = out->n;
	wire->unit = wire->line = 0;
}

/* Replaces the message under way by one that the library considers complete. */
static void fail(struct srv_wire *wire, enum api_code code, const char *detail, struct srv_wire_out *out)
{
	wire->code = code;
	wire->detail = detail;
	out->n = out->ready;
	wire->replaced = in_head(wire);
	if (wire->replaced) {
		wire->n_messages++;
		put(out, replacement_head, strlen(replacement_head));
	} else {
		const char *end = wire->state == SRV_WIRE_CHUNK_END ? "\r\n0\r\n\r\n" : "0\r\n\r\n";
		put(out, end, strlen(end));
	}
	let_through(wire, out);
	wire->state = SRV_WIRE_OVER;
}

/* ---- the request line ---- */

static bool is_version(struct text text)
{
	return text.n == 8 && memcmp(text.bytes, "HTTP/", 5) == 0 && is_digit(text.bytes[5]) && text.bytes[6] == '.' &&
	       is_digit(text.bytes[7]);
}

/* Whether a target is an origin-form, "*" for OPTIONS, or an absolute URI. CONNECT has a form of its own. */
static bool is_target(struct text method, struct text target)
{
	for (size_t i = 0; i < target.n; i++)
		if (target.bytes[i] <= 0x20 || target.bytes[i] >= 0x7f)
			return false;
	if (target.n == 0)
		return false;
	return target.bytes[0] == '/' || (target.n > 7 && strncasecmp(target.bytes, "http://", 7) == 0) ||
	       (target.n > 8 && strncasecmp(target.bytes, "https://", 8) == 0) ||
	       (equals(target, "*") && equals(method, "OPTIONS")) || equals(method, "CONNECT");
}

/* Splits off the word before the next space, and skips the space. */
static struct text next_word(struct text *line)
{
	const char *space = memchr(line->bytes, ' ', line->n);
	struct text word = {line->bytes, space ? (size_t)(space - line->bytes) : line->n};
	const size_t skipped = word.n + (space ? 1 : 0);
	line->bytes += skipped;
	line->n -= skipped;
	return word;
}

/* The library splits a query at every '&', so empty arguments count as well. */
static unsigned count_arguments(struct text target)
{
	const char *query = memchr(target.bytes, '?', target.n), *end = target.bytes + target.n;
	unsigned n = query ? 1 : 0;
	for (const char *c = query; c && c < end; c++)
		n += *c == '&';
	return n;
}

static void take_request_line(struct srv_wire *wire, struct text line, struct srv_wire_out *out)
{
	const struct text method = next_word(&line), target = next_word(&line), version = line;
	if (!is_token(method.bytes, method.n))
		fail(wire, API_E_MALFORMED_HTTP, "The method contains an invalid character.", out);
	else if (!is_version(version))
		fail(wire, API_E_MALFORMED_HTTP,
		     "The request line is not a method, a target and HTTP/1.1, one space between them.", out);
	else if (version.bytes[5] != '1')
		fail(wire, API_E_HTTP_VERSION, "This server supports HTTP/1.1 and HTTP/1.0.", out);
	else if (!is_target(method, target))
		fail(wire, API_E_MALFORMED_HTTP, "The target is neither a path nor a URL; a space in it is written %20.", out);
	else if (count_arguments(target) > SRV_WIRE_ARGUMENTS)
		fail(wire, API_E_TARGET_TOO_LONG, "The target has more than 64 query parameters.", out);
	else {
		*wire = (struct srv_wire){.state = SRV_WIRE_FIELD,
		                          .n_messages = wire->n_messages,
		                          .unit = wire->unit,
		                          .n_fields = count_arguments(target),
		                          .old = version.bytes[7] == '0'};
	}
}

/* ---- header lines ---- */

static bool is_host(struct text value)
{
	return is_of(value.bytes, value.n, "-._~%!$&'()*+,;=:[]");
}

/* Values that overflow become UINT64_MAX. @return false if a character is not a digit */
static bool read_length(struct text value, uint64_t *length)
{
	*length = 0;
	for (size_t i = 0; i < value.n; i++) {
		if (!is_digit(value.bytes[i]))
			return false;
		*length = *length > UINT64_MAX / 10 - 1 ? UINT64_MAX : 10 * *length + (uint64_t)(value.bytes[i] - '0');
	}
	return value.n > 0;
}

static void take_length(struct srv_wire *wire, struct text value, struct srv_wire_out *out)
{
	if (wire->n_length++ > 0)
		fail(wire, API_E_MALFORMED_HTTP, "There is more than one Content-Length.", out);
	else if (!read_length(value, &wire->length))
		fail(wire, API_E_MALFORMED_HTTP, "The Content-Length is not a decimal number.", out);
	else if (wire->length > INT64_MAX)
		fail(wire, API_E_BODY_TOO_LONG, "The Content-Length is beyond any limit.", out);
}

static void take_value(struct srv_wire *wire, struct text name, struct text value, struct srv_wire_out *out)
{
	if (equals(name, "Content-Length"))
		take_length(wire, value, out);
	else if (equals(name, "Transfer-Encoding") && wire->n_coding++ > 0)
		fail(wire, API_E_MALFORMED_HTTP, "There is more than one Transfer-Encoding.", out);
	else if (equals(name, "Transfer-Encoding") && !equals(value, "chunked"))
		fail(wire, API_E_MALFORMED_HTTP, "Transfer-Encoding can only be chunked.", out);
	else if (equals(name, "Host") && wire->n_host++ > 0)
		fail(wire, API_E_MALFORMED_HTTP, "There is more than one Host.", out);
	else if (equals(name, "Host") && !is_host(value))
		fail(wire, API_E_MALFORMED_HTTP, "The Host contains an invalid character.", out);
	else if (equals(name, "Expect") && !equals(value, "100-continue"))
		fail(wire, API_E_EXPECTATION_FAILED, "The only expectation that can be met is 100-continue.", out);
}

static const char *name_fault(struct text line, const char *colon)
{
	if (line.n > 0 && is_space(line.bytes[0]))
		return "A header line begins with a space: folded lines are obsolete.";
	if (!colon)
		return "A header line has no colon.";
	if (!is_token(line.bytes, (size_t)(colon - line.bytes)))
		return "The name of a header contains an invalid character.";
	return NULL;
}

/* @return false after a fault */
static bool take_field(struct srv_wire *wire, struct text line, struct srv_wire_out *out)
{
	const char *colon = memchr(line.bytes, ':', line.n);
	const char *detail = name_fault(line, colon);
	if (detail) {
		fail(wire, API_E_MALFORMED_HTTP, detail, out);
	} else if (wire->n_fields++ == SRV_WIRE_FIELDS) {
		fail(wire, API_E_HEAD_TOO_LONG, "There are more than 280 header lines and query parameters.", out);
	} else if (wire->state == SRV_WIRE_FIELD) {
		const size_t n = (size_t)(colon - line.bytes);
		take_value(wire, (struct text){line.bytes, n}, trimmed((struct text){line.bytes + n + 1, line.n - n - 1}), out);
	}
	return wire->state != SRV_WIRE_OVER;
}

static bool is_cookie(struct text line)
{
	const char *colon = memchr(line.bytes, ':', line.n);
	return equals((struct text){line.bytes, (size_t)(colon - line.bytes)}, "Cookie");
}

/* Drops cookies, because nothing in this program reads them. */
static void take_cookie(struct srv_wire *wire, struct text line, struct srv_wire_out *out)
{
	out->n -= line.n;
	if (line.n > SRV_WIRE_COOKIE)
		fail(wire, API_E_HEAD_TOO_LONG, "A line of cookies is longer than 8 KiB.", out);
}

static const char *head_fault(const struct srv_wire *wire)
{
	if (wire->n_coding > 0 && wire->n_length > 0)
		return "There are both Content-Length and Transfer-Encoding.";
	if (wire->n_coding > 0 && wire->old)
		return "HTTP/1.0 has no Transfer-Encoding.";
	if (wire->n_host == 0 && !wire->old)
		return "There is no Host.";
	return NULL;
}

static void end_head(struct srv_wire *wire, struct srv_wire_out *out)
{
	const char *detail = head_fault(wire);
	if (detail) {
		fail(wire, API_E_MALFORMED_HTTP, detail, out);
		return;
	}
	put(out, "\r\n", 2);
	wire->n_messages++;
	let_through(wire, out);
	wire->left = wire->length;
	wire->state = wire->n_coding ? SRV_WIRE_CHUNK_SIZE : wire->left ? SRV_WIRE_BODY : SRV_WIRE_REQUEST_LINE;
}

/* ---- chunks ---- */

static int hex_digit(char c)
{
	const char letter = (char)(c | 0x20);
	return is_digit(c) ? c - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

static void take_chunk_size(struct srv_wire *wire, struct text line, struct srv_wire_out *out)
{
	uint64_t size = 0;
	size_t n = 0;
	for (; n < line.n && hex_digit(line.bytes[n]) >= 0; n++)
		size = size >> 56 ? UINT64_MAX : size << 4 | (uint64_t)hex_digit(line.bytes[n]);
	if (n == 0 || (n < line.n && line.bytes[n] != ';')) {
		fail(wire, API_E_MALFORMED_HTTP, "The size of a chunk is not a hexadecimal number.", out);
	} else if (size > INT64_MAX) {
		fail(wire, API_E_BODY_TOO_LONG, "The size of a chunk is beyond any limit.", out);
	} else if (size == 0) {
		out->n = out->ready; /* drops the "0"; another is written after the trailers, which are dropped as well */
		wire->n_fields = 0;
		wire->state = SRV_WIRE_TRAILER;
	} else {
		out->n = out->ready + n;
		put(out, "\r\n", 2);
		let_through(wire, out);
		wire->left = size;
		wire->state = SRV_WIRE_CHUNK_DATA;
	}
}

static void take_chunk_end(struct srv_wire *wire, struct text line, struct srv_wire_out *out)
{
	if (line.n > 0) {
		fail(wire, API_E_MALFORMED_HTTP, "A chunk is longer than its size.", out);
		return;
	}
	put(out, "\r\n", 2);
	let_through(wire, out);
	wire->state = SRV_WIRE_CHUNK_SIZE;
}

static void end_trailers(struct srv_wire *wire, struct srv_wire_out *out)
{
	out->n = out->ready;
	put(out, "0\r\n\r\n", 5);
	let_through(wire, out);
	wire->state = SRV_WIRE_REQUEST_LINE;
}

/* ---- lines ---- */

static void end_line(struct srv_wire_out *out)
{
	while (is_space(out->bytes[out->n - 1]))
		out->n--;
	put(out, "\r\n", 2);
}

static void keep_field(struct srv_wire *wire, struct text line, struct srv_wire_out *out)
{
	if (is_cookie(line))
		take_cookie(wire, line, out);
	else
		end_line(out);
}

/* Parses the line at the end of `out`, without its CR LF. */
static void take_line(struct srv_wire *wire, struct srv_wire_out *out)
{
	const struct text line = {out->bytes + out->n - wire->line, wire->line};
	const enum srv_wire_state state = wire->state;
	wire->line = 0;
	if (state == SRV_WIRE_CHUNK_SIZE) {
		take_chunk_size(wire, line, out);
	} else if (state == SRV_WIRE_CHUNK_END) {
		take_chunk_end(wire, line, out);
	} else if (line.n == 0 && state == SRV_WIRE_FIELD) {
		end_head(wire, out);
	} else if (line.n == 0 && state == SRV_WIRE_TRAILER) {
		end_trailers(wire, out);
	} else if (state == SRV_WIRE_TRAILER) {
		if (take_field(wire, line, out))
			out->n = out->ready;
	} else if (state == SRV_WIRE_FIELD) {
		if (take_field(wire, line, out))
			keep_field(wire, line, out);
	} else if (line.n > 0) { /* skip empty lines before a request */
		take_request_line(wire, line, out);
		if (wire->state != SRV_WIRE_OVER)
			end_line(out);
	}
}

static const char *byte_fault(const struct srv_wire *wire, char c)
{
	const unsigned char byte = (unsigned char)c;
	if (wire->after_cr)
		return "A carriage return is not followed by a line feed.";
	if (byte == '\n')
		return "A line ends without a carriage return.";
	if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
		return "There is a control character.";
	if (wire->state == SRV_WIRE_REQUEST_LINE && (byte == '\t' || byte >= 0x7f))
		return "The request line contains an invalid character.";
	if (wire->state == SRV_WIRE_CHUNK_END)
		return "A chunk is longer than its size.";
	return NULL;
}

static bool too_long(struct srv_wire *wire, struct srv_wire_out *out)
{
	if (wire->state == SRV_WIRE_REQUEST_LINE && wire->line > SRV_WIRE_TARGET)
		fail(wire, API_E_TARGET_TOO_LONG, "The request line is longer than 8 KiB.", out);
	else if ((in_head(wire) || wire->state == SRV_WIRE_TRAILER) && wire->unit > SRV_WIRE_HEAD)
		fail(wire, API_E_HEAD_TOO_LONG, "The head of the request is longer than 20 KiB.", out);
	else if (wire->state == SRV_WIRE_CHUNK_SIZE && wire->unit > SRV_WIRE_CHUNK_LINE)
		fail(wire, API_E_MALFORMED_HTTP, "The line with the size of a chunk is too long.", out);
	return wire->state == SRV_WIRE_OVER;
}

static void take_byte(struct srv_wire *wire, char c, struct srv_wire_out *out)
{
	wire->unit++;
	if (too_long(wire, out))
		return;
	if (wire->after_cr && c == '\n') {
		wire->after_cr = false;
		take_line(wire, out);
		return;
	}
	if (c == TLS_HANDSHAKE && wire->unit == 1 && wire->n_messages == 0) {
		fail(wire, API_E_HTTPS_TO_HTTP, "This is TLS, but the port serves plain http: use http:// instead of https://.",
		     out);
		return;
	}
	const char *detail = c == '\r' && !wire->after_cr ? NULL : byte_fault(wire, c);
	if (detail) {
		fail(wire, API_E_MALFORMED_HTTP, detail, out);
	} else if (c == '\r') {
		wire->after_cr = true;
	} else {
		out->bytes[out->n++] = c;
		wire->line++;
	}
}

/* @return the number of bytes that belong to the body or chunk under way */
static size_t take_data(struct srv_wire *wire, const char *in, size_t n, struct srv_wire_out *out)
{
	const size_t taken = n < wire->left ? n : (size_t)wire->left;
	put(out, in, taken);
	let_through(wire, out);
	wire->left -= taken;
	if (wire->left == 0)
		wire->state = wire->state == SRV_WIRE_BODY ? SRV_WIRE_REQUEST_LINE : SRV_WIRE_CHUNK_END;
	return taken;
}

void srv_wire_filter(struct srv_wire *wire, const char *in, size_t n, struct srv_wire_out *out)
{
	for (size_t i = 0; i < n && wire->state != SRV_WIRE_OVER;) {
		if (wire->left > 0)
			i += take_data(wire, in + i, n - i, out);
		else
			take_byte(wire, in[i++], out);
	}
}

uint64_t srv_wire_clear(const struct srv_wire *wire, const struct srv_wire_out *out)
{
	return out->n == 0 ? wire->left : 0;
}

void srv_wire_pass(struct srv_wire *wire, size_t n)
{
	wire->left -= n;
}

size_t srv_wire_under_way(const struct srv_wire *wire)
{
	if (wire->state == SRV_WIRE_OVER || (wire->state == SRV_WIRE_REQUEST_LINE && wire->line == 0))
		return 0;
	return in_head(wire) ? wire->n_messages + 1 : wire->n_messages;
}

void srv_wire_fail(struct srv_wire *wire, enum api_code code, const char *detail, struct srv_wire_out *out)
{
	if (in_head(wire) || in_chunks(wire))
		fail(wire, code, detail, out);
}

enum api_code srv_wire_fault(const struct srv_wire *wire, size_t message, const char **detail)
{
	*detail = NULL;
	if (wire->code == API_NO_CODE || message != wire->n_messages)
		return API_NO_CODE;
	*detail = wire->detail;
	return wire->code;
}

bool srv_wire_replaced(const struct srv_wire *wire, size_t message)
{
	return wire->code != API_NO_CODE && wire->replaced && message == wire->n_messages;
}
