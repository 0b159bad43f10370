#include "server/base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_both_functions_read_the_same_clock(void **state)
{
	(void)state;
	const long long before = srv_clock_us() / 1000 - SRV_CLOCK_TICK_MS, ms = srv_clock_ms(),
					after = srv_clock_us() / 1000;
	assert_true(before <= ms && ms <= after + 1);
}

static void test_a_limit_beyond_a_second_is_a_time(void **state)
{
	(void)state;
	const long long from = srv_clock_us();
	const struct timespec until = srv_clock_after(2999);
	const long long us = until.tv_sec * 1000000LL + until.tv_nsec / 1000;
	assert_in_range(until.tv_nsec, 0, 999999999);
	assert_true(us >= from + 2999000 && us <= srv_clock_us() + 2999000);
}

static void test_a_condition_waits_for_its_limit(void **state)
{
	(void)state;
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition;
	srv_clock_init_condition(&condition);
	const long long from = srv_clock_us();
	const struct timespec until = srv_clock_after(30);
	pthread_mutex_lock(&lock);
	while (pthread_cond_timedwait(&condition, &lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&lock);
	assert_true(srv_clock_us() - from >= 30000);
	pthread_cond_destroy(&condition);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_functions_read_the_same_clock),
		cmocka_unit_test(test_a_limit_beyond_a_second_is_a_time),
		cmocka_unit_test(test_a_condition_waits_for_its_limit),
	};
	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
