/**
 * The way of one contact at vertices from velocities to a slip u = diag(a) P^T y, y = Gamma v plus what is added, and its
 * derivatives forwards and backwards. The gradient's cotangent goes the same way, with nothing added, and so do the
 * velocities that the directions of effective coefficients follow.
 */
#ifndef FRIC_DERIVE_MOTION_H
#define FRIC_DERIVE_MOTION_H

#include "core/motion/stencil.h"

/* Gamma v of one contact, and how it changes with both coordinates of the closest point. */
struct motion {
	long double relative[3];
	long double by_point[2][3];
};

/* Whether a contact tells the first direction of its basis from the second. Otherwise nothing depends on the grain, and what
 * roundings leave of it would be all that there is. @param follows  whether ellipses lie along directions that change */
static inline bool directions_differ(const struct fric_contacts *c, size_t i, bool follows)
{
	bool differ = c->dim == 3 && *column_at(c->mu_aniso[0], i) != *column_at(c->mu_aniso[1], i);
	if (follows) /* in 3D alone */
		differ |= c->mu_s_aniso[0][i] != c->mu_s_aniso[1][i] || c->mu_k_aniso[0][i] != c->mu_k_aniso[1][i];
	return differ;
}

/* @param v [n_dofs] */
static inline void motion_of(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v,
                             struct motion *motion)
{
	*motion = (struct motion){{0}, {{0}}};
	for (int k = 0; k < fric_stencil_size(type); k++) {
		const struct member m = stencil_members[type][k];
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

/* How the weights of a stencil change with its closest point. @param weights [k] */
static inline void weights_tangent(enum fric_type type, const long double closest_point[2],
                                   long double weights[FRIC_MAX_STENCIL])
{
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		weights[k] = 0;
	for (int k = 0; k < fric_stencil_size(type); k++) {
		const struct member m = stencil_members[type][k];
		if (m.origin == k)
			continue;
		weights[k] += m.sign * closest_point[m.coordinate];
		weights[m.origin] -= m.sign * closest_point[m.coordinate];
	}
}

/* What a slip is projected by: numbers, tangents or cotangents. */
struct frame {
	long double basis[6]; /* [dim, dim-1] */
	long double mu_aniso[2];
};

/* P_t . y */
static inline long double along_axis(int dim, const struct frame *f, int t, const long double y[3])
{
	long double sum = 0;
	for (int d = 0; d < dim; d++)
		sum += f->basis[d * (dim - 1) + t] * y[d];
	return sum;
}

/* u = diag(a) P^T y. @param u [dim-1] */
static inline void project(int dim, const struct frame *f, const long double y[3], long double *u)
{
	for (int t = 0; t < dim - 1; t++)
		u[t] = f->mu_aniso[t] * along_axis(dim, f, t, y);
}

/* P diag(a) f, which is the transpose. */
static inline void unproject(int dim, const struct frame *frame, const long double *f, long double y[3])
{
	for (int d = 0; d < dim; d++) {
		y[d] = 0;
		for (int t = 0; t < dim - 1; t++)
			y[d] += frame->basis[d * (dim - 1) + t] * (frame->mu_aniso[t] * f[t]);
	}
}

/* The change of `project` along tangents of the frame and of y. */
static inline void project_tangent(int dim, const struct frame *at, const long double y[3], const struct frame *frame,
                                   const long double tangent[3], long double *u)
{
	for (int t = 0; t < dim - 1; t++)
		u[t] = frame->mu_aniso[t] * along_axis(dim, at, t, y) +
		       at->mu_aniso[t] * (along_axis(dim, frame, t, y) + along_axis(dim, at, t, tangent));
}

/* The same of `unproject`. */
static inline void unproject_tangent(int dim, const struct frame *at, const long double *f, const struct frame *frame,
                                     const long double *tangent, long double y[3])
{
	long double scaled[2];
	for (int t = 0; t < dim - 1; t++)
		scaled[t] = frame->mu_aniso[t] * f[t] + at->mu_aniso[t] * tangent[t];
	for (int d = 0; d < dim; d++) {
		y[d] = 0;
		for (int t = 0; t < dim - 1; t++) {
			const int e = d * (dim - 1) + t;
			y[d] += frame->basis[e] * (at->mu_aniso[t] * f[t]) + at->basis[e] * scaled[t];
		}
	}
}

/* The transpose of project_tangent: adds to the cotangents of the frame and of y. @param u [dim-1] cotangent */
static inline void project_cotangent(int dim, const struct frame *at, const long double y[3], const long double *u,
                                     struct frame *frame, long double cotangent[3])
{
	for (int t = 0; t < dim - 1; t++) {
		frame->mu_aniso[t] += u[t] * along_axis(dim, at, t, y);
		for (int d = 0; d < dim; d++) {
			const int e = d * (dim - 1) + t;
			frame->basis[e] += y[d] * (at->mu_aniso[t] * u[t]);
			cotangent[d] += at->basis[e] * (at->mu_aniso[t] * u[t]);
		}
	}
}

/* A turn is one of the first axis towards the second, 3D; in 2D it is 0. What it does to what is projected: */
static inline void add_turn(int dim, const struct frame *at, const long double y[3], long double turn, long double *u)
{
	if (dim == 2)
		return;
	u[0] += turn * (at->mu_aniso[0] * along_axis(3, at, 1, y));
	u[1] -= turn * (at->mu_aniso[1] * along_axis(3, at, 0, y));
}

/* The same but for what cancels: where slip and force turn alike, what they act on stays as it is. By mu_aniso alone they
 * do not turn alike. */
static inline void add_uneven_turn(int dim, const struct frame *at, const long double y[3], long double turn,
                                   long double *u)
{
	if (dim == 2)
		return;
	const long double uneven = turn * (at->mu_aniso[0] - at->mu_aniso[1]);
	u[0] += uneven * along_axis(3, at, 1, y);
	u[1] += uneven * along_axis(3, at, 0, y);
}

/* Likewise of what `unproject` gives. */
static inline void add_uneven_turn_of_force(int dim, const struct frame *at, const long double *f, long double turn,
                                            long double y[3])
{
	const long double uneven = turn * (at->mu_aniso[0] - at->mu_aniso[1]);
	for (int d = 0; d < 3 && dim == 3; d++)
		y[d] += uneven * (at->basis[2 * d + 1] * f[0] + at->basis[2 * d] * f[1]);
}

/* The transpose of add_turn, by the turn. 3D. */
static inline long double turn_cotangent(const struct frame *at, const long double y[3], const long double *u)
{
	return at->mu_aniso[0] * u[0] * along_axis(3, at, 1, y) - at->mu_aniso[1] * u[1] * along_axis(3, at, 0, y);
}

/* That of add_uneven_turn, and with the force as u of add_uneven_turn_of_force. 3D. */
static inline long double uneven_turn_cotangent(const struct frame *at, const long double y[3], const long double *u)
{
	return (at->mu_aniso[0] - at->mu_aniso[1]) * (u[0] * along_axis(3, at, 1, y) + u[1] * along_axis(3, at, 0, y));
}

#endif
