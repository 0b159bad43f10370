#include "server/work/admission.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

/* A job that signals its start and, if it has a gate, waits for the gate or the stop flag. */
struct trial {
	struct srv_job job; /* must stay first: converted to and from srv_job */
	sem_t started, *gate;
	int turn; /* position in the order of finishing, from 1 */
	bool computed, saw_stop;
	pthread_t thread;
};

static atomic_int n_finished;

static void compute(struct srv_job *job)
{
	struct trial *trial = (struct trial *)(void *)job;
	trial->thread = pthread_self();
	sem_post(&trial->started);
	while (trial->gate && sem_trywait(trial->gate) != 0 && !atomic_load(&job->stop))
		sched_yield();
	trial->saw_stop = atomic_load(&job->stop);
}

static void finish(struct srv_job *job, bool computed)
{
	struct trial *trial = (struct trial *)(void *)job;
	trial->computed = computed;
	trial->turn = atomic_fetch_add(&n_finished, 1) + 1;
}

static void set_up(struct trial *trial, sem_t *gate)
{
	*trial = (struct trial){.job = {.compute = compute, .finish = finish}, .gate = gate};
	sem_init(&trial->started, 0, 0);
	atomic_store(&n_finished, 0);
}

static void submit(struct srv_admission *admission, struct trial *trial)
{
	assert_true(srv_admission_reserve(admission));
	srv_admission_submit(admission, &trial->job);
}

static void test_bytes(void **state)
{
	(void)state;
	struct api_budget budget = {.most_bytes = 1000};
	struct srv_admission *admission = srv_admission_start(1, 100, &budget);
	assert_true(srv_admission_hold(admission, 600, 60));
	assert_false(srv_admission_hold(admission, 1, 41));
	assert_false(srv_admission_hold(admission, 401, 1));
	assert_true(srv_admission_hold(admission, 400, 40));
	assert_false(srv_admission_hold(admission, 0, 1));
	assert_false(srv_admission_hold(admission, 1, 0));
	assert_false(srv_admission_hold(admission, SIZE_MAX, 0));
	assert_false(srv_admission_hold(admission, 0, SIZE_MAX));
	assert_true(srv_admission_hold(admission, 0, 0));
	srv_admission_release(admission, 600, 60);
	assert_int_equal(atomic_load(&budget.used_bytes), 400);
	assert_true(srv_admission_hold(admission, 600, 0));
	assert_int_equal(srv_admission_counts(admission).held_bytes, 40);
	srv_admission_release(admission, 1000, 40);
	assert_int_equal(srv_admission_counts(admission).held_bytes, 0);
	assert_int_equal(atomic_load(&budget.used_bytes), 0);
	srv_admission_stop(admission);
	srv_admission_free(admission);
}

static atomic_bool is_abandoned;

static bool abandoned(struct srv_job *job)
{
	(void)job;
	return atomic_load(&is_abandoned);
}

/* The watcher sets the flags of abandoned jobs in place, even if it had nothing to watch before. */
static void test_jobs_in_place(void **state)
{
	(void)state;
	struct srv_admission *admission = srv_admission_start(1, 100, NULL);
	for (int round = 0; round < 2; round++) {
		struct srv_job jobs[3] = {{.abandoned = abandoned}, {.abandoned = abandoned}, {.abandoned = abandoned}};
		atomic_store(&is_abandoned, false);
		for (int i = 0; i < 3; i++)
			srv_admission_begin_in_place(admission, &jobs[i]);
		srv_admission_end_in_place(admission, &jobs[1]);
		atomic_store(&is_abandoned, true);
		while (!atomic_load(&jobs[0].stop) || !atomic_load(&jobs[2].stop))
			sched_yield();
		assert_false(atomic_load(&jobs[1].stop));
		srv_admission_end_in_place(admission, &jobs[2]);
		srv_admission_end_in_place(admission, &jobs[0]);
	}
	struct srv_job last = {.abandoned = abandoned};
	atomic_store(&is_abandoned, false);
	srv_admission_begin_in_place(admission, &last);
	srv_admission_stop(admission);
	assert_true(atomic_load(&last.stop));
	srv_admission_end_in_place(admission, &last);
	srv_admission_free(admission);
}

static void *churn(void *admission)
{
	for (size_t i = 0; i < 20000; i++)
		if (srv_admission_hold(admission, i % 700, i % 70))
			srv_admission_release(admission, i % 700, i % 70);
	return NULL;
}

