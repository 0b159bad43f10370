/**
 * Names of the contact types: X(enumerator, name) in the order of enum fric_type. Generate everything that has one entry
 * per type from this list.
 */
#ifndef FRICP_TYPES_H
#define FRICP_TYPES_H

#define FRICP_TYPES(X) \
	X(VERTEX_VERTEX, "vertex_vertex") \
	X(EDGE_VERTEX, "edge_vertex") \
	X(EDGE_EDGE, "edge_edge") \
	X(FACE_VERTEX, "face_vertex") \
	X(PLANE_VERTEX, "plane_vertex") \
	X(BODY_BODY, "body_body") \
	X(BODY_WORLD, "body_world")

#endif
