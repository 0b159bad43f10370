/**
 * Derivatives of closest point, basis and distance in plain doubles, for 3D contacts that are far from degenerate, with
 * geometry derived from positions and without grain. Branch-free, so that a loop over contacts vectorises. Where `good`
 * is false, use derivative.h instead; where it is true, errors stay below about 1e-12 of the largest term.
 *
 * The formulas are the same as in derivative.inc, in the contact's own frame n = f x s with its basis (f, s). Three
 * numbers describe the change of a basis, and products need only these:
 *
 *     df = w s - (f.dn) n      ds = -w f - (s.dn) n
 *     P'^T y = (w y_s - tilt_f y_n, -w y_f - tilt_s y_n)                     y_f = f.y, y_s = s.y, y_n = n.y
 *     cotangents of f and s, F and S:  w: F.s - S.f   tilt_f: -F.n   tilt_s: -S.n
 */
#ifndef FRIC_GEOMETRY_DERIVATIVE_FAST_H
#define FRIC_GEOMETRY_DERIVATIVE_FAST_H

#include "core/geometry/geometry_fast.h"
#include "core/motion/stencil.h"

/* Lower limit of sin^2 of the angle between two edges. Smaller than fast_edges, because closest point and basis are
 * already available here. */
static const double fast_derivatives = 0x1p-16;

/* Tangents or cotangents of a contact's geometry: closest point; w, f.dn, s.dn; distance. */
struct fast_change {
	double a, b, turn, tilt_first, tilt_second, distance;
};

/* Differences of positions, of their tangents or of their cotangents: along the edges, and from the first point of one
 * side to the first point of the other. */
struct fast_edges {
	struct v3 a, b, r;
};

/* Values that a contact's derivatives are computed from. p and q: closest point; between edges, q has the opposite
 * sign. */
struct fast_frame {
	struct v3 n, f, s;
	double p, q, height, side; /* height: signed distance; side: its sign */
	double over_length;        /* 1 / |a| */
	double over_across, slant; /* 1 / (b.s), and (b.f) / (b.s) */
	double over_height;
	double axis; /* between vertices: w = axis * f.dn */
	bool good;
};

INLINE struct v3 v3_plus(struct v3 a, struct v3 b)
{
	return (struct v3){a.x + b.x, a.y + b.y, a.z + b.z};
}

/* a - s b */
INLINE struct v3 v3_less(struct v3 a, double s, struct v3 b)
{
	return (struct v3){a.x - s * b.x, a.y - s * b.y, a.z - s * b.z};
}

/* r f + s g + t h */
INLINE struct v3 v3_of(double r, struct v3 f, double s, struct v3 g, double t, struct v3 h)
{
	return (struct v3){(r * f.x + s * g.x) + t * h.x, (r * f.y + s * g.y) + t * h.y, (r * f.z + s * g.z) + t * h.z};
}

INLINE struct v3 v3_opposite(struct v3 a)
{
	return (struct v3){-a.x, -a.y, -a.z};
}

/* Whether a squared length has kept all its digits. */
INLINE int fast_square(double x)
{
	return (x > 0x1p-900) & (x < 0x1p+900);
}

/* ---- vertex_vertex: the normal is a = r = p1 - p0 ---- */

/* @param first, second  the columns of the contact's basis */
INLINE struct fast_frame fast_vertex_vertex_frame(struct fast_edges e, struct v3 first, struct v3 second)
{
	struct fast_frame g = {.f = first, .s = second};
	const double x = fabs(e.a.x), y = fabs(e.a.y), squared = v3_dot(e.a, e.a);
	g.n = v3_cross(first, second);
	g.over_length = 1 / v3_dot(e.a, g.n);
	g.axis = y > x ? g.n.x / second.x : g.n.y / second.y;
	g.good = fast_square(squared) & (fabs(x - y) > 0x1p-500);
	return g;
}

INLINE struct fast_change fast_vertex_vertex_tangent(const struct fast_frame *g, struct fast_edges d)
{
	const double first = v3_dot(g->f, d.a) * g->over_length, second = v3_dot(g->s, d.a) * g->over_length;
	return (struct fast_change){0, 0, g->axis * first, first, second, v3_dot(g->n, d.a)};
}

INLINE struct fast_edges fast_vertex_vertex_cotangent(const struct fast_frame *g, struct fast_change d)
{
	const double first = (d.tilt_first + g->axis * d.turn) * g->over_length, second = d.tilt_second * g->over_length;
	return (struct fast_edges){.a = v3_of(first, g->f, second, g->s, d.distance, g->n)};
}

