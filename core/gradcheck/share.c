#include "core/gradcheck/share.h"

#include <math.h>

#include "core/bodies/hessian.h"
#include "core/bodies/twist.h"
#include "core/gradcheck/expected.h"
#include "core/law/textbook.h"

/* Rounding of a slip is at most this part of the velocities that it is a difference of, over the tolerance. */
#define LEAST_SLIP 0x1p-20

/* A contact, and its index among the contacts at vertices or of bodies. */
struct place {
	const struct fric_contacts *c;
	const struct coefficients *mu;
	enum fric_type type;
	size_t i;
};

size_t fricp_n_shares(const struct fric_contacts *contacts)
{
	return contacts->n + (contacts->bodies ? contacts->bodies->n : 0);
}

static struct place place_of(const struct fric_contacts *contacts, const struct fric_query *query, size_t i)
{
	const struct fric_contacts *c = contacts_for(contacts, query);
	struct place p = {c, coefficients_for(contacts, query), 0, i};
	if (i >= contacts->n)
		p = (struct place){contacts->bodies, body_coefficients_for(contacts, query), 0, i - contacts->n};
	p.type = contact_type(p.c, p.i);
	return p;
}

static void find_arms(const struct place *p, struct share *out)
{
	const int width = n_member_dofs(p->c->dim, p->type);
	double w[FRIC_MAX_STENCIL] = {0}, jacobian[MOST_SLIP * MOST_BLOCK] = {0};
	if (is_of_bodies(p->type))
		body_jacobian(p->c, p->c->dim, n_bodies_of(p->type), p->i, jacobian);
	else
		contact_weights(p->c, p->type, p->i, w);
	for (int e = 0; e < out->m; e++) {
		out->weight[e] = is_of_bodies(p->type) || p->c->skipped[p->i] ? 0 : w[e / width];
		out->arm[e] = fabs(out->weight[e]);
		for (int t = 0; is_of_bodies(p->type) && t < n_body_slip(p->c->dim); t++)
			out->arm[e] = hypot(out->arm[e], jacobian[t * out->m + e]);
	}
}

/* The sum of the absolute values that the slip is made of. */
static double size_of_motion(const struct place *p, const double *velocities, const struct share *share)
{
	double sum = 0;
	for (int e = 0; e < share->m; e++)
		sum += share->arm[e] * fabs(velocities[share->dof[e]]);
	for (int d = 0; d < p->c->dim; d++) {
		sum += p->c->surface_velocity[d].data ? fabs(*column_at(p->c->surface_velocity[d], p->i)) : 0;
		sum += p->c->anchor[d].data ? fabs(*column_at(p->c->anchor[d], p->i)) : 0;
	}
	return sum;
}

static void find_sizes(const struct place *p, const double *velocities, struct share *out)
{
	struct slip slip;
	long double along, across, force[MOST_SLIP] = {0}, drag[MOST_SLIP] = {0}, squared = 0;
	slip_of_type(p->c, p->mu, p->type, p->i, velocities, &slip);
	contact_eigenvalues(p->c, p->i, &slip, &along, &across);
	slip_force(p->c, p->i, &slip, force);
	if (p->c->viscous.data)
		drag_force(p->c, p->i, &slip, drag);
	for (int t = 0; t < slip.n; t++)
		squared += (force[t] + drag[t]) * (force[t] + drag[t]);
	const long double scaling = largest_scaling(p->c, p->type, p->i), y = slip_speed(&slip), eps_v = slip.eps_v,
					  motion = size_of_motion(p, velocities, out) * LEAST_SLIP;
	const long double cone = fabsl(long_force(p->c, p->i)) *
	                         textbook_largest(&p->c->law, slip.mu_s, slip.mu_k, slip.slides);
	const long double stiffness = scaling * scaling * (fmaxl(fabsl(along), fabsl(across)) + cone / fmaxl(y, eps_v)),
					  whole = scaling * (sqrtl(squared) + cone * fminl(1, y / eps_v)) + stiffness * motion;
	out->cone =
		capped(scaling * fabsl(long_force(p->c, p->i)) * textbook_largest(&p->c->law, slip.mu_s, slip.mu_k, false));
	if (!is_of_bodies(p->type))
		contact_force(p->c, p->i, &slip, out->vector);
	out->stiffness = capped(stiffness);
	out->force = capped(whole);
	out->potential =
		capped(fabsl((long double)contact_potential(p->c, p->i, &slip)) + cone * fmaxl(y, eps_v) + whole * motion);
}

void fricp_share(const struct fric_contacts *contacts, const struct fric_query *query, size_t i, struct share *out)
{
	const struct place p = place_of(contacts, query, i);
	const int width = n_member_dofs(p.c->dim, p.type);
	*out = (struct share){.type = p.type, .index = p.i - p.c->start[p.type], .n_members = fric_stencil_size(p.type)};
	for (int k = 0; k < out->n_members; k++) {
		out->member[k] = p.c->vertices[k][p.i];
		for (int d = 0; d < width; d++)
			out->dof[out->m++] = member_dof(p.c, p.c->dim, p.type, k, p.i) + (size_t)d;
	}
	find_arms(&p, out);
	if ((terms_of(query) & FRIC_TERM_FRICTION) && !p.c->skipped[p.i])
		find_sizes(&p, query->velocities, out);
}

/* ---- mistakes ---- */

bool fricp_has_omission(const struct fric_contacts *contacts, enum omission omission)
{
	const struct fric_law *law = &contacts->law;
	return omission != OMITS_MU_SLOPE || (law->type == FRIC_SMOOTH && law->transition != FRIC_PEAK);
}

/* The eigenvalue along the slip without the part.
 * @param along, across  without a drag */
static long double omitted(enum omission omission, const struct slip *slip, long double along, long double across)
{
	const long double z = slip_speed(slip) / slip->eps_v;
	switch (omission) {
	case OMITS_ANISOTROPY: return across;
	case OMITS_ALONG: return z > 0 ? 0 : along;
	case OMITS_MU_SLOPE: return slip->slides ? 0 : across * (2 - 2 * z) / (2 - z); /* mu f1 is y times across */
	case N_OMISSIONS: break;
	}
	return along;
}

void fricp_inner_omitting(const struct fric_contacts *contacts, const struct fric_query *query, enum omission omission,
                          enum fric_projection projection, size_t i, double *inner)
{
	const struct place p = place_of(contacts, query, i);
	const bool bodies = is_of_bodies(p.type);
	const size_t size = bodies ? body_inner_size(p.c->dim) : (size_t)fric_inner_size(p.c->dim);
	double *out = inner + (bodies ? first_body_inner(contacts) : 0) + p.i * size;
	struct slip slip;
	long double along, across;
	slip_of_type(p.c, p.mu, p.type, p.i, query->velocities, &slip);
	contact_eigenvalues(p.c, p.i, &slip, &along, &across);
	const long double drag = p.c->viscous.data ? long_drag(p.c, p.i) : 0,
					  changed = projected_l(projection, omitted(omission, &slip, along - drag, across - drag) + drag);
	across = projected_l(projection, across);
	for (int r = 0, e = 0; r < slip.n; r++)
		for (int t = r; t < slip.n; t++, e++) {
			const double a = bodies ? 1 : *column_at(p.c->mu_aniso[r], p.i) * *column_at(p.c->mu_aniso[t], p.i);
			out[e] = (double)(a * ((t == r ? across : 0) + (changed - across) * slip.unit[r] * slip.unit[t]));
		}
}
