#include "server/listen/listeners.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/listeners-XXXXXX";
static char path[64];

static void bind_to(struct srv_listeners *listeners, const char *host)
{
	struct srv_listen_fault fault;
	assert_true(srv_listeners_bind(listeners, host, 0, &fault));
}

static void add_unix(struct srv_listeners *listeners)
{
	struct srv_listen_fault fault;
	assert_true(srv_listeners_add_unix(listeners, path, 0600, &fault));
}

/* @param expected  a format whose only %s is the path */
static void announces(const struct srv_listeners *listeners, bool tls, const char *expected)
{
	char *text, whole[256];
	size_t n;
	FILE *out = open_memstream(&text, &n);
	srv_listeners_announce(listeners, tls, out);
	fclose(out);
	snprintf(whole, sizeof whole, expected, path);
	assert_string_equal(text, whole);
	free(text);
}

static void test_lines(void **state)
{
	(void)state;
	struct srv_listeners listeners = {0};
	add_unix(&listeners);
	announces(&listeners, true, "frictiond listening on http+unix://%s\n");
	bind_to(&listeners, "localhost");
	assert_true(listeners.list[1].port > 0);
	listeners.list[1].port = 81;
	announces(&listeners, true, "frictiond listening on https://localhost:81\nfrictiond listening on http+unix://%s\n");
	strcpy(listeners.list[1].host, "::1");
	announces(&listeners, false, "frictiond listening on http://[::1]:81\nfrictiond listening on http+unix://%s\n");
	srv_listeners_close(&listeners);
}

static void opens_most(const struct srv_listeners *listeners, int expected)
{
	assert_ptr_equal(srv_listeners_open_most(listeners), expected < 0 ? NULL : &listeners->list[expected]);
}

static void test_the_most_widely_reachable_socket(void **state)
{
	(void)state;
	struct srv_listeners listeners = {0};
	opens_most(&listeners, -1);
	add_unix(&listeners);
	opens_most(&listeners, -1);
	bind_to(&listeners, "127.0.0.1");
	opens_most(&listeners, 1);
	bind_to(&listeners, "127.0.0.2");
	opens_most(&listeners, 1);
	bind_to(&listeners, "0.0.0.0");
	opens_most(&listeners, 3);
	bind_to(&listeners, "0.0.0.0");
	opens_most(&listeners, 3);
	bind_to(&listeners, "127.0.0.1");
	opens_most(&listeners, 3);
	srv_listeners_close(&listeners);
}

static void test_whether_a_unix_socket_listens(void **state)
{
	(void)state;
	struct srv_listeners listeners = {0};
	assert_false(srv_listeners_have_unix(&listeners));
	bind_to(&listeners, "127.0.0.1");
	assert_false(srv_listeners_have_unix(&listeners));
	add_unix(&listeners);
	assert_true(srv_listeners_have_unix(&listeners));
	bind_to(&listeners, "127.0.0.1");
	assert_true(srv_listeners_have_unix(&listeners));
	srv_listeners_close(&listeners);
}

static void test_closing(void **state)
{
	(void)state;
	struct srv_listeners listeners = {0};
	bind_to(&listeners, "127.0.0.1");
	add_unix(&listeners);
	assert_ptr_equal(srv_listeners_at(&listeners, path), &listeners.list[1]);
	assert_null(srv_listeners_at(&listeners, "127.0.0.1"));
	const int fds[] = {listeners.list[0].fd, listeners.list[1].fd};
	srv_listeners_close(&listeners);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fcntl(fds[i], F_GETFD), -1);
	assert_int_equal(access(path, F_OK), -1);
	srv_listeners_close(&listeners);
}

static void test_faults(void **state)
{
	(void)state;
	struct srv_listeners listeners = {0};
	const struct srv_listener *culprit;
	struct srv_listen_fault fault;
	bind_to(&listeners, "127.0.0.1");
	assert_false(srv_listeners_bind(&listeners, "203.0.113.1", 0, &fault));
	add_unix(&listeners);
	assert_false(srv_listeners_add_unix(&listeners, path, 0600, &fault));
	assert_int_equal(listeners.n, 2);
	close(listeners.list[0].fd);
	listeners.list[0].fd = -1;
	assert_false(srv_listeners_listen(&listeners, &culprit, &fault));
	assert_int_equal(fault.error, EBADF);
	assert_ptr_equal(culprit, &listeners.list[0]);
	srv_listeners_close(&listeners);
}

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof path, "%s/socket", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_the_most_widely_reachable_socket),
		cmocka_unit_test(test_whether_a_unix_socket_listens),
		cmocka_unit_test(test_closing),
		cmocka_unit_test(test_faults),
	};
	return cmocka_run_group_tests_name("listeners", tests, make_directory, remove_directory);
}
