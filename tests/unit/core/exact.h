/**
 * Geometry in 113-bit arithmetic, built into gcc and clang: differences and products of doubles of similar size are
 * exact. The formulas are those of docs/physics.md 1, implemented independently of core/geometry/geometry.c.
 */
#ifndef TESTS_EXACT_H
#define TESTS_EXACT_H

#include "tests/unit/core/check.h"

__extension__ typedef __float128 exact;

struct exact3 {
	exact x[3];
};

static inline struct exact3 exact_between(const double *from, const double *to, int dim)
{
	struct exact3 d = {{0}};
	for (int i = 0; i < dim; i++)
		d.x[i] = (exact)to[i] - from[i];
	return d;
}

static inline exact exact_dot(struct exact3 a, struct exact3 b)
{
	return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static inline struct exact3 exact_cross(struct exact3 a, struct exact3 b)
{
	return (struct exact3){
		{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

/* Two Newton steps from the root in long double. */
static inline exact exact_sqrt(exact a)
{
	exact x = sqrtl((long double)a);
	for (int i = 0; i < 2 && x > 0; i++)
		x = (x + a / x) / 2;
	return x;
}

static inline exact exact_norm(struct exact3 a)
{
	return exact_sqrt(exact_dot(a, a));
}

static inline exact exact_abs(exact a)
{
	return a < 0 ? -a : a;
}

/* |actual - expected| <= relative * max(|expected|, floor) */
#define assert_exact(actual, expected, relative, floor) \
	check_exact(actual, expected, relative, floor, #actual, __FILE__, __LINE__)
static inline void check_exact(double actual, exact expected, double relative, double floor, const char *what,
                               const char *file, int line)
{
	const exact size = exact_abs(expected), allowed = relative * (size > floor ? size : (exact)floor);
	if (exact_abs(actual - expected) <= allowed)
		return;
	print_error("%s is %.17g, expected %.17g: off by %.3g\n", what, actual, (double)expected,
	            (double)(actual - expected));
	_fail(file, line);
}

/* Compares a basis column with a vector to be normalised. The second column inherits the error of a cross product. */
#define assert_column(basis, dim, column, vector) check_column(basis, dim, column, vector, __FILE__, __LINE__)
static inline void check_column(const double *basis, int dim, int column, struct exact3 vector, const char *file,
                                int line)
{
	const exact norm = exact_norm(vector);
	for (int i = 0; i < dim; i++)
		check_exact(basis[i * (dim - 1) + column], vector.x[i] / norm, column ? 1e-12 : 1e-15, 1, "basis", file, line);
}

#endif
