#include "server/work/admission.h"

#include "server/base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct srv_admission {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t worker;
	size_t max_requests;
	size_t n_places;               /* reserved or waiting; a running job no longer counts */
	struct api_budget bodies;      /* memory of large requests' bodies */
	struct api_budget *budget;     /* memory of all requests */
	struct srv_job *first, **last; /* waiting, in order of arrival */
	struct srv_job *running;
	bool stopping;
	/* Protects the next four members. It is separate from `lock`, because every small request takes it. */
	pthread_mutex_t in_place_lock;
	struct srv_job *in_place;
	size_t n_begun, n_seen; /* number of jobs in place: so far, and at the watcher's last check */
	bool dozes;             /* the watcher sleeps until a job begins */
	pthread_t watcher;
	pthread_cond_t watched; /* signalled when there is work for the watcher, or the worker has ended */
	bool closed;            /* the worker has ended */
};

enum { WATCH_MS = 100 };

/* Takes the next job, with the lock held. @return NULL when stopping and no job can be submitted any more */
static struct srv_job *take(struct srv_admission *admission)
{
	while (!admission->first && !(admission->stopping && admission->n_places == 0))
		pthread_cond_wait(&admission->changed, &admission->lock);
	struct srv_job *job = admission->first;
	if (!job)
		return NULL;
	admission->first = job->next;
	if (!admission->first)
		admission->last = &admission->first;
	admission->n_places--;
	return job;
}

/* Lowers the priority before the first parallel region, because the team's threads inherit it from the one that starts
 * them, so that large requests leave the CPUs to small ones. Low priority alone is not enough: Linux lets a running
 * thread finish its slice of some milliseconds before it switches to one that wakes up, hence short slices (honoured
 * since 6.12, ignored before). */
static void give_way(void)
{
	const struct { /* copied from linux/sched/types.h, which conflicts with sched.h */
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t slice_ns, deadline, period;
	} attributes = {.size = sizeof attributes, .policy = SCHED_OTHER, .nice = SRV_WORKER_NICENESS, .slice_ns = 100000};
	if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0)
		setpriority(PRIO_PROCESS, 0, SRV_WORKER_NICENESS); /* on Linux 0 means the calling thread */
}

/* finish() may free the job, so `running`, which srv_admission_stop follows, is cleared first. */
static void *work(void *argument)
{
	struct srv_admission *admission = argument;
	give_way();
	pthread_mutex_lock(&admission->lock);
	for (struct srv_job *job; (job = take(admission));) {
		bool computes = !admission->stopping;
		admission->running = job;
		pthread_mutex_unlock(&admission->lock);
		if (computes)
			job->compute(job);
		pthread_mutex_lock(&admission->lock);
		admission->running = NULL;
		pthread_mutex_unlock(&admission->lock);
		job->finish(job, computes);
		pthread_mutex_lock(&admission->lock);
	}
	pthread_mutex_unlock(&admission->lock);
	return NULL;
}

/* Unlinks abandoned jobs and returns them as a list. */
static struct srv_job *take_abandoned(struct srv_admission *admission)
{
	struct srv_job *taken = NULL;
	for (struct srv_job **link = &admission->first; *link;) {
		struct srv_job *job = *link;
		if (!job->abandoned || !job->abandoned(job)) {
			link = &job->next;
			continue;
		}
		*link = job->next;
		job->next = taken;
		taken = job;
		admission->n_places--;
	}
	admission->last = &admission->first;
	while (*admission->last)
		admission->last = &(*admission->last)->next;
	return taken;
}

static void finish_all(struct srv_job *jobs)
{
	for (struct srv_job *job = jobs, *next; job; job = next) {
		next = job->next;
		job->finish(job, false);
	}
}

static void look_around(struct srv_admission *admission)
{
	struct srv_job *running = admission->running;
	if (running && running->abandoned && running->abandoned(running))
		atomic_store(&running->stop, true);
	struct srv_job *jobs = take_abandoned(admission);
	if (!jobs)
		return;
	pthread_cond_signal(&admission->changed); /* a stopping worker waits until every place is free */
	pthread_mutex_unlock(&admission->lock);
	finish_all(jobs);
	pthread_mutex_lock(&admission->lock);
}

static void look_in_place(struct srv_admission *admission, bool stops)
{
	pthread_mutex_lock(&admission->in_place_lock);
	for (struct srv_job *job = admission->in_place; job; job = job->next)
		if (stops || job->abandoned(job))
			atomic_store(&job->stop, true);
	pthread_mutex_unlock(&admission->in_place_lock);
}

/* Whether no job has run in place since the last check. Only then must the next one wake the watcher, so that most
 * small requests need not do so. */
static bool may_doze(struct srv_admission *admission)
{
	pthread_mutex_lock(&admission->in_place_lock);
	const bool quiet = !admission->in_place && admission->n_begun == admission->n_seen;
	admission->n_seen = admission->n_begun;
	admission->dozes = quiet;
	pthread_mutex_unlock(&admission->in_place_lock);
	return quiet;
}

/* Waits WATCH_MS, or until there is work. */
static void rest(struct srv_admission *admission)
{
	if (!admission->running && !admission->first && may_doze(admission)) {
		pthread_cond_wait(&admission->watched, &admission->lock);
		return;
	}
	const struct timespec until = srv_clock_after(WATCH_MS);
	pthread_cond_timedwait(&admission->watched, &admission->lock, &until);
}