/* ---- edge_vertex: a is the edge, r leads from its first end to the vertex; n points from vertex to edge ---- */

INLINE struct fast_frame fast_edge_vertex_frame(struct fast_edges e, double closest_point, struct v3 first,
                                                struct v3 second)
{
	struct fast_frame g = {.f = first, .s = second, .p = closest_point};
	const double aa = v3_dot(e.a, e.a), rr = v3_dot(e.r, e.r);
	g.n = v3_cross(first, second);
	g.height = v3_dot(e.r, g.n);
	g.side = -1;
	g.over_length = 1 / v3_dot(e.a, first);
	g.over_height = 1 / g.height;
	g.good = fast_square(aa) & fast_square(rr) & (g.height * g.height > fast_vertex * rr) & (rr < 0x1p+20 * aa);
	return g;
}

INLINE struct fast_change fast_edge_vertex_tangent(const struct fast_frame *g, struct fast_edges d)
{
	const struct v3 x = v3_less(d.r, g->p, d.a);
	const double first = -v3_dot(g->n, d.a) * g->over_length, second = v3_dot(g->s, x) * g->over_height;
	const double a = (v3_dot(g->f, x) - g->height * first) * g->over_length;
	return (struct fast_change){a, 0, v3_dot(g->s, d.a) * g->over_length, first, second, -v3_dot(g->n, x)};
}

INLINE struct fast_edges fast_edge_vertex_cotangent(const struct fast_frame *g, struct fast_change d)
{
	const double along = d.a * g->over_length, first = (g->height * along - d.tilt_first) * g->over_length;
	const struct v3 x = v3_of(along, g->f, d.tilt_second * g->over_height, g->s, -d.distance, g->n);
	return (struct fast_edges){.a = v3_of(first, g->n, d.turn * g->over_length, g->s, -g->p, x), .r = x};
}

/* ---- edge_edge and face_vertex: a and b span a plane ---- */

/* @param p, q  coordinates with r = p a + q b + height n */
INLINE struct fast_frame fast_plane_frame(struct fast_edges e, double p, double q, struct v3 first, struct v3 second)
{
	struct fast_frame g = {.f = first, .s = second, .p = p, .q = q};
	const double aa = v3_dot(e.a, e.a), bb = v3_dot(e.b, e.b), rr = v3_dot(e.r, e.r), across = v3_dot(e.b, second);
	g.n = v3_cross(first, second);
	g.height = v3_dot(e.r, g.n);
	g.side = g.height < 0 ? -1 : 1;
	g.over_length = 1 / v3_dot(e.a, first);
	g.over_across = 1 / across;
	g.slant = v3_dot(e.b, first) * g.over_across;
	g.good = fast_square(aa) & fast_square(bb) & fast_square(rr) & (across * across > fast_derivatives * bb) &
	         (g.height * g.height > 0x1p-80 * rr) & (rr < 0x1p+20 * aa) & (rr < 0x1p+20 * bb);
	return g;
}

INLINE struct fast_change fast_plane_tangent(const struct fast_frame *g, struct fast_edges d)
{
	const struct v3 x = v3_less(v3_less(d.r, g->p, d.a), g->q, d.b);
	const double first = -v3_dot(g->n, d.a) * g->over_length;
	const double second = -g->slant * first - v3_dot(g->n, d.b) * g->over_across;
	const double rest = v3_dot(g->s, x) - g->height * second;
	const double p = (v3_dot(g->f, x) - g->height * first - g->slant * rest) * g->over_length;
	return (struct fast_change){p,      rest * g->over_across,    v3_dot(g->s, d.a) * g->over_length, first,
	                            second, g->side * v3_dot(g->n, x)};
}

INLINE struct fast_edges fast_plane_cotangent(const struct fast_frame *g, struct fast_change d)
{
	const double along = d.a * g->over_length, across = d.b * g->over_across - g->slant * along;
	const double second = d.tilt_second - g->height * across;
	const double first = d.tilt_first - g->height * along - g->slant * second;
	const struct v3 x = v3_of(along, g->f, across, g->s, g->side * d.distance, g->n);
	const struct v3 a = v3_of(-first * g->over_length, g->n, d.turn * g->over_length, g->s, -g->p, x);
	return (struct fast_edges){a, v3_less(v3_times(-second * g->over_across, g->n), g->q, x), x};
}

/* ---- plane_vertex: r leads from the origin to the vertex; the basis does not move ---- */

