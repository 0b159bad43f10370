/**
 * Derivatives of one contact at vertices, from the numbers that it takes from fields (fields.h) to potential and force, and
 * back. This is the plain form: long double, every type, every law.
 */
#ifndef FRIC_DERIVE_VERTICES_H
#define FRIC_DERIVE_VERTICES_H

#include "core/derive/fields.h"
#include "core/derive/force.h"
#include "core/derive/motion.h"

/* What all contacts of a type have in common. */
struct vertex_case {
	bool moves;       /* something that geometry is derived from has a tangent, or its cotangent is wanted */
	bool has_barrier; /* normal forces are derived from distances */
	bool has_grain;
	bool own_mu; /* coefficients are rows of the group */
};

/* What is differentiated at vertices. */
struct vertex_derivation {
	const struct fric_batch *batch;
	const struct fric_contacts *contacts;
	const struct coefficients *mu;
	const double *velocities;
	const double *slip_velocities; /* that directions were chosen at; NULL: all coefficients are scalar */
	bool follows;                  /* whether directions depend on what that slip depends on */
	const struct fric_differential *differential; /* tangents, or the cotangents that are wanted */
	const struct table_piece_l *curve;            /* the tangent of a measured curve; NULL: none */
	struct vertex_case cases[FRIC_N_VERTEX_TYPES];
};

/* @param slip_velocities  as in struct fric_derivation, whose bodies this leaves alone */
void fricp_vertex_derivation(const struct fric_derivation *derivation, const struct fric_differential *differential,
                             struct vertex_derivation *out);

/* A contact where it is, before anything is differentiated. */
struct vertex_point {
	enum fric_type type;
	size_t i;   /* among all contacts */
	size_t row; /* in its group */
	struct frame frame;
	long double closest_point[2];
	struct motion now, lagged;
	long double bare[3], pulled[3]; /* Gamma v - surface_velocity; plus anchor */
	long double lagged_pulled[3];   /* the same at slip_velocities */
	long double lagged_slip[2];     /* scaled */
	struct force_point force;
};

void fricp_vertex_point(const struct vertex_derivation *task, enum fric_type type, size_t i,
                        struct vertex_point *point);

/* How potential and force of a contact change. */
struct vertex_change {
	long double potential;
	long double force[3], force_tangent[3]; /* P diag(a) f and its tangent, [dim] */
	long double closest_point[2];           /* the tangent */
};

/* Forwards. A relative velocity and a lagged one in `tangent` are Gamma of tangents of velocities. */
void fricp_vertex_tangent(const struct vertex_derivation *task, const struct vertex_point *point,
                          const struct inputs *tangent, struct vertex_change *change);

/* Backwards: the derivative of psi * potential + cotangent . gradient. @param cotangent [n_dofs]
 * @param out  overwritten. Coefficients are those of the group, or else the common scalar; members and closest points have
 *             what goes through tables and coefficients at vertices */
void fricp_vertex_cotangent(const struct vertex_derivation *task, const struct vertex_point *point, long double psi,
                            const double *cotangent, struct inputs *out);

/* From tangents of what a contact takes from fields to those of what its force depends on, and back from cotangents; with no
 * cotangent of the gradient, and without what goes through geometry. */
void fricp_vertex_inputs(const struct vertex_derivation *task, const struct vertex_point *point,
                         const struct inputs *tangent, struct force_inputs *out);
void fricp_vertex_back(const struct vertex_derivation *task, const struct vertex_point *point,
                       const struct force_inputs *force, struct inputs *out);

struct coefficient_slopes;
/* How a coefficient of a contact that has none of its own changes. @param kind  0 static, 1 kinetic */
void fricp_vertex_coefficient(const struct vertex_derivation *task, enum fric_type type, size_t i, int kind,
                              struct coefficient_slopes *slopes);

#endif
