/**
 * Derivatives of closest point, tangent basis and distance of one contact (geometry.h) with respect to all their inputs
 * (docs/derivatives.md). Computed in long double, so that no intermediate result over- or underflows, and in quad where
 * edges are nearly parallel, triangles are slivers, or a distance cancels. They are as accurate as the values
 * themselves. Scaling lengths by a power of two gives the same bits. At a branch (the axis of a basis perpendicular to
 * a normal, or the side of a plane or line) they are derivatives of the active one; on a plane or line itself, of the
 * side that the normal points to.
 */
#ifndef FRIC_GEOMETRY_DERIVATIVE_H
#define FRIC_GEOMETRY_DERIVATIVE_H

#include "core/fric.h"

/* Inputs of a contact, their tangents or their cotangents. Only the first dim components of each vector are read; in
 * outputs, the others are 0, and so are inputs that the contact lacks. */
struct geometry_inputs {
	long double position[FRIC_MAX_STENCIL][3]; /* the type's points; unused for planes without a distance */
	long double normal[3];                     /* for planes and contacts of bodies: not zero, any length */
	long double grain[3];                      /* any length, if there is one */
};

struct geometry_values {
	long double closest_point[2]; /* the first fric_closest_point_size(type) */
	long double tangent_basis[6]; /* [dim, dim-1] row-major; in 2D the first 2 */
	long double distance;         /* unsigned */
};

/* Determines which inputs a contact's geometry depends on. The basis depends on the normal if there is a plane
 * (POINT_PLANE), otherwise on positions. */
struct geometry_case {
	enum fric_type type;
	int dim;
	bool has_distance; /* if not, the distance is not read and its tangent is 0 */
	bool has_grain;    /* 3D */
};

/**
 * Computes the tangents of the values from tangents of the inputs.
 * @param at    not degenerate (fricp_stencil_geometry, fricp_grain_basis)
 * @param turn  set to the rotation of the basis in its plane, first axis towards second (2D: 0), which is then excluded
 *              from the basis's tangent. NULL: the basis includes it
 */
void fricp_geometry_tangent(const struct geometry_case *contact, const struct geometry_inputs *at,
                            const struct geometry_inputs *tangent, struct geometry_values *out, long double *turn);
/* The transpose: computes cotangents of the inputs from cotangents of the values.
 * @param turn  cotangent of that rotation, if the caller has it with more digits than tangent_basis; or NULL
 * @param out   overwritten */
void fricp_geometry_cotangent(const struct geometry_case *contact, const struct geometry_inputs *at,
                              const struct geometry_values *cotangent, const long double *turn,
                              struct geometry_inputs *out);

/* Computes the derivative of normal / |normal|. It is symmetric, so x and the result are both tangents or both
 * cotangents. Vectors have [dim] components; the rest of the output is 0. */
void fricp_unit_normal_derivative(int dim, const long double normal[3], const long double x[3], long double out[3]);

#endif
