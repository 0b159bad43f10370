#include "core/prepare/coefficients.h"

#include <math.h>

#include "core/motion/stencil.h"

/* One side of a contact: a point x0 + a (x1 - x0) + b (x2 - x0) of 1 to 3 vertices. */
struct side {
	int n;
	const int32_t *vertices; /* NULL: the second side is the world */
	double a, b;
	double off[2]; /* error bounds of the coordinates */
};

INLINE void sides_of(enum fric_type type, const int32_t *v, const double beta[2], const double off[2],
                     struct side side[2])
{
	side[0] = (struct side){.vertices = v};
	side[1] = (struct side){.vertices = NULL};
	UNROLL
	for (int k = 0; k < stencil_size_of(type); k++) {
		const struct member m = stencil_members(type)[k];
		struct side *s = &side[m.sign < 0];
		if (m.origin == k) {
			s->vertices = v + k;
		} else {
			*(s->n == 1 ? &s->a : &s->b) = beta[m.coordinate];
			s->off[s->n - 1] = off[m.coordinate];
		}
		s->n++;
	}
}

static void sides(enum fric_type type, const int32_t *v, const double beta[2], const double off[2], struct side side[2])
{
	FOR_TYPE(sides_of, type, v, beta, off, side)
}

/* Uses differences, so that equal values give that value exactly. */
static double interpolate(const struct side *s, const double x[3])
{
	double value = x[0];
	if (s->n > 1)
		value += s->a * (x[1] - x[0]);
	if (s->n > 2)
		value += s->b * (x[2] - x[0]);
	return value;
}

/* Error bounds per term of an interpolation. A term, x0 or a difference times its weight, is rounded up to four times;
 * the error of subnormal terms does not shrink with the term. */
static const long double rounding = 0x1p-51L, underflow = 0x1p-1070L;

/* Error bound of an interpolation of values that have errors up to `error`. */
static long double interpolation_error(const struct side *s, const double x[3], const long double error[3])
{
	const long double a = s->a, b = s->b, weight[3] = {1 - a - b, a, b};
	long double sum = fabsl(x[0]) * rounding + fabsl(weight[0]) * error[0] + underflow;
	for (int i = 1; i < s->n; i++) {
		const long double difference = fabsl((long double)x[i] - x[0]);
		sum += difference * (fabsl(weight[i]) * rounding + s->off[i - 1]) + fabsl(weight[i]) * error[i];
	}
	return sum;
}

/* @param error  NULL, or set to an error bound of the value */
static double vertex_value(const struct side *s, const double *vertex_mu, long double *error)
{
	static const long double exact[3];
	double x[3] = {0};
	for (int i = 0; i < s->n; i++)
		x[i] = vertex_mu[s->vertices[i]];
	if (error)
		*error = interpolation_error(s, x, exact);
	return interpolate(s, x);
}

/* The mean, without overflow in the sum of large numbers and without rounding the halves of subnormal ones. */
static double mean(double a, double b)
{
	return fabs(a) < 1 && fabs(b) < 1 ? (a + b) / 2 : a / 2 + b / 2;
}

/* Requires |a| <= |b| and that a, b and their sum are not 0. */
static double harmonic_mean(double a, double b)
{
	return a * (fabs(b) < 1 ? 2 * (b / (a + b)) : b / (a / 2 + b / 2));
}

/* Negative or NaN if the blend is not defined for a negative side; the caller rejects both. */
static double blend(enum fric_blend kind, double a, double b)
{
	switch (kind) {
	case FRIC_MEAN: return mean(a, b);
	case FRIC_MIN: return fmin(a, b);
	case FRIC_MAX: return fmax(a, b);
	case FRIC_PRODUCT: return a * b;
	case FRIC_GEOMETRIC_MEAN:
		if ((a < 0) != (b < 0) && a != 0 && b != 0)
			return -1;
		return sqrt(fabs(a)) * sqrt(fabs(b));
	case FRIC_HARMONIC_MEAN:
		if (a == 0 || b == 0)
			return 0;
		return a + b == 0 ? -1 : fabs(a) < fabs(b) ? harmonic_mean(a, b) : harmonic_mean(b, a);
	}
	return -1;
}

static double from_vertices(const struct fric_friction *f, const struct side side[2], const double *vertex_mu)
{
	const double a = vertex_value(&side[0], vertex_mu, NULL);
	return side[1].vertices ? blend(f->blend, a, vertex_value(&side[1], vertex_mu, NULL)) : a;
}

