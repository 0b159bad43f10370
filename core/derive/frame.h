/**
 * The basis of a contact's slip, with derivatives forwards and backwards: u = diag(a) P^T y for the relative velocity
 * y, and for bodies the components that turns contribute through the radii. The same projection applies to the
 * gradient's cotangent and to the velocities that the directions of effective coefficients follow.
 */
#ifndef FRIC_DERIVE_FRAME_H
#define FRIC_DERIVE_FRAME_H

/* Parameters of a slip's projection: values, tangents or cotangents. */
struct frame {
	long double basis[6]; /* [dim, dim-1] */
	long double mu_aniso[2];
	long double normal[3]; /* for bodies only: the unit normal */
	long double spin, roll;
	/* Set for values only: factors by which a tilt of the frame counts, for spin and for rolling. */
	long double tilt[2];
};

/* P_t . y */
static inline long double along_axis(int dim, const struct frame *f, int t, const long double y[3])
{
	long double sum = 0;
	for (int d = 0; d < dim; d++)
		sum += f->basis[d * (dim - 1) + t] * y[d];
	return sum;
}

/* u := diag(a) P^T y. @param u  [dim-1] */
static inline void project(int dim, const struct frame *f, const long double y[3], long double *u)
{
	for (int t = 0; t < dim - 1; t++)
		u[t] = f->mu_aniso[t] * along_axis(dim, f, t, y);
}

/* y := P diag(a) f, the transpose of `project`. */
static inline void unproject(int dim, const struct frame *frame, const long double *f, long double y[3])
{
	for (int d = 0; d < dim; d++) {
		y[d] = 0;
		for (int t = 0; t < dim - 1; t++)
			y[d] += frame->basis[d * (dim - 1) + t] * (frame->mu_aniso[t] * f[t]);
	}
}

/* Computes the tangent of `project`, from tangents of the frame and of y. */
static inline void project_tangent(int dim, const struct frame *at, const long double y[3], const struct frame *frame,
                                   const long double tangent[3], long double *u)
{
	for (int t = 0; t < dim - 1; t++)
		u[t] = frame->mu_aniso[t] * along_axis(dim, at, t, y) +
		       at->mu_aniso[t] * (along_axis(dim, frame, t, y) + along_axis(dim, at, t, tangent));
}

/* Computes the tangent of `unproject`. */
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

/* Adds the effect on `project` of a turn of the basis in its plane, the first axis towards the second. Only in 3D; in
 * 2D there is no such turn. */
static inline void add_turn(int dim, const struct frame *at, const long double y[3], long double turn, long double *u)
{
	if (dim == 2)
		return;
	u[0] += turn * (at->mu_aniso[0] * along_axis(3, at, 1, y));
	u[1] -= turn * (at->mu_aniso[1] * along_axis(3, at, 0, y));
}

/* As add_turn, without the terms that cancel: if slip and force turned alike, nothing would change. Only unequal
 * mu_aniso makes them turn differently. */
static inline void add_uneven_turn(int dim, const struct frame *at, const long double y[3], long double turn,
                                   long double *u)
{
	if (dim == 2)
		return;
	const long double uneven = turn * (at->mu_aniso[0] - at->mu_aniso[1]);
	u[0] += uneven * along_axis(3, at, 1, y);
	u[1] += uneven * along_axis(3, at, 0, y);
}

/* As add_uneven_turn, for `unproject`. */
static inline void add_uneven_turn_of_force(int dim, const struct frame *at, const long double *f, long double turn,
                                            long double y[3])
{
	const long double uneven = turn * (at->mu_aniso[0] - at->mu_aniso[1]);
	for (int d = 0; d < 3 && dim == 3; d++)
		y[d] += uneven * (at->basis[2 * d + 1] * f[0] + at->basis[2 * d] * f[1]);
}

/* The transpose of add_turn with respect to the turn. Only in 3D. */
static inline long double turn_cotangent(const struct frame *at, const long double y[3], const long double *u)
{
	return at->mu_aniso[0] * u[0] * along_axis(3, at, 1, y) - at->mu_aniso[1] * u[1] * along_axis(3, at, 0, y);
}

