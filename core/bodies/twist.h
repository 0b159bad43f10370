/**
 * Computes the slip of a contact from the twists of its bodies, and wrenches on the bodies from its force
 * (docs/physics.md 3). The twist of a body is its velocity v at the body's point and its angular velocity w, which in
 * 2D is one number. `b` are contacts of bodies (contacts/contacts.h), whose arms r_a and r_b lead from the bodies'
 * points to the contact:
 *
 *     relative = (v_a - v_b) + (w_a x r_a - w_b x r_b)     turn = w_a - w_b
 *     S = (diag(mu_aniso) P^T relative, spin_radius n.turn, roll_radius P^T turn)     2D: (.., roll_radius turn)
 *
 * where the world is a body at rest. Uses differences: equal twists about one point give exactly zero.
 */
#ifndef FRIC_TWIST_H
#define FRIC_TWIST_H

#include "core/base/inline.h"
#include "core/motion/dofs.h"
#include "core/motion/slip.h"

enum { MOST_TWIST = 6 };

/* Relative motion of two bodies at their contact: velocity, and angular velocity, which in 2D is turn[0] only. */
struct encounter {
	double relative[3], turn[3];
};

static inline int n_bodies_of(enum fric_type type)
{
	return type == FRIC_BODY_BODY ? 2 : 1;
}

static inline int n_body_slip(int dim)
{
	return dim == 3 ? 5 : 2;
}

/* Component d of w x r; in 2D w is one number. */
static inline double turned(int dim, const double *w, double *const r[3], size_t i, int d)
{
	if (dim == 2)
		return d == 0 ? -(w[0] * r[1][i]) : w[0] * r[0][i];
	return w[(d + 1) % 3] * r[(d + 2) % 3][i] - w[(d + 2) % 3] * r[(d + 1) % 3][i];
}

/* @param v  [n_dofs] of vertices and bodies */
static inline void encounter_at(const struct fric_contacts *b, enum fric_type type, size_t i, const double *v,
                                struct encounter *e)
{
	static const double at_rest[MOST_TWIST];
	const int dim = b->dim, n_turn = n_body_dofs(dim) - dim;
	const double *x = v + body_dof(b, (size_t)b->vertices[0][i]);
	const double *y = type == FRIC_BODY_BODY ? v + body_dof(b, (size_t)b->vertices[1][i]) : at_rest;
	*e = (struct encounter){{0}, {0}};
	for (int d = 0; d < dim; d++)
		e->relative[d] = (x[d] - y[d]) +
		                 (turned(dim, x + dim, b->arm[0], i, d) - turned(dim, y + dim, b->arm[1], i, d));
	for (int d = 0; d < n_turn; d++)
		e->turn[d] = x[dim + d] - y[dim + d];
}

/* Sets the slip components beyond the tangent plane: in u without the radii, in `scaled` with them. */
static inline void slip_turning(const struct fric_contacts *b, size_t i, const double turn[3], struct slip *slip)
{
	const double spin = *column_at(b->spin_radius, i), roll = *column_at(b->roll_radius, i);
	double unused[2];
	if (b->dim == 2) {
		slip->u[1] = b->skipped[i] ? 0 : turn[0];
	} else {
		slip->u[2] =
			b->skipped[i] ? 0 : (b->normal[0][i] * turn[0] + b->normal[1][i] * turn[1]) + b->normal[2][i] * turn[2];
		project_slip(b, i, turn, slip->u + 3, unused);
	}
	for (int t = b->dim - 1; t < slip->n; t++) {
		slip->scaled[t] = (b->dim == 3 && t == 2 ? spin : roll) * slip->u[t];
		slip->bare[t] = b->viscous.data ? slip->scaled[t] : 0;
	}
}

/* Sets the members that follow from velocities only; slip_judge sets the rest. */
static inline void body_slip_velocity(const struct fric_contacts *b, enum fric_type type, size_t i, const double *v,
                                      struct slip *slip)
{
	struct encounter e;
	encounter_at(b, type, i, v, &e);
	*slip = (struct slip){.n = n_body_slip(b->dim)};
	slip_sliding(b, i, e.relative, slip);
	slip_turning(b, i, e.turn, slip);
}

/* As body_slip_velocity, for a contact at vertices or of bodies. */
static inline void contact_slip_velocity(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v,
                                         struct slip *slip)
{
	if (is_of_bodies(type))
		body_slip_velocity(c, type, i, v, slip);
	else
		slip_velocity(c, type, i, v, slip);
}

/* Computes the change of a slip along a change d of the velocities; surface velocity and anchor are constant. */
static inline void body_slip_change(const struct fric_contacts *b, enum fric_type type, size_t i, const double *d,
                                    struct slip *slip)
{
	struct encounter e;
	encounter_at(b, type, i, d, &e);
	*slip = (struct slip){.n = n_body_slip(b->dim)};
	project_slip(b, i, e.relative, slip->u, slip->scaled);
	slip_turning(b, i, e.turn, slip);
}

