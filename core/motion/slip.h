/**
 * One contact at given velocities: its slip u, the law at |u|, its force and inner matrix. This is the scalar form,
 * against which the kernels are tested. Everything is computed from u * (1/eps_v), so that scaling velocities and eps_v
 * by the same power of two gives the same bits. A slip has dim - 1 components at vertices, and up to MOST_SLIP where
 * bodies also spin and roll; the law treats all components alike.
 */
#ifndef FRIC_SLIP_H
#define FRIC_SLIP_H

#include <math.h>

#include "core/base/quad.h"
#include "core/base/range.h"
#include "core/contacts/ordinary.h"
#include "core/law/tail.h"
#include "core/motion/stencil.h"

enum { MOST_SLIP = 5 };

struct slip {
	int n;                    /* number of components; the others are 0, as is the second if n is 1 */
	double u[MOST_SLIP];      /* P^T (Gamma v - surface_velocity + anchor), before mu_aniso scaling */
	double scaled[MOST_SLIP]; /* diag(mu_aniso) u: the law's argument */
	double bare[MOST_SLIP];   /* `scaled` without the anchor: the drag's argument, if there is a drag */
	double eps_v;
	double s; /* weight * normal force */
	double mu_s, mu_k;
	double decay; /* eps_v over the unit of the law's tail, if it has one */
	/* The members below follow from those above. */
	bool slides;
	double z, r; /* |scaled| / eps_v and 1 - z; z may be inf */
	double inverse_z, inverse_eps_v;
	double unit[MOST_SLIP];  /* direction of scaled; (1, 0, ..) at rest */
	double ratio[MOST_SLIP]; /* scaled / eps_v */
	bool extreme;            /* the doubles above have over- or underflowed: the law is evaluated in long double */
	/* Values for the drag, if there is one; these also follow from the members above. */
	double drag;                  /* s * viscous * eps_v */
	double bare_ratio[MOST_SLIP]; /* bare / eps_v */
	double bare_squared;          /* |bare_ratio|^2 */
	bool extreme_drag;            /* the doubles of the drag have over- or underflowed */
};

/* Loop over the components of a slip of n >= 2 components (in 2D the second is 0), and loop over the additional ones of
 * bodies. Unrolled: where n is a smaller constant, no code remains for the others. */
#define EACH_COMPONENT(t, n) \
	UNROLL \
	for (int t = 0; t < MOST_SLIP; t++) \
		if (t < 2 || t < (n))
#define MORE_COMPONENTS(t, n) \
	UNROLL \
	for (int t = 2; t < MOST_SLIP; t++) \
		if (t < (n))

/* Sets members that may otherwise stay unset: without a drag these are 0. */
INLINE void slip_begin(int n, struct slip *slip)
{
	slip->n = n;
	slip->drag = slip->bare_squared = 0;
	slip->extreme_drag = false;
	EACH_COMPONENT(t, n)
	slip->bare[t] = slip->bare_ratio[t] = 0;
}

/* From here on, operations and their order are the same as in kernels.inc, so that results are bitwise equal. */

/* Computes u = P^T relative, and diag(mu_aniso) u. The slip of a skipped contact is 0 at any velocities, even if a
 * difference overflows. */
INLINE void project_slip(const struct fric_contacts *c, size_t i, const double relative[3], double u[2],
                         double scaled[2])
{
	for (int t = 0; t < 2; t++) {
		double *const *p = c->tangent_basis + t;
		u[t] = 0;
		if (c->skipped[i])
			u[t] = 0;
		else if (c->dim == 3)
			u[t] = (p[0][i] * relative[0] + p[2][i] * relative[1]) + p[4][i] * relative[2];
		else if (t == 0)
			u[t] = p[0][i] * relative[0] + p[1][i] * relative[1];
		scaled[t] = *column_at(c->mu_aniso[t], i) * u[t];
	}
}

