#include "core/derive/force.h"

#include "core/law/second_derivatives.h"

static long double dot(int n, const long double *a, const long double *b)
{
	long double sum = 0;
	for (int t = 0; t < n; t++)
		sum += a[t] * b[t];
	return sum;
}

static void copy_inputs(const struct fric_contacts *c, const struct coefficients *mu, size_t i, const struct slip *slip,
                        struct force_inputs *at)
{
	*at = (struct force_inputs){.s = long_force(c, i),
	                            .mu_s = *column_at(mu->mu_s, i),
	                            .mu_k = *column_at(mu->mu_k, i),
	                            .eps_v = *column_at(c->eps_v, i),
	                            .unit = c->unit.data ? *column_at(c->unit, i) : 1,
	                            .viscous = c->viscous.data ? *column_at(c->viscous, i) : 0};
	for (int t = 0; t < slip->n; t++) {
		at->u[t] = slip->scaled[t];
		at->bare[t] = slip->bare[t];
	}
}

static void find_derivatives(const struct law_table *table, struct force_point *p)
{
	if (law_has_tail(p->law)) {
		p->q = p->at.eps_v / p->at.unit;
		p->x = tail_argument_l(p->point.r, p->q);
		p->beyond = law_reach_l(p->law, table, p->point.r, p->q, 1 / p->q);
	}
	p->derivatives = law_derivatives_l(p->law, p->point, p->beyond);
}

/* Whether the contact slides is decided exactly, in the same way as for forces. */
static void find_law(const struct fric_contacts *c, const struct coefficients *mu, size_t i, struct slip slip,
                     struct force_point *p)
{
	const long double y = slip_speed(&slip), e = p->at.eps_v;
	slip_lagged(c, mu, i, &slip);
	extreme_ratio(&slip);
	p->point = extreme_point(c, i, &slip, y);
	find_derivatives(&c->table, p);
	p->g1 = law_g1_l(p->law, p->point);
	p->along = eigenvalue_along_l(1, law_g2_l(p->law, p->point), p->point.slides) / e;
	p->across = p->g1 / (law_low_l(p->law, p->point) ? e : y);
	for (int t = 0; t < p->n; t++) {
		p->unit[t] = y > 0 ? slip.scaled[t] / y : t == 0;
		p->direction[t] = slip.scaled[t] / (law_low_l(p->law, p->point) ? e : y);
	}
}

void fricp_force_point(const struct fric_contacts *contacts, const struct coefficients *mu, size_t i,
                       const struct slip *slip, struct force_point *point)
{
	*point = (struct force_point){.n = slip->n, .law = law_of(&contacts->law)};
	copy_inputs(contacts, mu, i, slip, &point->at);
	find_law(contacts, mu, i, *slip, point);
	const struct force_inputs *at = &point->at;
	point->work = at->eps_v * law_g0_l(point->law, point->point) + at->viscous * dot(slip->n, at->bare, at->bare) / 2;
	for (int t = 0; t < slip->n; t++)
		point->force[t] = point->g1 * point->direction[t] + at->viscous * at->bare[t];
}

/* out := (A/s) q without the drag, computed from the eigenvalues, so that there is no pole at rest. The part of q
 * perpendicular to the unit vector s is summed over pairs of components, because q - (s.q) s loses all digits of a
 * component in which s is far larger than in the others. */
static void curvature(const struct force_point *p, const long double *q, long double *out)
{
	const long double *s = p->unit, along = dot(p->n, s, q);
	for (int t = 0; t < p->n; t++) {
		long double perpendicular = 0;
		for (int o = 0; o < p->n; o++)
			perpendicular += s[o] * (s[o] * q[t] - s[t] * q[o]);
		out[t] = p->along * along * s[t] + p->across * perpendicular;
	}
}

/* Differentiates g1 with respect to the value of a curve, and g0 with respect to its integral; 0 below eps_v, where the
 * curve is not used. */
static void by_curve(const struct force_point *p, long double *value, long double *integral)
{
	const bool follows = law_has(p->law, LAW_MEASURED) && p->point.slides;
	*value = follows ? p->at.mu_s : 0;
	*integral = follows ? p->at.mu_s / p->q : 0;
}

