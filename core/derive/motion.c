#include "core/derive/motion.h"

/* out += s (a x b) */
static void add_cross(long double s, const long double a[3], const long double b[3], long double out[3])
{
	for (int d = 0; d < 3; d++) {
		const int x = (d + 1) % 3, y = (d + 2) % 3;
		out[d] += s * (a[x] * b[y] - a[y] * b[x]);
	}
}

/* out += s a */
static void add_vector(long double s, const long double a[3], long double out[3])
{
	for (int d = 0; d < 3; d++)
		out[d] += s * a[d];
}

/* ---- vertices ---- */

static void motion_at_vertices(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v,
                               struct motion *motion)
{
	for (int k = 0; k < fric_stencil_size(type); k++) {
		const struct member m = stencil_members(type)[k];
		const double *at = v + member_dof(c, c->dim, type, k, i), *from = v + member_dof(c, c->dim, type, m.origin, i);
		for (int d = 0; d < c->dim; d++) {
			const long double along = (long double)at[d] - from[d];
			if (m.origin == k)
				motion->relative[d] += m.sign * (long double)at[d];
			else
				motion->by_point[m.coordinate][d] += m.sign * along;
		}
	}
	for (int j = 0; j < 2; j++)
		for (int d = 0; d < c->dim; d++)
			motion->relative[d] += c->closest_point[j][i] * motion->by_point[j][d];
}

void fricp_weights_tangent(enum fric_type type, const long double closest_point[2],
                           long double weights[FRIC_MAX_STENCIL])
{
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		weights[k] = 0;
	for (int k = 0; k < fric_stencil_size(type); k++) {
		const struct member m = stencil_members(type)[k];
		if (m.origin == k)
			continue;
		weights[k] += m.sign * closest_point[m.coordinate];
		weights[m.origin] -= m.sign * closest_point[m.coordinate];
	}
}

/* ---- bodies ---- */

/* +1 for the first body of a contact, -1 for the second. */
static long double sign_of(int k)
{
	return k == 0 ? 1 : -1;
}

static void read_arm(const struct fric_contacts *b, int k, size_t i, long double arm[3])
{
	for (int d = 0; d < 3; d++)
		arm[d] = b->arm[k][d][i];
}

static struct twist twist_at(const struct fric_contacts *b, int k, size_t i, const double *v)
{
	const double *x = v + body_dof(b, (size_t)b->vertices[k][i]);
	struct twist out = {{0}, {0}};
	for (int d = 0; d < b->dim; d++)
		out.v[d] = x[d];
	for (int d = 0; d < 3; d++)
		out.w[d] = b->dim == 3 ? x[3 + d] : d == 2 ? x[2] : 0;
	return out;
}

/* Uses differences of velocities and of the turns' contributions, like encounter_at. */
static void motion_of_bodies(const struct fric_contacts *b, enum fric_type type, size_t i, const double *v,
                             struct motion *m)
{
	long double turned[3] = {0}, arm[3];
	for (int k = 0; k < n_bodies_of(type); k++) {
		m->of[k] = twist_at(b, k, i, v);
		read_arm(b, k, i, arm);
		add_cross(sign_of(k), m->of[k].w, arm, turned);
	}
	for (int d = 0; d < 3; d++) {
		m->relative[d] = (m->of[0].v[d] - m->of[1].v[d]) + turned[d];
		m->turn[d] = m->of[0].w[d] - m->of[1].w[d];
	}
}

void fricp_add_wrenches(const struct fric_contacts *b, enum fric_type type, size_t i, const long double force[3],
                        const long double couple[3], struct twist wrench[2])
{
	for (int k = 0; k < n_bodies_of(type); k++) {
		long double arm[3];
		read_arm(b, k, i, arm);
		add_vector(sign_of(k), force, wrench[k].v);
		add_cross(sign_of(k), arm, force, wrench[k].w);
		add_vector(sign_of(k), couple, wrench[k].w);
	}
}

void fricp_add_lever_wrenches(enum fric_type type, const struct lever *lever, const long double force[3],
                              struct twist wrench[2])
{
	for (int k = 0; k < n_bodies_of(type); k++)
		add_cross(sign_of(k), lever->arm[k], force, wrench[k].w);
}

/* ---- both ---- */

void fricp_motion_of(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v,
                     struct motion *motion)
{
	if (is_of_bodies(type)) {
		*motion = (struct motion){.of = {{{0}, {0}}}};
		motion_of_bodies(c, type, i, v, motion);
		return;
	}
	for (int d = 0; d < 3; d++)
		motion->relative[d] = motion->turn[d] = motion->by_point[0][d] = motion->by_point[1][d] = 0;
	motion_at_vertices(c, type, i, v, motion);
}

void fricp_lever_tangent(enum fric_type type, const struct motion *motion, const struct lever *lever,
                         long double relative[3])
{
	if (is_of_bodies(type))
		for (int k = 0; k < n_bodies_of(type); k++)
			add_cross(sign_of(k), motion->of[k].w, lever->arm[k], relative);
	else
		for (int j = 0; j < 2; j++)
			add_vector(lever->closest_point[j], motion->by_point[j], relative);
}

void fricp_lever_cotangent(enum fric_type type, const struct motion *motion, const long double relative[3],
                           struct lever *lever)
{
	if (is_of_bodies(type)) {
		for (int k = 0; k < n_bodies_of(type); k++)
			add_cross(sign_of(k), relative, motion->of[k].w, lever->arm[k]);
		return;
	}
	for (int j = 0; j < 2; j++)
		for (int d = 0; d < 3; d++)
			lever->closest_point[j] += relative[d] * motion->by_point[j][d];
}
