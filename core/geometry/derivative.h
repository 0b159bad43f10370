/**
 * Derivatives of closest point, tangent basis and distance of one contact by everything that they are computed from
 * (docs/derivatives.md; what they are is in geometry.h). In long double, so that nothing over- or underflows on the way,
 * and in quad where edges are nearly parallel, triangles are slivers, or a distance is lost in cancellation: as exact as
 * the values themselves. Lengths multiplied by a power of two give the same bits. The active branch counts: the axis of a
 * basis that is perpendicular to a normal, and the side of a plane or line. On it, the side that the normal points to.
 */
#ifndef FRIC_GEOMETRY_DERIVATIVE_H
#define FRIC_GEOMETRY_DERIVATIVE_H

#include "core/fric.h"

/* Numbers of a contact, tangents of them, or cotangents. The first dim components of each vector are read; the others
 * are 0 where they are written, and so is what a contact has not. */
struct geometry_inputs {
	long double position[FRIC_MAX_STENCIL][3]; /* of the stencil; of a plane's vertex where there is a distance */
	long double normal[3];                     /* of a plane or at a body's contact: not zero, of any length */
	long double origin[3];                     /* of a plane where there is a distance */
	long double grain[3];                      /* of any length, where there is one */
};

struct geometry_values {
	long double closest_point[2]; /* the first fric_closest_point_size(type) */
	long double tangent_basis[6]; /* [dim, dim-1] row-major; in 2D the first 2 */
	long double distance;         /* unsigned */
};

/* What a contact's geometry follows from. FRIC_PLANE_VERTEX, FRIC_BODY_BODY and FRIC_BODY_WORLD: the normal. */
struct geometry_case {
	enum fric_type type;
	int dim;
	bool has_distance; /* else it is not read, and 0 */
	bool has_grain;    /* 3D */
};

/**
 * Values' tangents of those of inputs.
 * @param at    not degenerate (fricp_stencil_geometry, fricp_grain_basis)
 * @param turn  of the basis in its plane, which is then left out of it: of the first axis towards the second, in 2D 0. NULL:
 *              the basis has it
 */
void fricp_geometry_tangent(const struct geometry_case *contact, const struct geometry_inputs *at,
                            const struct geometry_inputs *tangent, struct geometry_values *out, long double *turn);
/* The transpose: inputs' cotangents of those of values.
 * @param turn  the cotangent of such a turn, where it is known better than from tangent_basis; or NULL
 * @param out   overwritten */
void fricp_geometry_cotangent(const struct geometry_case *contact, const struct geometry_inputs *at,
                              const struct geometry_values *cotangent, const long double *turn,
                              struct geometry_inputs *out);

/* The same for normal / |normal|: vectors of [dim]; the rest of those written is 0. */
void fricp_unit_normal_tangent(int dim, const long double normal[3], const long double tangent[3], long double out[3]);
void fricp_unit_normal_cotangent(int dim, const long double normal[3], const long double cotangent[3],
                                 long double out[3]);

#endif