/* Whether a blend with a negative result can be zero for sides within p of a and q of b. The mean changes sign where
 * the sides are opposite, other blends where a side is zero. */
static bool blend_may_be_zero(enum fric_blend kind, long double a, long double p, long double b, long double q)
{
	switch (kind) {
	case FRIC_MEAN: return a + b + p + q + rounding * (fabsl(a) + fabsl(b)) >= 0;
	case FRIC_MIN: return a + p >= 0 && b + q >= 0;
	default: return fabsl(a) <= p || fabsl(b) <= q;
	}
}

static bool vertices_may_give_zero(const struct fric_friction *f, const struct side side[2], const double *vertex_mu)
{
	if (!side[1].vertices)
		return false;
	long double p, q;
	const double a = vertex_value(&side[0], vertex_mu, &p), b = vertex_value(&side[1], vertex_mu, &q);
	return blend_may_be_zero(f->blend, a, p, b, q);
}

/* sum_ij a_i b_j M[mi][mj] */
static double from_table(const struct fric_friction *f, const struct side side[2], const double *table,
                         long double *error)
{
	static const long double exact[3];
	long double errors[3] = {0};
	double x[3] = {0}, y[3] = {0};
	for (int i = 0; i < side[0].n; i++) {
		const double *row = table + (size_t)f->vertex_material[side[0].vertices[i]] * f->n_materials;
		for (int j = 0; side[1].vertices && j < side[1].n; j++)
			y[j] = row[f->vertex_material[side[1].vertices[j]]];
		x[i] = side[1].n ? interpolate(&side[1], y) : row[f->plane_material];
		if (error && side[1].n)
			errors[i] = interpolation_error(&side[1], y, exact);
	}
	if (error)
		*error = interpolation_error(&side[0], x, errors);
	return interpolate(&side[0], x);
}

static bool table_may_give_zero(const struct fric_friction *f, const struct side side[2], const double *table)
{
	long double error;
	const double value = from_table(f, side, table, &error);
	return value + error >= 0;
}

static double coefficient(const struct fric_friction *f, const struct side side[2], double scalar,
                          const double *vertex_mu, const double *table)
{
	switch (f->source) {
	case FRIC_MU_VERTEX: return from_vertices(f, side, vertex_mu);
	case FRIC_MU_TABLE: return from_table(f, side, table, NULL);
	default: return scalar;
	}
}

/* A coefficient that is negative only because of rounding becomes zero, never -0. */
static double without_rounding(const struct fric_friction *f, const struct side side[2], double mu,
                               const double *vertex_mu, const double *table)
{
	const bool may_be_zero = isless(mu, 0) && (f->source == FRIC_MU_VERTEX
	                                               ? vertices_may_give_zero(f, side, vertex_mu)
	                                               : f->source == FRIC_MU_TABLE && table_may_give_zero(f, side, table));
	return may_be_zero || mu == 0 ? 0 : mu;
}

/* The table entry for a contact of bodies, or of a vertex and the world. */
static size_t entry_of_two(const struct fric_friction *f, enum fric_type type, const int32_t *stencil)
{
	const int32_t first = is_of_bodies(type) ? f->body_material[stencil[0]] : f->vertex_material[stencil[0]];
	const int32_t second = faces_world(type) ? f->plane_material : f->body_material[stencil[1]];
	return (size_t)first * f->n_materials + (size_t)second;
}

enum fric_code fricp_contact_coefficients(const struct fric_friction *friction, enum fric_type type,
                                          const int32_t *stencil, const double closest_point[2],
                                          const double uncertainty[2], double mu[2])
{
	struct side side[2];
	if (is_of_bodies(type)) {
		const bool table = friction->source == FRIC_MU_TABLE;
		const size_t at = table ? entry_of_two(friction, type, stencil) : 0;
		mu[0] = table ? friction->material_mu_s[at] : friction->mu_s;
		mu[1] = table ? friction->material_mu_k[at] : friction->mu_k;
		return FRIC_OK;
	}
	sides(type, stencil, closest_point, uncertainty, side);
	mu[0] = coefficient(friction, side, friction->mu_s, friction->vertex_mu_s, friction->material_mu_s);
	mu[1] = coefficient(friction, side, friction->mu_k, friction->vertex_mu_k, friction->material_mu_k);
	if (!isfinite(mu[0]) || !isfinite(mu[1]))
		return FRIC_E_NOT_FINITE;
	mu[0] = without_rounding(friction, side, mu[0], friction->vertex_mu_s, friction->material_mu_s);
	mu[1] = without_rounding(friction, side, mu[1], friction->vertex_mu_k, friction->material_mu_k);
	return mu[0] < 0 || mu[1] < 0 ? FRIC_E_NEGATIVE_COEFFICIENT : FRIC_OK;
}

