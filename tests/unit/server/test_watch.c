#include "server/watch.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 50 };

static void open_pair(int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
}

/* Waits for the end as long as it takes. */
static void ends(int fd)
{
	char byte;
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&poll_fd, 1, -1), 1);
	assert_int_equal(read(fd, &byte, 1), 0);
}

static void goes_on(int fd)
{
	char byte;
	assert_int_equal(read(fd, &byte, 1), -1);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Those with even numbers are removed, the others are late.
 * @return whether the even ones were certainly removed in time; then nothing has happened to them */
static bool in_time_and_late(int seconds)
{
	struct srv_watch *watch = srv_watch_start(seconds);
	struct srv_watched *watched[N];
	int fds[N][2];
	const double began = now();
	for (int i = 0; i < N; i++) {
		open_pair(fds[i]);
		watched[i] = srv_watch_add(watch, fds[i][0]);
		assert_non_null(watched[i]);
	}
	for (int i = 0; i < N; i += 2)
		srv_watch_remove(watch, watched[i]);
	const bool in_time = now() - began < seconds;
	for (int i = N - 1; i > 0; i -= 2)
		ends(fds[i][0]);
	for (int i = 0; in_time && i < N; i += 2)
		goes_on(fds[i][0]);
	for (int i = 1; i < N; i += 2)
		srv_watch_remove(watch, watched[i]); /* after it was due */
	assert_int_equal(write(fds[1][0], "x", 1), 1); /* what is late may still say something */
	srv_watch_stop(watch);
	for (int i = 0; i < N; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
	return in_time;
}

static void test_in_time_and_late(void **state)
{
	(void)state;
	int seconds = 1;
	while (!in_time_and_late(seconds))
		seconds *= 2;
}

static void test_again_after_a_pause(void **state)
{
	(void)state;
	struct srv_watch *watch = srv_watch_start(0);
	for (int i = 0; i < 3; i++) {
		int fds[2];
		open_pair(fds);
		struct srv_watched *watched = srv_watch_add(watch, fds[0]);
		ends(fds[0]);
		srv_watch_remove(watch, watched);
		close(fds[0]);
		close(fds[1]);
	}
	srv_watch_stop(watch);
}

static void test_nothing(void **state)
{
	(void)state;
	srv_watch_stop(NULL);
	struct srv_watch *watch = srv_watch_start(3600);
	srv_watch_remove(watch, NULL);
	srv_watch_stop(watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_time_and_late), cmocka_unit_test(test_again_after_a_pause),
		cmocka_unit_test(test_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
