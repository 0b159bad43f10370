#include "server/work/watch.h"

#include "server/base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { LOOK_MS = 250 };

struct srv_watch {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t news;
	struct srv_watched ring; /* head of the list of watched connections */
	bool stopping;
};

/* Uses shutdown, which leaves closing to the descriptor's owner. SO_LINGER turns that close into a reset, so that the
 * system retains no data for a client that does not read. */
static void cut(struct srv_watched *watched)
{
	const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
	atomic_store(&watched->was_cut, true);
	setsockopt(watched->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	shutdown(watched->fd, SHUT_RDWR);
}

static void look_at(struct srv_watched *watched, long long now)
{
	long long due = atomic_load(&watched->due);
	if (due == 0 || due / 2 > now || !atomic_compare_exchange_strong(&watched->due, &due, 0))
		return;
	if (due & 1)
		cut(watched);
	else
		shutdown(watched->fd, SHUT_RD);
}

static void rest(struct srv_watch *watch)
{
	const struct timespec until = srv_clock_after(LOOK_MS);
	pthread_cond_timedwait(&watch->news, &watch->lock, &until);
}

static void *serve(void *argument)
{
	struct srv_watch *watch = argument;
	pthread_mutex_lock(&watch->lock);
	while (!watch->stopping) {
		const long long now = srv_clock_ms();
		for (struct srv_watched *w = watch->ring.after; w != &watch->ring; w = w->after)
			look_at(w, now);
		if (watch->ring.after == &watch->ring)
			pthread_cond_wait(&watch->news, &watch->lock);
		else
			rest(watch);
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

static void init(struct srv_watch *watch)
{
	srv_clock_init_condition(&watch->news);
	pthread_mutex_init(&watch->lock, NULL);
	watch->ring.before = watch->ring.after = &watch->ring;
}

static void destroy(struct srv_watch *watch)
{
	pthread_cond_destroy(&watch->news);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

struct srv_watch *srv_watch_start(void)
{
	struct srv_watch *watch = calloc(1, sizeof *watch);
	if (!watch)
		return NULL;
	init(watch);
	if (pthread_create(&watch->thread, NULL, serve, watch) == 0)
		return watch;
	destroy(watch);
	return NULL;
}

void srv_watch_add(struct srv_watch *watch, struct srv_watched *watched, int fd)
{
	watched->fd = fd;
	atomic_init(&watched->due, 0);
	atomic_init(&watched->was_cut, false);
	pthread_mutex_lock(&watch->lock);
	watched->after = &watch->ring;
	watched->before = watch->ring.before;
	watched->before->after = watched->after->before = watched;
	const bool wakes = watch->ring.after == watched;
	pthread_mutex_unlock(&watch->lock);
	if (wakes)
		pthread_cond_signal(&watch->news);
}

void srv_watch_remove(struct srv_watch *watch, struct srv_watched *watched)
{
	pthread_mutex_lock(&watch->lock);
	watched->before->after = watched->after;
	watched->after->before = watched->before;
	pthread_mutex_unlock(&watch->lock);
}

void srv_watch_allow(struct srv_watched *watched, long long milliseconds, enum srv_lateness lateness)
{
	atomic_store_explicit(&watched->due, 2 * (srv_clock_ms() + milliseconds) + (lateness == SRV_LATE_CUTS),
	                      memory_order_relaxed);
}

void srv_watch_relieve(struct srv_watched *watched)
{
	atomic_store_explicit(&watched->due, 0, memory_order_relaxed);
}

bool srv_watch_was_cut(const struct srv_watched *watched)
{
	return atomic_load(&watched->was_cut);
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