void fricp_force_tangent(const struct force_point *p, const struct force_inputs *tangent, long double *potential,
                         long double *force)
{
	const struct law_derivatives_l *d = &p->derivatives;
	const struct force_inputs *at = &p->at, *t = tangent;
	const int n = p->n;
	const long double by_eps_v = t->eps_v / at->eps_v, by_unit = t->unit / at->unit;
	long double bent[MOST_SLIP], value, integral;
	by_curve(p, &value, &integral);
	curvature(p, t->u, bent);
	const long double g0 = d->s0 * t->mu_s + d->k0 * t->mu_k + d->e0 * by_eps_v + d->u0 * by_unit +
	                       integral * t->curve[1];
	const long double g1 = d->s1 * t->mu_s + d->k1 * t->mu_k + d->e1 * by_eps_v + d->u1 * by_unit + value * t->curve[0];
	const long double drag = t->viscous * dot(n, at->bare, at->bare) / 2 + at->viscous * dot(n, at->bare, t->bare);
	*potential = t->s * p->work + at->s * (p->g1 * dot(n, p->direction, t->u) + at->eps_v * g0 + drag);
	for (int k = 0; k < n; k++)
		force[k] = t->s * p->force[k] +
		           at->s * (bent[k] + g1 * p->direction[k] + t->viscous * at->bare[k] + at->viscous * t->bare[k]);
}

void fricp_force_cotangent(const struct force_point *p, long double psi, const long double *q,
                           struct force_inputs *cotangent)
{
	const struct law_derivatives_l *d = &p->derivatives;
	const struct force_inputs *at = &p->at;
	const int n = p->n;
	/* The derivatives of psi D + q . f with respect to g0 and to g1. */
	const long double of_g0 = at->s * psi * at->eps_v, of_g1 = at->s * dot(n, q, p->direction);
	long double value, integral;
	by_curve(p, &value, &integral);
	*cotangent = (struct force_inputs){
		.s = psi * p->work + dot(n, q, p->force),
		.mu_s = of_g0 * d->s0 + of_g1 * d->s1,
		.mu_k = of_g0 * d->k0 + of_g1 * d->k1,
		.eps_v = (of_g0 * d->e0 + of_g1 * d->e1) / at->eps_v,
		.unit = (of_g0 * d->u0 + of_g1 * d->u1) / at->unit,
		.viscous = at->s * (psi * dot(n, at->bare, at->bare) / 2 + dot(n, q, at->bare)),
		.curve = {of_g1 * value, of_g0 * integral},
	};
	curvature(p, q, cotangent->u);
	for (int t = 0; t < n; t++) {
		cotangent->u[t] = at->s * (psi * p->g1 * p->direction[t] + cotangent->u[t]);
		cotangent->bare[t] = at->s * at->viscous * (psi * at->bare[t] + q[t]);
	}
}

void fricp_force_second(const struct force_point *p, const struct force_inputs *tangent, struct force_inputs *cotangent)
{
	const struct law_derivatives_l *d = &p->derivatives;
	const struct law_second_derivatives_l second = law_second_derivatives_l(p->law, p->point, p->beyond);
	const struct force_inputs *at = &p->at, *t = tangent;
	const int n = p->n;
	const long double along = dot(n, p->direction, t->u), e = at->eps_v, by_eps_v = t->eps_v / e;
	const long double work = p->g1 * along + at->viscous * dot(n, at->bare, t->bare) +
	                         e * (d->s0 * t->mu_s + d->k0 * t->mu_k) + d->e0 * t->eps_v;
	const long double g1 = d->s1 * t->mu_s + d->k1 * t->mu_k + d->e1 * by_eps_v;
	*cotangent = (struct force_inputs){
		.s = work,
		.mu_s = t->s * e * d->s0 +
	            at->s * (d->s1 * along + e * (second.ss * t->mu_s + second.sk * t->mu_k) + second.es * t->eps_v),
		.mu_k = t->s * e * d->k0 +
	            at->s * (d->k1 * along + e * (second.sk * t->mu_s + second.kk * t->mu_k) + second.ek * t->eps_v),
		.eps_v = t->s * d->e0 +
	             at->s * (d->e1 / e * along + second.es * t->mu_s + second.ek * t->mu_k + second.ee * by_eps_v),
	};
	curvature(p, t->u, cotangent->u);
	for (int k = 0; k < n; k++) {
		cotangent->u[k] = t->s * p->g1 * p->direction[k] + at->s * (cotangent->u[k] + g1 * p->direction[k]);
		cotangent->bare[k] = at->viscous * (t->s * at->bare[k] + at->s * t->bare[k]);
	}
}
