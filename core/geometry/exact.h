/**
 * Differences of points and their products in double-double, each scaled by a power of two, so that lengths from 2^-300
 * to 2^300 give the same bits and nothing over- or underflows.
 */
#ifndef FRIC_GEOMETRY_EXACT_H
#define FRIC_GEOMETRY_EXACT_H

#include <math.h>
#include <stdbool.h>

#include "core/base/dd.h"

/* Thresholds for zero: of a length, relative to the coordinates, and of a cross product, relative to its factors. */
static const double zero_length = 1e-15, zero_cross = 1e-12;

/* An exact difference of two points times 2^-exponent, its largest component in [1, 2). The zero vector has exponent
 * 0. */
struct vec {
	struct dd x[3];
	int exponent;
	bool is_zero; /* not longer than zero_length times the largest coordinate of its ends */
	bool finite;
};

static inline double norm3(const double x[3])
{
	return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static inline double length(const struct vec *a) /* length of the scaled vector */
{
	return norm3((double[]){a->x[0].hi, a->x[1].hi, a->x[2].hi});
}

static inline void scale(struct vec *a)
{
	double largest = 0;
	for (int i = 0; i < 3; i++)
		largest = fmax(largest, fabs(a->x[i].hi));
	a->exponent = largest > 0 ? ilogb(largest) : 0;
	for (int i = 0; i < 3; i++)
		a->x[i] = (struct dd){scalbn(a->x[i].hi, -a->exponent), scalbn(a->x[i].lo, -a->exponent)};
}

/* to - from */
static inline struct vec difference(int dim, const double *from, const double *to)
{
	struct vec a = {.finite = true};
	double coordinate = 0;
	for (int i = 0; i < dim; i++) {
		a.x[i] = dd_difference(to[i], from[i]);
		a.finite &= isfinite(a.x[i].hi) && isfinite(a.x[i].lo);
		coordinate = fmax(coordinate, fmax(fabs(from[i]), fabs(to[i])));
	}
	if (a.finite) {
		scale(&a);
		a.is_zero = length(&a) <= scalbn(zero_length * coordinate, -a.exponent);
	}
	return a;
}

static inline struct dd dot(const struct vec *a, const struct vec *b)
{
	struct dd s = dd_multiply(a->x[0], b->x[0]);
	for (int i = 1; i < 3; i++)
		s = dd_add(s, dd_multiply(a->x[i], b->x[i]));
	return s;
}

/* a x b; 2D vectors have z = 0 */
static inline struct vec cross(const struct vec *a, const struct vec *b)
{
	struct vec c = {.exponent = a->exponent + b->exponent, .finite = true};
	for (int i = 0; i < 3; i++) {
		const int j = (i + 1) % 3, k = (i + 2) % 3;
		c.x[i] = dd_subtract(dd_multiply(a->x[j], b->x[k]), dd_multiply(a->x[k], b->x[j]));
	}
	const double n = length(&c);
	c.is_zero = n <= zero_cross * (length(a) * length(b));
	return c;
}

#endif