/* Adds an offset to the relative velocity: sign -1 for surface velocities, 1 for anchors. */
INLINE void add_offset_of(const struct column offset[3], int sign, int dim, size_t i, double relative[3])
{
	for (int d = 0; d < dim && offset[0].data; d++)
		relative[d] += sign * *column_at(offset[d], i);
}

/* Computes the slip in the tangent plane of contact i, from the relative velocity without surface velocity and
 * anchor. */
INLINE void slip_sliding(const struct fric_contacts *c, size_t i, double relative[3], struct slip *slip)
{
	double bare[2];
	add_offset_of(c->surface_velocity, -1, c->dim, i, relative);
	if (c->viscous.data)
		project_slip(c, i, relative, bare, slip->bare);
	add_offset_of(c->anchor, 1, c->dim, i, relative);
	project_slip(c, i, relative, slip->u, slip->scaled);
}

INLINE void slip_velocity(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v,
                          struct slip *slip)
{
	double relative[3] = {0};
	relative_velocity(c, type, i, v, relative);
	slip_begin(c->dim == 3 ? 2 : 1, slip);
	slip_sliding(c, i, relative, slip);
}

/* Computes the change of a slip along a change d of the velocities; surface velocity and anchor are constant. */
INLINE void slip_change(const struct fric_contacts *c, enum fric_type type, size_t i, const double *d,
                        struct slip *slip)
{
	double relative[3] = {0};
	relative_velocity(c, type, i, d, relative);
	slip_begin(c->dim == 3 ? 2 : 1, slip);
	project_slip(c, i, relative, slip->u, slip->scaled);
}

INLINE bool slip_finite(const struct slip *slip)
{
	bool finite = true;
	EACH_COMPONENT(t, slip->n)
	finite &= isfinite(slip->u[t]) && isfinite(slip->scaled[t]) && isfinite(slip->bare[t]);
	return finite;
}

/* |scaled|: the law's argument. */
INLINE long double slip_speed(const struct slip *slip)
{
	if (slip->n <= 2)
		return hypotl(slip->scaled[0], slip->scaled[1]);
	long double squared = 0; /* long doubles cannot overflow here */
	for (int t = 0; t < slip->n; t++)
		squared += (long double)slip->scaled[t] * slip->scaled[t];
	return sqrtl(squared);
}

/* Whether |scaled| >= times * eps_v, decided exactly: rounded roots or ratios must not decide, and squares are exact in
 * quad. */
INLINE bool reaches(const struct slip *slip, int times)
{
	const quad e = times * (quad)slip->eps_v;
	quad squared = 0;
	EACH_COMPONENT(t, slip->n)
	squared += (quad)slip->scaled[t] * slip->scaled[t];
	return squared >= e * e;
}

INLINE bool reaches_eps_v(const struct slip *slip)
{
	return reaches(slip, 1);
}

/* Whether |scaled| >= LAW_REACH eps_v. Set z first. */
INLINE bool breaks_bonds(const struct slip *slip)
{
	return tells_breaking(slip->z) ? slip->z > LAW_REACH : reaches(slip, LAW_REACH);
}

/* Computes |scaled|, its ratio to eps_v and its direction, for any finite numbers; long doubles cannot overflow
 * here. */
INLINE void extreme_ratio(struct slip *slip)
{
	const long double norm = slip_speed(slip), e = slip->eps_v;
	slip->extreme = true;
	slip->slides = reaches_eps_v(slip);
	slip->z = (double)(norm / e);
	slip->r = (double)((e - norm) / e);
	EACH_COMPONENT(t, slip->n)
	{
		slip->unit[t] = norm > 0 ? (double)(slip->scaled[t] / norm) : t == 0;
		slip->ratio[t] = (double)(slip->scaled[t] / e);
	}
}

