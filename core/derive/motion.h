/**
 * The motion of a contact from the motion of its members: the only difference between contacts at vertices and of
 * bodies. The relative velocity y is Gamma v at vertices, and follows from twists and arms for bodies. It is also
 * linear in the lever (the closest point or the arms), so its tangent is
 *
 *     dy = y(dv) + sum over j of dc_j by_point_j                vertices
 *     dy = y(dv) + sum over k of +-(w_k x dr_k)                 bodies, + for the first and - for the second
 *
 * Angular velocities and couples are vectors here, in 2D along z.
 */
#ifndef FRIC_DERIVE_MOTION_H
#define FRIC_DERIVE_MOTION_H

#include "core/bodies/twist.h"
#include "core/motion/stencil.h"

/* Velocity and angular velocity of a body, or force and couple at its point. */
struct twist {
	long double v[3], w[3];
};

/* The motion of a contact's first side relative to the second, which may be the world. */
struct motion {
	long double relative[3], turn[3];
	union {
		long double by_point[2][3]; /* vertices: derivatives of `relative` with respect to the closest point */
		struct twist of[2];         /* bodies; the world is at rest */
	};
};

/* The contact's location on its members: tangents or cotangents. */
struct lever {
	long double closest_point[2]; /* vertices */
	long double arm[2][3];        /* bodies */
};

/* @param v [n_dofs] */
void fricp_motion_of(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v,
                     struct motion *motion);

/* Computes the tangent of a relative velocity from the lever's tangent, and the transpose. Both add to their result. */
void fricp_lever_tangent(enum fric_type type, const struct motion *motion, const struct lever *lever,
                         long double relative[3]);
void fricp_lever_cotangent(enum fric_type type, const struct motion *motion, const long double relative[3],
                           struct lever *lever);

/* Adds a force and a couple at a contact of bodies as wrenches at the bodies' points. This also converts cotangents of
 * relative velocities and turns to cotangents of twists. */
void fricp_add_wrenches(const struct fric_contacts *b, enum fric_type type, size_t i, const long double force[3],
                        const long double couple[3], struct twist wrench[2]);
/* Adds the effect of the arms' tangents on wrenches. */
void fricp_add_lever_wrenches(enum fric_type type, const struct lever *lever, const long double force[3],
                              struct twist wrench[2]);

/* Computes the tangent of a stencil's weights from its closest point's tangent. @param weights  [k] */
void fricp_weights_tangent(enum fric_type type, const long double closest_point[2],
                           long double weights[FRIC_MAX_STENCIL]);

#endif
