#include "server/http/addresses.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct srv_peer peer_of(const char *text)
{
	struct srv_peer peer = {0};
	struct sockaddr_in *v4 = (void *)&peer.address;
	struct sockaddr_in6 *v6 = (void *)&peer.address;
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
		peer.address.ss_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
		peer.address.ss_family = AF_INET6;
	else if (sscanf(text, "uid:%u", &peer.uid) == 1)
		peer.address.ss_family = AF_UNIX;
	return peer;
}

static bool add(struct srv_addresses *addresses, const char *text)
{
	const struct srv_peer peer = peer_of(text);
	return srv_addresses_add(addresses, &peer);
}

static void drop(struct srv_addresses *addresses, const char *text)
{
	const struct srv_peer peer = peer_of(text);
	srv_addresses_remove(addresses, &peer);
}

static void test_each_has_its_own(void **state)
{
	(void)state;
	struct srv_addresses *a = srv_addresses_create(2);
	assert_true(add(a, "192.0.2.1") && add(a, "192.0.2.1"));
	assert_false(add(a, "192.0.2.1"));
	assert_true(add(a, "192.0.2.2"));
	drop(a, "192.0.2.1");
	assert_true(add(a, "192.0.2.1"));
	assert_false(add(a, "192.0.2.1"));
	srv_addresses_free(a);
}

static void test_forms(void **state)
{
	(void)state;
	struct srv_addresses *a = srv_addresses_create(1);
	assert_true(add(a, "192.0.2.1"));
	assert_false(add(a, "::ffff:192.0.2.1"));
	assert_true(add(a, "2001:db8::1"));
	assert_false(add(a, "2001:db8::2"));
	assert_true(add(a, "2001:db8:0:1::1"));
	assert_true(add(a, "other") && add(a, "other"));
	srv_addresses_free(a);
}

static void test_users(void **state)
{
	(void)state;
	struct srv_addresses *a = srv_addresses_create(1);
	assert_true(add(a, "0.0.0.0") && add(a, "uid:0"));
	assert_false(add(a, "uid:0"));
	assert_true(add(a, "uid:1000") && add(a, "uid:4294967295"));
	assert_false(add(a, "uid:1000"));
	drop(a, "uid:1000");
	assert_true(add(a, "uid:1000"));
	srv_addresses_free(a);
}

static void test_many(void **state)
{
	(void)state;
	enum { N = 5000 };
	struct srv_addresses *a = srv_addresses_create(1);
	char text[32];
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < N; i++) {
			snprintf(text, sizeof text, "10.1.%d.%d", i / 256, i % 256);
			assert_true(add(a, text));
			assert_false(add(a, text));
		}
		for (int i = 0; i < N; i++) {
			snprintf(text, sizeof text, "10.1.%d.%d", i / 256, i % 256);
			drop(a, text);
		}
	}
	srv_addresses_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_has_its_own),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_many),
	};
	return cmocka_run_group_tests_name("addresses", tests, NULL, NULL);
}
