#include "server/listen/activation.h"
#include "server/listen/listeners.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* @param process  NULL: the id of this process */
static int handed_over(const char *process, const char *n)
{
	char own[16];
	snprintf(own, sizeof own, "%d", (int)getpid());
	setenv("LISTEN_PID", process ? process : own, 1);
	setenv("LISTEN_FDS", n, 1);
	setenv("LISTEN_FDNAMES", "a:b", 1);
	const int count = srv_handed_over();
	assert_null(getenv("LISTEN_PID"));
	assert_null(getenv("LISTEN_FDS"));
	assert_null(getenv("LISTEN_FDNAMES"));
	return count;
}

static void test_environment(void **state)
{
	(void)state;
	static const char *const wrong[] = {"", "-1", "+1", " 1", "1 ", "x", "99999999999"};
	assert_int_equal(srv_handed_over(), 0);
	assert_int_equal(handed_over(NULL, "0"), 0);
	assert_int_equal(handed_over(NULL, "2"), 2);
	assert_int_equal(handed_over("1", "2"), 0);
	assert_int_equal(handed_over("x", "2"), 0);
	assert_int_equal(srv_handed_over(), 0);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(handed_over(NULL, wrong[i]), -1);
}

/* Whether descriptor 3, the only one passed, is accepted. */
static bool takes(const char *n, struct srv_listeners *listeners, const char *complaint)
{
	char own[16], *text;
	size_t bytes;
	FILE *err = open_memstream(&text, &bytes);
	snprintf(own, sizeof own, "%d", (int)getpid());
	setenv("LISTEN_PID", own, 1);
	setenv("LISTEN_FDS", n, 1);
	*listeners = (struct srv_listeners){0};
	const bool taken = srv_listeners_take_over(listeners, err);
	fclose(err);
	if (taken)
		assert_string_equal(text, "");
	else
		assert_non_null(strstr(text, complaint));
	free(text);
	return taken;
}

/* Moves fd to descriptor 3. */
static void hand_over(int fd)
{
	assert_true(fd >= 0);
	if (fd != SRV_FIRST_HANDED_OVER) {
		assert_int_equal(dup2(fd, SRV_FIRST_HANDED_OVER), SRV_FIRST_HANDED_OVER);
		close(fd);
	}
}

static void test_tcp(void **state)
{
	(void)state;
	struct srv_listeners listeners;
	struct srv_listen_fault fault;
	int port = 0;
	const int fd = srv_bind("127.0.0.1", &port, &fault);
	hand_over(fd);
	fcntl(SRV_FIRST_HANDED_OVER, F_SETFL, 0);
	assert_false(takes("1", &listeners, "descriptor 3,")); /* not listening */
	assert_int_equal(listen(SRV_FIRST_HANDED_OVER, 1), 0);
	assert_true(takes("1", &listeners, NULL));
	assert_int_equal(listeners.n, 1);
	assert_string_equal(listeners.list[0].host, "127.0.0.1");
	assert_int_equal(listeners.list[0].port, port);
	assert_false(listeners.list[0].is_unix);
	assert_true(fcntl(SRV_FIRST_HANDED_OVER, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(SRV_FIRST_HANDED_OVER, F_GETFD) & FD_CLOEXEC);
	assert_ptr_equal(srv_listeners_of_port(&listeners, port), &listeners.list[0]);
	assert_null(srv_listeners_of_port(&listeners, 0));
	srv_listeners_close(&listeners);
}

static int open_unix(const char *path, size_t n, int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	memcpy(address.sun_path, path, n);
	const int fd = socket(AF_UNIX, type, 0);
	assert_int_equal(bind(fd, (const void *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)), 0);
	return fd;
}

/* The socket file belongs to the process that passes the socket. */
static void test_unix(void **state)
{
	(void)state;
	struct srv_listeners listeners;
	char path[] = "/tmp/activation-XXXXXX";
	close(mkstemp(path));
	unlink(path);
	hand_over(open_unix(path, strlen(path), SOCK_STREAM));
	assert_int_equal(listen(SRV_FIRST_HANDED_OVER, 1), 0);
	assert_true(takes("1", &listeners, NULL));
	assert_ptr_equal(srv_listeners_at(&listeners, path), &listeners.list[0]);
	assert_null(srv_listeners_of_port(&listeners, 0));
	srv_listeners_close(&listeners);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
}

static void test_abstract_socket_names(void **state)
{
	(void)state;
	struct srv_listeners listeners;
	char name[32] = "";
	snprintf(name + 1, sizeof name - 1, "activation-%d", (int)getpid());
	hand_over(open_unix(name, 1 + strlen(name + 1), SOCK_STREAM));
	assert_int_equal(listen(SRV_FIRST_HANDED_OVER, 1), 0);
	assert_true(takes("1", &listeners, NULL));
	assert_int_equal(listeners.list[0].host[0], '@');
	assert_string_equal(listeners.list[0].host + 1, name + 1);
	srv_listeners_close(&listeners);
}

static void test_what_is_no_listening_stream(void **state)
{
	(void)state;
	struct srv_listeners listeners;
	int pair[2];
	close(SRV_FIRST_HANDED_OVER);
	assert_false(takes("1", &listeners, "file descriptor 3,"));
	hand_over(open("/dev/null", O_RDONLY));
	assert_false(takes("1", &listeners, "file descriptor 3,"));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	hand_over(pair[0]);
	close(pair[1]);
	assert_false(takes("1", &listeners, "file descriptor 3,"));
	hand_over(socket(AF_INET, SOCK_DGRAM, 0));
	assert_false(takes("1", &listeners, "file descriptor 3,"));
	hand_over(open_unix("", 0, SOCK_SEQPACKET)); /* the system chooses the name */
	assert_int_equal(listen(SRV_FIRST_HANDED_OVER, 1), 0);
	assert_false(takes("1", &listeners, "file descriptor 3,"));
	close(SRV_FIRST_HANDED_OVER);
	assert_false(takes("x", &listeners, "LISTEN_FDS is not a valid number"));
	assert_false(takes("15", &listeners, "15 sockets are passed in (LISTEN_FDS), but the limit is 14"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_unix),
		cmocka_unit_test(test_abstract_socket_names),
		cmocka_unit_test(test_what_is_no_listening_stream),
	};
	return cmocka_run_group_tests_name("activation", tests, NULL, NULL);
}
