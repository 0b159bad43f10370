#include "watch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

struct srv_watched {
	struct srv_watched *before, *after;
	struct timespec due;
	int fd;
};

struct srv_watch {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t news;
	struct srv_watched ring; /* all that are watched and not due; the first is due first, for all have the same time */
	long long seconds;
	bool stopping;
};

static void unlink_watched(struct srv_watched *watched)
{
	watched->before->after = watched->after;
	watched->after->before = watched->before;
	watched->before = watched->after = watched;
}

static bool is_due(const struct srv_watched *watched)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > watched->due.tv_sec ||
	       (now.tv_sec == watched->due.tv_sec && now.tv_nsec >= watched->due.tv_nsec);
}

/* The reading side alone: a goodbye can still be said. */
static void *serve(void *argument)
{
	struct srv_watch *watch = argument;
	pthread_mutex_lock(&watch->lock);
	while (!watch->stopping) {
		struct srv_watched *first = watch->ring.after;
		if (first == &watch->ring) {
			pthread_cond_wait(&watch->news, &watch->lock);
		} else if (is_due(first)) {
			shutdown(first->fd, SHUT_RD);
			unlink_watched(first);
		} else {
			const struct timespec due = first->due; /* first may be gone by then */
			pthread_cond_timedwait(&watch->news, &watch->lock, &due);
		}
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

static void init(struct srv_watch *watch)
{
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->news, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&watch->lock, NULL);
	watch->ring.before = watch->ring.after = &watch->ring;
}

static void destroy(struct srv_watch *watch)
{
	pthread_cond_destroy(&watch->news);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

struct srv_watch *srv_watch_start(long long seconds)
{
	struct srv_watch *watch = calloc(1, sizeof *watch);
	if (!watch)
		return NULL;
	init(watch);
	watch->seconds = seconds;
	if (pthread_create(&watch->thread, NULL, serve, watch) == 0)
		return watch;
	destroy(watch);
	return NULL;
}

struct srv_watched *srv_watch_add(struct srv_watch *watch, int fd)
{
	struct srv_watched *watched = calloc(1, sizeof *watched);
	if (!watched)
		return NULL;
	watched->fd = fd;
	pthread_mutex_lock(&watch->lock);
	clock_gettime(CLOCK_MONOTONIC, &watched->due); /* behind the lock: in order */
	watched->due.tv_sec += watch->seconds;
	watched->after = &watch->ring;
	watched->before = watch->ring.before;
	watched->before->after = watched->after->before = watched;
	const bool wakes = watch->ring.after == watched;
	pthread_mutex_unlock(&watch->lock);
	if (wakes)
		pthread_cond_signal(&watch->news);
	return watched;
}

void srv_watch_remove(struct srv_watch *watch, struct srv_watched *watched)
{
	if (!watched)
		return;
	pthread_mutex_lock(&watch->lock);
	unlink_watched(watched);
	pthread_mutex_unlock(&watch->lock);
	free(watched);
}

void srv_watch_stop(struct srv_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->stopping = true;
	pthread_mutex_unlock(&watch->lock);
	pthread_cond_signal(&watch->news);
	pthread_join(watch->thread, NULL);
	destroy(watch);
}
