/**
 * Parallel loops over contacts or vertices in chunks of fixed size: what a chunk computes does not depend on the number
 * of threads, and the fault with the lowest position wins, whichever thread found it.
 *
 * A parallel region uses all threads of the context, or no region is opened. libgomp ends the threads that a smaller
 * team does not need and would have to start them again later, when the system may refuse.
 */
#ifndef FRIC_PARALLEL_H
#define FRIC_PARALLEL_H

#include "core/base/fault.h"

enum { FRIC_CHUNK = 1024 };

/* Works on [begin, end), chunk number `chunk` of a loop. On a fault it sets *fault and returns: the first one in its
 * chunk. It may return early once the stop flag is raised. */
typedef void chunk_work(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault);

static inline size_t n_chunks(size_t n, size_t size)
{
	return (n + size - 1) / size;
}

/* A loop over [0, n) in chunks of `size`, handed out to whichever thread is free. */
struct phase {
	chunk_work *work;
	size_t n, size;
	bool by_position;      /* the loop counts what fault positions count: no chunk after a fault needs to begin */
	const uint32_t *order; /* [chunks] the order in which they are handed out; NULL: ascending */
};
#define FRIC_MAX_PHASES 4

/* How many threads a loop over n contacts or incidences is worth: one, if waking others costs more than it saves. */
int fricp_team_size(const struct fric_context *context, size_t n);

bool fricp_stop_raised(const struct fric_context *context);

/* Sets bytes to zero, in pieces, until the stop flag is raised: then the rest stays as it is, and whoever goes on has to
 * look at the flag first, as the loops below do. */
void fricp_zero(const struct fric_context *context, void *block, size_t bytes);
/* A block of the context's memory after fricp_zero. @return NULL when out of memory */
void *fricp_take_zeroed(const struct fric_context *context, size_t bytes);

/**
 * Runs up to FRIC_MAX_PHASES phases in one parallel region. A phase begins when the one before it is done, and not at
 * all after a fault. With one thread no region is opened.
 * @return the lowest fault; FRIC_E_STOPPED if the stop flag was raised, even at the very end; FRIC_OK if there is
 * neither
 */
struct fault fricp_parallel_phases(const struct fric_context *context, int n_threads, const struct phase *phases,
                                   int n_phases, void *task);

/* One phase over the chunks of [0, n). */
struct fault fricp_parallel_chunks(const struct fric_context *context, size_t n, chunk_work *work, void *task);

/* Runs work(task, t, n_threads) on each of n_threads = fricp_team_size(context, n) threads, t = 0 to n_threads - 1. */
void fricp_parallel_threads(const struct fric_context *context, size_t n,
                            void (*work)(void *task, int thread, int n_threads), void *task);

#endif