/* The sum is exact after concurrent reservations, some of which are refused. */
static void test_bytes_from_threads(void **state)
{
	(void)state;
	struct api_budget budget = {.most_bytes = 1000};
	struct srv_admission *admission = srv_admission_start(1, 100, &budget);
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, admission), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(srv_admission_counts(admission).held_bytes, 0);
	assert_int_equal(atomic_load(&budget.used_bytes), 0);
	assert_true(srv_admission_hold(admission, 1000, 100));
	srv_admission_release(admission, 1000, 100);
	srv_admission_stop(admission);
	srv_admission_free(admission);
}

static void test_limit(void **state)
{
	(void)state;
	sem_t gate;
	sem_init(&gate, 0, 0);
	struct trial trials[3];
	for (int i = 0; i < 3; i++)
		set_up(&trials[i], &gate);
	struct srv_admission *admission = srv_admission_start(2, 0, NULL);
	submit(admission, &trials[0]);
	sem_wait(&trials[0].started); /* it is running, and no longer waiting */
	submit(admission, &trials[1]);
	submit(admission, &trials[2]);
	assert_false(srv_admission_reserve(admission));
	assert_int_equal(srv_admission_counts(admission).n_waiting, 2);
	sem_post(&gate);
	sem_wait(&trials[1].started);
	assert_int_equal(srv_admission_counts(admission).n_waiting, 1);
	assert_false(srv_admission_is_full(admission));
	assert_true(srv_admission_reserve(admission)); /* a reserved place counts before it is used */
	assert_false(srv_admission_reserve(admission));
	assert_true(srv_admission_is_full(admission));
	struct trial last;
	set_up(&last, NULL);
	srv_admission_submit(admission, &last.job);
	sem_post(&gate);
	sem_post(&gate);
	sem_wait(&last.started);
	srv_admission_stop(admission);
	srv_admission_free(admission);
}

static void test_order(void **state)
{
	(void)state;
	enum { N = 50 };
	static struct trial trials[N];
	struct srv_admission *admission = srv_admission_start(N, 0, NULL);
	for (int i = 0; i < N; i++)
		set_up(&trials[i], NULL);
	for (int i = 0; i < N; i++)
		submit(admission, &trials[i]);
	sem_wait(&trials[N - 1].started);
	srv_admission_stop(admission);
	for (int i = 0; i < N; i++) {
		assert_true(trials[i].computed);
		assert_false(trials[i].saw_stop && i < N - 1);
		assert_int_equal(trials[i].turn, i + 1);
		assert_true(pthread_equal(trials[i].thread, trials[0].thread));
		assert_false(pthread_equal(trials[i].thread, pthread_self()));
	}
	srv_admission_free(admission);
}

static void test_stop(void **state)
{
	(void)state;
	sem_t never;
	sem_init(&never, 0, 0);
	struct trial running, waiting;
	set_up(&running, &never);
	set_up(&waiting, &never);
	struct srv_admission *admission = srv_admission_start(2, 0, NULL);
	submit(admission, &running);
	sem_wait(&running.started);
	submit(admission, &waiting);
	srv_admission_stop(admission);
	assert_true(running.computed);
	assert_true(running.saw_stop);
	assert_int_equal(waiting.turn, 2);
	assert_false(waiting.computed);
	assert_false(srv_admission_reserve(admission));
	srv_admission_free(admission);
}

static void read_niceness(struct srv_job *job)
{
	struct trial *trial = (struct trial *)(void *)job;
	trial->turn = getpriority(PRIO_PROCESS, 0);
}

static void leave(struct srv_job *job, bool computed)
{
	struct trial *trial = (struct trial *)(void *)job;
	trial->computed = computed;
	sem_post(&trial->started);
}

/* The worker runs at a lower priority than the threads that submit. */
static void test_niceness(void **state)
{
	(void)state;
	struct trial trial;
	set_up(&trial, NULL);
	trial.job.compute = read_niceness;
	trial.job.finish = leave;
	struct srv_admission *admission = srv_admission_start(1, 0, NULL);
	submit(admission, &trial);
	sem_wait(&trial.started);
	assert_true(trial.turn >= SRV_WORKER_NICENESS);
	assert_true(getpriority(PRIO_PROCESS, 0) < trial.turn || getpriority(PRIO_PROCESS, 0) >= SRV_WORKER_NICENESS);
	srv_admission_stop(admission);
	srv_admission_free(admission);
}

