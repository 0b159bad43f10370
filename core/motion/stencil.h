/**
 * Computes the relative velocity of a contact from velocities at the members of its stencil: Gamma = w^T (x) I, as
 * differences and as weights. Both are generated from one table, the only place that defines the members' signs.
 */
#ifndef FRIC_STENCIL_H
#define FRIC_STENCIL_H

#include <math.h>

#include "core/base/inline.h"
#include "core/contacts/contacts.h"
#include "core/motion/dofs.h"

/* The contact point of a side is its origin x0 plus, for each other member x of the side, a or b times x - x0, where
 * (a, b) is the closest point. Gamma v is the velocity of the first side's point minus the velocity of the second
 * side's point. */
struct member {
	int sign;       /* +1 on the first side, -1 on the second */
	int origin;     /* the member that is x0 on its side; for an origin, its own number */
	int coordinate; /* 0: a, 1: b; unused (0) for an origin */
};

/* The points of a type: the members of its stencil, then those fixed in space. */
INLINE const struct member *stencil_members(enum fric_type type)
{
	static const struct member members[N_GEOMETRIES][FRIC_MAX_STENCIL] = {
		[TWO_POINTS] = {{+1, 0, 0}, {-1, 1, 0}},
		[POINT_LINE] = {{+1, 0, 0}, {-1, 1, 0}, {-1, 1, 0}},
		[TWO_LINES] = {{+1, 0, 0}, {+1, 0, 0}, {-1, 2, 0}, {-1, 2, 1}},
		[POINT_TRIANGLE] = {{+1, 0, 0}, {-1, 1, 0}, {-1, 1, 0}, {-1, 1, 1}},
		[POINT_PLANE] = {{+1, 0, 0}, {-1, 1, 0}},
	};
	return members[geometry_of(type)];
}

/* Calls of(TYPE, ...) with the type as a constant; body types have no stencil of vertices. */
#define FOR_TYPE(of, type, ...) \
	switch (type) { \
	case FRIC_VERTEX_VERTEX: of(FRIC_VERTEX_VERTEX, __VA_ARGS__); break; \
	case FRIC_EDGE_VERTEX: of(FRIC_EDGE_VERTEX, __VA_ARGS__); break; \
	case FRIC_EDGE_EDGE: of(FRIC_EDGE_EDGE, __VA_ARGS__); break; \
	case FRIC_FACE_VERTEX: of(FRIC_FACE_VERTEX, __VA_ARGS__); break; \
	case FRIC_PLANE_VERTEX: of(FRIC_PLANE_VERTEX, __VA_ARGS__); break; \
	case FRIC_BODY_BODY: \
	case FRIC_BODY_WORLD: break; \
	}

/* The vectors that determine the geometry of a stencil, in the order of arrays with one entry per vector. */
enum { VECTOR_R, VECTOR_A, VECTOR_B, N_VECTORS };

/* The role of point l of a type in vector v of r, a and b: 1 at its tip, -1 at its tail, else 0. r runs between the
 * origins of the two sides; a and b run from an origin to the member that belongs to the closest point's first and
 * second coordinate. Two points have one vector only, which is stored as a. */
INLINE int vector_sign(enum fric_type type, int v, int l)
{
	const struct member *members = stencil_members(type), member = members[l];
	const bool points = geometry_of(type) == TWO_POINTS, to_second = points || geometry_of(type) == TWO_LINES;
	int sign = 0;
	if (l >= n_points_of(type))
		return 0;
	if (v == points)
		return member.origin != l ? 0 : to_second ? -member.sign : member.sign;
	UNROLL
	for (int k = 0; k < n_points_of(type); k++)
		if (members[k].origin != k && members[k].coordinate == v - 1)
			sign = k == l ? 1 : members[k].origin == l ? -1 : sign;
	return sign;
}

/* Whether a type has vector v. */
INLINE bool has_vector(enum fric_type type, int v)
{
	bool has = false;
	UNROLL
	for (int l = 0; l < n_points_of(type); l++)
		has |= vector_sign(type, v, l) != 0;
	return has;
}

/* The weight of an origin: 1 minus the other weights of its side. */
INLINE double origin_share(enum fric_type type, int origin, const double at[2])
{
	double share = 1;
	UNROLL
	for (int k = 0; k < stencil_size_of(type); k++) {
		const struct member m = stencil_members(type)[k];
		if (k != origin && m.origin == origin)
			share -= at[m.coordinate];
	}
	return share;
}

