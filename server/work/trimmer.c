#include "server/work/trimmer.h"

#include "server/base/clock.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEPT_BYTES = 8 << 20 }; /* free memory that malloc may retain */

struct srv_trimmer {
	pthread_mutex_t lock;
	pthread_cond_t stops;
	pthread_t thread;
	struct api_pool *pools[SRV_TRIMMED_POOLS];
	struct api_sets *sets;
	long long idle_ms;
	bool stopping;
};

/* Waits a second. @return false when it is time to stop */
static bool pass_second(struct srv_trimmer *trimmer)
{
	const struct timespec end = srv_clock_after(1000);
	pthread_mutex_lock(&trimmer->lock);
	while (!trimmer->stopping && pthread_cond_timedwait(&trimmer->stops, &trimmer->lock, &end) == 0)
		;
	const bool goes_on = !trimmer->stopping;
	pthread_mutex_unlock(&trimmer->lock);
	return goes_on;
}

static size_t trim_pools(const struct srv_trimmer *trimmer)
{
	size_t bytes = 0;
	for (int i = 0; i < SRV_TRIMMED_POOLS; i++)
		bytes += api_pool_trim(trimmer->pools[i], trimmer->idle_ms);
	return bytes;
}

/* If a pool had idle blocks, malloc probably has idle memory as well, because large requests also allocate small
 * blocks. Many concurrent small requests leave as much, so malloc is checked once per idle time. mallinfo2 does not
 * report how much of the free memory has already been returned. */
static void *trim(void *argument)
{
	struct srv_trimmer *trimmer = argument;
	long long ms = 0; /* since the last check of malloc */
	while (pass_second(trimmer)) {
		ms += 1000;
		if (trimmer->sets)
			api_sets_expire(trimmer->sets);
		const bool looks = ms >= trimmer->idle_ms;
		if (trim_pools(trimmer) > 0 || (looks && mallinfo2().fordblks > MOST_KEPT_BYTES))
			malloc_trim(0);
		if (looks)
			ms = 0;
	}
	return NULL;
}

struct srv_trimmer *srv_trimmer_start(struct api_pool *const pools[SRV_TRIMMED_POOLS], struct api_sets *sets,
                                      long long idle_seconds)
{
	struct srv_trimmer *trimmer = calloc(1, sizeof *trimmer);
	if (!trimmer)
		return NULL;
	memcpy(trimmer->pools, pools, sizeof trimmer->pools);
	trimmer->sets = sets;
	trimmer->idle_ms = 1000 * idle_seconds;
	pthread_mutex_init(&trimmer->lock, NULL);
	srv_clock_init_condition(&trimmer->stops);
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