static void *submit_late(void *arguments)
{
	void **pair = arguments;
	for (int i = 0; i < 1000; i++)
		sched_yield();
	srv_admission_submit(pair[0], pair[1]);
	return NULL;
}

/* Stopping waits for reserved places: their jobs must still be finished. */
static void test_stop_with_a_place_reserved(void **state)
{
	(void)state;
	struct trial late;
	set_up(&late, NULL);
	struct srv_admission *admission = srv_admission_start(1, 0, NULL);
	assert_true(srv_admission_reserve(admission));
	pthread_t thread;
	void *pair[] = {admission, &late};
	pthread_create(&thread, NULL, submit_late, pair);
	srv_admission_stop(admission);
	assert_int_equal(late.turn, 1);
	pthread_join(thread, NULL);
	srv_admission_free(admission);
}

static atomic_bool leaves;

static bool has_left(struct srv_job *job)
{
	(void)job;
	return atomic_load(&leaves);
}

/* The running and the waiting job are both given up; the third, which is not abandoned, is computed. */
static void test_abandoned(void **state)
{
	(void)state;
	struct srv_admission *admission = srv_admission_start(3, 0, NULL);
	sem_t gate;
	struct trial running, waiting, wanted;
	sem_init(&gate, 0, 0);
	atomic_store(&leaves, false);
	set_up(&running, &gate);
	set_up(&waiting, NULL);
	set_up(&wanted, NULL);
	running.job.abandoned = waiting.job.abandoned = has_left;
	submit(admission, &running);
	sem_wait(&running.started);
	submit(admission, &waiting);
	submit(admission, &wanted);
	atomic_store(&leaves, true);
	while (atomic_load(&n_finished) < 3)
		sched_yield();
	srv_admission_stop(admission);
	srv_admission_free(admission);
	assert_true(running.computed && running.saw_stop);
	assert_false(waiting.computed);
	assert_true(waiting.turn > 0);
	assert_true(wanted.computed && !wanted.saw_stop);
}

/* Stopping waits for the reserved place. Its job is given up exactly once, by the worker or by the watcher. */
static void test_stop_with_a_place_for_an_abandoned_job(void **state)
{
	enum { ROUNDS = 50 };
	(void)state;
	atomic_store(&leaves, true);
	for (int round = 0; round < ROUNDS; round++) {
		struct trial late, later;
		set_up(&late, NULL);
		set_up(&later, NULL);
		late.job.abandoned = later.job.abandoned = has_left;
		struct srv_admission *admission = srv_admission_start(2, 0, NULL);
		pthread_t threads[2];
		void *pairs[2][2] = {{admission, &late}, {admission, &later}};
		for (int i = 0; i < 2; i++) {
			assert_true(srv_admission_reserve(admission));
			pthread_create(&threads[i], NULL, submit_late, pairs[i]);
		}
		srv_admission_stop(admission);
		assert_int_equal(atomic_load(&n_finished), 2);
		assert_int_equal(srv_admission_counts(admission).n_waiting, 0);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		srv_admission_free(admission);
	}
}

/* The place of an abandoned job is free at once. */
static void test_an_abandoned_job_leaves_its_place(void **state)
{
	(void)state;
	struct srv_admission *admission = srv_admission_start(1, 0, NULL);
	sem_t gate;
	struct trial running, waiting, next;
	sem_init(&gate, 0, 0);
	atomic_store(&leaves, false);
	set_up(&running, &gate);
	set_up(&waiting, NULL);
	set_up(&next, NULL);
	waiting.job.abandoned = has_left;
	submit(admission, &running);
	sem_wait(&running.started);
	submit(admission, &waiting);
	assert_false(srv_admission_reserve(admission));
	atomic_store(&leaves, true);
	while (atomic_load(&n_finished) < 1)
		sched_yield();
	assert_int_equal(srv_admission_counts(admission).n_waiting, 0);
	submit(admission, &next);
	sem_post(&gate);
	sem_wait(&next.started);
	srv_admission_stop(admission);
	srv_admission_free(admission);
	assert_false(waiting.computed);
	assert_true(next.computed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_abandoned),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_jobs_in_place),
		cmocka_unit_test(test_bytes_from_threads),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_niceness),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_stop_with_a_place_reserved),
		cmocka_unit_test(test_stop_with_a_place_for_an_abandoned_job),
		cmocka_unit_test(test_an_abandoned_job_leaves_its_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
