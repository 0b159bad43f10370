#include "core/base/parallel.h"

#include <omp.h>
#include <sched.h>
#include <time.h>

#include "tests/unit/core/check.h"

enum { MANY = 20 * FRIC_CHUNK + 17 };
static const int thread_counts[] = {1, 2, 3, 4, 8};

struct record {
	int visits[MANY];
	size_t first_fault[4];
	int n_faults;
};

static void visit(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	struct record *r = task;
	assert_true(begin == chunk * FRIC_CHUNK && begin < end && end <= begin + FRIC_CHUNK);
	for (size_t i = begin; i < end; i++) {
		r->visits[i]++;
		for (int f = 0; f < r->n_faults; f++)
			if (r->first_fault[f] == i) {
				*fault = (struct fault){FRIC_E_PENETRATION, i};
				return;
			}
	}
}

static void test_every_item_once(void **state)
{
	(void)state;
	static struct record record;
	const size_t sizes[] = {0, 1, FRIC_CHUNK - 1, FRIC_CHUNK, FRIC_CHUNK + 1, 3 * FRIC_CHUNK, MANY};
	for (size_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); t++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			const struct fric_context context = {.n_threads = thread_counts[t], .parallel_from = 1};
			memset(&record, 0, sizeof(record));
			assert_ok(fricp_parallel_chunks(&context, sizes[s], visit, &record).code);
			for (size_t i = 0; i < MANY; i++)
				assert_int_equal(record.visits[i], i < sizes[s]);
		}
}

/* The second chunk starts before the first one fails, and fails after that failure was recorded. */
static atomic_bool second_is_begun, first_has_failed;

static void fail_in_turn(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	(void)task, (void)end;
	atomic_bool *mine = chunk == 0 ? &first_has_failed : &second_is_begun;
	atomic_bool *other = chunk == 0 ? &second_is_begun : &first_has_failed;
	if (chunk == 1)
		atomic_store(mine, true);
	while (!atomic_load(other))
		sched_yield();
	if (chunk == 0)
		atomic_store(mine, true);
	else
		nanosleep(&moment, NULL);
	*fault = (struct fault){FRIC_E_PENETRATION, begin};
}

static void test_a_higher_fault_that_comes_later(void **state)
{
	(void)state;
	const struct fric_context context = {.n_threads = 2, .parallel_from = 1};
	const struct fault fault = fricp_parallel_chunks(&context, 2 * FRIC_CHUNK, fail_in_turn, NULL);
	assert_code(fault.code, FRIC_E_PENETRATION);
	assert_int_equal(fault.position, 0);
}

static void test_lowest_fault_wins(void **state)
{
	(void)state;
	static struct record record;
	const size_t faults[][4] = {{17 * FRIC_CHUNK + 3, 9 * FRIC_CHUNK, 9 * FRIC_CHUNK + 1, MANY - 1},
	                            {5, 4, 2000, 6},
	                            {MANY - 1, MANY - 2, MANY - 1, MANY - 1},
	                            {0, MANY - 1, 1, 2}};
	const size_t lowest[] = {9 * FRIC_CHUNK, 4, MANY - 2, 0};
	for (size_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); t++)
		for (int i = 0; i < 4; i++) {
			const struct fric_context context = {.n_threads = thread_counts[t], .parallel_from = 1};
			memset(&record, 0, sizeof(record));
			record.n_faults = 4;
			memcpy(record.first_fault, faults[i], sizeof(faults[i]));
			const struct fault fault = fricp_parallel_chunks(&context, MANY, visit, &record);
			assert_code(fault.code, FRIC_E_PENETRATION);
			assert_int_equal(fault.position, lowest[i]);
		}
}

static void test_stop(void **state)
{
	(void)state;
	static struct record record;
	for (size_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); t++) {
		atomic_bool stop = true;
		const struct fric_context context = {.n_threads = thread_counts[t], .parallel_from = 1, .stop = &stop};
		memset(&record, 0, sizeof(record));
		assert_code(fricp_parallel_chunks(&context, MANY, visit, &record).code, FRIC_E_STOPPED);
		for (size_t i = 0; i < MANY; i++)
			assert_int_equal(record.visits[i], 0);
		atomic_store(&stop, false);
		assert_ok(fricp_parallel_chunks(&context, MANY, visit, &record).code);
	}
}

/* The first chunk raises the flag while others run: no thread starts another chunk. */
struct halting {
	atomic_bool stop;
	atomic_int begun;
};

static void halt(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	struct halting *h = task;
	(void)begin;
	(void)end;
	(void)fault;
	atomic_fetch_add(&h->begun, 1);
	if (chunk == 0)
		atomic_store(&h->stop, true);
	while (!atomic_load(&h->stop))
		sched_yield();
}

static void test_stop_on_the_way(void **state)
{
	(void)state;
	for (size_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); t++) {
		struct halting h = {false, 0};
		const struct fric_context context = {.n_threads = thread_counts[t], .parallel_from = 1, .stop = &h.stop};
		assert_code(fricp_parallel_chunks(&context, MANY, halt, &h).code, FRIC_E_STOPPED);
		assert_in_range(atomic_load(&h.begun), 1, thread_counts[t]);
	}
}

