/**
 * One contact at given velocities: its slip u, the law at |u|, its force and inner matrix. This is the plain scalar
 * form, which the kernels are tested against. Everything is computed from u * (1/eps_v), so that velocities and eps_v
 * scaled by the same power of two give the same bits.
 */
#ifndef FRIC_SLIP_H
#define FRIC_SLIP_H

#include <math.h>

#include "core/base/quad.h"
#include "core/base/range.h"
#include "core/contacts/ordinary.h"
#include "core/law/law.h"
#include "core/motion/stencil.h"

struct slip {
	int n;            /* dim - 1 */
	double u[2];      /* P^T Gamma v, before mu_aniso scaling */
	double scaled[2]; /* diag(mu_aniso) u: the law's argument */
	double eps_v;
	double s; /* weight * normal force */
	double mu_s, mu_k;
	/* Derived from these: */
	bool slides;
	double z, r; /* |scaled| / eps_v and 1 - z; z may be inf */
	double inverse_z, inverse_eps_v;
	double unit[2];  /* direction of scaled; (1, 0) at rest */
	double ratio[2]; /* scaled / eps_v */
	bool extreme;    /* the doubles above have over- or underflowed: the law is evaluated in long double */
};

/* The operations here and below, and their order, are those of kernels.inc, so that both give the same bits. */
static inline void slip_velocity(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v,
                                 struct slip *slip)
{
	double relative[3] = {0};
	relative_velocity(c, type, i, v, relative);
	slip->n = c->dim - 1;
	if (c->skipped[i]) /* at any velocities, even if a difference overflows */
		relative[0] = relative[1] = relative[2] = 0;
	for (int t = 0; t < 2; t++) {
		double *const *p = c->tangent_basis + t;
		slip->u[t] = 0;
		if (c->dim == 3)
			slip->u[t] = (p[0][i] * relative[0] + p[2][i] * relative[1]) + p[4][i] * relative[2];
		else if (t == 0)
			slip->u[t] = p[0][i] * relative[0] + p[1][i] * relative[1];
		slip->scaled[t] = *column_at(c->mu_aniso[t], i) * slip->u[t];
	}
}

static inline bool slip_finite(const struct slip *slip)
{
	return isfinite(slip->u[0]) && isfinite(slip->u[1]) && isfinite(slip->scaled[0]) && isfinite(slip->scaled[1]);
}

/* |scaled|: the law's argument. */
static inline long double slip_speed(const struct slip *slip)
{
	return hypotl(slip->scaled[0], slip->scaled[1]);
}

/* Whether |scaled| >= eps_v. It must not depend on a rounded root or ratio; in quad, squares are exact. */
static inline bool reaches_eps_v(const struct slip *slip)
{
	const quad x = slip->scaled[0], y = slip->scaled[1], e = slip->eps_v;
	return x * x + y * y >= e * e;
}

/* |scaled|, its ratio to eps_v and its direction for any finite numbers; long double cannot overflow here. */
static inline void extreme_ratio(struct slip *slip)
{
	const long double norm = hypotl(slip->scaled[0], slip->scaled[1]), e = slip->eps_v;
	slip->extreme = true;
	slip->slides = reaches_eps_v(slip);
	slip->z = (double)(norm / e);
	slip->r = (double)((e - norm) / e);
	for (int t = 0; t < 2; t++) {
		slip->unit[t] = norm > 0 ? (double)(slip->scaled[t] / norm) : t == 0;
		slip->ratio[t] = (double)(slip->scaled[t] / e);
	}
}

static inline void ordinary_ratio(struct slip *slip, const double w[2])
{
	const double squared = w[0] * w[0] + w[1] * w[1], length = slip->n == 1 ? fabs(w[0]) : sqrt(squared);
	const double over = 1 / (length > 0 ? length : 1);
	slip->extreme = false;
	slip->slides = tells_sliding(squared) ? squared > 1 : reaches_eps_v(slip);
	const bool rounded_past_one = slip->slides != (length >= 1);
	slip->z = rounded_past_one ? 1 : length;
	slip->inverse_z = rounded_past_one ? 1 : over;
	slip->r = slip->n == 1 ? (slip->eps_v - fabs(slip->scaled[0])) / slip->eps_v : 1 - slip->z;
	for (int t = 0; t < 2; t++) {
		slip->unit[t] = length > 0 ? w[t] * over : t == 0;
		slip->ratio[t] = w[t];
	}
}

