/**
 * Parallel loops over contacts or vertices in chunks of fixed size. The result of a chunk does not depend on the number
 * of threads, and the fault with the lowest position is reported, whichever thread found it.
 *
 * A parallel region uses all threads of the context; a loop that is too short for that opens no region. A smaller team
 * would make libgomp end the unused threads and start them again later, when the system may refuse.
 */
#ifndef FRIC_PARALLEL_H
#define FRIC_PARALLEL_H

#include "core/base/fault.h"

enum { FRIC_CHUNK = 1024 };

/* Processes [begin, end), chunk number `chunk` of a loop. On its first fault it sets *fault and returns. It may return
 * early once the stop flag is set. */
typedef void chunk_work(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault);

static inline size_t n_chunks(size_t n, size_t size)
{
	return (n + size - 1) / size;
}

/* A loop over [0, n) in chunks of `size`; each goes to the next free thread. */
struct phase {
	chunk_work *work;
	size_t n, size;
	bool by_position;      /* fault positions are indices of this loop: chunks after a fault may be left out */
	const uint32_t *order; /* [chunks] order in which they are started; NULL: ascending */
};
#define FRIC_MAX_PHASES 5

/* Number of threads for a loop over n contacts or incidences: 1 if waking others costs more than it saves, and for some
 * time after other processes have delayed them so long that one thread would have been faster. If the context sets
 * parallel_from, delays are ignored. */
int fricp_team_size(const struct fric_context *context, size_t n);
/* As fricp_team_size, but 1 if all of them fit into one chunk. */
int fricp_chunk_threads(const struct fric_context *context, size_t n);
/* As fricp_team_size, which never exceeds it, but ignores delays: for decisions that last. */
int fricp_most_threads(const struct fric_context *context, size_t n);

bool fricp_stop_raised(const struct fric_context *context);
/* As fricp_stop_raised, for loops over many short steps: looks at the flag only at some positions i. */
static inline bool fricp_stop_raised_at(const struct fric_context *context, size_t i)
{
	enum { BETWEEN_LOOKS = 1 << 16 };
	return i % BETWEEN_LOOKS == 0 && fricp_stop_raised(context);
}

/* Sets bytes to zero, in pieces, until the stop flag is set; the rest is then left as it is. The caller must check the
 * flag before it uses the block; the loops below do. */
void fricp_zero(const struct fric_context *context, void *block, size_t bytes);
/* A block of the context's memory after fricp_zero. @return NULL when out of memory */
void *fricp_take_zeroed(const struct fric_context *context, size_t bytes);

/**
 * Runs up to FRIC_MAX_PHASES phases in one parallel region. A phase begins when the previous one is done; after a
 * fault, later phases do not run. With one thread no region is opened.
 * @return the lowest fault; FRIC_E_STOPPED if the stop flag was set, even at the very end; otherwise FRIC_OK
 */
struct fault fricp_parallel_phases(const struct fric_context *context, int n_threads, const struct phase *phases,
                                   int n_phases, void *task);

/* Runs a single phase over the chunks of [0, n). */
struct fault fricp_parallel_chunks(const struct fric_context *context, size_t n, chunk_work *work, void *task);

/* Runs work(task, s, n_shares) for s = 0 to n_shares - 1, each on any thread, where n_shares = fricp_team_size(context,
 * n). Ignores the stop flag. */
void fricp_parallel_shares(const struct fric_context *context, size_t n,
                           void (*work)(void *task, int share, int n_shares), void *task);

#endif
