/* Every case is fed whole, byte by byte, and split at every position, with the same outcome. */
#include "server/http/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOST "Host: a\r\n"
#define GET "GET / HTTP/1.1\r\n" HOST "\r\n"
#define POST "POST /x HTTP/1.1\r\n" HOST
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
#define REPLACED "GET / HTTP/1.1\r\nHost: -\r\n\r\n"
#define END "0\r\n\r\n"

struct outcome {
	char bytes[1 << 17];
	size_t n;
	struct srv_wire wire;
};

struct text {
	const char *bytes;
	size_t n;
};
#define TEXT(literal) ((struct text){literal, sizeof literal - 1})

/* Takes bytes that are ready for the library at once, as the server does. */
static void feed(struct outcome *o, struct srv_wire_out *out, const char *in, size_t n)
{
	srv_wire_filter(&o->wire, in, n, out);
	memcpy(o->bytes + o->n, out->bytes, out->ready);
	o->n += out->ready;
	memmove(out->bytes, out->bytes + out->ready, out->n - out->ready);
	out->n -= out->ready;
	out->ready = 0;
}

/* Feeds two pieces, or `step` bytes at a time. */
static void run(struct outcome *o, struct text in, size_t cut, size_t step)
{
	static char held[1 << 17];
	struct srv_wire_out out = {.bytes = held};
	o->n = 0;
	srv_wire_open(&o->wire);
	feed(o, &out, in.bytes, cut);
	for (size_t i = cut; i < in.n; i += step)
		feed(o, &out, in.bytes + i, step < in.n - i ? step : in.n - i);
}

static int status_of(const struct outcome *o)
{
	return o->wire.code ? api_code_status(o->wire.code) : 0;
}

static void check(const struct outcome *o, struct text in, struct text expected, int status, size_t message)
{
	const char *detail;
	if (o->n != expected.n || memcmp(o->bytes, expected.bytes, o->n) != 0)
		fail_msg("[%.*s] gave [%.*s]", (int)in.n, in.bytes, (int)o->n, o->bytes);
	const enum api_code code = srv_wire_fault(&o->wire, message, &detail);
	if (code != o->wire.code || status_of(o) != status || (status != 0) != (detail != NULL))
		fail_msg("[%.*s] has code %d", (int)in.n, in.bytes, o->wire.code);
	assert_int_equal(srv_wire_fault(&o->wire, message + 1, &detail), API_NO_CODE);
	assert_int_equal(o->wire.n_messages, message);
}

static void passes_as(struct text in, struct text expected, int status, size_t message)
{
	static struct outcome o;
	for (size_t cut = 0; cut <= in.n; cut++) {
		run(&o, in, cut, in.n + 1);
		check(&o, in, expected, status, message);
	}
	run(&o, in, 0, 1);
	check(&o, in, expected, status, message);
}

#define PASSES(in, n) passes_as(TEXT(in), TEXT(in), 0, n)
#define BECOMES(in, out, n) passes_as(TEXT(in), TEXT(out), 0, n)
#define REFUSED(in, status) passes_as(TEXT(in), TEXT(REPLACED), status, 1)

