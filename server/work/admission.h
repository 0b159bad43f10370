/**
 * Decides which requests are computed now, which wait, and which are rejected.
 *
 * Large requests go through one queue to one worker thread: libgomp keeps a pool of threads for every thread that opens
 * a parallel region, so only the worker may open them. It has a lower priority than the threads that serve connections
 * and compute small requests; there is one of these per CPU. The queue is bounded in requests; the bodies of large
 * requests are bounded in bytes, from the moment they become large until they are freed. All bodies count against the
 * memory of all requests.
 */
#ifndef SERVER_ADMISSION_H
#define SERVER_ADMISSION_H

#include "api/base/budget.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* A large request; embedded in the caller's own struct and owned by the caller, who frees it in or after finish(). */
struct srv_job {
	struct srv_job *next, **link;      /* used by the admission only */
	atomic_bool stop;                  /* set when the result is no longer wanted */
	void (*compute)(struct srv_job *); /* on the worker; not called if the queue was stopped before its turn */
	void (*finish)(struct srv_job *, bool computed); /* on any thread of the admission, exactly once */
	/* Whether the result is no longer wanted. Called several times a second while the job waits or runs, never
	 * concurrently with finish. If it returns true, a waiting job is not computed, and the flag of a running one is
	 * set. May be NULL */
	bool (*abandoned)(struct srv_job *);
};

struct srv_admission;

enum { SRV_WORKER_NICENESS = 10 };

/**
 * Starts the worker and a watcher, which inherit the caller's signal mask.
 * @param max_bytes  limit on the memory of all large requests' bodies together
 * @param budget     memory of all requests; NULL: bodies count against max_bytes alone. Borrowed
 * @return NULL if memory or threads run out
 */
struct srv_admission *srv_admission_start(size_t max_requests, size_t max_bytes, struct api_budget *budget);

/**
 * Reserves all the memory for a body, or none of it; srv_admission_release releases it. Neither function blocks.
 * @param memory_bytes  share of the memory of all requests
 * @param queue_bytes   share of max_bytes
 */
bool srv_admission_hold(struct srv_admission *admission, size_t memory_bytes, size_t queue_bytes);
void srv_admission_release(struct srv_admission *admission, size_t memory_bytes, size_t queue_bytes);

struct srv_admission_counts {
	size_t n_waiting;  /* occupied places in the queue */
	size_t held_bytes; /* memory of large bodies */
};
struct srv_admission_counts srv_admission_counts(struct srv_admission *admission);

/* Whether the queue is full at the moment. */
bool srv_admission_is_full(struct srv_admission *admission);
/* Reserves a place in the queue. Call srv_admission_submit afterwards. @return false if the queue is full or stopped */
bool srv_admission_reserve(struct srv_admission *admission);
void srv_admission_submit(struct srv_admission *admission, struct srv_job *job);

/**
 * Registers a job that runs in place, on the caller's own thread. It is watched like a queued job: its flag is set when
 * it is abandoned. Call both functions on that thread; after the second one the job is no longer accessed.
 */
void srv_admission_begin_in_place(struct srv_admission *admission, struct srv_job *job);
void srv_admission_end_in_place(struct srv_admission *admission, struct srv_job *job);

/* Sets the flag of the running job and finishes waiting jobs without computing them. Returns when every reserved place
 * has been submitted and finished; no place can be reserved any more. */
void srv_admission_stop(struct srv_admission *admission);
/* Frees the admission. Call it after srv_admission_stop. */
void srv_admission_free(struct srv_admission *admission);

#endif
