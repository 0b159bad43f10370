/**
 * Derivatives of one contact, from the numbers that it takes from fields (fields.h) to potential and force, and back. This
 * is the plain form: long double, every type, every law. Contacts at vertices and of bodies differ in motion alone
 * (motion.h), and in their slip: bodies have components of it for spinning and rolling (frame.h).
 */
#ifndef FRIC_DERIVE_POINT_H
#define FRIC_DERIVE_POINT_H

#include "core/derive/fields.h"
#include "core/derive/force.h"
#include "core/derive/frame.h"
#include "core/derive/motion.h"

/* What all contacts of a type have in common. */
struct point_case {
	bool moves;       /* what geometry is derived from has a tangent, or its cotangent is wanted */
	bool tilts;       /* so has what a body's unit normal is derived from */
	bool has_barrier; /* normal forces are derived from distances */
	bool has_grain;
	bool own_mu; /* coefficients are rows of the group */
};

/* What is differentiated: at the vertices, or at the bodies. */
struct point_task {
	const struct fric_batch *batch;
	const struct fric_contacts *contacts; /* those of bodies are contacts->bodies of the derivation */
	const struct coefficients *mu;
	const double *velocities;
	const double *slip_velocities; /* that directions were chosen at; NULL: all coefficients are scalar */
	bool follows;                  /* whether directions depend on what that slip depends on */
	const struct fric_differential *differential; /* tangents, or the cotangents that are wanted */
	const struct table_piece_l *curve;            /* the tangent of a measured curve; NULL: none */
	struct point_case cases[FRIC_N_TYPES];        /* of the types of these contacts */
	struct links links[FRIC_N_TYPES];
};

/* For the contacts at vertices, or for those of bodies, of which there are some. */
void fricp_vertex_task(const struct fric_derivation *derivation, const struct fric_differential *differential,
                       struct point_task *task);
void fricp_body_task(const struct fric_derivation *derivation, const struct fric_differential *differential,
                     struct point_task *task);

/* A contact where it is, before anything is differentiated. */
struct contact_point {
	enum fric_type type;
	size_t i;   /* among all contacts of the task */
	size_t row; /* in its group */
	struct frame frame;
	struct motion now, lagged;
	long double bare[3], pulled[3]; /* relative velocity - surface_velocity; plus anchor */
	long double lagged_pulled[3];   /* the same at slip_velocities */
	long double lagged_slip[2];     /* sliding alone, scaled */
	struct force_point force;
};

void fricp_point_at(const struct point_task *task, enum fric_type type, size_t i, struct contact_point *point);

/* The tangents of what a contact takes from fields. */
void fricp_point_gather(const struct point_task *task, const struct contact_point *point, struct inputs *tangent);

/* How potential and force of a contact change. */
struct point_change {
	long double potential;
	long double force[3], force_tangent[3]; /* P diag(a) f and its tangent, [dim] */
	long double couple_tangent[3];          /* of bodies */
	struct lever lever;                     /* the tangent */
};

/* Forwards. Relative velocities and turns in `tangent` are those of tangents of velocities. */
void fricp_point_tangent(const struct point_task *task, const struct contact_point *point, const struct inputs *tangent,
                         struct point_change *change);

/* Backwards: the derivative of psi * potential + cotangent . gradient. @param cotangent [n_dofs]
 * @param out  overwritten. Coefficients are those of the group, or else the common scalar or the entry of a table; members
 *             and closest points have what goes through tables and coefficients at vertices */
void fricp_point_cotangent(const struct point_task *task, const struct contact_point *point, long double psi,
                           const double *cotangent, struct inputs *out);

/* From tangents of what a contact takes from fields to those of what its force depends on, and back from cotangents; with no
 * cotangent of the gradient, and without what goes through geometry. */
void fricp_point_forth(const struct point_task *task, const struct contact_point *point, const struct inputs *tangent,
                       struct force_inputs *out);
void fricp_point_back(const struct point_task *task, const struct contact_point *point,
                      const struct force_inputs *force, struct inputs *out);

/* Whether a coefficient of a kind, 0 static or 1 kinetic, is that of an ellipse. */
bool fricp_has_ellipse(const struct point_task *task, const struct contact_point *point, int kind);

/* Adds the cotangent of a contact's coefficient of a kind to a pair table, if it is made of its entries. */
void fricp_add_to_table(const struct point_task *task, enum fric_type type, size_t i, int kind, long double mu,
                        double *table);

#endif
