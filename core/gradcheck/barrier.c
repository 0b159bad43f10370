#include "core/gradcheck/barrier.h"

#include <math.h>
#include <string.h>

#include "core/motion/stencil.h"

enum { MOST_DOFS = 3 * FRIC_MAX_STENCIL };

/* Steps are this fraction of the length over which the energy changes. Differences are extrapolated, so that what they
 * neglect is of the fourth order. */
#define STEP 0x1p-10L
#define SHORT_STEP 0x1p-32L /* where the third derivative jumps */

/* One contact at its positions. */
struct subject {
	const struct fric_contacts *c;
	enum fric_type type;
	int dim, n; /* n: DOFs of its members */
	unsigned members;
	int start[2]; /* the member of each side from which the others are seen */
	bool mollified;
	double mu, weight;
	double normal[3], origin[3]; /* of a plane */
	quad x[MOST_DOFS];           /* positions of the members, 3 per member */
};

static quad dot(const quad *a, const quad *b)
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Takes those that are nearest to each other: the difference of two that are far away would be rounding. */
static void choose_start(struct subject *s)
{
	const struct member *members = stencil_members(s->type);
	const int n = fric_stencil_size(s->type);
	quad least = -1;
	for (int k = 0; k < n; k++)
		for (int m = 0; m < n; m++) {
			quad r[3];
			if (members[k].sign < 0 || members[m].sign > 0 || !(s->members >> k & s->members >> m & 1))
				continue;
			for (int d = 0; d < 3; d++)
				r[d] = s->x[3 * k + d] - s->x[3 * m + d];
			if (least >= 0 && dot(r, r) >= least)
				continue;
			least = dot(r, r);
			s->start[0] = k;
			s->start[1] = m;
		}
}

static struct subject subject_of(const struct fric_query *query, const struct reference *r)
{
	const struct fric_current *current = query->current;
	const struct fric_contacts *c = r->contacts;
	struct subject s = {.c = c,
	                    .type = r->type,
	                    .dim = c->dim,
	                    .n = r->m,
	                    .members = current->feature[r->i],
	                    .mollified = current->form[r->i] & FORM_MOLLIFIED,
	                    .weight = *column_at(c->weight, r->i)};
	for (int k = 0; k < fric_stencil_size(r->type); k++)
		for (int d = 0; d < c->dim; d++)
			s.x[3 * k + d] = current->positions[(size_t)c->vertices[k][r->i] * (size_t)c->dim + (size_t)d];
	choose_start(&s);
	if (s.mollified)
		s.mu = *column_at(c->mollifier, r->i);
	for (int d = 0; d < 3 && r->type == FRIC_PLANE_VERTEX; d++) {
		s.normal[d] = c->plane[d][r->i - c->start[r->type]];
		s.origin[d] = c->plane[3 + d][r->i - c->start[r->type]];
	}
	return s;
}

/* ---- distance ---- */

/* The difference r of the closest points and the weights of the members. */
struct closest {
	quad r[3], weight[FRIC_MAX_STENCIL], distance;
	quad steepness; /* how fast the closest point moves: length of edges over the height of what they span */
};

static void plane_distance(const struct subject *s, const quad *x, struct closest *out)
{
	quad n[3], r[3];
	for (int d = 0; d < 3; d++) {
		n[d] = s->normal[d];
		r[d] = x[d] - s->origin[d];
	}
	const quad along = dot(r, n) / dot(n, n);
	for (int d = 0; d < 3; d++)
		out->r[d] = along * n[d];
	out->weight[0] = 1;
	out->distance = quad_root(dot(out->r, out->r));
	out->steepness = 0;
}

/* Minimises |r0 + a e0 + b e1|^2; n: number of directions. */
static quad minimise(int n, const quad *r, quad e[2][3], quad at[2])
{
	const quad g00 = dot(e[0], e[0]), g01 = dot(e[0], e[1]), g11 = dot(e[1], e[1]), p = -dot(r, e[0]),
			   q = -dot(r, e[1]);
	at[0] = at[1] = 0;
	if (n == 0)
		return 0;
	if (n == 1) {
		at[0] = p / g00;
		return 1 / quad_root(g00);
	}
	const quad determinant = g00 * g11 - g01 * g01;
	at[0] = (p * g11 - q * g01) / determinant;
	at[1] = (q * g00 - p * g01) / determinant;
	return (quad_root(g00) + quad_root(g11)) / quad_root(determinant);
}

