/**
 * What kernels read and write for derivatives of a span of 3D contacts.
 */
#ifndef FRIC_DERIVATIVES_H
#define FRIC_DERIVATIVES_H

#include "core/kernels/kernels.h"

/* fric_closest_point_size for loops that the compiler specialises by type. */
INLINE int closest_point_size_of(enum fric_type type)
{
	return type == FRIC_EDGE_VERTEX ? 1 : type == FRIC_EDGE_EDGE || type == FRIC_FACE_VERTEX ? 2 : 0;
}

/* A row of derivatives by the three vectors between positions that a contact's geometry follows from (derivative_fast.h):
 * by r, then a, then b, each by axis. Of the force's three components, and of the closest point's two coordinates. */
enum { STENCIL_ROW = 9, JACOBIAN_ROWS = 5 };

struct jacobian_workspace {
	struct workspace at; /* with forces and inner matrices */
	const double *closest_point[2];
	double position[FRIC_MAX_STENCIL][3][FRIC_SPAN]; /* of the stencils' vertices; of planes, [1] is their origin */
	double along[2][3][FRIC_SPAN];                   /* derivatives of Gamma v by the closest point */
	double anchor[3][FRIC_SPAN];                     /* if there is a drag beside anchors */
	double stiffness[FRIC_SPAN]; /* slope of the normal force by the distance, over the normal force */
	/* Results: */
	double by[JACOBIAN_ROWS * STENCIL_ROW][FRIC_SPAN]; /* what the type has of it; the rest is left as it is */
	double good[FRIC_SPAN];                            /* 0: this contact needs the plain form */
};

#endif
