#include "server/http/acceptor.h"
#include "server/listen/listen.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_MS = 60000, MAX_TAKEN = 8, PAUSE_MS = 10 /* as in acceptor.c */ };

struct taken {
	pthread_mutex_t lock;
	pthread_cond_t more;
	int n, fds[MAX_TAKEN];
	int listen_fd, port;
};

static atomic_int n_accepts;

/* Replaces the system's function, to count the calls. */
int accept4(int fd, __SOCKADDR_ARG address, socklen_t *bytes, int flags)
{
	atomic_fetch_add(&n_accepts, 1);
	return (int)syscall(SYS_accept4, fd, address.__sockaddr__, bytes, flags);
}

static void add(void *closure, int fd, const struct sockaddr *address, socklen_t bytes)
{
	struct taken *taken = closure;
	assert_int_equal(address->sa_family, AF_INET);
	assert_int_equal(bytes, sizeof(struct sockaddr_in));
	pthread_mutex_lock(&taken->lock);
	if (taken->n < MAX_TAKEN)
		taken->fds[taken->n++] = fd;
	pthread_cond_signal(&taken->more);
	pthread_mutex_unlock(&taken->lock);
}

static void await_taken(struct taken *taken, int n)
{
	pthread_mutex_lock(&taken->lock);
	while (taken->n < n)
		pthread_cond_wait(&taken->more, &taken->lock);
	pthread_mutex_unlock(&taken->lock);
}

static struct srv_acceptor *start(struct taken *taken)
{
	struct srv_listen_fault fault;
	*taken = (struct taken){.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
	taken->listen_fd = srv_bind("127.0.0.1", &taken->port, &fault);
	assert_true(taken->listen_fd >= 0 && srv_listen(taken->listen_fd, &fault));
	const struct srv_acceptor_target target = {add, taken};
	struct srv_acceptor *acceptor = srv_acceptor_start(&taken->listen_fd, 1, &target);
	assert_non_null(acceptor);
	return acceptor;
}

static void stop(struct taken *taken, struct srv_acceptor *acceptor)
{
	srv_acceptor_stop(acceptor);
	for (int i = 0; i < taken->n; i++)
		close(taken->fds[i]);
	close(taken->listen_fd);
}

static int open_client(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	return fd;
}

static void connect_to(const struct taken *taken, int fd)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)taken->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
}

/* Open descriptors above the limit stay open. @return the old limit */
static rlim_t allow_files(rlim_t n)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	const rlim_t before = limit.rlim_cur;
	limit.rlim_cur = n;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

static void test_each_connection_is_handed_out(void **state)
{
	struct taken taken;
	struct srv_acceptor *acceptor = start(&taken);
	char byte = 'x';
	(void)state;
	for (int i = 1; i <= 3; i++) {
		int fd = open_client();
		connect_to(&taken, fd);
		await_taken(&taken, i);
		assert_true(fcntl(taken.fds[i - 1], F_GETFL) & O_NONBLOCK);
		assert_true(fcntl(taken.fds[i - 1], F_GETFD) & FD_CLOEXEC);
		assert_int_equal(write(taken.fds[i - 1], &byte, 1), 1);
		assert_int_equal(read(fd, &byte, 1), 1);
		close(fd);
	}
	stop(&taken, acceptor);
}

static int port_of(int fd)
{
	struct sockaddr_in address;
	socklen_t bytes = sizeof address;
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &bytes), 0);
	return ntohs(address.sin_port);
}

/* Three connections wait at one socket and one at another, which must be the second to be handed out. */
static void test_sockets_take_turns(void **state)
{
	struct taken taken = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
	struct taken ports[2] = {0};
	int listen_fds[2], clients[4];
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct srv_listen_fault fault;
		listen_fds[i] = srv_bind("127.0.0.1", &ports[i].port, &fault);
		assert_true(srv_listen(listen_fds[i], &fault));
	}
	for (int i = 0; i < 4; i++) {
		clients[i] = open_client();
		connect_to(&ports[i == 3], clients[i]);
	}
	const struct srv_acceptor_target target = {add, &taken};
	struct srv_acceptor *acceptor = srv_acceptor_start(listen_fds, 2, &target);
	await_taken(&taken, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(port_of(taken.fds[i]), ports[i == 1].port);
	taken.listen_fd = listen_fds[0];
	stop(&taken, acceptor);
	close(listen_fds[1]);
	for (int i = 0; i < 4; i++)
		close(clients[i]);
}

static long long now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void test_without_files_connections_wait(void **state)
{
	struct taken taken;
	struct srv_acceptor *acceptor = start(&taken);
	const int fd = open_client();
	(void)state;
	const rlim_t files = allow_files(STDERR_FILENO + 1);
	const long long began = now_ms();
	const int n_before = atomic_load(&n_accepts);
	connect_to(&taken, fd);
	usleep(50000); /* gives a wrong order time to occur; a correct run does not depend on it */
	const int n_tries = atomic_load(&n_accepts) - n_before;
	assert_true(n_tries <= (now_ms() - began) / PAUSE_MS + 2);
	pthread_mutex_lock(&taken.lock);
	assert_int_equal(taken.n, 0);
	pthread_mutex_unlock(&taken.lock);
	allow_files(files);
	await_taken(&taken, 1);
	close(fd);
	stop(&taken, acceptor);
}

static void test_stops_while_waiting_for_files(void **state)
{
	struct taken taken;
	struct srv_acceptor *acceptor = start(&taken);
	const int fd = open_client();
	(void)state;
	const rlim_t files = allow_files(STDERR_FILENO + 1);
	connect_to(&taken, fd);
	stop(&taken, acceptor);
	allow_files(files);
	assert_int_equal(taken.n, 0);
	struct pollfd closed = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&closed, 1, PATIENCE_MS), 1); /* never accepted, so the system resets it */
	close(fd);
}

static int count_files(void)
{
	int n = 0;
	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

static void test_no_file_stays_open(void **state)
{
	struct taken taken;
	(void)state;
	const int before = count_files();
	struct srv_acceptor *acceptor = start(&taken);
	stop(&taken, acceptor);
	assert_int_equal(count_files(), before);
}

static void test_stopping_none_is_fine(void **state)
{
	(void)state;
	srv_acceptor_stop(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_connection_is_handed_out),
		cmocka_unit_test(test_sockets_take_turns),
		cmocka_unit_test(test_without_files_connections_wait),
		cmocka_unit_test(test_stops_while_waiting_for_files),
		cmocka_unit_test(test_no_file_stays_open),
		cmocka_unit_test(test_stopping_none_is_fine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