/* What a contact's slip is judged by. */
static inline void slip_lagged(const struct fric_contacts *c, const struct coefficients *mu, size_t i,
                               struct slip *slip)
{
	slip->eps_v = *column_at(c->eps_v, i);
	slip->s = *column_at(c->weight, i) * *column_at(c->normal_force, i);
	slip->inverse_z = 0;
	slip->mu_s = *column_at(mu->mu_s, i);
	slip->mu_k = *column_at(mu->mu_k, i);
	slip->inverse_eps_v = 1 / slip->eps_v;
}

static inline bool has_ordinary_law(const struct fric_contacts *c, size_t i, const struct slip *slip)
{
	return ordinary_lagged(*column_at(c->weight, i), *column_at(c->normal_force, i), slip->eps_v, slip->mu_s,
	                       slip->mu_k);
}

/* Whether a slip, scaled by mu_aniso, is as good as the doubles w, its ratio to eps_v. */
static inline bool ordinary_slip(const double scaled[2], const double w[2])
{
	const bool underflow = w[0] == 0 && w[1] == 0 && (scaled[0] != 0 || scaled[1] != 0);
	return ordinary(fabs(w[0]) + fabs(w[1])) && !underflow;
}

static inline void slip_of(const struct fric_contacts *c, const struct coefficients *mu, enum fric_type type, size_t i,
                           const double *v, struct slip *slip)
{
	slip_velocity(c, type, i, v, slip);
	slip_lagged(c, mu, i, slip);
	const double w[2] = {slip->scaled[0] * slip->inverse_eps_v, slip->scaled[1] * slip->inverse_eps_v};
	if (ordinary_slip(slip->scaled, w) && has_ordinary_law(c, i, slip))
		ordinary_ratio(slip, w);
	else
		extreme_ratio(slip);
}

/* The slips of a contact at velocities v + t d, scaled by mu_aniso: start + t change. */
struct slip_line {
	double start[2], change[2];
	bool finite;
};

static inline void slip_line_of(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v,
                                const double *d, struct slip_line *line)
{
	struct slip start, change;
	slip_velocity(c, type, i, v, &start);
	slip_velocity(c, type, i, d, &change);
	for (int k = 0; k < 2; k++) {
		line->start[k] = start.scaled[k];
		line->change[k] = change.scaled[k];
	}
	line->finite = slip_finite(&start) && slip_finite(&change);
}

/* The slip at t, and `along`, what the direction adds to its ratio to eps_v. Where start and t change cancel to the last
 * bit, what more digits would leave is their rounding, and the contact is at rest.
 * @return whether the slip is finite */
static inline bool slip_on_line(const struct fric_contacts *c, const struct coefficients *mu, size_t i,
                                const struct slip_line *line, double t, struct slip *slip, double along[2])
{
	double start[2], w[2];
	slip->n = c->dim - 1;
	slip_lagged(c, mu, i, slip);
	for (int k = 0; k < 2; k++) {
		start[k] = line->start[k] * slip->inverse_eps_v;
		along[k] = line->change[k] * slip->inverse_eps_v;
		w[k] = start[k] + t * along[k];
		slip->scaled[k] = (double)(line->start[k] + (long double)t * line->change[k]);
	}
	const bool whole = ordinary_slip(line->start, start) && ordinary_slip(line->change, along);
	if (whole && w[0] == 0 && w[1] == 0 && (start[0] != 0 || start[1] != 0))
		slip->scaled[0] = slip->scaled[1] = 0;
	if (whole && ordinary_slip(slip->scaled, w) && has_ordinary_law(c, i, slip))
		ordinary_ratio(slip, w);
	else
		extreme_ratio(slip);
	return line->finite && isfinite(slip->scaled[0]) && isfinite(slip->scaled[1]);
}

/* weight * normal force, even where the product does not fit a double. */
static inline long double long_force(const struct fric_contacts *c, size_t i)
{
	return (long double)*column_at(c->weight, i) * *column_at(c->normal_force, i);
}

/* Where the law is asked. */
static inline struct law_point slip_point(enum fric_transition t, const struct slip *p)
{
	return (struct law_point){p->mu_s, p->mu_k, p->z, p->r, p->slides, law_shape(t, p->mu_s, p->mu_k)};
}

/* The same for an extreme slip, from its speed y. */
static inline struct law_point_l extreme_point(enum fric_transition t, const struct slip *p, long double y)
{
	const long double e = p->eps_v;
	return (struct law_point_l){p->mu_s, p->mu_k, y / e, (e - y) / e, p->slides, law_shape_l(t, p->mu_s, p->mu_k)};
}

