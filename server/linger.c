#include "linger.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINGERING = 64, LINGER_MS = 5000, STACK_BYTES = 256 * 1024 };

static atomic_int n_lingering;

static long now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* False at the client's end, or at an error. */
static bool drop_some(int fd, long patience_ms)
{
	char dropped[16384];
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	int ready = poll(&poll_fd, 1, (int)patience_ms);
	if (ready <= 0)
		return ready < 0 && errno == EINTR;
	ssize_t n = recv(fd, dropped, sizeof dropped, MSG_DONTWAIT);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void *linger(void *argument)
{
	int fd = (int)(intptr_t)argument;
	long end = now_ms() + LINGER_MS;
	for (long left = LINGER_MS; left > 0 && drop_some(fd, left); left = end - now_ms())
		;
	close(fd);
	atomic_fetch_sub(&n_lingering, 1);
	return NULL;
}

static bool start(int fd)
{
	pthread_t thread;
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	bool started = pthread_create(&thread, &attributes, linger, (void *)(intptr_t)fd) == 0;
	pthread_attr_destroy(&attributes);
	return started;
}

void srv_linger(int fd)
{
	shutdown(fd, SHUT_WR);
	if (atomic_fetch_add(&n_lingering, 1) < MAX_LINGERING && start(fd))
		return;
	atomic_fetch_sub(&n_lingering, 1);
	close(fd);
}