/* The transpose of add_uneven_turn, and with the force as u, of add_uneven_turn_of_force. Only in 3D. */
static inline long double uneven_turn_cotangent(const struct frame *at, const long double y[3], const long double *u)
{
	return (at->mu_aniso[0] - at->mu_aniso[1]) * (u[0] * along_axis(3, at, 1, y) + u[1] * along_axis(3, at, 0, y));
}

/* ---- the n components of bodies for spinning and rolling ---- */

static inline long double dot_of_three(const long double a[3], const long double b[3])
{
	return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

/* Computes the axis of component t and its radius. */
static inline void axis_of(int dim, const struct frame *f, int t, long double axis[3], long double *radius)
{
	*radius = dim == 3 && t == 0 ? f->spin : f->roll;
	for (int d = 0; d < 3; d++)
		axis[d] = dim == 2 ? d == 2 : t == 0 ? f->normal[d] : f->basis[2 * d + t - 1];
}

/* Computes the tangents of the axis and of the radius. The axis is weighted by `tilt`; in 2D it is constant. */
static inline void axis_tangent_of(int dim, const struct frame *at, const struct frame *f, int t, long double axis[3],
                                   long double *radius)
{
	axis_of(dim, f, t, axis, radius);
	for (int d = 0; d < 3; d++)
		axis[d] *= dim == 2 ? 0 : at->tilt[t > 0];
}

/* Computes the slip components for spinning and rolling. @param u  [n] */
static inline void turning(int dim, int n, const struct frame *f, const long double turn[3], long double *u)
{
	for (int t = 0; t < n; t++) {
		long double axis[3], radius;
		axis_of(dim, f, t, axis, &radius);
		u[t] = radius * dot_of_three(axis, turn);
	}
}

static inline void turning_tangent(int dim, int n, const struct frame *at, const long double turn[3],
                                   const struct frame *frame, const long double tangent[3], long double *u)
{
	for (int t = 0; t < n; t++) {
		long double axis[3], radius, change[3], grown;
		axis_of(dim, at, t, axis, &radius);
		axis_tangent_of(dim, at, frame, t, change, &grown);
		u[t] = grown * dot_of_three(axis, turn) + radius * (dot_of_three(change, turn) + dot_of_three(axis, tangent));
	}
}

/* Adds to the cotangents of the frame and of turns, as the transpose of `turning` with respect to both. */
static inline void turning_cotangent(int dim, int n, const struct frame *at, const long double turn[3],
                                     const long double *u, struct frame *frame, long double cotangent[3])
{
	for (int t = 0; t < n; t++) {
		long double axis[3], radius;
		axis_of(dim, at, t, axis, &radius);
		*(dim == 3 && t == 0 ? &frame->spin : &frame->roll) += u[t] * dot_of_three(axis, turn);
		for (int d = 0; d < 3; d++)
			cotangent[d] += u[t] * radius * axis[d];
		for (int d = 0; d < 3 && dim == 3; d++)
			*(t == 0 ? &frame->normal[d] : &frame->basis[2 * d + t - 1]) += u[t] * radius * at->tilt[t > 0] * turn[d];
	}
}

/* Computes the tangent of the couple that a force f along these components exerts. @param tangent  [n] of f */
static inline void couple_tangent(int dim, int n, const struct frame *at, const long double *f,
                                  const struct frame *frame, const long double *tangent, long double couple[3])
{
	for (int t = 0; t < n; t++) {
		long double axis[3], radius, change[3], grown;
		axis_of(dim, at, t, axis, &radius);
		axis_tangent_of(dim, at, frame, t, change, &grown);
		for (int d = 0; d < 3; d++)
			couple[d] += (grown * f[t] + radius * tangent[t]) * axis[d];
		for (int d = 0; d < 3; d++)
			couple[d] += radius * f[t] * change[d];
	}
}

#endif
