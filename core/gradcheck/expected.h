/**
 * Expected values with their scales, and their comparison with results. Contacts at vertices (vertices.c) and of bodies
 * (bodies.c) differ in how their members contribute to the slip.
 */
#ifndef FRIC_EXPECTED_H
#define FRIC_EXPECTED_H

#include <float.h>
#include <math.h>

#include "core/base/parallel.h"
#include "core/base/quad.h"
#include "core/bodies/hessian.h"
#include "core/bodies/twist.h"
#include "core/gradcheck/differences.h"

enum { WINDOW = 4096, CHUNK = 64, SERIAL_BELOW = 64 };

struct results;

/* An expected number, and the scale by which a difference from it is divided. */
struct expected {
	long double value, scale;
};

/* The contributions of a contact to the sums, by DOF; kept for a window of contacts. */
struct row {
	int m;
	size_t dof[MOST_BLOCK];
	struct expected potential, gradient[MOST_BLOCK], product[MOST_BLOCK]; /* product: the block times test_vector */
};

/* All expected values of one contact. */
struct reference {
	const struct fric_contacts *contacts; /* all at vertices, or all of bodies */
	size_t i;
	enum fric_type type;
	int n, m; /* number of components of the slip; number of DOFs of its members */
	union {
		struct expected weight[FRIC_MAX_STENCIL];        /* vertices */
		struct expected jacobian[MOST_SLIP][MOST_BLOCK]; /* bodies: derivatives of the slip with respect to the DOFs */
	};
	int n_forces;
	struct expected force[MOST_BLOCK]; /* as in struct results: [dim], or wrenches [m] */
	struct expected inner[MOST_PAIRS];
	struct expected block[MOST_BLOCK][MOST_BLOCK];
	struct row row;
};

/* The law's part, at the contact's slip: forces along the slip are s gradient[t]. */
struct response {
	struct differences law;
	long double s;           /* weight * normal force */
	long double force_scale; /* scale of forces along the slip */
};

struct findings {
	struct fric_agreement of[FRIC_N_QUANTITIES];
	double relative; /* difference of the worst contact; < 0: none yet */
	size_t contact;
	enum fric_quantity quantity;
};

struct comparing {
	const struct fric_context *context;
	const struct fric_contacts *contacts, *here; /* here: the contacts being compared, at vertices or of bodies */
	const struct coefficients *coefficients, *body_coefficients;
	const struct fric_query *query;
	const double *velocities;
	const struct results *results;
	quad *areas;               /* integrals of a curve up to each point */
	size_t ndof, first;        /* first: the first contact of the window */
	struct row *rows;          /* [window] */
	struct findings *chunks;   /* [chunks of a window, or of the vertices] */
	struct expected *gradient; /* [ndof] the comparison replaces scales by relative differences */
	struct expected *product;  /* [ndof] Hessian times test_vector; likewise */
	struct expected potential;
	struct findings all;
};

static inline double capped(long double x)
{
	return x <= DBL_MAX ? (double)x : DBL_MAX; /* also for NaN */
}

static inline void raise_to(double *most, double x)
{
	if (x > *most)
		*most = x;
}

static inline double largest_of(const double *x, size_t n)
{
	double most = 0;
	for (size_t i = 0; i < n; i++)
		raise_to(&most, fabs(x[i]));
	return most;
}

/* The largest mu_aniso of a contact, or 1 for spin and rolling. */
static inline double largest_scaling(const struct fric_contacts *c, enum fric_type type, size_t i)
{
	double most = is_of_bodies(type) ? 1 : 0;
	for (int t = 0; t < c->dim - 1; t++)
		raise_to(&most, *column_at(c->mu_aniso[t], i));
	return most;
}

/* Below the smallest normal double, results and intermediate values lose digits: scales are at least that large. */
static inline long double floored(long double scale)
{
	return scale == 0 || scale > DBL_MIN ? scale : DBL_MIN;
}

static inline double relative_difference(long double result, struct expected e)
{
	if (e.scale == 0)
		return result == 0 ? 0 : 1;
	return capped(fabsl(result - e.value) / e.scale);
}

static inline void add(struct expected *sum, long double value, long double scale)
{
	sum->value += value;
	sum->scale += floored(scale);
}

/* Sets all members except the expected values. */
void fricp_begin_reference(const struct fric_contacts *c, size_t i, struct reference *r);

/* Sets weights or the Jacobian. @param pairs  set to factors of the inner matrix's entries: products of mu_aniso, or
 * 1 */
void fricp_expect_motion(struct reference *r, long double *pairs);

/* A component of the slip, with or without its anchor. Requires fricp_expect_motion.
 * @return its scale is its possible rounding error */
struct expected fricp_expect_slip(const struct reference *r, const double *velocities, int t, bool anchored);

/* A pseudorandom number of either sign between 1/2 and 1, so that no error is likely to cancel. */
static inline long double test_vector(size_t dof)
{
	uint64_t x = (uint64_t)dof + 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	const long double size = 0.5L + (long double)(x >> 12) * 0x1p-53L;
	return x & 1 ? size : -size;
}

/* Adds an offset's component, such as the anchor's, to the relative velocity along one axis. */
static inline void add_offset(const struct column offset[3], size_t i, int axis, int sign, struct expected *relative)
{
	const long double x = offset[axis].data ? *column_at(offset[axis], i) : 0;
	relative->value += sign * x;
	relative->scale += fabsl(x);
}

static inline void judge(struct findings *f, enum fric_quantity quantity, size_t contact, double result,
                         long double value, long double scale)
{
	const double relative = relative_difference(result, (struct expected){value, floored(scale)});
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

/* ---- contacts at vertices (vertices.c) and of bodies (bodies.c) ---- */

/* Computes the weights of the stencil, or the derivatives of the slip with respect to the twists.
 * @param pairs  set to the factors of the inner matrix's entries: products of mu_aniso; 1 for bodies, whose inner
 *               matrices refer to the slip after mu_aniso scaling */
void fricp_expect_weights(struct reference *r, long double *pairs);
void fricp_expect_jacobian(struct reference *r, long double *pairs);

/* A component of the slip, or of the slip without its anchor. The scale is its possible rounding error. */
struct expected fricp_expect_vertex_slip(const struct reference *r, const double *velocities, int t, bool anchored);
struct expected fricp_expect_body_slip(const struct reference *r, const double *velocities, int t, bool anchored);

/* Compute forces or wrenches, blocks and sums. They require the functions above and the inner matrix. */
void fricp_expect_forces(const struct response *at, struct reference *r);
void fricp_expect_wrenches(const struct response *at, struct reference *r);

#endif
