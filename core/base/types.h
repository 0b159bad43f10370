/**
 * The properties of contact types: X(enumerator, name, geometry, size of the stencil) in the order of enum fric_type.
 * Generate everything that has one entry per type from this list, and test for properties instead of types.
 */
#ifndef FRICP_TYPES_H
#define FRICP_TYPES_H

#include <stdbool.h>

#include "core/base/inline.h"
#include "core/fric.h"

#define FRICP_VERTEX_TYPES(X) \
	X(VERTEX_VERTEX, "vertex_vertex", TWO_POINTS, 2) \
	X(EDGE_VERTEX, "edge_vertex", POINT_LINE, 3) \
	X(EDGE_EDGE, "edge_edge", TWO_LINES, 4) \
	X(FACE_VERTEX, "face_vertex", POINT_TRIANGLE, 4) \
	X(PLANE_VERTEX, "plane_vertex", POINT_PLANE, 1)
#define FRICP_TYPES(X) \
	FRICP_VERTEX_TYPES(X) \
	X(BODY_BODY, "body_body", POINT_PLANE, 2) \
	X(BODY_WORLD, "body_world", POINT_PLANE, 1)

/* The points on both sides that determine a type's geometry. The first ones are the members of its stencil, the others
 * are fixed in space. */
enum geometry {
	TWO_POINTS,     /* two points */
	POINT_LINE,     /* a point, and two points of a line */
	TWO_LINES,      /* two points of each line */
	POINT_TRIANGLE, /* a point, and three points of a plane */
	POINT_PLANE,    /* a point, and one of a plane with a given normal; bodies have no positions here */
	N_GEOMETRIES
};

static inline bool is_of_bodies(enum fric_type type)
{
	return type >= FRIC_N_VERTEX_TYPES;
}

INLINE enum geometry geometry_of(enum fric_type type)
{
#define GEOMETRY_OF(is, called, geometry, size) geometry,
	static const enum geometry geometries[FRIC_N_TYPES] = {FRICP_TYPES(GEOMETRY_OF)};
	return geometries[type];
}

/* fric_stencil_size and fric_closest_point_size for loops that the compiler specialises by type. */
INLINE int stencil_size_of(enum fric_type type)
{
#define SIZE_OF(is, called, geometry, size) size,
	static const int sizes[FRIC_N_TYPES] = {FRICP_TYPES(SIZE_OF)};
	return sizes[type];
}

INLINE int closest_point_size_of(enum fric_type type)
{
	static const int sizes[N_GEOMETRIES] = {0, 1, 2, 2, 0};
	return sizes[geometry_of(type)];
}

/* The number of points: one for each side, and one for each coordinate of the closest point. */
INLINE int n_points_of(enum fric_type type)
{
	return 2 + closest_point_size_of(type);
}

/* Whether the second side is fixed in space. */
INLINE bool faces_world(enum fric_type type)
{
	return stencil_size_of(type) < n_points_of(type);
}

#endif