/* Chunks of three phases: no phase starts before the previous one is complete. */
enum { N_CHUNKS = 37 };

struct sequence {
	atomic_int done[3];
	atomic_bool disorder;
	size_t fault_at; /* the first chunk of the second phase that has a fault */
};

static void step(struct sequence *s, int phase, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	if (phase > 0 && atomic_load(&s->done[phase - 1]) != N_CHUNKS)
		atomic_store(&s->disorder, true);
	if (begin != chunk * 10 || end != begin + (chunk == N_CHUNKS - 1 ? 3 : 10))
		atomic_store(&s->disorder, true);
	if (phase == 1 && chunk >= s->fault_at)
		*fault = (struct fault){FRIC_E_PENETRATION, 1000 - chunk};
	if (chunk == N_CHUNKS - 1) /* keeps the other threads waiting without work */
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	atomic_fetch_add(&s->done[phase], 1);
}

static void step_0(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	step(task, 0, chunk, begin, end, fault);
}

static void step_1(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	step(task, 1, chunk, begin, end, fault);
}

static void step_2(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	step(task, 2, chunk, begin, end, fault);
}

static void test_phases(void **state)
{
	(void)state;
	const struct phase phases[] = {
		{step_0, 363, 10, true, NULL}, {step_1, 363, 10, false, NULL}, {step_2, 363, 10, true, NULL}};
	for (size_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); t++)
		for (int again = 0; again < 20; again++) {
			const struct fric_context context = {.n_threads = 1};
			struct sequence s = {.fault_at = SIZE_MAX};
			assert_ok(fricp_parallel_phases(&context, thread_counts[t], phases, 3, &s).code);
			for (int p = 0; p < 3; p++)
				assert_int_equal(atomic_load(&s.done[p]), N_CHUNKS);
			assert_false(atomic_load(&s.disorder));
			struct sequence faulty = {.fault_at = 20}; /* positions descend, so every chunk must be examined */
			const struct fault fault = fricp_parallel_phases(&context, thread_counts[t], phases, 3, &faulty);
			assert_code(fault.code, FRIC_E_PENETRATION);
			assert_int_equal(fault.position, 1000 - (N_CHUNKS - 1));
			assert_int_equal(atomic_load(&faulty.done[1]), N_CHUNKS);
			assert_int_equal(atomic_load(&faulty.done[2]), 0);
		}
}

static void test_team_size(void **state)
{
	(void)state;
	const struct fric_context usual = {.n_threads = 3}, low = {.n_threads = 3, .parallel_from = 10};
	assert_int_equal(fricp_team_size(&usual, 10), 1);
	assert_int_equal(fricp_most_threads(&usual, 10), 1);
	assert_int_equal(fricp_most_threads(&usual, 1000000), 3);
	assert_int_equal(fricp_team_size(&low, 9), 1);
	assert_int_equal(fricp_team_size(&low, 10), 3);
}

/* The second thread is held up in its first chunk, as if another process had taken its processor. */
static atomic_bool second_has_come;

static void come_late(void *task, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	(void)task, (void)chunk, (void)begin, (void)end, (void)fault;
	if (omp_get_thread_num() == 1 && !atomic_exchange(&second_has_come, true))
		nanosleep(&moment, NULL);
	while (!atomic_load(&second_has_come))
		sched_yield();
}

static void test_late_threads_are_left_out_for_a_while(void **state)
{
	(void)state;
	const struct timespec moment = {.tv_nsec = 1000000};
	const struct phase phase = {come_late, 50, 1, false, NULL};
	const struct fric_context usual = {.n_threads = 2}, stubborn = {.n_threads = 2, .parallel_from = 1};
	assert_ok(fricp_parallel_phases(&usual, 2, &phase, 1, NULL).code);
	assert_int_equal(fricp_team_size(&usual, 1000000), 1);
	assert_int_equal(fricp_most_threads(&usual, 1000000), 2);
	assert_int_equal(fricp_team_size(&stubborn, 1000000), 2);
	while (fricp_team_size(&usual, 1000000) == 1)
		nanosleep(&moment, NULL);
}

static void count_part(void *task, int part, int n_parts)
{
	int *counts = task;
	counts[part]++;
	if (part == 0)
		counts[8] = n_parts;
}

static void test_parts(void **state)
{
	(void)state;
	for (size_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); t++) {
		const struct fric_context context = {.n_threads = thread_counts[t], .parallel_from = 1};
		int counts[9] = {0}, few[9] = {0};
		fricp_parallel_shares(&context, MANY, count_part, counts);
		fricp_parallel_shares(&context, 3, count_part, few);
		for (int i = 0; i < 8; i++)
			assert_int_equal(counts[i], i < thread_counts[t]);
		assert_int_equal(counts[8], thread_counts[t]);
		assert_int_equal(few[0], 1);
		assert_int_equal(few[8], 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_item_once),
		cmocka_unit_test(test_lowest_fault_wins),
		cmocka_unit_test(test_a_higher_fault_that_comes_later),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_stop_on_the_way),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_team_size),
		cmocka_unit_test(test_late_threads_are_left_out_for_a_while),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
