#include "server/access/hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Copies the text into memory of exactly its length, so that a sanitizer reports reads past the end. */
static bool reads(const char *text, struct srv_host *host)
{
	static char *copy;
	const size_t n = strlen(text);
	free(copy);
	copy = malloc(n ? n : 1);
	memcpy(copy, text, n);
	return srv_host_read(copy, n, host);
}

static void test_hosts(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t bytes;
		int port;
	} cases[] = {
		{"localhost", 9, -1},      {"localhost:8080", 9, 8080}, {"A.example.:80", 10, 80},
		{"127.0.0.1:", 9, -1},     {"under_score-1", 13, -1},   {"[::1]", 5, -1},
		{"[::1]:65535", 5, 65535}, {"[2001:DB8::1]:0", 13, 0},  {"[::ffff:127.0.0.1]:00080", 18, 80},
	};
	static const char *const none[] = {
		"",        ":80",      "[::1",     "::1",
		"[]",      "[",        "]",        "[::1]x",
		"[::1]:x", "[1]",      "[::1%lo]", "[fe80::1%25eth0]",
		"a:65536", "a:123456", "a:000080", "a:-1",
		"a:+1",    "a: 1",     "a:1 ",     "a:8o",
		"a:80:80", "a b",      "a/b",      "a,b",
		"user@a",  "a@b:80",   "a%41",     "http://a",
		"*",       "*.a",      "\xc3\xa9", "[::ffff:127.0.0.1.1]",
		"a\\b",    "a#b",      "a?b",
	};
	struct srv_host host;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (!reads(cases[i].text, &host) || host.bytes != cases[i].bytes || host.port != cases[i].port)
			fail_msg("%s", cases[i].text);
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		if (reads(none[i], &host))
			fail_msg("%s", none[i]);
	assert_false(srv_host_read("a\0b", 3, &host));
}

static void test_loopback(void **state)
{
	(void)state;
	static const char *const loopback[] = {
		"localhost",   "LocalHost:1",        "localhost.",        "localhost.:8080",
		"127.0.0.1",   "127.0.0.1:8080",     "127.255.255.255",   "127.9.9.9:0",
		"[::1]",       "[::1]:8080",         "[0:0:0:0:0:0:0:1]", "[0000:0000::0001]",
		"[::0.0.0.1]", "[::ffff:127.0.0.1]", "[::FFFF:7f00:1]",   "[0:0:0:0:0:ffff:127.1.2.3]",
	};
	static const char *const other[] = {
		"localhost..",
		".localhost",
		"localhost.evil.example",
		"127.0.0.1.evil.example",
		"evil.example",
		"a.localhost",
		"localhos",
		"localhosts",
		"localhost-",
		"127.0.0.1.",
		"127.0.0.1.1",
		"127.0.0",
		"127.1",
		"127",
		"0x7f.1",
		"0x7f000001",
		"2130706433",
		"0177.0.0.1",
		"127.0.0.01",
		"127.00.0.1",
		"127.0.0.256",
		"0.0.0.0",
		"0",
		"128.0.0.1",
		"126.255.255.255",
		"10.0.0.1",
		"1.0.0.127",
		"[::]",
		"[::2]",
		"[1::1]",
		"[::ffff:10.0.0.1]",
		"[::ffff:0.0.0.1]",
		"[::127.0.0.1]",
		"[64:ff9b::127.0.0.1]",
		"[fe80::1]",
		"127.0.0.1-",
		"127_0.0.1",
		"ip6-localhost",
	};
	struct srv_host host;
	for (size_t i = 0; i < sizeof loopback / sizeof loopback[0]; i++)
		if (!reads(loopback[i], &host) || !srv_host_is_loopback(&host))
			fail_msg("%s", loopback[i]);
	for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
		if (reads(other[i], &host) && srv_host_is_loopback(&host))
			fail_msg("%s", other[i]);
}

static void test_lists(void **state)
{
	(void)state;
	static const char *const lists[] = {
		"a.example",        "A.example:8443",         "192.0.2.1", "[2001:db8::1]",
		"[2001:db8::1]:80", "a,b:1, c.example.\t,d,", "localhost",
	};
	static const struct {
		const char *list, *culprit;
	} faults[] = {
		{"", ""},
		{" ,, ", ""},
		{"*", "*"},
		{"a,*.b", "*.b"},
		{"https://a", "https://a"},
		{"a/", "a/"},
		{"a, b:0,c", "b:0"},
		{"a:", "a:"},
		{"a:65536", "a:65536"},
		{"::1", "::1"},
		{"2001:db8::1", "2001:db8::1"},
		{"[x]", "[x]"},
		{"u@a", "u@a"},
		{"a;b", "a;b"},
		{":80", ":80"},
		{"a:b", "a:b"},
	};
	const char *culprit;
	int n;
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		if (!srv_hosts_is_list(lists[i], &culprit, &n))
			fail_msg("%s", lists[i]);
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		if (srv_hosts_is_list(faults[i].list, &culprit, &n))
			fail_msg("%s", faults[i].list);
		assert_int_equal(n, strlen(faults[i].culprit));
		assert_memory_equal(culprit, faults[i].culprit, (size_t)n);
	}
}

static bool allows(const char *list, const char *text, bool tls)
{
	struct srv_host host;
	assert_true(reads(text, &host));
	return srv_hosts_allow(list, &host, tls);
}

static void test_matches(void **state)
{
	(void)state;
	static const char list[] = "a.example, b.example:8443,[2001:db8::1],c.example:80,d.example:443";
	static const char *const allowed[] = {
		"a.example",       "A.Example.",       "a.example:1",  "a.example:65535", "b.example:8443", "B.example.:8443",
		"[2001:DB8:0::1]", "[2001:db8::1]:80", "c.example:80", "d.example:443",   "d.example",
	};
	static const char *const others[] = {
		"b.example",
		"b.example:8444",
		"b.example:443",
		"xa.example",
		"a.example.evil",
		"a.exampl",
		"a",
		"a.example..",
		"[2001:db8::2]",
		"2001",
		"c.example:443",
		"c.example:8080",
		"d.example:80",
		"localhost",
		"127.0.0.1",
	};
	for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
		for (int tls = 0; tls < 2; tls++)
			if (!allows(list, allowed[i], tls))
				fail_msg("%s", allowed[i]);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		for (int tls = 0; tls < 2; tls++)
			if (allows(list, others[i], tls))
				fail_msg("%s", others[i]);
	assert_true(allows(list, "c.example", false));
	assert_false(allows(list, "c.example", true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_matches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
