/**
 * Expected numbers with their scales, and how claims are judged by them: what the comparisons at vertices and at bodies
 * have in common.
 */
#ifndef FRIC_EXPECTED_H
#define FRIC_EXPECTED_H

#include <float.h>
#include <math.h>

#include "core/base/parallel.h"
#include "core/base/quad.h"
#include "core/contacts/contacts.h"

enum { WINDOW = 16384, CHUNK = 64, SERIAL_BELOW = 64 };

struct row;
struct claims;

/* An expected number, and the scale that a difference from it is divided by. */
struct expected {
	long double value, scale;
};

struct findings {
	struct fric_agreement of[FRIC_N_QUANTITIES];
	double relative; /* difference of the worst contact; < 0: none yet */
	size_t contact;
	enum fric_quantity quantity;
};

struct comparing {
	const struct fric_context *context;
	const struct fric_contacts *contacts;
	const struct coefficients *coefficients, *body_coefficients;
	const double *velocities;
	const struct claims *claims;
	quad *areas;               /* of a curve, up to each point */
	size_t ndof, first;        /* contact of the window */
	struct row *rows;          /* [window] */
	struct findings *chunks;   /* [chunks of a window or of the vertices] */
	struct expected *gradient; /* [ndof]; after the comparison, scale is the relative difference */
	struct expected *product;  /* [ndof] the same for the Hessian times test_vector */
	struct expected potential;
	struct findings all;
};

static inline double capped(long double x)
{
	return x <= DBL_MAX ? (double)x : DBL_MAX; /* for a NaN, too */
}

static inline void raise_to(double *most, double x)
{
	if (x > *most)
		*most = x;
}

/* Below the smallest normal double digits are lost, also on the way to a result: no scale is smaller than that. */
static inline long double floored(long double scale)
{
	return scale == 0 || scale > DBL_MIN ? scale : DBL_MIN;
}

static inline double relative_difference(long double claim, struct expected e)
{
	if (e.scale == 0)
		return claim == 0 ? 0 : 1;
	return capped(fabsl(claim - e.value) / e.scale);
}

static inline void add(struct expected *sum, long double value, long double scale)
{
	sum->value += value;
	sum->scale += floored(scale);
}

static inline long double velocity(const void *data, size_t dof)
{
	return ((const double *)data)[dof];
}

/* Pseudorandom, between 1/2 and 1 with either sign: no mistake should have the same pattern. */
static inline long double test_vector(const void *data, size_t dof)
{
	uint64_t x = (uint64_t)dof + 0x9e3779b97f4a7c15u;
	(void)data;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	const long double size = 0.5L + (long double)(x >> 12) * 0x1p-53L;
	return x & 1 ? size : -size;
}

/* What one axis of a contact's relative velocity gains beside its stencil's. */
static inline void add_offset(const struct column offset[3], size_t i, int axis, int sign, struct expected *relative)
{
	const long double x = offset[axis].data ? *column_at(offset[axis], i) : 0;
	relative->value += sign * x;
	relative->scale += fabsl(x);
}

static inline void judge(struct findings *f, enum fric_quantity quantity, size_t contact, double claim,
                         long double value, long double scale)
{
	const double relative = relative_difference(claim, (struct expected){value, floored(scale)});
	raise_to(&f->of[quantity].contacts, relative);
	if (relative > f->relative) {
		f->relative = relative;
		f->contact = contact;
		f->quantity = quantity;
	}
}

static inline void merge(struct findings *all, const struct findings *more)
{
	for (int q = 0; q < FRIC_N_QUANTITIES; q++) {
		raise_to(&all->of[q].largest_difference, more->of[q].largest_difference);
		raise_to(&all->of[q].largest_entry, more->of[q].largest_entry);
		raise_to(&all->of[q].contacts, more->of[q].contacts);
		raise_to(&all->of[q].assembled, more->of[q].assembled);
	}
	if (more->relative > all->relative) {
		all->relative = more->relative;
		all->contact = more->contact;
		all->quantity = more->quantity;
	}
}

#endif
