/**
 * Inputs and results of the kernels for derivatives of a span of 3D contacts. The frame of a contact consists of the
 * columns f, s of its basis and n = f x s. Motion changes six values of a contact (struct fast_change): the closest
 * point's two coordinates, the turn of f towards s, the tilts of n along f and along s, and the distance. The slip is
 * P^T y, y the relative velocity.
 */
#ifndef FRIC_DERIVATIVES_H
#define FRIC_DERIVATIVES_H

#include "core/kernels/workspace.h"

/* A row of derivatives with respect to the three vectors between positions that determine a contact's geometry
 * (derivative_fast.h): r, then a, then b, each by axis. Rows: three components of the force, two coordinates of the
 * closest point. */
enum { STENCIL_ROW = 9, JACOBIAN_ROWS = 5 };

/* Columns of struct fast_change. */
enum { CHANGE_A, CHANGE_B, CHANGE_TURN, CHANGE_FIRST, CHANGE_SECOND, CHANGE_DISTANCE, N_CHANGES };

/* The law's parameters with respect to which the kernels differentiate, in the order of their places
 * (derive/fields.h). */
enum { BY_MU_S, BY_MU_K, BY_EPS_V, N_LAW_NUMBERS };

typedef double span_column[FRIC_SPAN];

struct derivative_workspace {
	struct workspace at; /* with forces and inner matrices, and potentials except for the Jacobian */
	const double *closest_point[2];
	span_column position[FRIC_MAX_STENCIL][3]; /* positions of the type's points */
	span_column along[2][3];                   /* derivatives of Gamma v with respect to the closest point */
	span_column anchor[3];                     /* only if there are both a drag and anchors */
	span_column stiffness;  /* derivative of the normal force with respect to the distance, over the normal force */
	span_column barrier[3]; /* likewise with respect to dhat, stiffness and dmin */
	span_column good;       /* set to 0 for contacts that need the plain form */
};

/* Derivatives with respect to the law's parameters at fixed slips: of the potential, and of the force along f and s. */
struct law_columns {
	span_column potential[N_LAW_NUMBERS], force[N_LAW_NUMBERS][2];
};

struct tangent_workspace {
	struct derivative_workspace of;
	/* Tangents: */
	bool moves, by_law;
	span_column position[FRIC_MAX_STENCIL][3]; /* only if moves; 0 for points fixed in space */
	span_column relative[3];                   /* Gamma of the velocities' tangent */
	span_column strength; /* tangent of weight * normal force, over this product; excludes the effect of distances */
	span_column law[N_LAW_NUMBERS]; /* if by_law */
	struct law_columns by;          /* if by_law */
	span_column change[N_CHANGES];
	/* Results: */
	span_column potential, force[3];
};

struct cotangent_workspace {
	struct derivative_workspace of;
	bool moves, by_law;      /* the cotangents that are wanted */
	double psi;              /* cotangent of the potential */
	span_column gathered[3]; /* Gamma of the gradient's cotangent */
	span_column along[2][3]; /* derivatives of `gathered` with respect to the closest point */
	struct law_columns by;   /* if by_law */
	span_column change[N_CHANGES];
	/* Results: cotangents */
	span_column relative[3];                   /* for the relative velocity */
	span_column strength;                      /* for weight * normal force, times this product */
	span_column law[N_LAW_NUMBERS];            /* if by_law */
	span_column position[FRIC_MAX_STENCIL][3]; /* only if `moves` */
};

/* Number of contacts differentiated at a time, so that results stay in the first-level cache until they are written as
 * rows. */
enum { JACOBIAN_BATCH = 16 };

struct jacobian_workspace {
	struct derivative_workspace of;
	size_t first, n; /* the batch; `first` counts from the span's first contact */
	/* Results: the rows and vectors that the type has; others are left unchanged */
	double by[JACOBIAN_ROWS * STENCIL_ROW][JACOBIAN_BATCH];
};

/* Call these after a span's forces and inner matrices are computed. */
struct derivative_kernels {
	void (*law)(struct derivative_workspace *work, struct law_columns *by); /* overwrites intermediate values */
	void (*tangent)(enum fric_type type, struct tangent_workspace *work);
	void (*cotangent)(enum fric_type type, struct cotangent_workspace *work);
	void (*jacobian)(enum fric_type type, struct jacobian_workspace *work);
};

#endif