static inline void body_slip_of(const struct fric_contacts *b, const struct coefficients *mu, enum fric_type type,
                                size_t i, const double *v, struct slip *slip)
{
	body_slip_velocity(b, type, i, v, slip);
	slip_judge(b, mu, i, slip);
}

/* Computes the slip of a contact of either kind. @param c, mu  of the kind of `type` */
static inline void slip_of_type(const struct fric_contacts *c, const struct coefficients *mu, enum fric_type type,
                                size_t i, const double *v, struct slip *slip)
{
	if (is_of_bodies(type))
		body_slip_of(c, mu, type, i, v, slip);
	else
		slip_of(c, mu, type, i, v, slip);
}

/* The action at a contact: on the first body, and with the opposite sign on the second. In 2D a couple is one
 * number. */
struct action {
	double force[3], couple[3];
};

/* Computes the action of a force f on the slip, [n_body_slip]. extreme: products may over- or underflow although the
 * result does not */
static inline void action_of(const struct fric_contacts *b, size_t i, const long double f[MOST_SLIP], bool extreme,
                             struct action *action)
{
	const long double spin = *column_at(b->spin_radius, i), roll = *column_at(b->roll_radius, i);
	double *const *p = b->tangent_basis;
	if (extreme)
		spread_extreme(b, i, f, action->force);
	else
		spread(b, i, (double)f[0], (double)f[1], action->force);
	if (b->dim == 2)
		action->couple[0] = b->skipped[i] ? 0 : (double)(roll * f[1]);
	for (int d = 0; d < 3 && b->dim == 3; d++)
		action->couple[d] =
			(double)(b->normal[d][i] * (spin * f[2]) + roll * (p[2 * d][i] * f[3] + p[2 * d + 1][i] * f[4]));
}

/* Computes the gradient of a contact's potential with respect to its relative motion, drag included. */
static inline void body_action(const struct fric_contacts *b, size_t i, const struct slip *slip, struct action *action)
{
	long double f[MOST_SLIP], drag[MOST_SLIP];
	slip_force(b, i, slip, f);
	if (b->viscous.data) {
		drag_force(b, i, slip, drag);
		for (int k = 0; k < slip->n; k++)
			f[k] += drag[k];
	}
	action_of(b, i, f, slip->extreme || slip->extreme_drag || !has_unit_basis(b, i), action);
}

/* Computes the force and torque of an action at the point of body k of its contact, [n_body_dofs]. */
INLINE void wrench_of(const struct fric_contacts *b, int dim, int k, size_t i, const struct action *action,
                      double *wrench)
{
	double *const *r = b->arm[k];
	const double *f = action->force, sign = k == 0 ? 1 : -1;
	for (int d = 0; d < dim; d++)
		wrench[d] = sign * f[d];
	if (dim == 2) {
		wrench[2] = sign * ((r[0][i] * f[1] - r[1][i] * f[0]) + action->couple[0]);
		return;
	}
	for (int d = 0; d < 3; d++) {
		const int x = (d + 1) % 3, y = (d + 2) % 3;
		wrench[3 + d] = sign * ((r[x][i] * f[y] - r[y][i] * f[x]) + action->couple[d]);
	}
}

/* Computes the action of a force of 1 along S_t. */
INLINE void unit_action(const struct fric_contacts *b, int dim, size_t i, int t, struct action *action)
{
	const double spin = *column_at(b->spin_radius, i), roll = *column_at(b->roll_radius, i);
	double *const *p = b->tangent_basis;
	*action = (struct action){{0}, {0}};
	if (t < dim - 1) {
		for (int d = 0; d < dim; d++)
			action->force[d] = p[(dim - 1) * d + t][i] * *column_at(b->mu_aniso[t], i);
		return;
	}
	if (dim == 2)
		action->couple[0] = roll;
	for (int d = 0; d < 3 && dim == 3; d++)
		action->couple[d] = t == 2 ? b->normal[d][i] * spin : p[2 * d + t - 3][i] * roll;
}

/* Computes J = dS/d(twists) of contact i of k bodies, [n_body_slip, k * n_body_dofs]; zeros if it is skipped. Row t
 * consists of the wrenches of a unit force along S_t. Fast where dim and k are constants. */
INLINE void body_jacobian(const struct fric_contacts *b, int dim, int k, size_t i, double *jacobian)
{
	const int n = n_body_slip(dim), m = n_body_dofs(dim);
	struct action action;
	UNROLL
	for (int t = 0; t < n; t++) {
		unit_action(b, dim, i, t, &action);
		UNROLL
		for (int j = 0; j < k; j++)
			wrench_of(b, dim, j, i, &action, jacobian + (t * k + j) * m);
	}
	for (int e = 0; e < n * k * m; e++)
		jacobian[e] = b->skipped[i] ? 0 : jacobian[e] + 0.0; /* + 0.0 turns -0 into 0 */
}

#endif
