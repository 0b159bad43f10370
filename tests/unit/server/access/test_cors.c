#include "server/access/cors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_lists(void **state)
{
	(void)state;
	static const char *const lists[] = {
		"*",
		"https://a.example",
		"http://localhost:3000",
		"http://127.0.0.1:8000",
		"http://[::1]:8000",
		"https://[::1]",
		"https://a.example,http://b.example:81",
		" https://a.example ,  https://b.example,",
		"app+x.y-z://host",
		"http://a:443",
		"https://a:80",
		"https://a:65535",
		"https://under_score.example",
	};
	const char *culprit;
	int n;
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		if (!srv_cors_is_list(lists[i], &culprit, &n))
			fail_msg("%s", lists[i]);
}

static void test_faults(void **state)
{
	(void)state;
	static const struct {
		const char *list, *culprit;
	} cases[] = {
		{"", ""},
		{" , ", ""},
		{"null", "null"},
		{"a.example", "a.example"},
		{"https://", "https://"},
		{"https://a/", "https://a/"},
		{"https://a/path", "https://a/path"},
		{"HTTPS://a", "HTTPS://a"},
		{"https://A.example", "https://A.example"},
		{"https://a:", "https://a:"},
		{"https://a:443", "https://a:443"},
		{"http://a:80", "http://a:80"},
		{"https://a:080", "https://a:080"},
		{"https://a:123456", "https://a:123456"},
		{"https://a:8x", "https://a:8x"},
		{"https://[::1", "https://[::1"},
		{"https://u@a", "https://u@a"},
		{"*, https://a", "*"},
		{"https://a, *", "*"},
		{"https://a,https://*.b,https://c", "https://*.b"},
		{"://a", "://a"},
		{"https://a?x", "https://a?x"},
		{"https://a;https://b", "https://a;https://b"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *culprit = NULL;
		int n = -1;
		if (srv_cors_is_list(cases[i].list, &culprit, &n))
			fail_msg("%s", cases[i].list);
		assert_int_equal(n, strlen(cases[i].culprit));
		assert_memory_equal(culprit, cases[i].culprit, (size_t)n);
	}
}

static void test_matches(void **state)
{
	(void)state;
	const char *list = "https://a.example, http://b.example:81";
	assert_true(srv_cors_allows(list, "https://a.example"));
	assert_true(srv_cors_allows(list, "http://b.example:81"));
	assert_false(srv_cors_allows(list, NULL));
	assert_false(srv_cors_allows(list, ""));
	assert_false(srv_cors_allows(list, "null"));
	assert_false(srv_cors_allows(list, "https://a.example.evil"));
	assert_false(srv_cors_allows(list, "https://a.exampl"));
	assert_false(srv_cors_allows(list, "http://a.example"));
	assert_false(srv_cors_allows(list, "https://A.example"));
	assert_false(srv_cors_allows(list, "http://b.example"));
	assert_false(srv_cors_allows(list, "https://a.example, http://b.example:81"));
	assert_false(srv_cors_allows(list, "*"));
	assert_true(srv_cors_allows("*", "null"));
	assert_false(srv_cors_allows("*", NULL));
}

static bool is_own(const char *origin, const char *called, bool tls)
{
	struct srv_host host;
	assert_true(srv_host_read(called, strlen(called), &host));
	return srv_cors_is_own(origin, &host, tls);
}

static void test_own_origin(void **state)
{
	(void)state;
	assert_true(is_own("http://localhost:8080", "localhost:8080", false));
	assert_true(is_own("http://localhost:8080", "LOCALHOST:8080", false));
	assert_true(is_own("http://a.example", "a.example", false));
	assert_true(is_own("http://a.example", "a.example:80", false));
	assert_true(is_own("https://a.example", "a.example", true));
	assert_true(is_own("https://a.example", "a.example:443", true));
	assert_true(is_own("http://[::1]:8080", "[::1]:8080", false));
	assert_true(is_own("http://[::1]:8080", "[0:0::1]:8080", false));
	static const struct {
		const char *origin, *called;
	} foreign[] = {
		{"https://localhost:8080", "localhost:8080"},
		{"http://localhost", "localhost:8080"},
		{"http://localhost:3000", "localhost:8080"},
		{"http://127.0.0.1:8080", "localhost:8080"},
		{"http://[::1]:8080", "127.0.0.1:8080"},
		{"http://evil.example:8080", "localhost:8080"},
		{"null", "localhost"},
		{"null", "null"},
		{"", "localhost"},
		{"http://", "localhost"},
		{"localhost:8080", "localhost:8080"},
		{"http://localhost:8080/", "localhost:8080"},
		{"http://localhost:8080.evil", "localhost:8080"},
		{"http://localhost.evil:8080", "localhost:8080"},
		{"http://a@localhost:8080", "localhost:8080"},
		{"http://localhost:8080 ", "localhost:8080"},
		{"http://localhost:8080,http://b", "localhost:8080"},
		{"HTTP://localhost:8080", "localhost:8080"},
		{"http://a", "a:443"},
		{"ftp://a", "a"},
		{"file://", "a"},
	};
	for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
		if (is_own(foreign[i].origin, foreign[i].called, false))
			fail_msg("%s at %s", foreign[i].origin, foreign[i].called);
	assert_false(is_own("http://a", "a", true));
	assert_false(is_own("https://a", "a:80", true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_own_origin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
