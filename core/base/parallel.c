#include "core/base/parallel.h"

#include <omp.h>
#include <sched.h>

#include "core/base/memory.h"

/* Waking a thread takes about 50 us; one thread processes this many contacts in that time. */
enum { FRIC_PARALLEL_FROM = 4096 };

/* One poll takes as long as the processor's pause instruction. */
enum { MOST_LOOKS = 6000, LOOKS_BETWEEN_YIELDS = 64 };

int fricp_team_size(const struct fric_context *context, size_t n)
{
	const size_t from = context->parallel_from ? context->parallel_from : FRIC_PARALLEL_FROM;
	return n < from ? 1 : context->n_threads;
}

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
	atomic_size_t next[FRIC_MAX_PHASES]; /* chunk of each phase */
	atomic_bool failed, stopped;
	atomic_int n_through;   /* threads that are done */
	atomic_size_t position; /* of the lowest fault */
	struct fault lowest;
};

static void note_fault(struct region *region, struct fault fault)
{
#pragma omp critical(fric_lowest_fault)
	if (fault.position < region->lowest.position) {
		region->lowest = fault;
		atomic_store_explicit(&region->position, fault.position, memory_order_relaxed);
	}
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

static void run_phase(struct region *region, const struct phase *phase, atomic_size_t *next)
{
	const size_t n = n_chunks(phase->n, phase->size);
	for (;;) {
		const size_t i = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
		if (i >= n)
			return;
		if (fricp_stop_raised(region->context)) {
			atomic_store_explicit(&region->stopped, true, memory_order_relaxed);
			return;
		}
		run_chunk(region, phase, phase->order ? phase->order[i] : i);
	}
}

static bool is_over(struct region *region)
{
	return atomic_load_explicit(&region->failed, memory_order_relaxed) ||
	       atomic_load_explicit(&region->stopped, memory_order_relaxed);
}

/* Runs on every thread. A thread that finds the loop failed before it enters a phase leaves that phase to the threads
 * already in it. */
static void run_phases(struct region *region, const struct phase *phases, int n_phases)
{
	for (int p = 0; p < n_phases; p++) {
		if (!is_over(region))
			run_phase(region, &phases[p], &region->next[p]);
		if (p + 1 < n_phases) {
#pragma omp barrier
		}
	}
}

static inline void pause_thread(void)
{
#ifdef __SSE2__
	__builtin_ia32_pause();
#endif
}

/* The thread that opened the region spins for a while until the others are done: if it slept in the region's barrier,
 * waking it would take about 50 us. */
static void await_others(struct region *region)
{
	const int n_threads = omp_get_num_threads();
	atomic_fetch_add_explicit(&region->n_through, 1, memory_order_relaxed);
	if (omp_get_thread_num() != 0)
		return;
	for (int i = 0; i < MOST_LOOKS && atomic_load_explicit(&region->n_through, memory_order_relaxed) < n_threads; i++) {
		pause_thread();
		if (i % LOOKS_BETWEEN_YIELDS == 0)
			sched_yield();
	}
}

/* Opens no region for one thread: libgomp gives every thread that opens a region its own thread pool and keeps it. */
struct fault fricp_parallel_phases(const struct fric_context *context, int n_threads, const struct phase *phases,
                                   int n_phases, void *task)
{
	struct region region = {.context = context, .task = task, .position = SIZE_MAX, .lowest = {FRIC_OK, SIZE_MAX}};
	if (n_threads == 1) {
		for (int p = 0; p < n_phases && !is_over(&region); p++)
			run_phase(&region, &phases[p], &region.next[p]);
	} else {
#pragma omp parallel num_threads(n_threads)
		{
			run_phases(&region, phases, n_phases);
			await_others(&region);
		}
	}
	/* The last chunk may have ended early while no thread took another one: the results may be incomplete. */
	const bool stopped = atomic_load(&region.stopped) || fricp_stop_raised(context);
	return stopped ? (struct fault){FRIC_E_STOPPED, SIZE_MAX} : region.lowest;
}

struct fault fricp_parallel_chunks(const struct fric_context *context, size_t n, chunk_work *work, void *task)
{
	const struct phase phase = {work, n, FRIC_CHUNK, true, NULL};
	const int n_threads = n_chunks(n, FRIC_CHUNK) <= 1 ? 1 : fricp_team_size(context, n);
	return fricp_parallel_phases(context, n_threads, &phase, 1, task);
}

void fricp_parallel_threads(const struct fric_context *context, size_t n,
                            void (*work)(void *task, int thread, int n_threads), void *task)
{
	const int n_threads = n_chunks(n, FRIC_CHUNK) <= 1 ? 1 : fricp_team_size(context, n);
	if (n_threads == 1) {
		work(task, 0, 1);
		return;
	}
#pragma omp parallel for num_threads(n_threads) schedule(static, 1)
	for (int thread = 0; thread < n_threads; thread++)
		work(task, thread, n_threads);
}
