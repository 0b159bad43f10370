/**
 * Derivatives of one contact, from its inputs (fields.h) to potential and force, and back. This is the plain form: long
 * double, every type, every law. Contacts at vertices and of bodies differ in their motion (motion.h), and in the slip
 * components of bodies for spinning and rolling (frame.h).
 */
#ifndef FRIC_DERIVE_POINT_H
#define FRIC_DERIVE_POINT_H

#include "core/derive/fields.h"
#include "core/derive/force.h"
#include "core/derive/frame.h"
#include "core/derive/motion.h"

/* Properties shared by all contacts of a type. */
struct point_case {
	bool moves;       /* some input of the geometry has a tangent, or its cotangent is wanted */
	bool tilts;       /* likewise for inputs of a body's unit normal */
	bool has_barrier; /* normal forces are derived from distances */
	bool has_grain;
	bool own_mu; /* coefficients are rows of the group */
};

/* The function to be differentiated: at the vertices, or at the bodies. */
struct point_task {
	const struct fric_batch *batch;
	const struct fric_contacts *contacts; /* bodies: contacts->bodies of the derivation */
	const struct coefficients *mu;
	const double *velocities;
	const double *slip_velocities; /* slip at which directions were chosen; NULL: all coefficients are scalar */
	bool follows;                  /* whether directions depend on the inputs of that slip */
	const struct fric_differential *differential; /* tangents, or the cotangents that are wanted */
	const struct table_piece_l *curve;            /* the tangent of a measured curve; NULL: none */
	struct point_case cases[FRIC_N_TYPES];        /* by type; set for the types of these contacts */
	struct links links[FRIC_N_TYPES];
};

/* @param bodies  whether for contacts of bodies, which must exist; otherwise for contacts at vertices */
void fricp_point_task(const struct fric_derivation *derivation, const struct fric_differential *differential,
                      bool bodies, struct point_task *task);

/* A contact point, before anything is differentiated. */
struct contact_point {
	enum fric_type type;
	size_t i;   /* index in task->contacts */
	size_t row; /* index in its group */
	struct frame frame;
	struct motion now, lagged;
	long double bare[3], pulled[3]; /* relative velocity - surface_velocity, without and with the anchor */
	long double lagged_pulled[3];   /* pulled at slip_velocities */
	long double lagged_slip[2];     /* tangential components, scaled */
	struct force_point force;
};

void fricp_point_at(const struct point_task *task, enum fric_type type, size_t i, struct contact_point *point);

/* Gathers the tangents of a contact's inputs from the fields. */
void fricp_point_gather(const struct point_task *task, const struct contact_point *point, struct inputs *tangent);

/* Tangents of a contact's potential and force. */
struct point_change {
	long double potential;
	long double force[3], force_tangent[3]; /* P diag(a) f and its tangent, [dim] */
	long double couple_tangent[3];          /* for bodies only */
	struct lever lever;                     /* its tangent */
};

/* Forwards. Relative velocities and turns in `tangent` come from tangents of velocities. The second form gathers the
 * contact's tangents itself. All results are zero for a skipped contact, which has no force. */
void fricp_point_tangent(const struct point_task *task, const struct contact_point *point, const struct inputs *tangent,
                         struct point_change *change);
void fricp_contact_tangent(const struct point_task *task, enum fric_type type, size_t i, struct point_change *change);

/* Backwards: computes the derivative of psi * potential + cotangent . gradient.
 * @param cotangent  [n_dofs]
 * @param out        overwritten. Coefficients belong to the group, or else are the common scalar or the table entry;
 *                   the part that goes through vertex coefficients and tables is included in members and closest
 * points */
void fricp_point_cotangent(const struct point_task *task, const struct contact_point *point, long double psi,
                           const double *cotangent, struct inputs *out);

/* Compute tangents of the force's inputs from tangents of a contact's inputs, and the reverse for cotangents. Both
 * leave out the part that goes through geometry, and there is no cotangent of the gradient. */
void fricp_point_forth(const struct point_task *task, const struct contact_point *point, const struct inputs *tangent,
                       struct force_inputs *out);
void fricp_point_back(const struct point_task *task, const struct contact_point *point,
                      const struct force_inputs *force, struct inputs *out);

/* Whether the coefficient of a kind (0 static, 1 kinetic) comes from an ellipse. */
bool fricp_has_ellipse(const struct point_task *task, const struct contact_point *point, int kind);

/* Adds the cotangent of a contact's coefficient of a kind to a pair table, if it comes from one. */
void fricp_add_to_table(const struct point_task *task, enum fric_type type, size_t i, int kind, long double mu,
                        double *table);

#endif
