#include "core/base/parallel.h"

#include <omp.h>
#include <sched.h>
#include <time.h>

#include "core/base/memory.h"

/* Waking a thread takes about 50 us; one thread processes this many contacts in that time. */
enum { FRIC_PARALLEL_FROM = 4096 };

/* MOST_LOOKS bounds the time that a thread polls; each poll takes as long as a pause instruction. */
enum { MOST_LOOKS = 6000, LOOKS_BETWEEN_YIELDS = 64 };

/* ---- how many threads ---- */

int fricp_most_threads(const struct fric_context *context, size_t n)
{
	const size_t from = context->parallel_from ? context->parallel_from : FRIC_PARALLEL_FROM;
	return n < from ? 1 : context->n_threads;
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A region does not end before all its threads have arrived. If another process occupies the processor of one of them,
 * that may take several time slices: milliseconds, longer than all the work of the region. So after a region that took
 * longer than one thread would have, no region is opened for a while, long enough to make the loss small. This affects
 * no result. The variable is thread-local because libgomp has a separate thread pool for each thread that opens
 * regions. */
enum { LOSSES_BETWEEN_REGIONS = 16 };
static _Thread_local double alone_until;

static void note_loss(double opened, double alone)
{
	const double end = seconds(), loss = end - opened - alone;
	if (loss > 0)
		alone_until = end + LOSSES_BETWEEN_REGIONS * loss;
}

int fricp_team_size(const struct fric_context *context, size_t n)
{
	const int most = fricp_most_threads(context, n);
	return most > 1 && !context->parallel_from && seconds() < alone_until ? 1 : most;
}

int fricp_chunk_threads(const struct fric_context *context, size_t n)
{
	return n_chunks(n, FRIC_CHUNK) <= 1 ? 1 : fricp_team_size(context, n);
}

/* ---- loops ---- */

bool fricp_stop_raised(const struct fric_context *context)
{
	return context->stop && atomic_load_explicit(context->stop, memory_order_relaxed);
}

enum { ZERO_AT_A_TIME = 1 << 20 }; /* bytes: tens of microseconds, or some hundred in fresh memory */

void fricp_zero(const struct fric_context *context, void *block, size_t bytes)
{
	char *at = block;
	for (size_t rest = bytes, n; rest > 0 && !fricp_stop_raised(context); rest -= n, at += n) {
		n = rest < ZERO_AT_A_TIME ? rest : ZERO_AT_A_TIME;
		memset(at, 0, n);
	}
}

void *fricp_take_zeroed(const struct fric_context *context, size_t bytes)
{
	void *block = memory_take(context->memory, bytes);
	if (block)
		fricp_zero(context, block, bytes);
	return block;
}

/* Shared by the threads of a region. */
struct region {
	const struct fric_context *context;
	void *task;
	atomic_size_t next[FRIC_MAX_PHASES]; /* the next chunk of each phase */
	atomic_size_t done[FRIC_MAX_PHASES]; /* number of chunks done in each phase */
	double alone;                        /* estimated time in seconds that the opening thread would have taken alone */
	atomic_bool failed, stopped;
	atomic_int n_through;   /* number of threads that have finished */
	atomic_size_t position; /* position of the lowest fault */
	struct fault lowest;
	atomic_flag noting; /* a lock for `lowest`. One for all regions would stay locked in a fork of the process */
};

static void note_fault(struct region *region, struct fault fault)
{
	while (atomic_flag_test_and_set_explicit(&region->noting, memory_order_acquire))
		sched_yield();
	if (fault.position < region->lowest.position) {
		region->lowest = fault;
		atomic_store_explicit(&region->position, fault.position, memory_order_relaxed);
	}
	atomic_flag_clear_explicit(&region->noting, memory_order_release);
	atomic_store_explicit(&region->failed, true, memory_order_relaxed);
}

static void run_chunk(struct region *region, const struct phase *phase, size_t chunk)
{
	struct fault fault = {FRIC_OK, SIZE_MAX};
	const size_t begin = chunk * phase->size, rest = phase->n - begin;
	if (phase->by_position && begin > atomic_load_explicit(&region->position, memory_order_relaxed))
		return;
	phase->work(region->task, chunk, begin, begin + (rest < phase->size ? rest : phase->size), &fault);
	if (fault.code != FRIC_OK)
		note_fault(region, fault);
}

/* @return the number of chunks that this thread has run */
static size_t run_phase(struct region *region, const struct phase *phase, int p)
{
	const size_t n = n_chunks(phase->n, phase->size);
	for (size_t mine = 0;; mine++) {
		const size_t i = atomic_fetch_add_explicit(&region->next[p], 1, memory_order_relaxed);
		if (i >= n)
			return mine;
		if (fricp_stop_raised(region->context)) {
			atomic_store_explicit(&region->stopped, true, memory_order_relaxed);
			return mine;
		}
		run_chunk(region, phase, phase->order ? phase->order[i] : i);
		atomic_fetch_add_explicit(&region->done[p], 1, memory_order_release);
	}
}

static bool is_over(struct region *region)
{
	return atomic_load_explicit(&region->failed, memory_order_relaxed) ||
	       atomic_load_explicit(&region->stopped, memory_order_relaxed);
}

static inline void pause_thread(int look)
{
#ifdef __SSE2__
	__builtin_ia32_pause();
#endif
	if (look % LOOKS_BETWEEN_YIELDS == 0)
		sched_yield();
}

/* Waits for threads that have begun chunks of a phase. Unlike a barrier, it does not wait for threads that have not
 * arrived yet. */
static void await_phase(struct region *region, const struct phase *phase, int p)
{
	const size_t n = n_chunks(phase->n, phase->size);
	for (int look = 1; atomic_load_explicit(&region->done[p], memory_order_acquire) < n && !is_over(region); look++)
		pause_thread(look);
}

/* Runs on every thread. A thread that finds the loop failed before it enters a phase leaves that phase to the threads
 * already in it. */
static void run_phases(struct region *region, const struct phase *phases, int n_phases)
{
	for (int p = 0; p < n_phases && !is_over(region); p++) {
		const double begun = seconds();
		const size_t mine = run_phase(region, &phases[p], p);
		const double worked = seconds() - begun, n = (double)n_chunks(phases[p].n, phases[p].size);
		if (p + 1 < n_phases)
			await_phase(region, &phases[p], p);
		if (omp_get_thread_num() == 0)
			region->alone += mine ? worked * n / (double)mine : seconds() - begun;
	}
}

/* The thread that opened the region spins for a while until the others are done: if it slept in the region's barrier,
 * waking it would take about 50 us. */
static void await_others(struct region *region)
{
	const int n_threads = omp_get_num_threads();
	atomic_fetch_add_explicit(&region->n_through, 1, memory_order_relaxed);
	if (omp_get_thread_num() != 0)
		return;
	for (int i = 0; i < MOST_LOOKS && atomic_load_explicit(&region->n_through, memory_order_relaxed) < n_threads; i++)
		pause_thread(i);
}

static void open_region(struct region *region, int n_threads, const struct phase *phases, int n_phases)
{
	const double opened = seconds();
#pragma omp parallel num_threads(n_threads)
	{
		run_phases(region, phases, n_phases);
		await_others(region);
	}
	if (!is_over(region))
		note_loss(opened, region->alone);
}

/* Opens no region for one thread: libgomp gives every thread that opens a region its own thread pool and keeps it. */
struct fault fricp_parallel_phases(const struct fric_context *context, int n_threads, const struct phase *phases,
                                   int n_phases, void *task)
{
	struct region region = {.context = context,
	                        .task = task,
	                        .position = SIZE_MAX,
	                        .lowest = {FRIC_OK, SIZE_MAX},
	                        .noting = ATOMIC_FLAG_INIT};
	if (n_threads > 1)
		open_region(&region, n_threads, phases, n_phases);
	for (int p = 0; n_threads == 1 && p < n_phases && !is_over(&region); p++)
		run_phase(&region, &phases[p], p);
	/* The last chunk may have ended early while no thread took another one: the results may be incomplete. */
	const bool stopped = atomic_load(&region.stopped) || fricp_stop_raised(context);
	return stopped ? (struct fault){FRIC_E_STOPPED, SIZE_MAX} : region.lowest;
}

struct fault fricp_parallel_chunks(const struct fric_context *context, size_t n, chunk_work *work, void *task)
{
	const struct phase phase = {work, n, FRIC_CHUNK, true, NULL};
	return fricp_parallel_phases(context, fricp_chunk_threads(context, n), &phase, 1, task);
}

/* A task divided into equal shares. */
struct shares {
	void (*work)(void *task, int share, int n_shares);
	void *task;
	int n;
};

static void run_share(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct shares *shares = data;
	(void)begin, (void)end, (void)fault;
	shares->work(shares->task, (int)chunk, shares->n);
}

void fricp_parallel_shares(const struct fric_context *context, size_t n,
                           void (*work)(void *task, int share, int n_shares), void *task)
{
	struct shares shares = {work, task, fricp_chunk_threads(context, n)};
	const struct phase phase = {run_share, (size_t)shares.n, 1, false, NULL};
	struct fric_context unstoppable = *context;
	unstoppable.stop = NULL;
	fricp_parallel_phases(&unstoppable, shares.n, &phase, 1, &shares);
}