/* ---- derivatives ---- */

/* The members of a contact: their weights on their side, and the values at them if they have any. */
struct parts {
	int n;
	const struct member *member;
	long double share[FRIC_MAX_STENCIL], value[FRIC_MAX_STENCIL];
};

static struct parts parts_of(enum fric_type type, const double closest_point[2])
{
	struct parts p = {.n = stencil_size_of(type), .member = stencil_members(type)};
	for (int k = 0; k < p.n; k++)
		if (p.member[k].origin == k)
			p.share[k] = 1;
	for (int k = 0; k < p.n; k++) {
		const struct member m = p.member[k];
		if (m.origin == k)
			continue;
		p.share[k] = closest_point[m.coordinate];
		p.share[m.origin] -= p.share[k];
	}
	return p;
}

/* The derivatives of a blend with respect to both sides. */
struct blend_derivatives {
	long double a, b;
};

static struct blend_derivatives blend_derivatives(enum fric_blend kind, long double a, long double b)
{
	const bool zeros = a == 0 && b == 0;
	const long double p = zeros ? 0.5L : a / (a + b), q = zeros ? 0.5L : b / (a + b);
	const long double root = zeros ? 1 : sqrtl(fabsl(a)) / sqrtl(fabsl(b));
	switch (kind) {
	case FRIC_MEAN: break;
	case FRIC_MIN: return a <= b ? (struct blend_derivatives){1, 0} : (struct blend_derivatives){0, 1};
	case FRIC_MAX: return a >= b ? (struct blend_derivatives){1, 0} : (struct blend_derivatives){0, 1};
	case FRIC_PRODUCT: return (struct blend_derivatives){b, a};
	case FRIC_GEOMETRIC_MEAN: return (struct blend_derivatives){copysignl(1 / root, a) / 2, copysignl(root, b) / 2};
	case FRIC_HARMONIC_MEAN: return (struct blend_derivatives){2 * q * q, 2 * p * p};
	}
	return (struct blend_derivatives){0.5L, 0.5L};
}

/* Computes the values of both sides, interpolated from the vertices. */
static void side_values(const struct parts *p, long double side[2])
{
	side[0] = side[1] = 0;
	for (int k = 0; k < p->n; k++) {
		const struct member m = p->member[k];
		side[m.sign < 0] += m.origin == k ? p->value[k] : p->share[k] * (p->value[k] - p->value[m.origin]);
	}
}

static struct blend_derivatives derivatives_by_sides(const struct fric_friction *f, const struct parts *p)
{
	long double side[2];
	side_values(p, side);
	return p->n == 1 ? (struct blend_derivatives){1, 0} : blend_derivatives(f->blend, side[0], side[1]);
}

static void vertex_derivatives(const struct fric_friction *f, struct parts *p, const int32_t *stencil,
                               const double *values, struct coefficient_derivatives *derivatives)
{
	for (int k = 0; k < p->n; k++)
		p->value[k] = values[stencil[k]];
	const struct blend_derivatives by = derivatives_by_sides(f, p);
	derivatives->n = p->n;
	for (int k = 0; k < p->n; k++) {
		const struct member m = p->member[k];
		const long double derivative = m.sign < 0 ? by.b : by.a;
		derivatives->at[k] = (size_t)stencil[k];
		derivatives->by[k] = coefficient_share(derivative, p->share[k]);
		if (m.origin != k)
			derivatives->by_closest_point[m.coordinate] +=
				coefficient_share(derivative, p->value[k] - p->value[m.origin]);
	}
}

/* Adds the derivatives with respect to a table entry: member i of the first side and member j of the second one. The
 * closest point changes the weights of both. */
