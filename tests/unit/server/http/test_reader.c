/* The library's view: reads of all sizes at one end of a socket pair while the other end writes. */
#undef _FORTIFY_SOURCE /* fortified headers would replace recv() */
#include "server/http/reader.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

struct line {
	int client, server;
	struct srv_reader *reader;
	char got[1 << 19];
	size_t n;
	bool ended;
};

static struct line *open_line(long long seconds)
{
	static struct line line;
	int fds[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	line.client = fds[0];
	line.server = fds[1];
	line.n = 0;
	line.ended = false;
	line.reader = srv_reader_open(line.server, false, seconds, &line);
	assert_non_null(line.reader);
	assert_ptr_equal(srv_reader_owner(line.server), &line);
	assert_null(srv_reader_owner(line.client));
	return &line;
}

static void close_line(struct line *line)
{
	srv_reader_close(line->reader);
	assert_null(srv_reader_owner(line->server));
	close(line->server);
	if (line->client >= 0)
		close(line->client);
}

static void say(struct line *line, const char *bytes, size_t n)
{
	assert_int_equal(send(line->client, bytes, n, MSG_NOSIGNAL), (ssize_t)n);
}

/* Reads as libmicrohttpd does with epoll: up to the first short read, and then waits for an event. */
static void listen_to(struct line *line, size_t size)
{
	ssize_t n = (ssize_t)size;
	while (n == (ssize_t)size) {
		assert_true(line->n + size <= sizeof line->got);
		n = recv(line->server, line->got + line->n, size, 0);
		if (n > 0)
			line->n += (size_t)n;
	}
	assert_true(n >= 0 || errno == EAGAIN);
	line->ended |= n == 0;
}

static void heard(const struct line *line, const char *bytes, size_t n)
{
	assert_int_equal(line->n, n);
	assert_memory_equal(line->got, bytes, n);
}

static void test_half_a_head_is_held(void **state)
{
	(void)state;
	struct line *line = open_line(60);
	say(line, GET "GET /", strlen(GET) + 5);
	listen_to(line, 4096);
	heard(line, GET, strlen(GET));
	assert_true(srv_reader_holds_head(line->reader));
	say(line, &GET[5], strlen(GET) - 5);
	listen_to(line, 4096);
	heard(line, GET GET, 2 * strlen(GET));
	assert_false(srv_reader_holds_head(line->reader));
	close_line(line);
}

/* Requests with bodies of various lengths, in sequence. They are written in pieces that may end anywhere. */
static size_t make_stream(char *stream, size_t n_requests)
{
	size_t n = 0;
	for (size_t i = 0; i < n_requests; i++) {
		const size_t length = i * i * 7;
		n += (size_t)sprintf(stream + n, "POST /%zu HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n", i, length);
		for (size_t j = 0; j < length; j++)
			stream[n++] = (char)(j * 31 + i);
	}
	return n;
}

static void pieces_arrive(const char *stream, size_t n, size_t piece, size_t size)
{
	struct line *line = open_line(60);
	for (size_t at = 0; at < n; at += piece) {
		say(line, stream + at, piece < n - at ? piece : n - at);
		listen_to(line, size);
	}
	heard(line, stream, n);
	assert_false(line->ended);
	close(line->client);
	line->client = -1;
	listen_to(line, size);
	assert_true(line->ended && srv_reader_ended(line->reader));
	close_line(line);
}

static void test_nothing_is_lost_or_late(void **state)
{
	(void)state;
	static char stream[1 << 18];
	const size_t pieces[] = {7, 100, 1013, 4096, 100000}, sizes[] = {1, 16, 1000, 65536};
	for (size_t s = 0; s < 4; s++) {
		const size_t n = make_stream(stream, sizes[s] < 1000 ? 12 : 40);
		for (size_t p = 0; p < 5; p++)
			pieces_arrive(stream, n, pieces[p], sizes[s]);
	}
}

static void test_end_with_data(void **state)
{
	(void)state;
	struct line *line = open_line(60);
	say(line, GET, strlen(GET));
	shutdown(line->client, SHUT_WR);
	listen_to(line, 4096);
	heard(line, GET, strlen(GET));
	assert_true(srv_reader_ended(line->reader));
	close_line(line);
}

static void test_nothing_is_read_after_a_fault(void **state)
{
	(void)state;
	const char *detail;
	struct line *line = open_line(60);
	say(line, GET "GET / HTTP/1.1\n", strlen(GET) + 15);
	listen_to(line, 4096);
	assert_int_equal(srv_reader_fault(line->reader, 1, &detail), API_NO_CODE);
	assert_int_equal(srv_reader_fault(line->reader, 2, &detail), API_E_MALFORMED_HTTP);
	const size_t n = line->n;
	say(line, GET, strlen(GET));
	listen_to(line, 4096);
	assert_int_equal(line->n, n);
	close_line(line);
}

static void test_late_requests(void **state)
{
	(void)state;
	const char *detail;
	struct line *line = open_line(0);
	say(line, "G", 1);
	listen_to(line, 4096);
	assert_int_equal(line->n, 0);
	nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	say(line, "E", 1);
	listen_to(line, 4096);
	assert_int_equal(srv_reader_fault(line->reader, 1, &detail), API_E_REQUEST_TIMEOUT);
	assert_true(line->n > 0);
	close_line(line);
}

static void test_other_descriptors_are_left_alone(void **state)
{
	(void)state;
	int fds[2];
	char c;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(write(fds[0], "\n", 1), 1);
	assert_int_equal(recv(fds[1], &c, 1, MSG_PEEK), 1);
	assert_int_equal(recv(fds[1], &c, 1, 0), 1);
	assert_int_equal(c, '\n');
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(recv(fds[1], &c, 1, 0), -1);
	assert_int_equal(recv(-1, &c, 1, 0), -1);
}

static int start(void **state)
{
	(void)state;
	return srv_readers_start() ? 0 : -1;
}

/* The self-test starts the readers before the server does. */
static void test_started_twice(void **state)
{
	(void)state;
	const char *detail;
	struct line *line = open_line(60);
	assert_true(srv_readers_start());
	say(line, "GET\r\n", 5);
	listen_to(line, 4096);
	assert_int_equal(srv_reader_fault(line->reader, 1, &detail), API_E_MALFORMED_HTTP);
	close_line(line);
}

/* The library closes the connection when it reads the end, even if a response is still to be sent. */
static void test_the_end_is_kept(void **state)
{
	struct line *line = open_line(60);
	char byte;
	(void)state;
	say(line, GET, strlen(GET));
	listen_to(line, 4096);
	heard(line, GET, strlen(GET));
	shutdown(line->client, SHUT_WR);
	srv_reader_keep_end(line->reader, true);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(recv(line->server, &byte, 1, 0), -1);
		assert_int_equal(errno, EAGAIN);
	}
	assert_true(srv_reader_ended(line->reader));
	srv_reader_keep_end(line->reader, false);
	assert_int_equal(recv(line->server, &byte, 1, 0), 0);
	close_line(line);
}