static void test_passes(void **state)
{
	(void)state;
	PASSES(GET, 1);
	PASSES("GET / HTTP/1.0\r\n\r\n", 1);
	PASSES("GET /a?b=%20 HTTP/1.1\r\nHost:\r\n\r\n", 1);
	PASSES("OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 1);
	PASSES("GET http://a:80/x HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 1);
	PASSES("GET HTTPS://a/x HTTP/1.1\r\n" HOST "\r\n", 1);
	PASSES(POST "Content-Length: 3\r\n\r\nabc", 1);
	PASSES(POST "Content-Length: 0\r\n\r\n", 1);
	PASSES(POST "X-A: caf\xc3\xa9 \"x\"\tb\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n\r\n", 1);
	PASSES(CHUNKED "3\r\nabc\r\n1A\r\nabcdefghijklmnopqrstuvwxyz\r\n" END, 1);
	PASSES(CHUNKED "000003\r\nabc\r\n" END, 1);
}

static void test_several(void **state)
{
	(void)state;
	PASSES(GET GET GET, 3);
	PASSES(POST "Content-Length: 3\r\n\r\n"
	            "GET" GET,
	       2);
	PASSES(CHUNKED "3\r\nabc\r\n" END GET CHUNKED END, 3);
}

static void test_normalised(void **state)
{
	(void)state;
	BECOMES("\r\n\r\n" GET "\r\n" GET, GET GET, 2);
	BECOMES(POST "Content-Length: 3 \t\r\n\r\nabc", POST "Content-Length: 3\r\n\r\nabc", 1);
	BECOMES(CHUNKED "3;a=\"b\";c\r\nabc\r\n0;x\r\n\r\n", CHUNKED "3\r\nabc\r\n" END, 1);
	BECOMES(CHUNKED "3\r\nabc\r\n00\r\nX-T: 1\r\nHost: b\r\nContent-Length: 7\r\n\r\n" GET,
	        CHUNKED "3\r\nabc\r\n" END GET, 2);
}

static void test_incomplete_is_held_back(void **state)
{
	(void)state;
	passes_as(TEXT("GET / HTTP/1.1\r\nHost: a\r\n\r"), TEXT(""), 0, 0);
	passes_as(TEXT("G"), TEXT(""), 0, 0);
	passes_as(TEXT(CHUNKED "3"), TEXT(CHUNKED), 0, 1);
	passes_as(TEXT(CHUNKED "3\r\nabc\r"), TEXT(CHUNKED "3\r\nabc"), 0, 1);
	passes_as(TEXT(CHUNKED "0\r\nX-T: 1\r\n"), TEXT(CHUNKED), 0, 1);
}

static void test_request_line(void **state)
{
	(void)state;
	REFUSED("G@T / HTTP/1.1\r\n", 400);
	REFUSED(" GET / HTTP/1.1\r\n", 400);
	REFUSED("GET  / HTTP/1.1\r\n", 400);
	REFUSED("GET /a b HTTP/1.1\r\n", 400);
	REFUSED("GET / HTTP/1.1 \r\n", 400);
	REFUSED("GET / \r\n", 400);
	REFUSED("GET /\r\n", 400);
	REFUSED("GET / http/1.1\r\n", 400);
	REFUSED("GET / HTTP/1.10\r\n", 400);
	REFUSED("GET healthz HTTP/1.1\r\n", 400);
	REFUSED("GET * HTTP/1.1\r\n", 400);
	REFUSED("GET  HTTP/1.1\r\n", 400);
	REFUSED("GET ftp://a/b HTTP/1.1\r\n", 400);
	REFUSED("GET https:/a/b HTTP/1.1\r\n", 400);
	REFUSED("GET http:// HTTP/1.1\r\n", 400);
	REFUSED("GET https:// HTTP/1.1\r\n", 400);
	REFUSED("GET / HTTP/x.1\r\n", 400);
	REFUSED("GET / HTTP/1x1\r\n", 400);
	REFUSED("GET / HTTP/1.x\r\n", 400);
	REFUSED("GET / HTTQ/1.1\r\n", 400);
	REFUSED("GET\t", 400);
	REFUSED("GET /a\0", 400);
	REFUSED("GET /\x16", 400);
	REFUSED("GET /\x80", 400);
	REFUSED("\x16\x03\x01", 400);
	REFUSED("PRI * HTTP/2.0\r\n", 505);
	REFUSED("GET / HTTP/3.0\r\n", 505);
}

static void test_lines(void **state)
{
	(void)state;
	REFUSED("GET / HTTP/1.1\n", 400);
	REFUSED("\n", 400);
	REFUSED("GET / HTTP/1.1\rH", 400);
	REFUSED("GET / HTTP/1.1\r\nHost: a\n", 400);
	REFUSED("GET / HTTP/1.1\r\n" HOST "X: a\rb", 400);
	REFUSED("GET / HTTP/1.1\r\n" HOST "X: a\x7f", 400);
	REFUSED("GET / HTTP/1.1\r\n" HOST "X: a\r\r", 400);
	REFUSED("GET / HTTP/1.1\r\n" HOST "\n", 400);
	REFUSED("GET / HTTP/1.1\r\n" HOST "X: a\0", 400);
	REFUSED("GET / HTTP/1.1\r\n" HOST "X: \x01", 400);
	REFUSED("GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n", 400);
	REFUSED("GET / HTTP/1.1\r\n Host: a\r\n", 400);
	REFUSED("GET / HTTP/1.1\r\n" HOST "X : a\r\n", 400);
	REFUSED("GET / HTTP/1.1\r\n" HOST "X A: a\r\n", 400);
	REFUSED("GET / HTTP/1.1\r\n" HOST "XA\r\n", 400);
	REFUSED("GET / HTTP/1.1\r\n" HOST ": a\r\n", 400);
}

static void test_framing(void **state)
{
	(void)state;
	REFUSED(POST "Content-Length: 3\r\nContent-Length: 3\r\n", 400);
	REFUSED(POST "Content-Length: 3\r\ncontent-length: 4\r\n", 400);
	REFUSED(POST "Content-Length: 3, 3\r\n", 400);
	REFUSED(POST "Content-Length: +3\r\n", 400);
	REFUSED(POST "Content-Length: -3\r\n", 400);
	REFUSED(POST "Content-Length: 0x3\r\n", 400);
	REFUSED(POST "Content-Length: 3 3\r\n", 400);
	REFUSED(POST "Content-Length:\r\n", 400);
	REFUSED(POST "Content-Length: 99999999999999999999\r\n", 413);
	REFUSED(POST "Content-Length: 18446744073709551619\r\n", 413);
	REFUSED(POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400);
	REFUSED(POST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 400);
	REFUSED(POST "Transfer-Encoding: gzip, chunked\r\n", 400);
	REFUSED(POST "Transfer-Encoding: identity\r\n", 400);
	REFUSED(POST "Transfer-Encoding: xchunked\r\n", 400);
	REFUSED(POST "Transfer-Encoding: \x0b"
	             "chunked\r\n",
	        400);
	REFUSED(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400);
	REFUSED("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400);
	REFUSED(POST "Expect: 200-ok\r\n", 417);
	REFUSED("GET / HTTP/1.1\r\n\r\n", 400);
	REFUSED("GET / HTTP/1.1\r\n" HOST HOST, 400);
	REFUSED("GET / HTTP/1.1\r\nHost: a b\r\n", 400);
	REFUSED("GET / HTTP/1.1\r\nHost: a/b@c\r\n", 400);
}

#define CHUNK_REFUSED(in, end, status) passes_as(TEXT(CHUNKED in), TEXT(CHUNKED end), status, 1)

static void test_chunks(void **state)
{
	(void)state;
	CHUNK_REFUSED("0x3\r\n", END, 400);
	CHUNK_REFUSED("-3\r\n", END, 400);
	CHUNK_REFUSED("+3\r\n", END, 400);
	CHUNK_REFUSED(" 3\r\n", END, 400);
	CHUNK_REFUSED("3 \r\n", END, 400);
	CHUNK_REFUSED("\r\n", END, 400);
	CHUNK_REFUSED("3\n", END, 400);
	CHUNK_REFUSED("3;a\n", END, 400);
	CHUNK_REFUSED("3;a\rb", END, 400);
	CHUNK_REFUSED("10000000000000003\r\n", END, 413);
	CHUNK_REFUSED("ffffffffffffffff\r\n", END, 413);
	CHUNK_REFUSED("3\r\nabcX", "3\r\nabc\r\n" END, 400);
	CHUNK_REFUSED("3\r\nabc\n", "3\r\nabc\r\n" END, 400);
	CHUNK_REFUSED("3\r\nabc\rX", "3\r\nabc\r\n" END, 400);
	CHUNK_REFUSED("3\r\nabc\r\n0\r\nX T: 1\r\n", "3\r\nabc\r\n" END, 400);
	CHUNK_REFUSED("3\r\nabc\r\n0\r\nX: 1\n", "3\r\nabc\r\n" END, 400);
}

static void test_nothing_after_a_fault(void **state)
{
	(void)state;
	passes_as(TEXT(GET "GET / HTTP/1.1\n" GET GET), TEXT(GET REPLACED), 400, 2);
	passes_as(TEXT(CHUNKED "3\r\nabcX\r\n" END GET), TEXT(CHUNKED "3\r\nabc\r\n" END), 400, 1);
}

static void filled_refused(const char *front, size_t n, int status)
{
	static struct outcome o;
	static char in[1 << 16];
	memset(in, 'a', sizeof in);
	memcpy(in, front, strlen(front));
	run(&o, (struct text){in, n}, 0, 1000);
	assert_int_equal(status_of(&o), 0);
	run(&o, (struct text){in, sizeof in}, 0, 1000);
	assert_int_equal(status_of(&o), status);
}

static void test_limits(void **state)
{
	(void)state;
	filled_refused("GET /", SRV_WIRE_TARGET, 414);
	filled_refused("GET / HTTP/1.1\r\nX: ", SRV_WIRE_HEAD, 431);
	filled_refused(CHUNKED "3;", strlen(CHUNKED) + SRV_WIRE_CHUNK_LINE, 400);
	filled_refused(CHUNKED "0\r\nX: ", strlen(CHUNKED) + SRV_WIRE_HEAD, 431);
	char in[8192] = "GET / HTTP/1.1\r\n";
	static struct outcome o;
	for (int i = 0; i < SRV_WIRE_FIELDS; i++)
		strcat(in, "X: a\r\n");
	run(&o, (struct text){in, strlen(in)}, 0, 1000);
	assert_int_equal(status_of(&o), 0);
	strcat(in, "X: a\r\n");
	run(&o, (struct text){in, strlen(in)}, 0, 1000);
	assert_int_equal(status_of(&o), 431);
}

/* Writes GET /?a&a... with the given numbers of arguments and header lines. */
static void with_entries(char *in, int arguments, int fields)
{
	strcpy(in, "GET /?a");
	for (int i = 1; i < arguments; i++)
		strcat(in, "&a");
	strcat(in, " HTTP/1.1\r\n");
	for (int i = 0; i < fields; i++)
		strcat(in, "X: a\r\n");
}

static int status_with_entries(int arguments, int fields)
{
	static char in[1 << 14];
	static struct outcome o;
	with_entries(in, arguments, fields);
	run(&o, (struct text){in, strlen(in)}, 0, 1000);
	return status_of(&o);
}

static void test_arguments_are_limited(void **state)
{
	(void)state;
	assert_int_equal(status_with_entries(SRV_WIRE_ARGUMENTS, 1), 0);
	assert_int_equal(status_with_entries(SRV_WIRE_ARGUMENTS + 1, 1), 414);
	assert_int_equal(status_with_entries(600, 1), 414);
	assert_int_equal(status_with_entries(SRV_WIRE_ARGUMENTS, SRV_WIRE_FIELDS - SRV_WIRE_ARGUMENTS), 0);
	assert_int_equal(status_with_entries(SRV_WIRE_ARGUMENTS, SRV_WIRE_FIELDS - SRV_WIRE_ARGUMENTS + 1), 431);
	REFUSED("GET /a?a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a"
	        "&&&&&&&&&&&&&&&&& HTTP/1.1\r\n" HOST "\r\n",
	        414);
}

static void test_cookies_are_left_out(void **state)
{
	(void)state;
	BECOMES("GET / HTTP/1.1\r\n" HOST "Cookie: a=b; c=d\r\n\r\n", GET, 1);
	BECOMES("GET / HTTP/1.1\r\ncookie: \r\n" HOST "COOKIE:a \r\n\r\n" GET, GET GET, 2);
	PASSES("GET / HTTP/1.1\r\n" HOST "Cookies: a\r\n\r\n", 1);
	filled_refused("GET / HTTP/1.1\r\nCookie: ", SRV_WIRE_HEAD, 431);
}

static void test_long_cookies_are_refused(void **state)
{
	(void)state;
	static char in[SRV_WIRE_HEAD];
	static struct outcome o;
	const char *front = "GET / HTTP/1.1\r\n";
	for (int longer = 0; longer <= 1; longer++) {
		char *end = stpcpy(in, front);
		memset(end, 'a', SRV_WIRE_COOKIE + 1);
		memcpy(end, "Cookie: ", 8);
		strcpy(end + SRV_WIRE_COOKIE + longer, "\r\n" HOST "\r\n");
		run(&o, (struct text){in, strlen(in)}, 0, 1000);
		assert_int_equal(status_of(&o), longer ? 431 : 0);
	}
}

/* A replaced head is marked, because its contents are not the client's. */
static void test_replaced_heads_are_recorded(void **state)
{
	(void)state;
	static struct outcome o;
	run(&o, TEXT(GET), 0, 1000);
	assert_false(srv_wire_replaced(&o.wire, 1));
	run(&o, TEXT(GET "GET x HTTP/1.1\r\n"), 0, 1000);
	assert_false(srv_wire_replaced(&o.wire, 1));
	assert_true(srv_wire_replaced(&o.wire, 2));
	run(&o, TEXT(CHUNKED "x\r\n"), 0, 1000);
	assert_int_equal(status_of(&o), 400);
	assert_false(srv_wire_replaced(&o.wire, 1));
}

static void test_empty_lines_have_an_end(void **state)
{
	(void)state;
	static struct outcome o;
	static char in[2 * SRV_WIRE_HEAD];
	for (size_t i = 0; i < sizeof in; i++)
		in[i] = i % 2 ? '\n' : '\r';
	run(&o, (struct text){in, sizeof in}, 0, 1000);
	assert_int_equal(status_of(&o), 431);
}

static void test_passing_beside(void **state)
{
	(void)state;
	char held[256];
	struct srv_wire wire;
	struct srv_wire_out out = {.bytes = held};
	const struct text head = TEXT(POST "Content-Length: 1000\r\n\r\nab");
	srv_wire_open(&wire);
	assert_int_equal(srv_wire_clear(&wire, &out), 0);
	srv_wire_filter(&wire, head.bytes, head.n, &out);
	assert_int_equal(srv_wire_clear(&wire, &out), 0); /* some bytes have not been taken yet */
	out.n = out.ready = 0;
	assert_int_equal(srv_wire_clear(&wire, &out), 998);
	srv_wire_pass(&wire, 997);
	assert_true(srv_wire_under_way(&wire));
	srv_wire_filter(&wire, "c", 1, &out);
	assert_false(srv_wire_under_way(&wire));
	assert_int_equal(out.ready, 1);
}

static void failed_is(const char *in, const char *added, int status)
{
	char held[256];
	const char *detail;
	struct srv_wire wire;
	struct srv_wire_out out = {.bytes = held};
	srv_wire_open(&wire);
	srv_wire_filter(&wire, in, strlen(in), &out);
	const size_t before = out.ready;
	srv_wire_fail(&wire, API_E_REQUEST_TIMEOUT, "too slow", &out);
	assert_int_equal(out.ready - before, strlen(added));
	assert_memory_equal(out.bytes + before, added, strlen(added));
	assert_int_equal(srv_wire_fault(&wire, 1, &detail), status ? API_E_REQUEST_TIMEOUT : API_NO_CODE);
}

static void test_failed_from_outside(void **state)
{
	(void)state;
	failed_is("", REPLACED, 408);
	failed_is("GET / HT", REPLACED, 408);
	failed_is("GET / HTTP/1.1\r\nHo", REPLACED, 408);
	failed_is(CHUNKED "3", END, 408);
	failed_is(CHUNKED "3\r\nabc", "\r\n" END, 408);
	failed_is(CHUNKED "0\r\nX", END, 408);
	failed_is(POST "Content-Length: 3\r\n\r\na", "", 0);
	failed_is(CHUNKED "3\r\na", "", 0);
}

static void test_whether_a_request_is_under_way(void **state)
{
	(void)state;
	char held[256];
	struct srv_wire wire;
	struct srv_wire_out out = {.bytes = held};
	srv_wire_open(&wire);
	assert_false(srv_wire_under_way(&wire));
	srv_wire_filter(&wire, "\r\n", 2, &out);
	assert_false(srv_wire_under_way(&wire));
	srv_wire_filter(&wire, "G", 1, &out);
	assert_true(srv_wire_under_way(&wire));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passes),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_normalised),
		cmocka_unit_test(test_incomplete_is_held_back),
		cmocka_unit_test(test_request_line),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_framing),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_nothing_after_a_fault),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_arguments_are_limited),
		cmocka_unit_test(test_cookies_are_left_out),
		cmocka_unit_test(test_long_cookies_are_refused),
		cmocka_unit_test(test_replaced_heads_are_recorded),
		cmocka_unit_test(test_empty_lines_have_an_end),
		cmocka_unit_test(test_passing_beside),
		cmocka_unit_test(test_failed_from_outside),
		cmocka_unit_test(test_whether_a_request_is_under_way),
	};
	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