INLINE void ordinary_ratio(struct slip *slip, const double w[MOST_SLIP])
{
	double squared = w[0] * w[0] + w[1] * w[1];
	MORE_COMPONENTS(t, slip->n)
	squared += w[t] * w[t];
	const double length = slip->n == 1 ? fabs(w[0]) : sqrt(squared);
	const double over = 1 / (length > 0 ? length : 1);
	slip->extreme = false;
	slip->slides = tells_sliding(squared) ? squared > 1 : reaches_eps_v(slip);
	const bool rounded_past_one = slip->slides != (length >= 1);
	slip->z = rounded_past_one ? 1 : length;
	slip->inverse_z = rounded_past_one ? 1 : over;
	slip->r = slip->n == 1 ? (slip->eps_v - fabs(slip->scaled[0])) / slip->eps_v : 1 - slip->z;
	EACH_COMPONENT(t, slip->n)
	{
		slip->unit[t] = length > 0 ? w[t] * over : t == 0;
		slip->ratio[t] = w[t];
	}
}

/* Sets the lagged values with which a slip is compared. */
INLINE void slip_lagged(const struct fric_contacts *c, const struct coefficients *mu, size_t i, struct slip *slip)
{
	slip->eps_v = *column_at(c->eps_v, i);
	slip->s = *column_at(c->weight, i) * *column_at(c->normal_force, i);
	slip->inverse_z = 0;
	slip->mu_s = *column_at(mu->mu_s, i);
	slip->mu_k = *column_at(mu->mu_k, i);
	slip->inverse_eps_v = 1 / slip->eps_v;
	slip->decay = c->unit.data ? slip->eps_v / *column_at(c->unit, i) : 0;
}

INLINE bool has_ordinary_law(const struct fric_contacts *c, size_t i, const struct slip *slip)
{
	return ordinary_lagged(*column_at(c->weight, i), *column_at(c->normal_force, i), slip->eps_v, slip->mu_s,
	                       slip->mu_k) &&
	       (!c->viscous.data || ordinary_drag(*column_at(c->viscous, i), slip->eps_v)) &&
	       (!c->unit.data || ordinary_decay(&c->table, slip->decay));
}

/* Sets the values derived for the drag. rests: the slip without the anchor is 0 */
INLINE void drag_judge(const struct fric_contacts *c, size_t i, bool rests, struct slip *slip)
{
	const double *w = slip->bare_ratio;
	slip->bare_squared = w[0] * w[0] + w[1] * w[1];
	MORE_COMPONENTS(t, slip->n)
	slip->bare_squared += w[t] * w[t];
	slip->drag = slip->s * (*column_at(c->viscous, i) * slip->eps_v);
	slip->extreme_drag = slip->extreme || !whole_drag(slip->drag, slip->bare_squared, rests);
}

/* Sets the values derived for the drag, from the slip without the anchor. */
INLINE void drag_of(const struct fric_contacts *c, size_t i, struct slip *slip)
{
	bool rests = true;
	if (!c->viscous.data)
		return;
	EACH_COMPONENT(t, slip->n)
	{
		slip->bare_ratio[t] = slip->bare[t] * slip->inverse_eps_v;
		rests &= slip->bare[t] == 0;
	}
	drag_judge(c, i, rests, slip);
}

/* Whether w, the ratio of a slip to eps_v, loses nothing to over- or underflow. scaled: the slip of n >= 2 components,
 * after mu_aniso scaling */
INLINE bool ordinary_slip(int n, const double *scaled, const double *w)
{
	double sum = fabs(w[0]) + fabs(w[1]);
	bool moves = scaled[0] != 0 || scaled[1] != 0;
	MORE_COMPONENTS(t, n)
	{
		sum += fabs(w[t]);
		moves |= scaled[t] != 0;
	}
	return ordinary(sum) && !(sum == 0 && moves);
}

