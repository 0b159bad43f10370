#include "server/http/linger.h"

#include "server/base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int entries(const char *path)
{
	DIR *folder = opendir(path);
	int n = 0;
	assert_non_null(folder);
	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

static int n_files(void)
{
	return entries("/proc/self/fd");
}

static int files_before, threads_before;

static int start(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	files_before = n_files();
	if (!srv_linger_start())
		return -1;
	threads_before = entries("/proc/self/task");
	return 0;
}

/* Fails unless all lingering connections are closed and no thread is left. */
static int stop(void **state)
{
	(void)state;
	const bool no_more_threads = entries("/proc/self/task") <= threads_before;
	srv_linger_stop();
	return no_more_threads && n_files() == files_before ? 0 : -1;
}

/* @return the client's end of a connection that lingers */
static int open_lingering(void)
{
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	srv_linger(ends[0]);
	return ends[1];
}

/* Waits for the end of the stream, after which the server sends nothing more. */
static void await_end(int fd)
{
	char byte;
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
}

static bool is_open(int fd)
{
	return send(fd, "x", 1, MSG_NOSIGNAL) == 1;
}

static void await_closed(int fd)
{
	while (is_open(fd))
		usleep(1000);
	assert_int_equal(errno, EPIPE);
}

/* Sends much more than socket buffers can hold. */
static void test_what_is_sent_is_read(void **state)
{
	(void)state;
	static char bytes[1 << 16];
	const int fd = open_lingering();
	await_end(fd);
	for (int i = 0; i < 200; i++)
		assert_int_equal(send(fd, bytes, sizeof bytes, MSG_NOSIGNAL), sizeof bytes);
	close(fd);
	while (n_files() > files_before + 1) /* one descriptor is the thread's own */
		usleep(1000);
}

static void test_the_end_of_the_client(void **state)
{
	(void)state;
	const int fd = open_lingering();
	struct pollfd poll_fd = {.fd = fd, .events = 0};
	shutdown(fd, SHUT_WR);
	assert_int_equal(poll(&poll_fd, 1, -1), 1);
	assert_true(poll_fd.revents & POLLHUP);
	close(fd);
}

static long long milliseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void test_time_is_bounded(void **state)
{
	(void)state;
	const long long began = milliseconds();
	const int silent = open_lingering(), talking = open_lingering();
	struct pollfd poll_fd = {.fd = silent, .events = 0};
	await_closed(talking);
	assert_int_equal(poll(&poll_fd, 1, -1), 1);
	assert_true(milliseconds() - began >= SRV_LINGER_MS - SRV_CLOCK_TICK_MS - 1);
	close(silent);
	close(talking);
}

/* The oldest make room, and no further thread is started. */
static void test_too_many(void **state)
{
	(void)state;
	enum { N = 3 * SRV_MOST_LINGERING };
	int fds[N];
	for (int i = 0; i < N - 1; i++)
		fds[i] = open_lingering();
	const long long began = milliseconds();
	fds[N - 1] = open_lingering();
	const bool last_is_open = is_open(fds[N - 1]);
	assert_true(last_is_open ||
	            milliseconds() - began >= SRV_LINGER_MS - SRV_CLOCK_TICK_MS); /* otherwise the machine stalled */
	assert_true(entries("/proc/self/task") <= threads_before);
	assert_true(n_files() <= files_before + 1 + N + SRV_MOST_LINGERING);
	for (int i = 0; i < N - SRV_MOST_LINGERING; i++)
		await_closed(fds[i]); /* the thread may still be polling it */
	for (int i = 0; i < N; i++)
		close(fds[i]);
}

/* Checks the newest first: if all are late at once because the machine stalled, the oldest is closed before it. */
static void test_the_oldest_makes_room(void **state)
{
	(void)state;
	enum { N = SRV_MOST_LINGERING };
	struct pollfd ends[N];
	for (int i = N - 1; i >= 0; i--)
		ends[i] = (struct pollfd){.fd = open_lingering()};
	const int one_more = open_lingering(), oldest = ends[N - 1].fd;
	assert_true(poll(ends, N, -1) > 0);
	assert_false(is_open(oldest));
	close(one_more);
	for (int i = 0; i < N; i++)
		close(ends[i].fd);
}

static void test_no_file(void **state)
{
	(void)state;
	srv_linger(-1);
}

/* Before the thread starts, and after it ends. */
static void test_without_the_thread(void **state)
{
	(void)state;
	const int before = n_files(), fd = open_lingering();
	await_end(fd);
	assert_false(is_open(fd));
	close(fd);
	assert_int_equal(n_files(), before);
	srv_linger_stop();
}

static void test_stopping_closes_lingering_connections(void **state)
{
	(void)state;
	int fds[10];
	const int before = n_files();
	assert_true(srv_linger_start());
	for (int i = 0; i < 10; i++)
		fds[i] = open_lingering();
	srv_linger_stop();
	for (int i = 0; i < 10; i++) {
		assert_false(is_open(fds[i]));
		close(fds[i]);
	}
	assert_int_equal(n_files(), before);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_the_thread),
		TEST(test_what_is_sent_is_read),
		TEST(test_the_end_of_the_client),
		TEST(test_time_is_bounded),
		TEST(test_too_many),
		TEST(test_the_oldest_makes_room),
		TEST(test_no_file),
		cmocka_unit_test(test_stopping_closes_lingering_connections),
		cmocka_unit_test(test_without_the_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
