#include "server/base/head.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The arguments are names and values in turn, ended by NULL. */
static struct srv_head head_of(const char *first, ...)
{
	struct srv_head head = {.method = "POST", .target = "/"};
	va_list rest;
	va_start(rest, first);
	for (const char *name = first; name; name = va_arg(rest, const char *))
		srv_head_add(&head, name, va_arg(rest, const char *));
	va_end(rest);
	return head;
}

static void fault_is(int status, struct srv_head head)
{
	const char *detail;
	const enum api_code code = srv_head_fault(&head, &detail);
	assert_int_equal(code ? api_code_status(code) : 0, status);
	assert_true((status != 0) == (detail != NULL));
}

static void test_types(void **state)
{
	(void)state;
	fault_is(415, head_of("Content-Encoding", "gzip", NULL));
	fault_is(415, head_of("Content-Encoding", "identity, gzip", NULL));
	fault_is(0, head_of("Content-Encoding", "Identity", NULL));
	fault_is(415, head_of("Content-Encoding", "identity", "Content-Encoding", "gzip", NULL));
	fault_is(415, head_of("Content-Encoding", "gzip", "Content-Encoding", "identity", NULL));
	fault_is(415, head_of("Content-Encoding", "identity", "Content-Encoding", "identity", NULL));
	fault_is(400, head_of("Content-Type", "a/b", "Content-Type", "a/b", NULL));
}

/* Headers that identify the client must not be ambiguous. */
static void test_repeated_headers(void **state)
{
	(void)state;
	static const char *const names[] = {
		"Authorization",
		"Host",
		"Origin",
		"Sec-Fetch-Site",
		"Sec-Fetch-Mode",
		"Sec-Fetch-Dest",
		"If-Collision-Set-Version",
	};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct srv_head head = head_of(names[i], "a", names[i], "a", NULL);
		const char *detail;
		assert_int_equal(srv_head_fault(&head, &detail), API_E_MALFORMED_HTTP);
		assert_non_null(strstr(detail, names[i]));
		fault_is(0, head_of(names[i], "a", NULL));
	}
}

static void authority_is(const char *expected, const char *target, struct srv_head head)
{
	size_t n;
	const char *authority = srv_head_authority(&head, target, &n);
	assert_int_equal(authority != NULL, expected != NULL);
	assert_int_equal(n, expected ? strlen(expected) : 0);
	assert_memory_equal(authority ? authority : "", expected ? expected : "", n);
}

static void test_authorities(void **state)
{
	(void)state;
	authority_is(NULL, "/", head_of(NULL));
	authority_is("", "/", head_of("Host", "", NULL));
	authority_is("a:1", "/http://b/", head_of("host", "a:1", NULL));
	authority_is("b:2", "http://b:2/c?d", head_of("Host", "a", NULL));
	authority_is("b", "HTTPS://b?c/d", head_of("Host", "a", NULL));
	authority_is("b", "http://b", head_of(NULL));
	authority_is("", "http:///c", head_of("Host", "a", NULL));
	authority_is("a", "*", head_of("Host", "a", NULL));
}

static void test_values(void **state)
{
	(void)state;
	struct srv_head head = head_of("ACCEPT", "a/b", "Content-Length", "12", "Expect", "100-Continue", NULL);
	assert_string_equal(head.accept, "a/b");
	assert_int_equal(srv_head_announced(&head), 12);
	assert_true(srv_head_expects_continue(&head));
	assert_false(srv_head_chunked(&head));
	head = head_of("Content-Length", "99999999999999999999", NULL);
	assert_true(srv_head_announced(&head) == LLONG_MAX);
	head = head_of("Content-Length", "-5", "Expect", "200-ok", NULL);
	assert_true(srv_head_announced(&head) == LLONG_MAX);
	assert_false(srv_head_expects_continue(&head));
	head = head_of("Transfer-Encoding", "chunked", NULL);
	assert_int_equal(srv_head_announced(&head), -1);
	assert_true(srv_head_chunked(&head));
	assert_false(srv_head_expects_continue(&head));
}

/* Trailing spaces, which the library keeps, must not affect the comparison of versions. */
static void test_versions(void **state)
{
	(void)state;
	static const struct {
		const char *value, *version;
	} cases[] = {{"5f0c", "5f0c"}, {"5f0c \t ", "5f0c"}, {"5f 0c", "5f 0c"}, {"", ""}, {" ", ""}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct srv_head head = {.method = "PUT", .target = "/"};
		srv_head_add(&head, "if-collision-set-version", cases[i].value);
		assert_string_equal(head.if_version, cases[i].version);
	}
	char longer[sizeof((struct srv_head *)0)->version + 1];
	memset(longer, 'f', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	for (int less = 0; less < 2; less++) {
		struct srv_head head = {.method = "PUT", .target = "/"};
		srv_head_add(&head, "If-Collision-Set-Version", longer + less);
		assert_string_equal(head.if_version, longer + less);
		assert_int_equal(head.if_version == head.version, less);
	}
	assert_null(head_of("If-None-Match", "*", NULL).if_version);
}

/* Joins as many lines as fit; a line that is too long is ignored, wherever it is. */
static void test_lists(void **state)
{
	(void)state;
	struct srv_head head = {.method = "GET", .target = "/"};
	char most[sizeof head.accepts - sizeof "a/b, c/d, " + 1], longer[sizeof most + 1];
	memset(most, 'x', sizeof most - 1);
	memset(longer, 'x', sizeof longer - 1);
	most[sizeof most - 1] = longer[sizeof longer - 1] = '\0';
	srv_head_add(&head, "Accept", "a/b");
	srv_head_add(&head, "Accept", "c/d");
	assert_string_equal(head.accept, "a/b, c/d");
	srv_head_add(&head, "Accept", longer);
	assert_string_equal(head.accept, "a/b, c/d");
	srv_head_add(&head, "Accept", most);
	assert_int_equal(strlen(head.accept), sizeof head.accepts - 1);
	assert_memory_equal(head.accept, "a/b, c/d, x", 11);
}

static void test_targets(void **state)
{
	(void)state;
	assert_string_equal(srv_origin_form("/a?b=http://c"), "/a?b=http://c");
	assert_string_equal(srv_origin_form("http://x:80/a?b"), "/a?b");
	assert_string_equal(srv_origin_form("HTTP://x"), "/");
	assert_string_equal(srv_origin_form("https://x:443/a?b"), "/a?b");
	assert_string_equal(srv_origin_form("http://x?b"), "/");
	assert_string_equal(srv_origin_form("*"), "*");
	assert_string_equal(srv_origin_form(""), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),    cmocka_unit_test(test_lists),   cmocka_unit_test(test_types),
		cmocka_unit_test(test_values),      cmocka_unit_test(test_targets), cmocka_unit_test(test_repeated_headers),
		cmocka_unit_test(test_authorities),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