static void *watch(void *argument)
{
	struct srv_admission *admission = argument;
	pthread_mutex_lock(&admission->lock);
	while (!admission->closed) {
		look_in_place(admission, false);
		look_around(admission);
		if (!admission->closed)
			rest(admission);
	}
	pthread_mutex_unlock(&admission->lock);
	return NULL;
}

static bool start_threads(struct srv_admission *admission)
{
	if (pthread_create(&admission->worker, NULL, work, admission) != 0)
		return false;
	if (pthread_create(&admission->watcher, NULL, watch, admission) == 0)
		return true;
	pthread_mutex_lock(&admission->lock);
	admission->stopping = true;
	pthread_cond_signal(&admission->changed);
	pthread_mutex_unlock(&admission->lock);
	pthread_join(admission->worker, NULL);
	return false;
}

struct srv_admission *srv_admission_start(size_t max_requests, size_t max_bytes, struct api_budget *budget)
{
	struct srv_admission *admission = calloc(1, sizeof *admission);
	if (!admission)
		return NULL;
	pthread_mutex_init(&admission->lock, NULL);
	pthread_mutex_init(&admission->in_place_lock, NULL);
	pthread_cond_init(&admission->changed, NULL);
	srv_clock_init_condition(&admission->watched);
	admission->max_requests = max_requests;
	admission->bodies.most_bytes = max_bytes;
	admission->budget = budget;
	admission->last = &admission->first;
	if (start_threads(admission))
		return admission;
	srv_admission_free(admission);
	return NULL;
}

bool srv_admission_hold(struct srv_admission *admission, size_t memory_bytes, size_t queue_bytes)
{
	if (!api_budget_take(&admission->bodies, queue_bytes))
		return false;
	if (api_budget_take(admission->budget, memory_bytes))
		return true;
	api_budget_give(&admission->bodies, queue_bytes);
	return false;
}

void srv_admission_release(struct srv_admission *admission, size_t memory_bytes, size_t queue_bytes)
{
	api_budget_give(&admission->bodies, queue_bytes);
	api_budget_give(admission->budget, memory_bytes);
}

struct srv_admission_counts srv_admission_counts(struct srv_admission *admission)
{
	pthread_mutex_lock(&admission->lock);
	const size_t n_places = admission->n_places;
	pthread_mutex_unlock(&admission->lock);
	return (struct srv_admission_counts){n_places, atomic_load(&admission->bodies.used_bytes)};
}

bool srv_admission_is_full(struct srv_admission *admission)
{
	pthread_mutex_lock(&admission->lock);
	const bool full = admission->n_places >= admission->max_requests;
	pthread_mutex_unlock(&admission->lock);
	return full;
}

bool srv_admission_reserve(struct srv_admission *admission)
{
	pthread_mutex_lock(&admission->lock);
	bool fits = !admission->stopping && admission->n_places < admission->max_requests;
	if (fits)
		admission->n_places++;
	pthread_mutex_unlock(&admission->lock);
	return fits;
}

void srv_admission_submit(struct srv_admission *admission, struct srv_job *job)
{
	pthread_mutex_lock(&admission->lock);
	job->next = NULL;
	*admission->last = job;
	admission->last = &job->next;
	pthread_cond_signal(&admission->changed);
	pthread_cond_signal(&admission->watched);
	pthread_mutex_unlock(&admission->lock);
}

void srv_admission_begin_in_place(struct srv_admission *admission, struct srv_job *job)
{
	pthread_mutex_lock(&admission->in_place_lock);
	job->next = admission->in_place;
	job->link = &admission->in_place;
	if (job->next)
		job->next->link = &job->next;
	admission->in_place = job;
	admission->n_begun++;
	const bool wakes = admission->dozes;
	admission->dozes = false;
	pthread_mutex_unlock(&admission->in_place_lock);
	if (!wakes)
		return;
	pthread_mutex_lock(&admission->lock);
	pthread_cond_signal(&admission->watched);
	pthread_mutex_unlock(&admission->lock);
}

void srv_admission_end_in_place(struct srv_admission *admission, struct srv_job *job)
{
	pthread_mutex_lock(&admission->in_place_lock);
	*job->link = job->next;
	if (job->next)
		job->next->link = job->link;
	pthread_mutex_unlock(&admission->in_place_lock);
}

void srv_admission_stop(struct srv_admission *admission)
{
	look_in_place(admission, true);
	pthread_mutex_lock(&admission->lock);
	admission->stopping = true;
	if (admission->running)
		atomic_store(&admission->running->stop, true);
	pthread_cond_signal(&admission->changed);
	pthread_mutex_unlock(&admission->lock);
	pthread_join(admission->worker, NULL);
	pthread_mutex_lock(&admission->lock);
	admission->closed = true;
	pthread_cond_signal(&admission->watched);
	pthread_mutex_unlock(&admission->lock);
	pthread_join(admission->watcher, NULL);
}

void srv_admission_free(struct srv_admission *admission)
{
	pthread_cond_destroy(&admission->changed);
	pthread_cond_destroy(&admission->watched);
	pthread_mutex_destroy(&admission->in_place_lock);
	pthread_mutex_destroy(&admission->lock);
	free(admission);
}
