#include "core/gradcheck/barrier.h"

#include <math.h>
#include <string.h>

#include "core/motion/stencil.h"

enum { MOST_DOFS = 3 * FRIC_MAX_STENCIL };

/* ---- numbers with derivatives ---- */

/* A number with its first and second derivatives with respect to the DOFs of a contact's members: forward
 * differentiation, which has no steps and neglects nothing. Only the lower triangle of `second` is used. */
struct jet {
	quad value, first[MOST_DOFS], second[MOST_DOFS][MOST_DOFS];
};

/* sum += sign * a * b. @param n  number of DOFs */
static void add_product(int n, int sign, const struct jet *a, const struct jet *b, struct jet *sum)
{
	const quad x = sign * a->value, y = sign * b->value;
	sum->value += x * b->value;
	for (int e = 0; e < n; e++) {
		const quad p = sign * a->first[e], q = sign * b->first[e];
		sum->first[e] += x * b->first[e] + y * a->first[e];
		for (int f = 0; f <= e; f++)
			sum->second[e][f] += x * b->second[e][f] + y * a->second[e][f] + p * b->first[f] + q * a->first[f];
	}
}

static struct jet product(int n, const struct jet *a, const struct jet *b)
{
	struct jet out = {0};
	add_product(n, 1, a, b, &out);
	return out;
}

/* A function of a, from its value and its derivatives. */
static struct jet function_of(int n, const struct jet *a, quad value, quad first, quad second)
{
	struct jet out = {.value = value};
	for (int e = 0; e < n; e++) {
		out.first[e] = first * a->first[e];
		for (int f = 0; f <= e; f++)
			out.second[e][f] = first * a->second[e][f] + second * a->first[e] * a->first[f];
	}
	return out;
}

static struct jet quotient(int n, const struct jet *a, const struct jet *b)
{
	const quad over = 1 / b->value;
	const struct jet inverse = function_of(n, b, over, -over * over, 2 * over * over * over);
	return product(n, a, &inverse);
}

static struct jet square(int n, const struct jet *a)
{
	return function_of(n, a, a->value * a->value, 2 * a->value, 2);
}

static struct jet dot_product(int n, const struct jet a[3], const struct jet b[3])
{
	struct jet out = {0};
	for (int d = 0; d < 3; d++)
		add_product(n, 1, &a[d], &b[d], &out);
	return out;
}

static void cross_product(int n, const struct jet a[3], const struct jet b[3], struct jet out[3])
{
	memset(out, 0, 3 * sizeof(*out));
	for (int d = 0; d < 3; d++) {
		add_product(n, 1, &a[(d + 1) % 3], &b[(d + 2) % 3], &out[d]);
		add_product(n, -1, &a[(d + 2) % 3], &b[(d + 1) % 3], &out[d]);
	}
}

/* ---- one contact ---- */

