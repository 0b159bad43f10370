/* Whole connections over a pair of sockets, served in rounds on this thread. */
#include "server/http/http.h"

#include "server/observe/log.h"
#include "server/settings/read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cmocka.h>

static struct srv_options options;
static struct srv_gate gate;
static struct srv_http *http;

static int open_service(void **state)
{
	static char *const argv[] = {"frictiond", "--log-level=error", "--threads=1", NULL};
	(void)state;
	srv_log_start(SRV_ERROR, SRV_LOGFMT);
	assert_int_equal(srv_options_read(3, argv, &options, stdout, stderr), SRV_START);
	assert_true(srv_gate_open(&gate, &options.gate, stderr));
	http = srv_http_start(&options, &gate, SRV_HTTP_ROUNDS, NULL, NULL);
	return http ? 0 : -1;
}

static int close_service(void **state)
{
	(void)state;
	srv_http_close(http);
	srv_http_stop(http);
	srv_gate_close(&gate);
	srv_options_free(&options);
	return 0;
}

/* @return the client's end */
static int connect_client(void)
{
	const struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fds[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
	srv_http_add(http, fds[1], (const struct sockaddr *)(const void *)&from, sizeof from);
	return fds[0];
}

/* Closes the connection, and requires that the server has released everything. */
static void leave(int fd)
{
	close(fd);
	while (srv_http_gauges(http).connections > 0)
		assert_true(srv_http_round(http));
	assert_int_equal(srv_http_gauges(http).memory_requests_bytes, 0);
	assert_true(srv_http_is_idle(http));
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Runs rounds until data arrives, and checks how it begins. */
static void expect(int fd, const char *beginning)
{
	char heard[4096];
	ssize_t n = -1;
	while (n < 0) {
		assert_true(srv_http_round(http));
		n = recv(fd, heard, sizeof heard, 0);
	}
	assert_true(n > (ssize_t)strlen(beginning));
	assert_memory_equal(heard, beginning, strlen(beginning));
}

static void test_requests_follow_each_other(void **state)
{
	(void)state;
	const int fd = connect_client();
	for (int i = 0; i < 3; i++) {
		say(fd, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
		expect(fd, "HTTP/1.1 200 OK\r\n");
		assert_true(srv_http_is_idle(http));
	}
	leave(fd);
}

static void test_byte_by_byte(void **state)
{
	static const char text[] = "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n";
	(void)state;
	const int fd = connect_client();
	for (const char *c = text; *c; c++) {
		say(fd, (const char[]){*c, '\0'});
		assert_true(srv_http_round(http));
	}
	expect(fd, "HTTP/1.1 404 Not Found\r\n");
	leave(fd);
}

static void test_fault_of_the_wire(void **state)
{
	(void)state;
	const int fd = connect_client();
	say(fd, "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n");
	expect(fd, "HTTP/1.1 400 Bad Request\r\n");
	leave(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_follow_each_other),
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_fault_of_the_wire),
	};
	return cmocka_run_group_tests_name("daemon", tests, open_service, close_service);
}
