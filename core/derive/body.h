/**
 * Derivatives of one contact of bodies, from the numbers that it takes from fields (fields.h) to potential and wrenches,
 * and back. Angular velocities and couples are vectors here, in 2D along z.
 */
#ifndef FRIC_DERIVE_BODY_H
#define FRIC_DERIVE_BODY_H

#include "core/bodies/twist.h"
#include "core/derive/fields.h"
#include "core/derive/force.h"
#include "core/derive/motion.h"

/* What is differentiated at bodies. */
struct body_derivation {
	const struct fric_batch *batch;
	const struct fric_contacts *b;
	const struct coefficients *mu;
	const double *velocities;
	const double *slip_velocities; /* that directions were chosen at; NULL: all coefficients are scalar */
	bool follows;                  /* whether directions depend on what that slip depends on */
	const struct fric_differential *differential; /* tangents, or the cotangents that are wanted */
	const struct table_piece_l *curve;            /* the tangent of a measured curve; NULL: none */
	struct links links[FRIC_N_TYPES];             /* of the groups of bodies */
	bool moves[FRIC_N_TYPES];                     /* normal or grain have a tangent, or their cotangents are wanted */
};

void fricp_body_derivation(const struct fric_derivation *derivation, const struct fric_differential *differential,
                           struct body_derivation *out);

/* Velocity and angular velocity of a body, or force and couple at its point. */
struct twist {
	long double v[3], w[3];
};

/* How two bodies move at their contact: the first in relation to the second, which may be the world. */
struct relation {
	struct twist of[2];
	long double relative[3], turn[3];
};

/* What a slip of bodies is projected by: numbers, tangents or cotangents. */
struct body_frame {
	struct frame plane;
	long double normal[3]; /* unit */
	long double spin, roll;
};

/* A contact where it is, before anything is differentiated. */
struct body_point {
	enum fric_type type;
	size_t i;   /* among all contacts of bodies */
	size_t row; /* in its group */
	struct body_frame frame;
	long double tilt[2]; /* how much of a change of the normal counts for spin, and of the basis for rolling */
	long double arm[2][3];
	struct relation now, lagged;
	long double bare[3], pulled[3]; /* relative - surface_velocity; plus anchor */
	long double lagged_pulled[3];   /* the same at slip_velocities */
	long double lagged_slip[2];     /* sliding alone, scaled */
	struct force_point force;
};

void fricp_body_point(const struct body_derivation *task, enum fric_type type, size_t i, struct body_point *point);

/* How potential and wrenches of a contact change. */
struct body_change {
	long double potential;
	struct twist wrench[2];
};

/* Forwards. */
void fricp_body_tangent(const struct body_derivation *task, const struct body_point *point, struct body_change *change);

/* Cotangents of what a contact takes from fields. */
struct body_cotangents {
	struct inputs inputs;       /* of rows; coefficients also where they are from a table or one for all */
	struct twist twist[2];      /* of velocities */
	struct twist lagged[2];     /* of slip_velocities */
	long double position[2][3]; /* of body_positions */
};

/* Backwards: the derivative of psi * potential + cotangent . gradient. @param cotangent [n_dofs] @param out overwritten */
void fricp_body_cotangent(const struct body_derivation *task, const struct body_point *point, double psi,
                          const double *cotangent, struct body_cotangents *out);

/* As fricp_vertex_inputs and fricp_vertex_back. */
void fricp_body_inputs(const struct body_derivation *task, const struct body_point *point, struct force_inputs *out);
void fricp_body_back(const struct body_derivation *task, const struct body_point *point,
                     const struct force_inputs *force, struct body_cotangents *out);

/* The entry of the pair table that a contact's coefficient of a kind is: 0 static, 1 kinetic. @return whether it is one */
bool fricp_body_table_entry(const struct body_derivation *task, enum fric_type type, size_t i, size_t *entry);

#endif
