/**
 * The barrier's energy in 113 bits, from docs/contacts.md, written independently of core/barrier, and random contacts.
 */
#ifndef TESTS_BARRIER_H
#define TESTS_BARRIER_H

#include <math.h>

#include "core/fric.h"
#include "tests/unit/core/exact.h"

/* 2 atanh(s) */
static inline exact exact_atanh(exact s)
{
	exact power = s, sum = 0;
	for (int n = 1; n < 100; n += 2, power *= s * s)
		sum += power / n;
	return 2 * sum;
}

/* ln x, from x = 2^k f. */
static inline exact exact_log(exact x)
{
	int k;
	const double f = frexp((double)x, &k);
	exact y = x;
	k -= f < 0.70710678;
	for (int i = 0; i < k; i++)
		y /= 2;
	for (int i = 0; i > k; i--)
		y *= 2;
	return exact_atanh((y - 1) / (y + 1)) + k * exact_atanh((exact)1 / 3);
}

/* kappa b(d), 0 beyond dmin + dhat. */
static inline exact exact_barrier(const struct fric_barrier *b, exact d)
{
	const exact dmin = b->dmin, dhat = b->dhat, D = d * d - dmin * dmin, E = (2 * dmin + dhat) * dhat;
	exact energy = 0;
	if (D >= E)
		return 0;
	const exact l = b->type == FRIC_CUBIC_BARRIER ? 0 : exact_log(D / E);
	switch (b->type) {
	case FRIC_CLAMPED_LOG: energy = -(D - E) * (D - E) * l; break;
	case FRIC_NORMALIZED_CLAMPED_LOG: energy = -(D / E - 1) * (D / E - 1) * l; break;
	case FRIC_CLAMPED_LOG_SQUARED: energy = (D - E) * (D - E) * l * l; break;
	case FRIC_CUBIC_BARRIER: energy = 2 * (E - D) * (E - D) * (E - D) / (3 * E); break;
	case FRIC_TWO_STAGE:
		energy = 2 * D >= E ? (E - D) * (E - D) / 2 : E * E / 4 * ((exact)0.5 - exact_log(2 * D / E));
		break;
	}
	if (b->scaling == FRIC_SCALING_PHYSICAL)
		energy *= dhat / (b->type == FRIC_NORMALIZED_CLAMPED_LOG ? 1 : E * E);
	return b->stiffness * energy;
}

static inline struct exact3 exact_minus(struct exact3 a, struct exact3 b)
{
	return (struct exact3){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

static inline struct exact3 exact_plus(struct exact3 a, exact s, struct exact3 b)
{
	return (struct exact3){{a.x[0] + s * b.x[0], a.x[1] + s * b.x[1], a.x[2] + s * b.x[2]}};
}

static inline exact exact_clamp(exact x)
{
	return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Distance of a point from a line, or from a segment. */
static inline exact exact_from_line(const struct exact3 *p, bool clamps)
{
	const struct exact3 e = exact_minus(p[2], p[1]), r = exact_minus(p[0], p[1]);
	const exact a = exact_dot(r, e) / exact_dot(e, e);
	return exact_norm(exact_plus(r, -(clamps ? exact_clamp(a) : a), e));
}

static inline exact exact_least(exact a, exact b)
{
	return a < b ? a : b;
}

static inline exact exact_between_lines(const struct exact3 *p, bool clamps)
{
	const struct exact3 a = exact_minus(p[1], p[0]), b = exact_minus(p[3], p[2]), r = exact_minus(p[2], p[0]);
	const struct exact3 n = exact_cross(a, b);
	const exact n2 = exact_dot(n, n);
	if (n2 > 0) {
		const exact s = exact_dot(exact_cross(r, b), n) / n2, t = exact_dot(exact_cross(r, a), n) / n2;
		if (!clamps || (s >= 0 && s <= 1 && t >= 0 && t <= 1))
			return exact_abs(exact_dot(r, n)) / exact_sqrt(n2);
	}
	const struct exact3 by[4][3] = {{p[0], p[2], p[3]}, {p[1], p[2], p[3]}, {p[2], p[0], p[1]}, {p[3], p[0], p[1]}};
	return exact_least(exact_least(exact_from_line(by[0], true), exact_from_line(by[1], true)),
	                   exact_least(exact_from_line(by[2], true), exact_from_line(by[3], true)));
}

static inline exact exact_from_triangle(const struct exact3 *p, bool clamps)
{
	const struct exact3 a = exact_minus(p[2], p[1]), b = exact_minus(p[3], p[1]), r = exact_minus(p[0], p[1]);
	const struct exact3 n = exact_cross(a, b);
	const exact n2 = exact_dot(n, n);
	const exact s = exact_dot(exact_cross(r, b), n) / n2, t = exact_dot(exact_cross(a, r), n) / n2;
	if (!clamps || (s >= 0 && t >= 0 && s + t <= 1))
		return exact_abs(exact_dot(r, n)) / exact_sqrt(n2);
	const struct exact3 by[3][3] = {{p[0], p[1], p[2]}, {p[0], p[1], p[3]}, {p[0], p[2], p[3]}};
	return exact_least(exact_least(exact_from_line(by[0], true), exact_from_line(by[1], true)),
	                   exact_from_line(by[2], true));
}

/* One contact: plane_vertex has its origin and normal as points 1 and 2. */
struct pair {
	enum fric_type type;
	int dim;
	bool searched;
	double weight, mu;
	double p[FRIC_MAX_STENCIL][3];
	struct fric_barrier barrier;
};

static inline exact exact_distance(const struct pair *pair, const struct exact3 p[FRIC_MAX_STENCIL])
{
	switch (pair->type) {
	case FRIC_VERTEX_VERTEX: return exact_norm(exact_minus(p[0], p[1]));
	case FRIC_EDGE_VERTEX: return exact_from_line(p, pair->searched);
	case FRIC_EDGE_EDGE: return exact_between_lines(p, pair->searched || pair->mu > 0);
	case FRIC_FACE_VERTEX: return exact_from_triangle(p, pair->searched);
	default: return exact_abs(exact_dot(exact_minus(p[0], p[1]), p[2])) / exact_norm(p[2]);
	}
}

static inline exact exact_energy(const struct pair *pair, const struct exact3 p[FRIC_MAX_STENCIL])
{
	exact m = 1;
	if (pair->mu > 0) {
		const struct exact3 n = exact_cross(exact_minus(p[1], p[0]), exact_minus(p[3], p[2]));
		const exact c = exact_dot(n, n);
		m = c < pair->mu ? (2 - c / pair->mu) * c / pair->mu : 1;
	}
	return pair->weight * m * exact_barrier(&pair->barrier, exact_distance(pair, p));
}

static inline void exact_points(const struct pair *pair, struct exact3 p[FRIC_MAX_STENCIL])
{
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		for (int x = 0; x < 3; x++)
			p[k].x[x] = pair->p[k][x];
}

/* The energy with two DOFs moved. */
static inline exact exact_moved(const struct pair *pair, int i, exact hi, int j, exact hj)
{
	struct exact3 p[FRIC_MAX_STENCIL];
	exact_points(pair, p);
	p[i / pair->dim].x[i % pair->dim] += hi;
	p[j / pair->dim].x[j % pair->dim] += hj;
	return exact_energy(pair, p);
}

#endif
