/**
 * Loops over contacts or vertices in chunks of fixed size: what a chunk computes does not depend on the number of threads,
 * and the fault with the lowest position wins whatever thread found it.
 *
 * A region has all threads of the context, or none is opened: libgomp lets those go that a smaller team does not need, and
 * would have to start them again, where it may not find any.
 */
#ifndef FRIC_PARALLEL_H
#define FRIC_PARALLEL_H

#include "core/base/fault.h"

enum { FRIC_CHUNK = 1024 };

/* Works on [begin, end), which is piece `chunk` of a loop; sets *fault to the first one it meets and returns then. May
 * return early once the stop flag is raised. */
typedef void chunk_work(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault);

static inline size_t n_chunks(size_t n, size_t size)
{
	return (n + size - 1) / size;
}

/* A loop over [0, n) in pieces of `size`, handed out to whoever is free. */
struct phase {
	chunk_work *work;
	size_t n, size;
	bool by_position;      /* what is looped over is what faults have as positions: none behind a fault need begin */
	const uint32_t *order; /* [pieces] in which they are handed out; NULL: as they come */
};
#define FRIC_MAX_PHASES 4

/* How many threads a loop over n contacts or incidences is worth: one if waking the others costs more than they give. */
int fricp_team_size(const struct fric_context *context, size_t n);

bool fricp_stop_raised(const struct fric_context *context);

/**
 * Runs up to FRIC_MAX_PHASES phases in one parallel region: a phase begins when the one before is done, and does not after
 * a fault. One thread opens no region.
 * @return the lowest fault; FRIC_E_STOPPED if the stop flag is raised, be it at the very end; FRIC_OK if there is none
 */
struct fault fricp_parallel_phases(const struct fric_context *context, int n_threads, const struct phase *phases, int n_phases,
                             void *task);

/* One phase over the chunks of [0, n). */
struct fault fricp_parallel_chunks(const struct fric_context *context, size_t n, chunk_work *work, void *task);

/* Runs work(task, t, n_threads) for t in [0, n_threads), each on a thread of its own; n_threads = fricp_team_size(context, n). */
void fricp_parallel_threads(const struct fric_context *context, size_t n, void (*work)(void *task, int thread, int n_threads),
                    void *task);

#endif
