/**
 * What kernels read and write for derivatives of a span of 3D contacts. In a contact's frame, the columns f, s of its basis
 * and n = f x s, motion does six things to it (struct fast_change): it shifts the closest point's two coordinates, turns
 * f towards s, tilts n along f and along s, and changes the distance. Its slip is P^T y, y the relative velocity.
 */
#ifndef FRIC_DERIVATIVES_H
#define FRIC_DERIVATIVES_H

#include "core/kernels/workspace.h"

/* fric_closest_point_size for loops that the compiler specialises by type. */
INLINE int closest_point_size_of(enum fric_type type)
{
	return type == FRIC_EDGE_VERTEX ? 1 : type == FRIC_EDGE_EDGE || type == FRIC_FACE_VERTEX ? 2 : 0;
}

/* A row of derivatives by the three vectors between positions that a contact's geometry follows from (derivative_fast.h):
 * by r, then a, then b, each by axis. Of the force's three components, and of the closest point's two coordinates. */
enum { STENCIL_ROW = 9, JACOBIAN_ROWS = 5 };

/* Columns of the six things. */
enum { CHANGE_A, CHANGE_B, CHANGE_TURN, CHANGE_FIRST, CHANGE_SECOND, CHANGE_DISTANCE, N_CHANGES };

/* The numbers of a law that kernels know derivatives by. */
enum { BY_MU_S, BY_MU_K, BY_EPS_V, N_LAW_NUMBERS };

typedef double span_column[FRIC_SPAN];

struct derivative_workspace {
	struct workspace at; /* with forces and inner matrices; potentials for all but the Jacobian */
	const double *closest_point[2];
	span_column position[FRIC_MAX_STENCIL][3]; /* of the stencils' vertices; of planes, [1] is their origin */
	span_column along[2][3];                   /* derivatives of Gamma v by the closest point */
	span_column anchor[3];                     /* if there is a drag beside anchors */
	span_column stiffness;                     /* slope of the normal force by the distance, over the normal force */
	span_column barrier[3];                    /* the same by dhat, stiffness and dmin */
	span_column good;                          /* set to 0: this contact needs the plain form */
};

/* Derivatives by the law's numbers at fixed slips: of the potential, and of the force along f and s. */
struct law_columns {
	span_column potential[N_LAW_NUMBERS], force[N_LAW_NUMBERS][2];
};

struct tangent_workspace {
	struct derivative_workspace of;
	/* Tangents: */
	bool moves, by_law;
	span_column position[FRIC_MAX_STENCIL][3]; /* if it moves; of planes, [1] is 0 */
	span_column relative[3];                   /* Gamma of the velocities' */
	span_column strength;                      /* of weight and normal force, over their product, but for distances */
	span_column law[N_LAW_NUMBERS];            /* if by_law */
	struct law_columns by;                     /* the same */
	span_column change[N_CHANGES];
	/* Results: */
	span_column potential, force[3];
};

struct cotangent_workspace {
	struct derivative_workspace of;
	bool moves, by_law;      /* what is wanted */
	double psi;              /* cotangent of the potential */
	span_column gathered[3]; /* Gamma of the gradient's cotangent */
	span_column along[2][3]; /* its derivatives by the closest point */
	struct law_columns by;   /* if by_law */
	span_column change[N_CHANGES];
	/* Results: cotangents */
	span_column relative[3];                   /* of the relative velocity */
	span_column strength;                      /* of weight and normal force, times their product */
	span_column law[N_LAW_NUMBERS];            /* if by_law */
	span_column position[FRIC_MAX_STENCIL][3]; /* if it moves */
};

/* Contacts whose derivatives are computed at a time: what waits to be laid out in rows stays in the first-level cache. */
enum { JACOBIAN_BATCH = 16 };

struct jacobian_workspace {
	struct derivative_workspace of;
	size_t first, n; /* of the span's contacts, those of the batch */
	/* Results: what the type has of it; the rest is left as it is */
	double by[JACOBIAN_ROWS * STENCIL_ROW][JACOBIAN_BATCH];
};

/* After a span's forces and inner matrices. */
struct derivative_kernels {
	void (*law)(struct derivative_workspace *work, struct law_columns *by); /* in between is not kept */
	void (*tangent)(enum fric_type type, struct tangent_workspace *work);
	void (*cotangent)(enum fric_type type, struct cotangent_workspace *work);
	void (*jacobian)(enum fric_type type, struct jacobian_workspace *work);
};

#endif