/* Sets everything that is derived from a slip's velocities. */
INLINE void slip_judge(const struct fric_contacts *c, const struct coefficients *mu, size_t i, struct slip *slip)
{
	const int n = slip->n;
	double w[MOST_SLIP] = {0};
	slip_lagged(c, mu, i, slip);
	EACH_COMPONENT(t, n)
	w[t] = slip->scaled[t] * slip->inverse_eps_v;
	if (ordinary_slip(n, slip->scaled, w) && has_ordinary_law(c, i, slip))
		ordinary_ratio(slip, w);
	else
		extreme_ratio(slip);
	drag_of(c, i, slip);
}

INLINE void slip_of(const struct fric_contacts *c, const struct coefficients *mu, enum fric_type type, size_t i,
                    const double *v, struct slip *slip)
{
	slip_velocity(c, type, i, v, slip);
	slip_judge(c, mu, i, slip);
}

/* The slips of a contact at velocities v + t d, scaled by mu_aniso: start + t change. */
struct slip_line {
	int n;
	double start[MOST_SLIP], change[MOST_SLIP];
	double bare[MOST_SLIP]; /* start without the anchor, if there is a drag */
	bool finite;
};

/* Makes a line from the slips at velocities v and along the direction. */
INLINE struct slip_line slip_line_through(const struct slip *start, const struct slip *change)
{
	struct slip_line line = {.n = start->n, .finite = slip_finite(start) && slip_finite(change)};
	EACH_COMPONENT(k, start->n)
	{
		line.start[k] = start->scaled[k];
		line.change[k] = change->scaled[k];
		line.bare[k] = start->bare[k];
	}
	return line;
}

INLINE void slip_line_of(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v, const double *d,
                         struct slip_line *line)
{
	struct slip start, change;
	slip_velocity(c, type, i, v, &start);
	slip_change(c, type, i, d, &change);
	*line = slip_line_through(&start, &change);
}

/* Sets the values derived for the drag at t. whole: the direction's contribution `along` lost nothing to over- or
 * underflow. Rest is decided as in slip_on_line. @return whether the slip is finite */
INLINE bool drag_on_line(const struct fric_contacts *c, size_t i, const struct slip_line *line, double t, bool whole,
                         const double along[MOST_SLIP], struct slip *slip)
{
	const int n = slip->n;
	double start[MOST_SLIP] = {0};
	bool rests = true, started = false, moved = false, finite = true;
	EACH_COMPONENT(k, n)
	{
		start[k] = line->bare[k] * slip->inverse_eps_v;
		slip->bare_ratio[k] = start[k] + t * along[k];
		slip->bare[k] = (double)(line->bare[k] + (long double)t * line->change[k]);
		finite &= isfinite(slip->bare[k]) != 0;
		rests &= slip->bare_ratio[k] == 0;
		started |= start[k] != 0;
		moved |= along[k] != 0;
	}
	whole &= ordinary_slip(n, line->bare, start);
	EACH_COMPONENT(k, n)
	if (whole && rests && started)
		slip->bare[k] = 0;
	drag_judge(c, i, rests && (started || !moved || t == 0), slip);
	slip->extreme_drag |= !whole;
	return finite;
}

/* The slip at t. Where start and t * change cancel to the last bit, more digits would only expose their rounding, so
 * the contact counts as at rest.
 * @param along  set to the direction's contribution to the slip over eps_v
 * @return whether the slip is finite */