/* One contact at its positions. */
struct subject {
	const struct fric_contacts *c;
	enum fric_type type;
	int dim, n; /* n: DOFs of its members */
	unsigned members;
	int start[2];         /* the member of each side from which the others are seen */
	bool mollified, acts; /* acts: decides exactly at dhat, where two_stage's Hessian jumps */
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
	                    .acts = current->curvature[r->i] != 0,
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

/* The vector from member m to member k. */
static void difference(const struct subject *s, int k, int m, struct jet out[3])
{
	memset(out, 0, 3 * sizeof(*out));
	for (int d = 0; d < s->dim; d++) {
		out[d].value = s->x[3 * k + d] - s->x[3 * m + d];
		out[d].first[s->dim * k + d] = 1;
		out[d].first[s->dim * m + d] = -1;
	}
}

/* ---- distance ---- */

/* (r . n)^2 / n . n */
static struct jet squared_height(int n, const struct jet r[3], const struct jet normal[3])
{
	const struct jet along = dot_product(n, r, normal), squared = square(n, &along),
					 size = dot_product(n, normal, normal);
	return quotient(n, &squared, &size);
}

static struct jet plane_distance(const struct subject *s)
{
	struct jet r[3] = {{0}}, normal[3] = {{0}};
	for (int d = 0; d < 3; d++) {
		r[d].value = s->x[d] - s->origin[d];
		if (d < s->dim)
			r[d].first[d] = 1;
		normal[d].value = s->normal[d];
	}
	return squared_height(s->n, r, normal);
}

/* The edges of the closest feature, from the members of each side where r begins or ends. @return their number */
static int edges_of(const struct subject *s, struct jet edges[2][3])
{
	const struct member *members = stencil_members(s->type);
	int n = 0;
	for (int k = 0; k < fric_stencil_size(s->type); k++) {
		const int start = s->start[members[k].sign < 0];
		if ((s->members >> k & 1) && k != start)
			difference(s, k, start, edges[n++]);
	}
	return n;
}

/* The squared distance of two points, of a point and a line, of two lines, or of a point and a plane. */
static struct jet squared_distance(const struct subject *s)
{
	struct jet r[3], edges[2][3], normal[3];
	if (s->type == FRIC_PLANE_VERTEX)
		return plane_distance(s);
	difference(s, s->start[0], s->start[1], r);
	const int n_edges = edges_of(s, edges);
	if (n_edges == 0)
		return dot_product(s->n, r, r);
	cross_product(s->n, edges[0], n_edges == 1 ? r : edges[1], normal);
	if (n_edges == 2)
		return squared_height(s->n, r, normal);
	const struct jet area = dot_product(s->n, normal, normal), length = dot_product(s->n, edges[0], edges[0]);
	return quotient(s->n, &area, &length);
}

/* ---- energy ---- */

/* ln(D/E). Its argument is exact, so that its rounding to long double does not matter. */
static struct jet logarithm(int n, const struct jet *D, quad below)
{
	const quad over = 1 / D->value;
	return function_of(n, D, -log1pl((long double)(below * over)), over, -over * over);
}

/* b without its factor, as in docs/laws.md. */
static struct jet unscaled(const struct fric_barrier *b, int n, const struct jet *D, quad E)
{
	const quad below = E - D->value;
	const struct jet squared = function_of(n, D, below * below, -2 * below, 2);
	if (b->type == FRIC_CUBIC_BARRIER)
		return function_of(n, D, 2 * below * below * below / (3 * E), -2 * below * below / E, 4 * below / E);
	if (b->type == FRIC_TWO_STAGE && below <= D->value)
		return function_of(n, &squared, squared.value / 2, 0.5L, 0);
	const struct jet L = logarithm(n, D, below);
	if (b->type == FRIC_TWO_STAGE)
		return function_of(n, &L, E * E / 4 * (0.5L - 0.69314718055994530942L - L.value), -E * E / 4, 0);
	const struct jet once = product(n, &squared, &L);
	return b->type == FRIC_CLAMPED_LOG_SQUARED ? product(n, &once, &L) : function_of(n, &once, -once.value, -1, 0);
}

/* kappa b. @param rounding  bound on the effect of rounding the distance, as an energy; 0 far below dhat. Close to dhat,
 * b and its derivatives vanish and are no scale
 * @return false if the barrier does not act */
static bool barrier_of(const struct subject *s, const struct jet *squared, struct jet *out, quad *rounding)
{
	const struct fric_barrier *b = &s->c->barrier;
	const quad dmin = b->dmin, dhat = b->dhat, E = (2 * dmin + dhat) * dhat;
	struct jet D = *squared;
	quad scale = b->stiffness;
	D.value -= dmin * dmin;
	if (D.value > E || (D.value == E && !s->acts))
		return false;
	if (b->scaling == FRIC_SCALING_PHYSICAL || b->type == FRIC_NORMALIZED_CLAMPED_LOG)
		scale /= E * E;
	if (b->scaling == FRIC_SCALING_PHYSICAL)
		scale *= dhat;
	*rounding = D.value > E / 2 ? 0x1p-80L * scale * E * E : 0;
	const struct jet value = unscaled(b, s->n, &D, E);
	*out = function_of(s->n, &value, scale * value.value, scale, 0);
	return true;
}

static struct jet mollifier_of(const struct subject *s)
{
	struct jet a[3], b[3], normal[3];
	difference(s, 1, 0, a);
	difference(s, 3, 2, b);
	cross_product(s->n, a, b, normal);
	const struct jet squared = dot_product(s->n, normal, normal);
	const quad ratio = squared.value / s->mu;
	return function_of(s->n, &squared, (2 - ratio) * ratio, 2 * (1 - ratio) / s->mu, -2 / (s->mu * s->mu));
}

static struct jet energy_of(const struct subject *s, const struct jet *b)
{
	if (!s->mollified)
		return function_of(s->n, b, s->weight * b->value, s->weight, 0);
	const struct jet m = mollifier_of(s), energy = product(s->n, &m, b);
	return function_of(s->n, &energy, s->weight * energy.value, s->weight, 0);
}

/* ---- scales ---- */

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

/* At exactly parallel edges the gradient is 0: its scale is the change over this fraction of the length over which the
 * energy changes. */
#define SMALL_CHANGE 0x1p-9L

static long double scale_of_mollified(const struct subject *s, const struct jet *squared, const struct jet *energy)
{
	const quad gap = quad_root(squared->value) - s->c->barrier.dmin, reach = lesser(gap, length_of_mollifier(s));
	long double most = 0;
	for (int e = 0; e < s->n; e++)
		most = fmaxl(most, fabsl((long double)energy->second[e][e]));
	return SMALL_CHANGE * (long double)reach * most;
}

/* Where numbers below the smallest normal double, which have lost digits, are multiplied by the weight and `factor`. */
static long double least_scale(const struct subject *s, long double factor)
{
	return DBL_MIN * fmaxl(1, fabsl((long double)s->weight)) * fmaxl(1, factor);
}

/* @param scale  the least one */
static void add_block(const struct subject *s, const struct jet *energy, long double time_step, long double scale,
                      struct reference *r)
{
	for (int e = 0; e < s->n; e++)
		for (int f = 0; f <= e; f++)
			scale = fmaxl(scale, time_step * fabsl((long double)energy->second[e][f]));
	scale = fmaxl(scale, least_scale(s, time_step));
	for (int e = 0; e < s->n; e++)
		for (int f = 0; f < s->n; f++) {
			const quad second = f <= e ? energy->second[e][f] : energy->second[f][e];
			const long double entry = time_step * (long double)second, x = test_vector(r->row.dof[f]);
			add(&r->block[e][f], entry, scale);
			add(&r->row.product[e], entry * x, scale * fabsl(x));
		}
}

void fricp_expect_barrier(const struct fric_query *query, struct reference *r)
{
	const long double time_step = time_step_of(query);
	if (r->contacts->skipped[r->i] && skip_reason(r->contacts, r->i) != FRIC_OK)
		return;
	const struct subject s = subject_of(query, r);
	const struct jet squared = squared_distance(&s);
	struct jet b;
	quad rounding;
	if (!barrier_of(&s, &squared, &b, &rounding))
		return;
	const long double dhat = s.c->barrier.dhat, lost = fabsl((long double)(rounding * s.weight));
	const struct jet energy = energy_of(&s, &b);
	const long double potential = (long double)energy.value / time_step;
	long double gradient[MOST_DOFS], scale = s.mollified ? scale_of_mollified(&s, &squared, &energy) : 0;
	for (int e = 0; e < s.n; e++)
		gradient[e] = (long double)energy.first[e];
	scale = fmaxl(fmaxl(scale, largest_size_of(gradient, s.n)), fmaxl(lost / dhat, least_scale(&s, 1)));
	add(&r->row.potential, potential, fmaxl(fabsl(potential) + lost / time_step, least_scale(&s, 1 / time_step)));
	for (int e = 0; e < s.n; e++)
		add(&r->row.gradient[e], gradient[e], scale);
	add_block(&s, &energy, time_step, time_step * lost / (dhat * dhat), r);
}