static inline double slip_potential(const struct fric_contacts *c, size_t i, const struct slip *p)
{
	const enum fric_transition t = c->law.transition;
	if (p->extreme)
		return (double)(long_force(c, i) * (p->eps_v * law_g0_l(t, extreme_point(t, p, slip_speed(p)))));
	return (p->s * law_g0(t, slip_point(t, p))) * p->eps_v;
}

/* s G1(y)/y * scaled: the force in the tangent plane before mu_aniso maps it back; rounded to double unless extreme. */
static inline void slip_force(const struct fric_contacts *c, size_t i, const struct slip *p, long double force[2])
{
	const enum fric_transition t = c->law.transition;
	if (p->extreme) {
		const long double y = slip_speed(p), s = long_force(c, i);
		const struct law_point_l a = extreme_point(t, p, y);
		for (int k = 0; k < 2; k++)
			force[k] = s * law_g1_l(t, a) * (p->scaled[k] / (law_low_l(t, a) ? p->eps_v : y));
		return;
	}
	const struct law_point a = slip_point(t, p);
	for (int k = 0; k < 2; k++)
		force[k] = (p->s * law_g1(t, a)) * (law_low(t, a) ? p->ratio[k] : p->unit[k]);
}

/* P diag(a) f */
static inline void spread(const struct fric_contacts *c, size_t i, double f0, double f1, double force[3])
{
	double *const *p = c->tangent_basis;
	f0 *= *column_at(c->mu_aniso[0], i);
	f1 *= *column_at(c->mu_aniso[1], i);
	for (int d = 0; d < c->dim; d++)
		force[d] = c->dim == 2 ? p[d][i] * f0 : p[2 * d][i] * f0 + p[2 * d + 1][i] * f1;
}

/* The same where a product may over- or underflow on the way although the result does not. */
static inline void spread_extreme(const struct fric_contacts *c, size_t i, const long double f[2], double force[3])
{
	double *const *p = c->tangent_basis;
	const long double f0 = *column_at(c->mu_aniso[0], i) * f[0], f1 = *column_at(c->mu_aniso[1], i) * f[1];
	for (int d = 0; d < c->dim; d++)
		force[d] = (double)(c->dim == 2 ? p[d][i] * f0 : p[2 * d][i] * f0 + p[2 * d + 1][i] * f1);
}

/* The force on a contact, [dim]. */
static inline void contact_force(const struct fric_contacts *c, size_t i, const struct slip *slip, double force[3])
{
	long double f[2];
	slip_force(c, i, slip, f);
	if (slip->extreme || !has_unit_basis(c, i))
		spread_extreme(c, i, f, force);
	else
		spread(c, i, (double)f[0], (double)f[1], force);
}

/* How fast the potential changes on a line: the force times the change of the slip. */
static inline double slip_slope(const struct fric_contacts *c, size_t i, const struct slip *p,
                                const struct slip_line *line, const double along[2])
{
	const enum fric_transition t = c->law.transition;
	if (p->extreme) {
		long double force[2];
		slip_force(c, i, p, force);
		return (double)(force[0] * line->change[0] + force[1] * line->change[1]);
	}
	const struct law_point a = slip_point(t, p);
	const double product = p->ratio[0] * along[0] + p->ratio[1] * along[1];
	return ((product * (law_low(t, a) ? 1 : p->inverse_z)) * law_g1(t, a)) * (p->s * p->eps_v);
}

/* s G1 / z of a slip that is not extreme */
static inline double slip_strength(const struct fric_contacts *c, const struct slip *p)
{
	const enum fric_transition t = c->law.transition;
	const struct law_point a = slip_point(t, p);
	return p->s * (law_g1(t, a) * (law_low(t, a) ? 1 : p->inverse_z));
}

/* Eigenvalues of the inner matrix along and across the slip; doubles unless extreme. */
static inline void slip_eigenvalues(const struct fric_contacts *c, size_t i, const struct slip *p, long double *along,
                                    long double *across)
{
	const enum fric_transition t = c->law.transition;
	if (p->extreme) {
		const long double y = slip_speed(p), e = p->eps_v, s = long_force(c, i);
		const struct law_point_l a = extreme_point(t, p, y);
		*along = eigenvalue_along_l(s, law_g2_l(t, a), a.slides) / e;
		*across = s * law_g1_l(t, a) / (law_low_l(t, a) ? e : y);
		return;
	}
	const struct law_point a = slip_point(t, p);
	*along = eigenvalue_along(p->s, law_g2(t, a), a.slides, p->inverse_eps_v);
	*across = slip_strength(c, p) * p->inverse_eps_v;
}

#endif
