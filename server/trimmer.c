#include "trimmer.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

struct srv_trimmer {
	pthread_mutex_t lock;
	pthread_cond_t stops;
	pthread_t thread;
	struct api_pool *pool;
	long long idle_ms;
	bool stopping;
};

/* False when it is time to stop. */
static bool pass_second(struct srv_trimmer *trimmer)
{
	struct timespec end;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec++;
	pthread_mutex_lock(&trimmer->lock);
	while (!trimmer->stopping && pthread_cond_timedwait(&trimmer->stops, &trimmer->lock, &end) == 0)
		;
	const bool goes_on = !trimmer->stopping;
	pthread_mutex_unlock(&trimmer->lock);
	return goes_on;
}

/* Requests that used large blocks have used small ones, too, and malloc keeps those. */
static void *trim(void *argument)
{
	struct srv_trimmer *trimmer = argument;
	while (pass_second(trimmer))
		if (api_pool_trim(trimmer->pool, trimmer->idle_ms) > 0)
			malloc_trim(0);
	return NULL;
}

struct srv_trimmer *srv_trimmer_start(struct api_pool *pool, long long idle_seconds)
{
	struct srv_trimmer *trimmer = calloc(1, sizeof *trimmer);
	pthread_condattr_t attributes;
	if (!trimmer)
		return NULL;
	trimmer->pool = pool;
	trimmer->idle_ms = 1000 * idle_seconds;
	pthread_mutex_init(&trimmer->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&trimmer->stops, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&trimmer->thread, NULL, trim, trimmer) == 0)
		return trimmer;
	free(trimmer);
	return NULL;
}

void srv_trimmer_stop(struct srv_trimmer *trimmer)
{
	if (!trimmer)
		return;
	pthread_mutex_lock(&trimmer->lock);
	trimmer->stopping = true;
	pthread_cond_signal(&trimmer->stops);
	pthread_mutex_unlock(&trimmer->lock);
	pthread_join(trimmer->thread, NULL);
	pthread_cond_destroy(&trimmer->stops);
	pthread_mutex_destroy(&trimmer->lock);
	free(trimmer);
}
