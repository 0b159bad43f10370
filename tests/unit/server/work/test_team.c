/* This program defines pthread_create, which the dynamic linker prefers to the original, so the test sees every thread
 * of the process, including OpenMP's. */
#include "server/work/team.h"

#include <dlfcn.h>
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static atomic_int n_allowed, n_left, n_started;

struct call {
	void *(*run)(void *);
	void *argument;
};

static void *run(void *argument)
{
	struct call call = *(struct call *)argument;
	free(argument);
	void *result = call.run(call.argument);
	atomic_fetch_add(&n_left, 1);
	return result;
}

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*function)(void *), void *argument)
{
	if (atomic_load(&n_started) - atomic_load(&n_left) >= atomic_load(&n_allowed))
		return EAGAIN;
	atomic_fetch_add(&n_started, 1);
	struct call *call = malloc(sizeof *call);
	*call = (struct call){function, argument};
	create *real;
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return real(thread, attributes, run, call);
}

struct plan {
	int allowed, wanted, spare; /* excluding the thread that owns the team */
	int expected;
};

/* Repeated regions of the team's size must start no further thread. */
static void work(int size)
{
	const int before = atomic_load(&n_started);
	atomic_int n;
	for (int i = 0; i < 50; i++) {
		atomic_store(&n, 0);
#pragma omp parallel num_threads(size)
		atomic_fetch_add(&n, 1);
		assert_int_equal(atomic_load(&n), size);
	}
	assert_int_equal(atomic_load(&n_started), before);
}

static void *try(void *argument)
{
	struct plan *plan = argument;
	atomic_store(&n_allowed, atomic_load(&n_started) - atomic_load(&n_left) + plan->allowed);
	const int size = srv_team_start(plan->wanted, plan->spare);
	if (size > 1)
		work(size);
	plan->expected -= size;
	return NULL;
}

/* Runs on a thread of its own, because a team belongs to its thread and ends with it. */
static void test_sizes(void **state)
{
	(void)state;
	static const struct plan plans[] = {{10, 4, 0, 4}, {10, 4, 1, 4}, {3, 4, 0, 4}, {3, 4, 1, 3}, {2, 4, 1, 2},
	                                    {1, 4, 1, 1},  {0, 4, 0, 1},  {0, 4, 1, 0}, {1, 4, 2, 0}, {5, 1, 0, 1},
	                                    {5, 1, 3, 1},  {2, 1, 3, 0},  {7, 64, 0, 8}};
	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
		struct plan plan = plans[i];
		pthread_t thread;
		atomic_store(&n_allowed, 1000);
		assert_int_equal(pthread_create(&thread, NULL, try, &plan), 0);
		pthread_join(thread, NULL);
		assert_int_equal(plan.expected, 0);
	}
}

static void *try_limited(void *argument)
{
	int *size = argument;
	*size = srv_team_start(2, 0);
	return NULL;
}

/* The machine's load must not change the size later. */
static void test_not_dynamic(void **state)
{
	(void)state;
	int size;
	pthread_t thread;
	atomic_store(&n_allowed, 1000);
	omp_set_dynamic(1);
	assert_int_equal(pthread_create(&thread, NULL, try_limited, &size), 0);
	pthread_join(thread, NULL);
	assert_int_equal(size, 2);
	assert_int_equal(srv_team_start(2, 0), 2);
	assert_false(omp_get_dynamic());
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_not_dynamic)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
