#include "server/http/linger.h"

#include "server/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* A place is free if fd is -1. */
struct place {
	int fd;
	long long due_ms;
	unsigned long long turn; /* unique, because descriptor numbers are reused */
};

/* poll runs without the lock; closing a descriptor, or reading from one, requires it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct place places[SRV_MOST_LINGERING];
static unsigned long long n_turns;
static int wake_fd = -1; /* readable after a change; -1 if there is no thread */
static bool stopping;
static pthread_t thread;

static void leave(struct place *place)
{
	if (place->fd >= 0)
		close(place->fd);
	place->fd = -1;
}

/* @return false at the end of the stream or after an error */
static bool drop_some(int fd)
{
	char dropped[16384];
	const ssize_t n = recv(fd, dropped, sizeof dropped, MSG_DONTWAIT);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* ---- the thread ---- */

/* Collects the descriptors to poll. @return the earliest time limit; -1: none */
static long long gather(struct pollfd fds[SRV_MOST_LINGERING + 1], unsigned long long turns[SRV_MOST_LINGERING])
{
	long long first_ms = -1;
	for (int i = 0; i < SRV_MOST_LINGERING; i++) {
		const struct place *place = &places[i];
		fds[i] = (struct pollfd){.fd = place->fd, .events = POLLIN};
		turns[i] = place->turn;
		if (place->fd >= 0 && (first_ms < 0 || place->due_ms < first_ms))
			first_ms = place->due_ms;
	}
	fds[SRV_MOST_LINGERING] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
	return first_ms;
}

/* The turn reveals whether a place has been given to another connection since gather. */
static void tend(const struct pollfd *fds, const unsigned long long *turns)
{
	const long long now = srv_clock_ms();
	for (int i = 0; i < SRV_MOST_LINGERING; i++) {
		struct place *place = &places[i];
		if (fds[i].fd < 0 || place->turn != turns[i])
			continue;
		if (place->due_ms <= now || (fds[i].revents && !drop_some(place->fd)))
			leave(place);
	}
}

static void await(struct pollfd *fds, long long until_ms)
{
	const long long left = until_ms - srv_clock_ms();
	eventfd_t news;
	poll(fds, SRV_MOST_LINGERING + 1, until_ms < 0 ? -1 : left > 0 ? (int)left : 0);
	if (fds[SRV_MOST_LINGERING].revents)
		eventfd_read(fds[SRV_MOST_LINGERING].fd, &news);
}

static void *serve(void *unused)
{
	struct pollfd fds[SRV_MOST_LINGERING + 1];
	unsigned long long turns[SRV_MOST_LINGERING];
	pthread_mutex_lock(&lock);
	while (!stopping) {
		const long long until_ms = gather(fds, turns);
		pthread_mutex_unlock(&lock);
		await(fds, until_ms);
		pthread_mutex_lock(&lock);
		tend(fds, turns);
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

/* ---- start, add, stop ---- */

bool srv_linger_start(void)
{
	for (int i = 0; i < SRV_MOST_LINGERING; i++)
		places[i].fd = -1;
	stopping = false;
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd < 0)
		return false;
	if (pthread_create(&thread, NULL, serve, NULL) == 0)
		return true;
	close(wake_fd);
	wake_fd = -1;
	return false;
}

/* A free place, or else the one that has been in use for longest. */
static struct place *make_room(void)
{
	struct place *oldest = &places[0];
	for (int i = 0; i < SRV_MOST_LINGERING; i++) {
		if (places[i].fd < 0)
			return &places[i];
		if (places[i].turn < oldest->turn)
			oldest = &places[i];
	}
	leave(oldest);
	return oldest;
}

void srv_linger(int fd)
{
	if (fd < 0)
		return;
	shutdown(fd, SHUT_WR);
	pthread_mutex_lock(&lock);
	if (wake_fd < 0) {
		close(fd);
	} else {
		*make_room() = (struct place){fd, srv_clock_ms() + SRV_LINGER_MS, ++n_turns};
		eventfd_write(wake_fd, 1);
	}
	pthread_mutex_unlock(&lock);
}

void srv_linger_stop(void)
{
	pthread_mutex_lock(&lock);
	const int fd = wake_fd;
	wake_fd = -1; /* from now on srv_linger closes connections at once */
	stopping = true;
	pthread_mutex_unlock(&lock);
	if (fd < 0)
		return;
	eventfd_write(fd, 1);
	pthread_join(thread, NULL);
	for (int i = 0; i < SRV_MOST_LINGERING; i++)
		leave(&places[i]);
	close(fd);
}