static void find_closest(const struct subject *s, const quad *x, struct closest *out)
{
	const struct member *members = stencil_members(s->type);
	const int *start = s->start;
	int which[2] = {0, 0}, n = 0;
	quad e[2][3] = {{0}}, at[2], r[3];
	memset(out, 0, sizeof(*out));
	if (s->type == FRIC_PLANE_VERTEX) {
		plane_distance(s, x, out);
		return;
	}
	for (int k = 0; k < fric_stencil_size(s->type); k++) {
		const int side = members[k].sign < 0;
		if (!(s->members >> k & 1) || k == start[side])
			continue;
		for (int d = 0; d < 3; d++)
			e[n][d] = members[k].sign * (x[3 * k + d] - x[3 * start[side] + d]);
		which[n++] = k;
	}
	for (int d = 0; d < 3; d++)
		r[d] = x[3 * start[0] + d] - x[3 * start[1] + d];
	out->steepness = minimise(n, r, e, at);
	out->weight[start[0]] = 1;
	out->weight[start[1]] = -1;
	for (int m = 0; m < n; m++) {
		const int sign = members[which[m]].sign;
		out->weight[which[m]] = sign * at[m];
		out->weight[start[sign < 0]] -= sign * at[m];
	}
	for (int d = 0; d < 3; d++)
		out->r[d] = r[d] + at[0] * e[0][d] + at[1] * e[1][d];
	out->distance = quad_root(dot(out->r, out->r));
}

/* ---- energy ---- */

/* The factor of b's formula, and D, E as in docs/laws.md. */
struct depth {
	quad scale, D, E;
};

static struct depth depth_of(const struct fric_barrier *b, quad distance)
{
	const quad dmin = b->dmin, dhat = b->dhat;
	struct depth of = {b->stiffness, distance * distance - dmin * dmin, (2 * dmin + dhat) * dhat};
	if (b->scaling == FRIC_SCALING_PHYSICAL || b->type == FRIC_NORMALIZED_CLAMPED_LOG)
		of.scale /= of.E * of.E;
	if (b->scaling == FRIC_SCALING_PHYSICAL)
		of.scale *= dhat;
	return of;
}

/* kappa b and its derivative with respect to the distance, as in docs/laws.md. The logarithm's argument is exact, so
 * that its rounding to long double does not matter. */
static void barrier_at(const struct fric_barrier *b, quad distance, quad *energy, quad *slope)
{
	const struct depth at = depth_of(b, distance);
	const quad D = at.D, E = at.E, below = E - D, q = below / D;
	quad value = 0, first = 0;
	*energy = *slope = 0;
	if (below <= 0)
		return;
	const quad L = b->type == FRIC_CUBIC_BARRIER ? 0 : -log1pl((long double)q); /* ln(D/E) */
	switch (b->type) {
	case FRIC_CLAMPED_LOG:
	case FRIC_NORMALIZED_CLAMPED_LOG:
		value = -below * below * L;
		first = below * (2 * L - q);
		break;
	case FRIC_CLAMPED_LOG_SQUARED:
		value = below * below * L * L;
		first = -2 * below * L * (L - q);
		break;
	case FRIC_CUBIC_BARRIER:
		value = 2 * below * below * below / (3 * E);
		first = -2 * below * below / E;
		break;
	case FRIC_TWO_STAGE:
		value = q <= 1 ? below * below / 2 : E * E / 4 * (0.5L - 0.69314718055994530942L - L);
		first = q <= 1 ? -below : -E * E / (4 * D);
		break;
	}
	*energy = at.scale * value;
	*slope = at.scale * first * 2 * distance;
}

