#include "server/base/peer.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void prints(int family, const char *address, const char *expected)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} peer = {.any.sa_family = (sa_family_t)family};
	char text[SRV_PEER];
	void *place = family == AF_INET ? (void *)&peer.v4.sin_addr : (void *)&peer.v6.sin6_addr;
	assert_int_equal(inet_pton(family, address, place), 1);
	assert_ptr_equal(srv_peer_print(&peer.any, text), text);
	assert_string_equal(text, expected);
}

static void test_addresses(void **state)
{
	(void)state;
	static const char *const v4[] = {"127.0.0.1", "0.0.0.0", "255.255.255.255", "10.9.99.100", "192.0.2.203"};
	for (size_t i = 0; i < sizeof v4 / sizeof v4[0]; i++)
		prints(AF_INET, v4[i], v4[i]);
	prints(AF_INET6, "::1", "::1");
	prints(AF_INET6, "2001:db8:0:0:0:0:0:1", "2001:db8::1");
	prints(AF_INET6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
	prints(AF_INET6, "::ffff:192.0.2.1", "192.0.2.1");
}

static void test_others(void **state)
{
	(void)state;
	char text[SRV_PEER];
	const struct sockaddr local = {.sa_family = AF_UNIX};
	assert_string_equal(srv_peer_print(NULL, text), "-");
	assert_string_equal(srv_peer_print(&local, text), "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_addresses), cmocka_unit_test(test_others)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
