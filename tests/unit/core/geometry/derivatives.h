/**
 * Shared by tests of geometry's derivatives: the geometry of a contact in 113-bit arithmetic, as in docs/physics.md 1,
 * with the branches of one place held, and its central differences.
 */
#ifndef TESTS_GEOMETRY_DERIVATIVES_H
#define TESTS_GEOMETRY_DERIVATIVES_H

#include "core/base/types.h"
#include "core/geometry/derivative.h"

#include "tests/property/scene.h"
#include "tests/unit/core/exact.h"

enum { N_INPUTS = sizeof(struct geometry_inputs) / sizeof(long double), N_VALUES = 9 };
_Static_assert(sizeof(struct geometry_values) == N_VALUES * sizeof(long double), "all are long double");

struct exact_inputs {
	exact x[N_INPUTS];
};

struct exact_values {
	exact x[N_VALUES]; /* closest point, basis, distance */
};

/* The branches that stay fixed. */
struct branches {
	int axis;   /* x or y */
	exact side; /* 1 or -1 */
};

static inline struct exact3 exact_input(const struct exact_inputs *in, int dim, int row)
{
	const exact *x = in->x + 3 * row;
	return (struct exact3){{x[0], x[1], dim == 3 ? x[2] : 0}};
}

static inline struct exact3 exact_minus(struct exact3 a, struct exact3 b)
{
	return (struct exact3){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

static inline struct exact3 exact_times(exact s, struct exact3 a)
{
	return (struct exact3){{s * a.x[0], s * a.x[1], s * a.x[2]}};
}

static inline void exact_column(struct exact_values *v, int dim, int column, struct exact3 a)
{
	const exact norm = exact_norm(a);
	for (int i = 0; i < dim; i++)
		v->x[2 + i * (dim - 1) + column] = a.x[i] / norm;
}

static inline void exact_across(struct exact_values *v, int dim, int axis, struct exact3 n)
{
	struct exact3 e = {{0}};
	e.x[axis] = 1;
	const struct exact3 c = exact_cross(e, n);
	if (dim == 2) {
		exact_column(v, 2, 0, (struct exact3){{-n.x[1], n.x[0], 0}});
		return;
	}
	exact_column(v, 3, 0, c);
	exact_column(v, 3, 1, exact_cross(n, c));
}

/* The normal from the table, and all values except for grain. */
static inline struct exact3 exact_normal_and_values(const struct geometry_case *c, const struct exact_inputs *in,
                                                    struct branches held, struct exact_values *v)
{
	struct exact3 p[5];
	for (int row = 0; row < 5; row++)
		p[row] = exact_input(in, c->dim, row);
	if (geometry_of(c->type) == TWO_POINTS) {
		const struct exact3 n = exact_minus(p[1], p[0]);
		exact_across(v, c->dim, held.axis, n);
		v->x[8] = exact_norm(n);
		return n;
	}
	if (c->type == FRIC_EDGE_VERTEX) {
		const struct exact3 e = exact_minus(p[2], p[1]), r = exact_minus(p[0], p[1]), n = exact_cross(e, r);
		v->x[0] = exact_dot(r, e) / exact_dot(e, e);
		v->x[8] = c->dim == 2 ? held.side * n.x[2] / exact_norm(e) : exact_norm(n) / exact_norm(e);
		exact_column(v, c->dim, 0, e);
		if (c->dim == 3)
			exact_column(v, 3, 1, n);
		return exact_cross(n, e);
	}
	if (c->type == FRIC_EDGE_EDGE || c->type == FRIC_FACE_VERTEX) {
		const bool edges = c->type == FRIC_EDGE_EDGE;
		const struct exact3 a = edges ? exact_minus(p[1], p[0]) : exact_minus(p[2], p[1]);
		const struct exact3 b = edges ? exact_minus(p[3], p[2]) : exact_minus(p[3], p[1]);
		const struct exact3 r = edges ? exact_minus(p[2], p[0]) : exact_minus(p[0], p[1]), n = exact_cross(a, b);
		const struct exact3 second = edges ? exact_cross(r, a) : exact_cross(a, r);
		v->x[0] = exact_dot(exact_cross(r, b), n) / exact_dot(n, n);
		v->x[1] = exact_dot(second, n) / exact_dot(n, n);
		v->x[8] = held.side * exact_dot(r, n) / exact_norm(n);
		exact_column(v, 3, 0, a);
		exact_column(v, 3, 1, exact_cross(n, a));
		return n;
	}
	exact_across(v, c->dim, held.axis, p[4]);
	v->x[8] = held.side * exact_dot(exact_minus(p[0], p[1]), p[4]) / exact_norm(p[4]);
	return p[4];
}

static inline void exact_geometry(const struct geometry_case *c, const struct exact_inputs *in, struct branches held,
                                  struct exact_values *v)
{
	*v = (struct exact_values){{0}};
	struct exact3 n = exact_normal_and_values(c, in, held, v);
	if (!c->has_distance)
		v->x[8] = 0;
	if (!c->has_grain)
		return;
	const struct exact3 grain = {{in->x[15], in->x[16], in->x[17]}};
	n = exact_times(1 / exact_norm(n), n);
	const struct exact3 first = exact_minus(grain, exact_times(exact_dot(grain, n), n));
	exact_column(v, 3, 0, first);
	exact_column(v, 3, 1, exact_cross(n, first));
}

static inline struct branches exact_branches(const struct geometry_case *c, const struct exact_inputs *in)
{
	struct exact_values v;
	const struct geometry_case with = {c->type, c->dim, true, false};
	const struct exact3 n = exact_normal_and_values(&with, in, (struct branches){0, 1}, &v);
	return (struct branches){exact_abs(n.x[1]) > exact_abs(n.x[0]) ? 0 : 1, v.x[8] < 0 ? -1 : 1};
}

/* The numbers of inputs or values, one after the other. */
static inline long double *numbers_of(void *data)
{
	return data;
}

/* The derivative along a direction, from f(at + k h d) with k = -3 .. 3: a central difference of order 6. */
static inline void central_difference(const struct geometry_case *c, const struct geometry_inputs *at,
                                      const struct geometry_inputs *direction, exact h, struct exact_values *out)
{
	static const int weights[] = {0, 45, -9, 1};
	struct geometry_inputs point = *at, step = *direction;
	const long double *x = numbers_of(&point), *d = numbers_of(&step);
	struct exact_inputs in;
	for (int e = 0; e < N_INPUTS; e++)
		in.x[e] = x[e];
	const struct branches held = exact_branches(c, &in);
	*out = (struct exact_values){{0}};
	for (int k = -3; k <= 3; k++) {
		struct exact_values v;
		for (int e = 0; e < N_INPUTS; e++)
			in.x[e] = x[e] + k * h * d[e];
		exact_geometry(c, &in, held, &v);
		for (int e = 0; e < N_VALUES; e++)
			out->x[e] += (k < 0 ? -weights[-k] : weights[k]) * v.x[e] / (60 * h);
	}
}

/* All kinds of contacts: types, dimensions, with distance or without, with grain or without. */
static inline size_t all_cases(struct geometry_case cases[40])
{
	size_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		for (int dim = 2; dim <= 3; dim++)
			for (int has = 0; has < 4; has++) {
				const struct geometry_case c = {type, dim, (has & 1) && type < FRIC_N_VERTEX_TYPES, has & 2};
				const bool flat = fric_closest_point_size(type) < 2;
				if ((dim == 3 || (flat && !c.has_grain)) && c.has_distance == (has & 1))
					cases[n++] = c;
			}
	return n;
}

/* Numbers between -1 and 1, plus an offset for positions, rounded to doubles as all inputs are. */
static inline struct geometry_inputs random_inputs(struct rng *rng, double offset)
{
	struct geometry_inputs in;
	long double *x = numbers_of(&in);
	for (int e = 0; e < N_INPUTS; e++) {
		const bool vector = e / 3 >= 4;
		x[e] = (double)(uniform(rng, -1, 1) + (vector ? 0 : offset));
	}
	return in;
}

static inline exact inner_product(void *a, void *b, int n)
{
	exact sum = 0;
	for (int e = 0; e < n; e++)
		sum += (exact)numbers_of(a)[e] * numbers_of(b)[e];
	return sum;
}

#endif