/* The library would wait for more events. */
static void test_never_as_many_events_as_asked_for(void **state)
{
	enum { N = 4 };
	const int epoll_fd = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN | EPOLLET}, events[N];
	int fds[N];
	(void)state;
	for (int i = 0; i < N; i++) {
		fds[i] = eventfd(1, 0);
		assert_int_equal(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fds[i], &event), 0);
	}
	assert_int_equal(epoll_wait(epoll_fd, events, N, 0), N - 1);
	assert_int_equal(epoll_wait(epoll_fd, events, 1, 0), 1);
	assert_int_equal(epoll_wait(epoll_fd, events, N, 0), 0);
	assert_int_equal(epoll_wait(-1, events, N, 0), -1);
	assert_int_equal(errno, EBADF);
	for (int i = 0; i < N; i++)
		close(fds[i]);
	close(epoll_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_end_is_kept),
		cmocka_unit_test(test_half_a_head_is_held),
		cmocka_unit_test(test_nothing_is_lost_or_late),
		cmocka_unit_test(test_end_with_data),
		cmocka_unit_test(test_nothing_is_read_after_a_fault),
		cmocka_unit_test(test_late_requests),
		cmocka_unit_test(test_other_descriptors_are_left_alone),
		cmocka_unit_test(test_started_twice),
		cmocka_unit_test(test_never_as_many_events_as_asked_for),
	};
	return cmocka_run_group_tests_name("reader", tests, start, NULL);
}
