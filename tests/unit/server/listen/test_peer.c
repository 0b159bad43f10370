#include "server/listen/peer.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void prints(int family, const char *address, const char *expected)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} from = {.any.sa_family = (sa_family_t)family};
	struct srv_peer peer;
	char text[SRV_PEER];
	void *place = family == AF_INET ? (void *)&from.v4.sin_addr : (void *)&from.v6.sin6_addr;
	assert_int_equal(inet_pton(family, address, place), 1);
	srv_peer_read(-1, &from.any, sizeof from, &peer);
	assert_false(srv_peer_is_unix(&peer));
	assert_ptr_equal(srv_peer_print(&peer, text), text);
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
	const struct srv_peer other = {.address.ss_family = AF_UNSPEC};
	assert_string_equal(srv_peer_print(NULL, text), "-");
	assert_string_equal(srv_peer_print(&other, text), "-");
	assert_false(srv_peer_is_unix(NULL) || srv_peer_is_unix(&other));
}

/* The peer's user is read from the socket. accept returns such a short address for a client without a name. */
static void test_users(void **state)
{
	(void)state;
	const struct sockaddr unnamed = {.sa_family = AF_UNIX};
	struct srv_peer peer;
	char text[SRV_PEER], expected[SRV_PEER];
	int fds[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	srv_peer_read(fds[0], &unnamed, sizeof unnamed.sa_family, &peer);
	assert_true(srv_peer_is_unix(&peer));
	snprintf(expected, sizeof expected, "uid:%u", geteuid());
	assert_string_equal(srv_peer_print(&peer, text), expected);
	srv_peer_read(-1, &unnamed, sizeof unnamed.sa_family, &peer);
	assert_string_equal(srv_peer_print(&peer, text), "uid:4294967295");
	close(fds[0]);
	close(fds[1]);
}

static void told_apart(const char *uid_map, bool expected)
{
	char path[] = "/tmp/peer-XXXXXX";
	const int fd = mkstemp(path);
	assert_int_equal(write(fd, uid_map, strlen(uid_map)), strlen(uid_map));
	close(fd);
	assert_int_equal(srv_peers_are_told_apart(path), expected);
	unlink(path);
}

static void test_user_namespaces(void **state)
{
	(void)state;
	told_apart("         0          0 4294967295\n", true);
	told_apart("0 100000 65536\n", false);
	told_apart("0 0 1\n1000 1000 1\n", false);
	told_apart("0 0 2147483648\n2147483648 2147483648 2147483647\n", true);
	assert_true(srv_peers_are_told_apart("/nowhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_addresses), cmocka_unit_test(test_others),
	                                   cmocka_unit_test(test_users), cmocka_unit_test(test_user_namespaces)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