static void add_entry(const struct parts *p, int i, int j, size_t at, long double value,
                      struct coefficient_derivatives *derivatives)
{
	const int members[2] = {i, j};
	derivatives->at[derivatives->n] = at;
	derivatives->by[derivatives->n++] = p->share[i] * p->share[j];
	for (int s = 0; s < 2; s++) {
		const struct member m = p->member[members[s]];
		const long double other = value * p->share[members[1 - s]];
		if (m.origin != members[s])
			derivatives->by_closest_point[m.coordinate] += other;
		for (int k = 0; k < p->n && m.origin == members[s]; k++)
			if (k != members[s] && p->member[k].origin == members[s])
				derivatives->by_closest_point[p->member[k].coordinate] -= other;
	}
}

static void table_derivatives(const struct fric_friction *f, const struct parts *p, const int32_t *stencil,
                              const double *values, struct coefficient_derivatives *derivatives)
{
	for (int i = 0; i < p->n; i++) {
		const size_t row = (size_t)f->vertex_material[stencil[i]] * f->n_materials;
		for (int j = 0; j < p->n && p->member[i].sign > 0; j++) {
			const size_t at = row + (size_t)f->vertex_material[stencil[j]];
			if (p->member[j].sign < 0)
				add_entry(p, i, j, at, values[at], derivatives);
		}
	}
}

static void single_derivative(size_t at, struct coefficient_derivatives *derivatives)
{
	derivatives->n = 1;
	derivatives->at[0] = at;
	derivatives->by[0] = 1;
}

void fricp_coefficient_derivatives(const struct fric_friction *friction, enum fric_type type, const int32_t *stencil,
                                   const double closest_point[2], const double *values,
                                   struct coefficient_derivatives *derivatives)
{
	*derivatives = (struct coefficient_derivatives){0};
	if (friction->source == FRIC_MU_TABLE && (is_of_bodies(type) || faces_world(type))) {
		single_derivative(entry_of_two(friction, type, stencil), derivatives);
		return;
	}
	if (is_of_bodies(type) || friction->source == FRIC_MU_SCALAR) {
		single_derivative(0, derivatives);
		return;
	}
	struct parts p = parts_of(type, closest_point);
	if (friction->source == FRIC_MU_VERTEX)
		vertex_derivatives(friction, &p, stencil, values, derivatives);
	else
		table_derivatives(friction, &p, stencil, values, derivatives);
}

/* ---- second derivatives ---- */

/* The change of a blend's derivatives due to a change of its sides. Nonlinear blends are homogeneous of degree one, so
 * only the change of the sides' ratio matters. */
static struct blend_derivatives blend_second_derivatives(enum fric_blend kind, long double a, long double b,
                                                         long double da, long double db)
{
	if (kind == FRIC_PRODUCT)
		return (struct blend_derivatives){db, da};
	if ((kind != FRIC_GEOMETRIC_MEAN && kind != FRIC_HARMONIC_MEAN) || (a == 0 && b == 0) || (da == 0 && db == 0))
		return (struct blend_derivatives){0, 0};
	const long double turn = b * da - a * db, sum = a + b;
	if (kind == FRIC_HARMONIC_MEAN)
		return (struct blend_derivatives){-4 * (b / sum) * (turn / sum) / sum, 4 * (a / sum) * (turn / sum) / sum};
	const long double root = sqrtl(fabsl(a)) * sqrtl(fabsl(b)), quarter = turn / (4 * root);
	return (struct blend_derivatives){-quarter / a, quarter / b};
}

void fricp_coefficient_second_derivatives(const struct fric_friction *friction, enum fric_type type,
                                          const int32_t *stencil, const double closest_point[2], const double *values,
                                          const double *tangent, long double by[FRIC_MAX_STENCIL])
{
	long double side[2], change[2];
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		by[k] = 0;
	if (friction->source != FRIC_MU_VERTEX || is_of_bodies(type) || faces_world(type) || !tangent)
		return;
	struct parts p = parts_of(type, closest_point);
	for (int k = 0; k < p.n; k++)
		p.value[k] = tangent[stencil[k]];
	side_values(&p, change);
	for (int k = 0; k < p.n; k++)
		p.value[k] = values[stencil[k]];
	side_values(&p, side);
	const struct blend_derivatives second =
		blend_second_derivatives(friction->blend, side[0], side[1], change[0], change[1]);
	for (int k = 0; k < p.n; k++)
		by[k] = coefficient_share(p.member[k].sign < 0 ? second.b : second.a, p.share[k]);
}
