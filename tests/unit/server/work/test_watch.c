#include "server/work/watch.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 50, HOUR = 3600 * 1000 };

static void open_pair(int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
}

static void close_pair(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* Waits without a time limit until the connection is cut. */
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
	assert_int_equal(errno, EAGAIN);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Relieves or removes the even connections, and lets the odd ones become late.
 * @return whether the even ones were certainly in time and must not have been cut */
static bool in_time_and_late(int seconds)
{
	struct srv_watch *watch = srv_watch_start();
	struct srv_watched watched[N];
	int fds[N][2];
	const double began = now();
	for (int i = 0; i < N; i++) {
		open_pair(fds[i]);
		srv_watch_add(watch, &watched[i], fds[i][0]);
		srv_watch_allow(&watched[i], 1000 * seconds, SRV_LATE_ENDS);
	}
	for (int i = 0; i < N; i += 4)
		srv_watch_relieve(&watched[i]);
	for (int i = 2; i < N; i += 4)
		srv_watch_remove(watch, &watched[i]);
	const bool in_time = now() - began < seconds;
	for (int i = N - 1; i > 0; i -= 2)
		ends(fds[i][0]);
	for (int i = 0; in_time && i < N; i += 2)
		goes_on(fds[i][0]);
	for (int i = 0; i < N; i++)
		if (i % 4 != 2)
			srv_watch_remove(watch, &watched[i]);
	assert_int_equal(write(fds[1][0], "x", 1), 1); /* a late client can still send */
	assert_false(srv_watch_was_cut(&watched[1]));
	srv_watch_stop(watch);
	for (int i = 0; i < N; i++)
		close_pair(fds[i]);
	return in_time;
}

static void test_in_time_and_late(void **state)
{
	(void)state;
	int seconds = 1;
	while (!in_time_and_late(seconds))
		seconds *= 2;
}

static void test_cut(void **state)
{
	(void)state;
	struct srv_watch *watch = srv_watch_start();
	struct srv_watched late, patient;
	int fds[2], others[2];
	open_pair(fds);
	open_pair(others);
	srv_watch_add(watch, &late, fds[0]);
	srv_watch_add(watch, &patient, others[0]);
	srv_watch_allow(&patient, HOUR, SRV_LATE_CUTS);
	srv_watch_allow(&late, 0, SRV_LATE_CUTS);
	ends(fds[0]);
	ends(fds[1]);
	assert_int_equal(send(fds[0], "x", 1, MSG_NOSIGNAL), -1);
	assert_true(srv_watch_was_cut(&late));
	assert_false(srv_watch_was_cut(&patient));
	goes_on(others[1]);
	srv_watch_remove(watch, &late);
	srv_watch_remove(watch, &patient);
	srv_watch_stop(watch);
	close_pair(fds);
	close_pair(others);
}

/* A new limit counts from the moment it is set. */
static void test_a_new_limit_replaces_the_old_one(void **state)
{
	(void)state;
	struct srv_watch *watch = srv_watch_start();
	struct srv_watched first, second;
	int fds[2], others[2];
	open_pair(fds);
	open_pair(others);
	srv_watch_add(watch, &first, fds[0]);
	srv_watch_add(watch, &second, others[0]);
	srv_watch_allow(&first, HOUR, SRV_LATE_ENDS);
	srv_watch_allow(&first, 0, SRV_LATE_CUTS);
	ends(fds[1]);
	assert_true(srv_watch_was_cut(&first));
	srv_watch_allow(&second, HOUR, SRV_LATE_CUTS);
	srv_watch_allow(&second, 0, SRV_LATE_ENDS);
	ends(others[0]);
	assert_false(srv_watch_was_cut(&second));
	srv_watch_remove(watch, &first);
	srv_watch_remove(watch, &second);
	srv_watch_stop(watch);
	close_pair(fds);
	close_pair(others);
}

/* Pauses longer than the interval between checks, so that the thread sleeps until woken. On a machine too slow for
 * that, the test passes without testing anything. */
static void test_again_after_a_pause(void **state)
{
	(void)state;
	const struct timespec pause = {.tv_nsec = 600 * 1000 * 1000};
	struct srv_watch *watch = srv_watch_start();
	for (int i = 0; i < 3; i++) {
		struct srv_watched watched;
		int fds[2];
		nanosleep(&pause, NULL);
		open_pair(fds);
		srv_watch_add(watch, &watched, fds[0]);
		srv_watch_allow(&watched, 0, SRV_LATE_ENDS);
		ends(fds[0]);
		srv_watch_remove(watch, &watched);
		close_pair(fds);
	}
	srv_watch_stop(watch);
}

static void test_starting_and_stopping(void **state)
{
	(void)state;
	srv_watch_stop(NULL);
	srv_watch_stop(srv_watch_start());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_time_and_late),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_a_new_limit_replaces_the_old_one),
		cmocka_unit_test(test_again_after_a_pause),
		cmocka_unit_test(test_starting_and_stopping),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