static void cross(const quad *a, const quad *b, quad *c)
{
	for (int d = 0; d < 3; d++)
		c[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/* m and its gradient at the members. */
static quad mollifier_at(const struct subject *s, const quad *x, quad gradient[MOST_DOFS])
{
	quad a[3], b[3], n[3], by[2][3];
	for (int d = 0; d < 3; d++) {
		a[d] = x[3 + d] - x[d];
		b[d] = x[9 + d] - x[6 + d];
	}
	cross(a, b, n);
	cross(b, n, by[0]);
	cross(n, a, by[1]);
	const quad ratio = dot(n, n) / s->mu, first = 2 * (1 - ratio) / s->mu;
	for (int e = 0; e < MOST_DOFS; e++)
		gradient[e] = (e / 3 % 2 ? 2 : -2) * first * by[e / 6][e % 3];
	return (2 - ratio) * ratio;
}

/* The energy is the weight times m times kappa b. */
struct energy {
	quad m, b, distance;
};

/* @param gradient  [n] may be NULL */
static struct energy energy_at(const struct subject *s, const quad *x, quad *gradient)
{
	struct closest closest;
	struct energy at = {.m = 1};
	quad slope, change[MOST_DOFS] = {0};
	find_closest(s, x, &closest);
	barrier_at(&s->c->barrier, closest.distance, &at.b, &slope);
	if (s->mollified)
		at.m = mollifier_at(s, x, change);
	for (int e = 0; e < s->n && gradient; e++) {
		const int k = e / s->dim, d = e % s->dim;
		gradient[e] = s->weight *
		              (at.m * slope * closest.weight[k] * closest.r[d] / closest.distance + at.b * change[3 * k + d]);
	}
	at.distance = closest.distance;
	return at;
}

static quad value_of(const struct subject *s, const struct energy *at)
{
	return s->weight * at->m * at->b;
}

/* Far below dhat the cubic barrier hardly changes, so subtracting two of its values would cancel all digits. */
static quad barrier_change(const struct fric_barrier *b, const struct energy *from, const struct energy *to)
{
	if (b->type != FRIC_CUBIC_BARRIER)
		return to->b - from->b;
	const struct depth x = depth_of(b, from->distance), y = depth_of(b, to->distance);
	const quad p = x.E - x.D, q = y.E - y.D;
	return x.scale * 2 * (x.D - y.D) * (p * p + p * q + q * q) / (3 * x.E);
}

static quad energy_change(const struct subject *s, const struct energy *from, const struct energy *to)
{
	const quad by_m = (to->m - from->m) * (from->b + to->b),
			   by_b = (from->m + to->m) * barrier_change(&s->c->barrier, from, to);
	return s->weight * (by_m + by_b) / 2;
}

/* ---- differences ---- */

static quad absolute(quad x)
{
	return x < 0 ? -x : x;
}

static quad lesser(quad a, quad b)
{
	return a < b ? a : b;
}

/* A change of this length at an end of an edge makes parallel edges so much less parallel that m matters. */
static quad length_of_mollifier(const struct subject *s)
{
	quad squared = 0;
	for (int side = 0; side < 2; side++) {
		quad e[3];
		for (int d = 0; d < 3; d++)
			e[d] = s->x[6 * side + 3 + d] - s->x[6 * side + d];
		squared = dot(e, e) > squared ? dot(e, e) : squared;
	}
	return quad_root(s->mu / squared);
}

/* The step; 0 if the barrier does not act. */
static quad step_of(const struct subject *s)
{
	const struct fric_barrier *b = &s->c->barrier;
	struct closest closest;
	quad most = 1, fraction = STEP;
	find_closest(s, s->x, &closest);
	const quad d = closest.distance, gap = d - b->dmin, left = b->dhat - gap,
			   E = (2 * b->dmin + (quad)b->dhat) * b->dhat;
	if (left <= 0)
		return 0;
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		if (absolute(closest.weight[k]) > most)
			most = absolute(closest.weight[k]);
	quad length = lesser(gap, left) / most;
	if (closest.steepness > 0)
		length = lesser(length, 1 / (closest.steepness * most));
	if (s->mollified)
		length = lesser(length, length_of_mollifier(s));
	if (b->type == FRIC_TWO_STAGE && absolute(2 * gap * (d + b->dmin) - E) < 32 * STEP * d * length * most)
		fraction = SHORT_STEP;
	return fraction * length;
}

/* The energy's change per length along DOF e, over steps h and 2h. bend: how much the change per length itself changes
 * over these steps. */
static quad slope_along(const struct subject *s, int e, quad h, const struct energy *middle, quad *bend)
{
	quad x[MOST_DOFS], change[2];
	const int at = 3 * (e / s->dim) + e % s->dim;
	memcpy(x, s->x, sizeof(x));
	for (int i = 0; i < 2; i++) {
		const quad step = (i + 1) * h;
		x[at] = s->x[at] + step;
		const struct energy ahead = energy_at(s, x, NULL);
		x[at] = s->x[at] - step;
		const struct energy behind = energy_at(s, x, NULL);
		change[i] = energy_change(s, &behind, &ahead) / (2 * step);
		*bend = absolute(energy_change(s, middle, &ahead) + energy_change(s, middle, &behind)) / step;
	}
	return (4 * change[0] - change[1]) / 3;
}

/* The gradient's. */
static void slopes_along(const struct subject *s, int e, quad h, quad out[MOST_DOFS])
{
	quad x[MOST_DOFS], ahead[MOST_DOFS], behind[MOST_DOFS];
	const int at = 3 * (e / s->dim) + e % s->dim;
	memcpy(x, s->x, sizeof(x));
	for (int i = 0; i < 2; i++) {
		const quad step = (i + 1) * h, share = (i == 0 ? (quad)4 : (quad)-1) / 3;
		x[at] = s->x[at] + step;
		energy_at(s, x, ahead);
		x[at] = s->x[at] - step;
		energy_at(s, x, behind);
		for (int f = 0; f < s->n; f++)
			out[f] = (i == 0 ? 0 : out[f]) + share * (ahead[f] - behind[f]) / (2 * step);
	}
}

static void add_block(long double block[MOST_DOFS][MOST_DOFS], struct reference *r)
{
	const long double scale = largest_size_of(block[0], MOST_DOFS * MOST_DOFS);
	for (int e = 0; e < r->m; e++)
		for (int f = 0; f < r->m; f++) {
			const long double x = test_vector(r->row.dof[f]);
			add(&r->block[e][f], block[e][f], scale);
			add(&r->row.product[e], block[e][f] * x, scale * fabsl(x));
		}
}

void fricp_expect_barrier(const struct fric_query *query, struct reference *r)
{
	const long double time_step = time_step_of(query);
	long double gradient[MOST_DOFS] = {0}, block[MOST_DOFS][MOST_DOFS] = {{0}};
	if (r->contacts->skipped[r->i] && skip_reason(r->contacts, r->i) != FRIC_OK)
		return;
	const struct subject s = subject_of(query, r);
	const quad h = step_of(&s);
	if (h == 0)
		return;
	const struct energy middle = energy_at(&s, s.x, NULL);
	const long double energy = (long double)value_of(&s, &middle) / time_step;
	long double scale = 0;
	for (int e = 0; e < s.n; e++) {
		quad slopes[MOST_DOFS], bend;
		gradient[e] = (long double)slope_along(&s, e, h, &middle, &bend);
		/* At exactly parallel edges the gradient is 0, but a difference over h sees curvature: it sets the scale. */
		scale = s.mollified ? fmaxl(scale, (long double)bend) : 0;
		slopes_along(&s, e, h, slopes);
		for (int f = 0; f < s.n; f++)
			block[e][f] = time_step * (long double)slopes[f];
	}
	add(&r->row.potential, energy, fabsl(energy));
	for (int e = 0; e < s.n; e++)
		add(&r->row.gradient[e], gradient[e], fmaxl(scale, largest_size_of(gradient, s.n)));
	add_block(block, r);
}