INLINE void weights_of_type(enum fric_type type, double a, double b, double w[FRIC_MAX_STENCIL])
{
	const double at[2] = {a, b};
	UNROLL
	for (int k = 0; k < stencil_size_of(type); k++) {
		const struct member m = stencil_members(type)[k];
		w[k] = m.sign * (m.origin == k ? origin_share(type, k, at) : at[m.coordinate]);
	}
}

/* Computes the weights w of a stencil with closest point (a, b); entries beyond the stencil are left unchanged. */
static inline void stencil_weights(enum fric_type type, double a, double b, double w[FRIC_MAX_STENCIL])
{
	FOR_TYPE(weights_of_type, type, a, b, w)
}

/* Computes the weights of contact i, which is of this type. */
static inline void contact_weights(const struct fric_contacts *c, enum fric_type type, size_t i,
                                   double w[FRIC_MAX_STENCIL])
{
	stencil_weights(type, c->closest_point[0][i], c->closest_point[1][i], w);
}

INLINE void weight_rows_of(enum fric_type type, const struct fric_contacts *c, size_t begin, size_t end, double *out)
{
	for (size_t i = begin; i < end; i++) {
		double w[FRIC_MAX_STENCIL] = {0};
		contact_weights(c, type, i, w);
		for (int k = 0; k < stencil_size_of(type); k++)
			*out++ = c->skipped[i] ? 0 : w[k];
	}
}

/* Computes the weights of contacts [begin, end), all of one type, as rows; zeros for a skipped contact. */
static inline void weight_rows(const struct fric_contacts *c, enum fric_type type, size_t begin, size_t end,
                               double *out){FOR_TYPE(weight_rows_of, type, c, begin, end, out)}

/* Defines Gamma v for velocities v at the members (scalars or vectors) and the closest point (a, b). Uses differences:
 * equal velocities give exactly zero. */
#define RELATIVE_VELOCITY(name, number) \
	INLINE number name(enum fric_type type, const number v[FRIC_MAX_STENCIL], double a, double b) \
	{ \
		const double at[2] = {a, b}; \
		number sum = v[0]; \
		UNROLL \
		for (int k = 1; k < stencil_size_of(type); k++) \
			if (stencil_members(type)[k].origin == k) \
				sum = sum - v[k]; \
		UNROLL \
		for (int k = 1; k < stencil_size_of(type); k++) { \
			const struct member m = stencil_members(type)[k]; \
			const number along = at[m.coordinate] * (v[k] - v[m.origin]); \
			if (m.origin != k) \
				sum = m.sign > 0 ? sum + along : sum - along; \
		} \
		return sum; \
	}

RELATIVE_VELOCITY(relative_number, double)

	/* Pass type and dim as constants. */
	INLINE void relative_velocity_of(enum fric_type type, int dim, const struct fric_contacts *c, size_t i,
                                     const double *v, double *out)
{
	UNROLL
	for (int d = 0; d < dim; d++) {
		double at[FRIC_MAX_STENCIL] = {0};
		UNROLL
		for (int k = 0; k < stencil_size_of(type); k++)
			at[k] = v[member_dof(c, dim, type, k, i) + (size_t)d];
		out[d] = relative_number(type, at, c->closest_point[0][i], c->closest_point[1][i]);
	}
}

/* Computes the relative velocity of contact i, [dim]. @param v [n_dofs] */
INLINE void relative_velocity(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v,
                              double *out)
{
	if (c->dim == 2)
		FOR_TYPE(relative_velocity_of, type, 2, c, i, v, out)
	else
		FOR_TYPE(relative_velocity_of, type, 3, c, i, v, out)
}

/* A closest point fits doubles, but the weight of a triangle's first vertex may not.
 * @return the first contact of [begin, end), all of one type, whose weights are not finite, or end */
static inline size_t find_infinite_weight(const struct fric_contacts *c, enum fric_type type, size_t begin, size_t end)
{
	size_t i = c->ordinary ? end : begin;
	for (; i < end; i++) {
		double w[FRIC_MAX_STENCIL] = {0};
		contact_weights(c, type, i, w);
		if (!isfinite((w[0] * 0 + w[1] * 0) + (w[2] * 0 + w[3] * 0)))
			break;
	}
	return i;
}

#endif
