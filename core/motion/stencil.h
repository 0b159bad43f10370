/**
 * From velocities at the vertices of a stencil to the relative velocity of a contact: Gamma = w^T (x) I, as differences
 * and as weights. This is the only place that knows which vertex has which sign.
 */
#ifndef FRIC_STENCIL_H
#define FRIC_STENCIL_H

#include <math.h>

#include "core/contacts/contacts.h"

/* fric_stencil_size for loops that the compiler specialises by type. */
static inline int stencil_size_of(enum fric_type type)
{
	return type == FRIC_PLANE_VERTEX ? 1 : type == FRIC_VERTEX_VERTEX ? 2 : type == FRIC_EDGE_VERTEX ? 3 : 4;
}

/* The weights w of a stencil with closest point (a, b); entries beyond the stencil are left as they are. */
static inline void stencil_weights(enum fric_type type, double a, double b, double w[FRIC_MAX_STENCIL])
{
	switch (type) {
	case FRIC_VERTEX_VERTEX: w[0] = 1, w[1] = -1; break;
	case FRIC_EDGE_VERTEX: w[0] = 1, w[1] = -(1 - a), w[2] = -a; break;
	case FRIC_EDGE_EDGE: w[0] = 1 - a, w[1] = a, w[2] = -(1 - b), w[3] = -b; break;
	case FRIC_FACE_VERTEX: w[0] = 1, w[1] = -(1 - a - b), w[2] = -a, w[3] = -b; break;
	case FRIC_PLANE_VERTEX: w[0] = 1; break;
	}
}

/* Gamma v for velocities v0 to v3 at the vertices, numbers or vectors, and the closest point (a, b). Only the stencil's
 * own velocities are evaluated. As differences: equal velocities give exactly zero. */
#define RELATIVE_VELOCITY(type, v0, v1, v2, v3, a, b) \
	((type) == FRIC_VERTEX_VERTEX ? (v0) - (v1) \
	 : (type) == FRIC_EDGE_VERTEX ? ((v0) - (v1)) - (a) * ((v2) - (v1)) \
	 : (type) == FRIC_EDGE_EDGE   ? (((v0) - (v2)) + (a) * ((v1) - (v0))) - (b) * ((v3) - (v2)) \
	 : (type) == FRIC_FACE_VERTEX ? (((v0) - (v1)) - (a) * ((v2) - (v1))) - (b) * ((v3) - (v1)) \
	                              : (v0))

/* The relative velocity of contact i, [dim]. @param v [n_vertices, dim] */
static inline void relative_velocity(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v,
                                     double *out)
{
	const double *x[FRIC_MAX_STENCIL];
	const double a = c->closest_point[0][i], b = c->closest_point[1][i];
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		x[k] = v + (size_t)c->vertices[k][i] * (size_t)c->dim;
	for (int d = 0; d < c->dim; d++)
		out[d] = RELATIVE_VELOCITY(type, x[0][d], x[1][d], x[2][d], x[3][d], a, b);
}

/* A closest point fits doubles, but the weight that it leaves for a triangle's first vertex may not.
 * @return the first contact of [begin, end), all of one type, whose weights are not finite, or end */
static inline size_t find_infinite_weight(const struct fric_contacts *c, enum fric_type type, size_t begin, size_t end)
{
	size_t i = c->ordinary || type != FRIC_FACE_VERTEX ? end : begin;
	while (i < end && isfinite(1 - c->closest_point[0][i] - c->closest_point[1][i]))
		i++;
	return i;
}

#endif