/* r . n is the signed distance, and its sign is the side of r. */
INLINE struct fast_frame fast_plane_vertex_frame(struct fast_edges e, struct v3 first, struct v3 second)
{
	struct fast_frame g = {.f = first, .s = second, .n = v3_cross(first, second)};
	g.height = v3_dot(e.r, g.n);
	g.side = g.height < 0 ? -1 : 1;
	g.good = g.height * g.height > 0x1p-20 * v3_dot(e.r, e.r);
	return g;
}

/* ---- by type, which is a constant ---- */

/* Positions of a type's points, their tangents or cotangents. Not an array, which would not be kept in registers. */
struct fast_members {
	struct v3 a, b, c, d;
};

INLINE struct v3 fast_member(struct fast_members x, int l)
{
	return l == 0 ? x.a : l == 1 ? x.b : l == 2 ? x.c : x.d;
}

INLINE struct v3 fast_vector(struct fast_edges e, int v)
{
	return v == VECTOR_R ? e.r : v == VECTOR_A ? e.a : e.b;
}

/* Vector v; 0 if the type lacks it. */
INLINE struct v3 fast_vector_of(enum fric_type type, struct fast_members x, int v)
{
	struct v3 tip = {0, 0, 0}, tail = {0, 0, 0};
	UNROLL
	for (int l = 0; l < n_points_of(type); l++) {
		tip = vector_sign(type, v, l) > 0 ? fast_member(x, l) : tip;
		tail = vector_sign(type, v, l) < 0 ? fast_member(x, l) : tail;
	}
	return v3_minus(tip, tail);
}

INLINE struct fast_edges fast_edges_of(enum fric_type type, struct fast_members x)
{
	return (struct fast_edges){fast_vector_of(type, x, VECTOR_A), fast_vector_of(type, x, VECTOR_B),
	                           fast_vector_of(type, x, VECTOR_R)};
}

/* @param a, b           the closest point
 * @param first, second  the columns of the contact's basis */
INLINE struct fast_frame fast_frame_of(enum fric_type type, struct fast_edges e, double a, double b, struct v3 first,
                                       struct v3 second)
{
	switch (geometry_of(type)) {
	case TWO_POINTS: return fast_vertex_vertex_frame(e, first, second);
	case POINT_LINE: return fast_edge_vertex_frame(e, a, first, second);
	case TWO_LINES: return fast_plane_frame(e, a, -b, first, second);
	case POINT_TRIANGLE: return fast_plane_frame(e, a, b, first, second);
	default: return fast_plane_vertex_frame(e, first, second);
	}
}

INLINE struct fast_change fast_tangent_of(enum fric_type type, const struct fast_frame *g, struct fast_edges d)
{
	struct fast_change change;
	switch (geometry_of(type)) {
	case TWO_POINTS: return fast_vertex_vertex_tangent(g, d);
	case POINT_LINE: return fast_edge_vertex_tangent(g, d);
	case TWO_LINES:
		change = fast_plane_tangent(g, d);
		change.b = -change.b;
		return change;
	case POINT_TRIANGLE: return fast_plane_tangent(g, d);
	default: return (struct fast_change){.distance = g->side * v3_dot(g->n, d.r)};
	}
}

INLINE struct fast_edges fast_cotangent_of(enum fric_type type, const struct fast_frame *g, struct fast_change d)
{
	switch (geometry_of(type)) {
	case TWO_POINTS: return fast_vertex_vertex_cotangent(g, d);
	case POINT_LINE: return fast_edge_vertex_cotangent(g, d);
	case TWO_LINES: d.b = -d.b; return fast_plane_cotangent(g, d);
	case POINT_TRIANGLE: return fast_plane_cotangent(g, d);
	default: return (struct fast_edges){.r = v3_times(d.distance * g->side, g->n)};
	}
}

/* The sum of the vectors that have their tip (sign 1) or tail (-1) at member l. @param any  set to whether there is
 * such a vector */
INLINE struct v3 fast_sum_at(enum fric_type type, struct fast_edges d, int l, int sign, bool *any)
{
	struct v3 sum = {0, 0, 0};
	*any = false;
	UNROLL
	for (int v = 0; v < N_VECTORS; v++) {
		if (vector_sign(type, v, l) != sign)
			continue;
		sum = *any ? v3_plus(sum, fast_vector(d, v)) : fast_vector(d, v);
		*any = true;
	}
	return sum;
}

/* The cotangent of member l's position from cotangents of edges. */
INLINE struct v3 fast_position_of(enum fric_type type, struct fast_edges d, int l)
{
	bool tip, tail;
	const struct v3 plus = fast_sum_at(type, d, l, 1, &tip), minus = fast_sum_at(type, d, l, -1, &tail);
	return tip && tail ? v3_minus(plus, minus) : tip ? plus : v3_opposite(minus);
}

#endif
