/**
 * Which requests are computed now, which wait, and which are rejected.
 *
 * Large requests go through one queue to one worker thread: libgomp keeps a pool of threads for every thread that opens
 * a parallel region, so only this one may. It has a lower priority than the threads that serve connections and compute
 * small requests, of which there are as many as CPUs, so that as many are computed at a time. The queue has a ceiling
 * in requests; the bodies of large requests have one in bytes, from the moment they become large until they are freed.
 * All bodies count against the memory of all requests.
 */
#ifndef SERVER_ADMISSION_H
#define SERVER_ADMISSION_H

#include "api/base/budget.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* A large request; embedded in the caller's own struct and owned by the caller, who frees it in or after finish(). */
struct srv_job {
	struct srv_job *next, **link;      /* private */
	atomic_bool stop;                  /* raised when the result is no longer wanted */
	void (*compute)(struct srv_job *); /* on the worker; not called if the queue was stopped before its turn */
	void (*finish)(struct srv_job *, bool computed); /* on a thread of the admission, exactly once */
	/* Whether the result is no longer wanted: asked several times a second while the job waits or is computed, never at
	 * the same time as finish. If so, the job is not computed, or its flag is raised. May be NULL */
	bool (*abandoned)(struct srv_job *);
};

struct srv_admission;

enum { SRV_WORKER_NICENESS = 10 };

/**
 * Starts the worker and a watcher, with all signals blocked as the caller has them.
 * @param max_bytes  most memory of the bodies of large requests together
 * @param budget     the memory of all requests; NULL: bodies count against max_bytes alone. Borrowed
 * @return NULL when memory or threads do not suffice
 */
struct srv_admission *srv_admission_start(size_t max_requests, size_t max_bytes, struct api_budget *budget);

/**
 * Takes memory for a body, or nothing. Give back with srv_admission_release. Neither waits for a lock.
 * @param memory_bytes  of the memory of all requests
 * @param queue_bytes   of max_bytes
 */
bool srv_admission_hold(struct srv_admission *admission, size_t memory_bytes, size_t queue_bytes);
void srv_admission_release(struct srv_admission *admission, size_t memory_bytes, size_t queue_bytes);

struct srv_admission_counts {
	size_t n_waiting;  /* places in the queue that are taken */
	size_t held_bytes; /* of large bodies */
};
struct srv_admission_counts srv_admission_counts(struct srv_admission *admission);

/* Whether there is no place at the moment. */
bool srv_admission_is_full(struct srv_admission *admission);
/* Takes a place in the queue, or false when it is full or stopped. Must be followed by srv_admission_submit. */
bool srv_admission_reserve(struct srv_admission *admission);
void srv_admission_submit(struct srv_admission *admission, struct srv_job *job);

/**
 * A job that is computed where it is, on the caller's own thread, is watched like one of the queue: its flag is raised
 * when it is abandoned. Both functions are called on that thread; after the second one nothing touches the job.
 */
void srv_admission_begin_in_place(struct srv_admission *admission, struct srv_job *job);
void srv_admission_end_in_place(struct srv_admission *admission, struct srv_job *job);

/* Raises the flag of the job under computation and finishes those that wait without computing them. Returns when every
 * reserved place has been submitted and finished; from now on nothing can be reserved. */
void srv_admission_stop(struct srv_admission *admission);
/* After srv_admission_stop. */
void srv_admission_free(struct srv_admission *admission);

#endif