static inline bool slip_on_line(const struct fric_contacts *c, const struct coefficients *mu, size_t i,
                                const struct slip_line *line, double t, struct slip *slip, double along[MOST_SLIP])
{
	double start[MOST_SLIP] = {0}, w[MOST_SLIP] = {0};
	*slip = (struct slip){.n = line->n};
	const int n = slip->n;
	bool rests = true, started = false, finite = line->finite;
	slip_lagged(c, mu, i, slip);
	EACH_COMPONENT(k, n)
	{
		start[k] = line->start[k] * slip->inverse_eps_v;
		along[k] = line->change[k] * slip->inverse_eps_v;
		w[k] = start[k] + t * along[k];
		slip->scaled[k] = (double)(line->start[k] + (long double)t * line->change[k]);
		finite &= isfinite(slip->scaled[k]) != 0;
		rests &= w[k] == 0;
		started |= start[k] != 0;
	}
	const bool whole_change = ordinary_slip(n, line->change, along);
	const bool whole = ordinary_slip(n, line->start, start) && whole_change;
	EACH_COMPONENT(k, n)
	if (whole && rests && started)
		slip->scaled[k] = 0;
	if (whole && ordinary_slip(n, slip->scaled, w) && has_ordinary_law(c, i, slip))
		ordinary_ratio(slip, w);
	else
		extreme_ratio(slip);
	return finite && (!c->viscous.data || drag_on_line(c, i, line, t, whole_change, along, slip));
}

/* The status of a contact (FRIC_OUT_STATUS). @param slides  if it has friction */
INLINE int status_of(const struct fric_contacts *c, size_t i, bool slides)
{
	return c->skipped[i] == MOLLIFIED ? 3 : c->skipped[i] ? 2 : slides;
}

/* weight * normal force, even if the product does not fit a double. */
INLINE long double long_force(const struct fric_contacts *c, size_t i)
{
	return (long double)*column_at(c->weight, i) * *column_at(c->normal_force, i);
}

/* The law's argument at a slip. */
INLINE struct law_point slip_point(const struct fric_contacts *c, const struct slip *p)
{
	const enum law t = law_of(&c->law);
	const struct law_shape shape = law_has_tail(t) ? law_tail(t, &c->table, p->r, p->decay, 1 / p->decay)
	                                               : law_shape(t, p->mu_s, p->mu_k);
	return (struct law_point){
		p->mu_s, p->mu_k, p->z, p->r, p->slides, shape, law_has(t, LAW_BREAKS) && breaks_bonds(p)};
}

/* As slip_point, for an extreme slip of contact i, from its speed y. */
INLINE struct law_point_l extreme_point(const struct fric_contacts *c, size_t i, const struct slip *p, long double y)
{
	const enum law t = law_of(&c->law);
	const long double e = p->eps_v, r = (e - y) / e;
	const long double unit = law_has_tail(t) ? *column_at(c->unit, i) : 1;
	const struct law_shape_l shape = law_has_tail(t) ? law_tail_l(t, &c->table, r, e / unit, unit / e)
	                                                 : law_shape_l(t, p->mu_s, p->mu_k);
	return (struct law_point_l){
		p->mu_s, p->mu_k, y / e, r, p->slides, shape, law_has(t, LAW_BREAKS) && breaks_bonds(p)};
}

INLINE double slip_potential(const struct fric_contacts *c, size_t i, const struct slip *p)
{
	const enum law t = law_of(&c->law);
	if (p->extreme)
		return (double)(long_force(c, i) * (p->eps_v * law_g0_l(t, extreme_point(c, i, p, slip_speed(p)))));
	return (p->s * law_g0(t, slip_point(c, p))) * p->eps_v;
}

/* Computes s G1(y)/y * scaled: the force in the tangent plane before mu_aniso maps it back. Rounded to double unless
 * extreme. */
INLINE void slip_force(const struct fric_contacts *c, size_t i, const struct slip *p, long double force[MOST_SLIP])
{
	const enum law t = law_of(&c->law);
	if (p->extreme) {
		const long double y = slip_speed(p), s = long_force(c, i);
		const struct law_point_l a = extreme_point(c, i, p, y);
		EACH_COMPONENT(k, p->n)
		force[k] = s * law_g1_l(t, a) * (p->scaled[k] / (law_low_l(t, a) ? p->eps_v : y));
		return;
	}
	const struct law_point a = slip_point(c, p);
	EACH_COMPONENT(k, p->n)
	force[k] = (p->s * law_g1(t, a)) * (law_low(t, a) ? p->ratio[k] : p->unit[k]);
}

