/**
 * How the members of a contact move it: all that differs between contacts at vertices and of bodies. The relative velocity
 * y is Gamma v at vertices, and what twists with arms make of it at bodies. It is linear in the lever, too, which is the
 * closest point or the arms, so that y changes by
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

/* The motion of a contact's first side in relation to the second, which may be the world. */
struct motion {
	long double relative[3], turn[3];
	union {
		long double by_point[2][3]; /* vertices: how `relative` changes with both coordinates of the closest point */
		struct twist of[2];         /* bodies; the world is at rest */
	};
};

/* Where the contact is on its members: tangents or cotangents. */
struct lever {
	long double closest_point[2]; /* vertices */
	long double arm[2][3];        /* bodies */
};

/* @param v [n_dofs] */
void fricp_motion_of(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v,
                     struct motion *motion);

/* What a relative velocity gains as the lever changes, and the transpose. Both add. */
void fricp_lever_tangent(enum fric_type type, const struct motion *motion, const struct lever *lever,
                         long double relative[3]);
void fricp_lever_cotangent(enum fric_type type, const struct motion *motion, const long double relative[3],
                           struct lever *lever);

/* A force and a couple at a contact of bodies as wrenches at the bodies' points, which is also how cotangents of relative
 * velocities and turns become those of twists. Adds. */
void fricp_add_wrenches(const struct fric_contacts *b, enum fric_type type, size_t i, const long double force[3],
                        const long double couple[3], struct twist wrench[2]);
/* What the arms' tangents add to wrenches. */
void fricp_add_lever_wrenches(enum fric_type type, const struct lever *lever, const long double force[3],
                              struct twist wrench[2]);

/* How the weights of a stencil change with its closest point. @param weights [k] */
void fricp_weights_tangent(enum fric_type type, const long double closest_point[2],
                           long double weights[FRIC_MAX_STENCIL]);

#endif
