#include "server/listen/listen.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Skips addresses that this machine lacks. */
static void loopback_is(const char *host, bool expected)
{
	int port = 0;
	struct srv_listen_fault fault;
	const int fd = srv_bind(host, &port, &fault);
	if (fd < 0)
		return;
	assert_true(port > 0);
	assert_int_equal(srv_is_on_loopback(fd), expected);
	close(fd);
}

static void test_loopback(void **state)
{
	(void)state;
	loopback_is("127.0.0.1", true);
	loopback_is("127.1.2.3", true);
	loopback_is("localhost", true);
	loopback_is("::1", true);
	loopback_is("::ffff:127.0.0.1", true);
}

static void test_others(void **state)
{
	(void)state;
	loopback_is("0.0.0.0", false);
	loopback_is("::", false);
	loopback_is("::ffff:0.0.0.0", false);
	assert_false(srv_is_on_loopback(-1));
}

static void test_failures(void **state)
{
	(void)state;
	int port = 0;
	struct srv_listen_fault fault = {0};
	assert_int_equal(srv_bind("nowhere.invalid", &port, &fault), -1);
	assert_non_null(fault.text);
	assert_int_equal(fault.error, 0);
	assert_int_equal(srv_bind("203.0.113.1", &port, &fault), -1);
	const int first = srv_bind("127.0.0.1", &port, &fault);
	assert_true(srv_listen(first, &fault));
	assert_int_equal(srv_bind("127.0.0.1", &port, &fault), -1);
	assert_non_null(strstr(fault.text, "in use"));
	assert_int_equal(fault.error, EADDRINUSE);
	close(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_failures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