/* force := P diag(a) f */
INLINE void spread(const struct fric_contacts *c, size_t i, double f0, double f1, double force[3])
{
	double *const *p = c->tangent_basis;
	f0 *= *column_at(c->mu_aniso[0], i);
	f1 *= *column_at(c->mu_aniso[1], i);
	for (int d = 0; d < c->dim; d++)
		force[d] = c->dim == 2 ? p[d][i] * f0 : p[2 * d][i] * f0 + p[2 * d + 1][i] * f1;
}

/* As spread, where a product may over- or underflow although the result does not. */
INLINE void spread_extreme(const struct fric_contacts *c, size_t i, const long double f[2], double force[3])
{
	double *const *p = c->tangent_basis;
	const long double f0 = *column_at(c->mu_aniso[0], i) * f[0], f1 = *column_at(c->mu_aniso[1], i) * f[1];
	for (int d = 0; d < c->dim; d++)
		force[d] = (double)(c->dim == 2 ? p[d][i] * f0 : p[2 * d][i] * f0 + p[2 * d + 1][i] * f1);
}

/* weight * normal force * viscous, even if the product does not fit a double. */
INLINE long double long_drag(const struct fric_contacts *c, size_t i)
{
	return long_force(c, i) * *column_at(c->viscous, i);
}

/* Computes s viscous * bare, which the caller adds to slip_force. Rounded to double unless the drag is extreme. */
INLINE void drag_force(const struct fric_contacts *c, size_t i, const struct slip *p, long double force[MOST_SLIP])
{
	EACH_COMPONENT(k, p->n)
	force[k] = p->extreme_drag ? long_drag(c, i) * p->bare[k] : p->drag * p->bare_ratio[k];
}

/* The potential of a contact, drag included. */
INLINE double contact_potential(const struct fric_contacts *c, size_t i, const struct slip *p)
{
	const double law = slip_potential(c, i, p);
	long double squared = 0;
	if (!c->viscous.data)
		return law;
	if (!p->extreme_drag)
		return law + (0.5 * (p->drag * p->bare_squared)) * p->eps_v;
	EACH_COMPONENT(k, p->n)
	squared += (long double)p->bare[k] * p->bare[k];
	return (double)(law + long_drag(c, i) * squared / 2);
}

INLINE void spread_drag(const struct fric_contacts *c, size_t i, const struct slip *slip, double force[3])
{
	long double f[MOST_SLIP];
	double drag[3];
	drag_force(c, i, slip, f);
	spread(c, i, (double)f[0], (double)f[1], drag);
	for (int d = 0; d < c->dim; d++)
		force[d] += drag[d];
}

/* Computes the force on a contact, [dim]. */
INLINE void contact_force(const struct fric_contacts *c, size_t i, const struct slip *slip, double force[3])
{
	const bool drags = c->viscous.data;
	long double f[MOST_SLIP], drag[MOST_SLIP] = {0};
	slip_force(c, i, slip, f);
	if (!slip->extreme && !slip->extreme_drag && has_unit_basis(c, i)) {
		spread(c, i, (double)f[0], (double)f[1], force);
		if (drags)
			spread_drag(c, i, slip, force);
		return;
	}
	if (drags)
		drag_force(c, i, slip, drag);
	for (int k = 0; k < 2; k++)
		f[k] += drag[k];
	spread_extreme(c, i, f, force);
}

/* The derivative of the potential along a line: the force times the change of the slip. */
INLINE double slip_derivative(const struct fric_contacts *c, size_t i, const struct slip *p,
                              const struct slip_line *line, const double along[MOST_SLIP])
{
	const enum law t = law_of(&c->law);
	if (p->extreme) {
		long double force[MOST_SLIP], sum = 0;
		slip_force(c, i, p, force);
		EACH_COMPONENT(k, p->n)
		sum += force[k] * line->change[k];
		return (double)sum;
	}
	const struct law_point a = slip_point(c, p);
	double product = p->ratio[0] * along[0] + p->ratio[1] * along[1];
	MORE_COMPONENTS(k, p->n)
	product += p->ratio[k] * along[k];
	return ((product * (law_low(t, a) ? 1 : p->inverse_z)) * law_g1(t, a)) * (p->s * p->eps_v);
}

