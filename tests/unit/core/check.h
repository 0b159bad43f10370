/**
 * Shared by the tests of core: cmocka, comparisons of doubles, a serial context.
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/fric.h"

static const struct fric_context serial = {.n_threads = 1};

/* The same bits: 0 and -0 differ, and a NaN equals itself. */
#define assert_bits(actual, expected) check_bits(actual, expected, #actual, __FILE__, __LINE__)
static inline void check_bits(double actual, double expected, const char *what, const char *file, int line)
{
	if (memcmp(&actual, &expected, sizeof(actual)) == 0)
		return;
	print_error("%s is %a, expected the bits of %a\n", what, actual, expected);
	_fail(file, line);
}

#define assert_all_bits(actual, expected, n) check_all_bits(actual, expected, n, #actual, __FILE__, __LINE__)
static inline void check_all_bits(const double *actual, const double *expected, size_t n, const char *what,
                                  const char *file, int line)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(&actual[i], &expected[i], sizeof(double)) != 0) {
			print_error("%s[%zu] is %a, expected the bits of %a\n", what, i, actual[i], expected[i]);
			_fail(file, line);
		}
}

/* Within an absolute tolerance; false for a NaN. */
#define assert_near(actual, expected, tolerance) check_near(actual, expected, tolerance, #actual, __FILE__, __LINE__)
static inline void check_near(long double actual, long double expected, long double tolerance, const char *what,
                              const char *file, int line)
{
	if (fabsl(actual - expected) <= tolerance)
		return;
	print_error("%s is %.20Lg, expected %.20Lg: off by %.3Lg, allowed %.3Lg\n", what, actual, expected,
	            fabsl(actual - expected), tolerance);
	_fail(file, line);
}

#define assert_all_near(actual, expected, n, tolerance) \
	check_all_near(actual, expected, n, tolerance, #actual, __FILE__, __LINE__)
static inline void check_all_near(const double *actual, const double *expected, size_t n, double tolerance,
                                  const char *what, const char *file, int line)
{
	for (size_t i = 0; i < n; i++)
		check_near(actual[i], expected[i], tolerance, what, file, line);
}

/* The unit in the last place of x. */
static inline double ulp(double x)
{
	return nextafter(fabs(x), INFINITY) - fabs(x);
}

#define assert_code(actual, expected) assert_int_equal((int)(actual), (int)(expected))

/* Asserts that a call succeeds. */
#define assert_ok(call) assert_code(call, FRIC_OK)

/* A query without a state. */
#define query(v) (&(struct fric_query){.velocities = (v)})

#endif