/* As slip_derivative, drag included. */
INLINE double contact_slope(const struct fric_contacts *c, size_t i, const struct slip *p, const struct slip_line *line,
                            const double along[MOST_SLIP])
{
	const double law = slip_derivative(c, i, p, line, along);
	if (!c->viscous.data)
		return law;
	if (p->extreme_drag) {
		long double product = 0;
		EACH_COMPONENT(k, p->n)
		product += (long double)p->bare[k] * line->change[k];
		return (double)(law + long_drag(c, i) * product);
	}
	double product = p->bare_ratio[0] * along[0] + p->bare_ratio[1] * along[1];
	MORE_COMPONENTS(k, p->n)
	product += p->bare_ratio[k] * along[k];
	return law + (p->drag * product) * p->eps_v;
}

/* The fraction of its slip that a contact keeps as elastic deflection. A bond keeps all of it until it breaks at 2
 * eps_v; other laws keep at most eps_v. */
INLINE long double kept_share(const struct fric_contacts *c, const struct slip *p)
{
	if (law_has(law_of(&c->law), LAW_BREAKS))
		return breaks_bonds(p) ? 0 : 1;
	return reaches_eps_v(p) ? p->eps_v / slip_speed(p) : 1;
}

/* Computes the anchor of a contact for the next step, [dim]: P u times the fraction that it keeps. */
INLINE void next_anchor(const struct fric_contacts *c, size_t i, const struct slip *p, double anchor[3])
{
	const long double share = kept_share(c, p), u0 = share * p->u[0], u1 = share * p->u[1];
	double *const *basis = c->tangent_basis;
	for (int d = 0; d < c->dim; d++)
		anchor[d] = (double)(c->dim == 2 ? basis[d][i] * u0 : basis[2 * d][i] * u0 + basis[2 * d + 1][i] * u1);
}

/* s G1 / z of a slip that is not extreme. */
INLINE double slip_strength(const struct fric_contacts *c, const struct slip *p)
{
	const enum law t = law_of(&c->law);
	const struct law_point a = slip_point(c, p);
	return p->s * (law_g1(t, a) * (law_low(t, a) ? 1 : p->inverse_z));
}

/* Eigenvalues of the inner matrix along and across the slip. Rounded to double unless extreme. */
INLINE void slip_eigenvalues(const struct fric_contacts *c, size_t i, const struct slip *p, long double *along,
                             long double *across)
{
	const enum law t = law_of(&c->law);
	if (p->extreme) {
		const long double y = slip_speed(p), e = p->eps_v, s = long_force(c, i);
		const struct law_point_l a = extreme_point(c, i, p, y);
		*along = eigenvalue_along_l(s, law_g2_l(t, a), a.slides) / e;
		*across = s * law_g1_l(t, a) / (law_low_l(t, a) ? e : y);
		return;
	}
	const struct law_point a = slip_point(c, p);
	*along = eigenvalue_along(p->s, law_g2(t, a), a.slides, p->inverse_eps_v);
	*across = slip_strength(c, p) * p->inverse_eps_v;
}

/* As slip_eigenvalues, drag included. */
INLINE void contact_eigenvalues(const struct fric_contacts *c, size_t i, const struct slip *p, long double *along,
                                long double *across)
{
	slip_eigenvalues(c, i, p, along, across);
	if (!c->viscous.data)
		return;
	const double drag = p->drag * p->inverse_eps_v;
	*along = p->extreme ? *along + long_drag(c, i) : (double)*along + drag;
	*across = p->extreme ? *across + long_drag(c, i) : (double)*across + drag;
}

#endif
