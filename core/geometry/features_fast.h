/**
 * Closest features in plain doubles. Where `certain` is false, some sign that the decision rests on is not certain, and
 * the caller falls back on double-double (features.c). Branch-free, so that a loop over contacts vectorises.
 *
 * A feature is the closest one if and only if its closest points satisfy the conditions of a minimum (KKT), since the
 * distance is convex. They are signs of scalar products of differences of points (degree 2), and of those that appear
 * when a coordinate in the interior of an edge is eliminated (degree 4). Off the borders exactly one feature satisfies
 * them.
 */
#ifndef FRIC_FEATURES_FAST_H
#define FRIC_FEATURES_FAST_H

#include "core/geometry/geometry_fast.h"

struct fast_feature {
	int members; /* bit k: member k of the stencil takes part */
	int certain;
};

/* Bound on the rounding errors of a sign's number, relative to the product of the largest components of its factors:
 * some 20 roundings of sums of three products. */
static const double fast_sign = 0x1p-44;

INLINE int is_certain(double x, double size)
{
	return fabs(x) > fast_sign * size;
}

/* A mask if a condition holds, else 0. */
INLINE int mask_if(int condition, int mask)
{
	return condition ? mask : 0;
}

INLINE struct fast_feature fast_edge_vertex_feature(struct v3 p, struct v3 e0, struct v3 e1)
{
	struct v3 e = v3_minus(e1, e0), r = v3_minus(p, e0);
	const double largest = larger(v3_largest(e), v3_largest(r)), scale = inverse_power(largest);
	const double coordinate = scale * larger(v3_largest(e0), v3_largest(e1));
	e = v3_times(scale, e);
	r = v3_times(scale, r);
	const double ee = v3_dot(e, e), from0 = v3_dot(r, e), from1 = from0 - ee;
	const double le = v3_largest(e), size = le * (le + v3_largest(r));
	return (struct fast_feature){1 | mask_if(from1 < 0, 2) | mask_if(from0 > 0, 4),
	                             fast_scale(largest) & long_enough(ee, coordinate) & is_certain(from0, size) &
	                                 is_certain(from1, size)};
}

/* Sides a and b of contacts that have both: edges a0 a1 and b0 b1, or of a triangle. r leads from a0 to the other
 * side. */
struct fast_sides {
	double aa, bb, ab, ra, rb;
	double size_a, size_b; /* of products with a and b */
	int fit;
};

INLINE struct fast_sides fast_sides_of(struct v3 a0, struct v3 a1, struct v3 b0, struct v3 b1, struct v3 p)
{
	struct v3 a = v3_minus(a1, a0), b = v3_minus(b1, b0), r = v3_minus(p, a0);
	const double largest = larger(larger(v3_largest(a), v3_largest(b)), v3_largest(r)), scale = inverse_power(largest);
	const double coordinate = scale *
	                          larger(larger(v3_largest(a0), v3_largest(a1)), larger(v3_largest(b0), v3_largest(b1)));
	a = v3_times(scale, a);
	b = v3_times(scale, b);
	r = v3_times(scale, r);
	const double la = v3_largest(a), lb = v3_largest(b), reach = v3_largest(r) + la + lb;
	struct fast_sides s = {v3_dot(a, a), v3_dot(b, b), v3_dot(a, b), v3_dot(r, a),
	                       v3_dot(r, b), reach * la,   reach * lb,   fast_scale(largest)};
	s.fit &= long_enough(s.aa, coordinate) & long_enough(s.bb, coordinate);
	return s;
}

/* With r_ij from vertex i of a to vertex j of b: a_ij = r_ij . a and b_ij = r_ij . b. s and t are the coordinates at
 * which the lines are closest, times |a x b|^2, and the same minus |a x b|^2. */
INLINE struct fast_feature fast_edge_edge_feature(struct v3 a0, struct v3 a1, struct v3 b0, struct v3 b1)
{
	const struct fast_sides x = fast_sides_of(a0, a1, b0, b1, b0);
	const double a00 = x.ra, a10 = x.ra - x.aa, a01 = x.ra + x.ab, a11 = a01 - x.aa;
	const double b00 = x.rb, b10 = x.rb - x.ab, b01 = x.rb + x.bb, b11 = b01 - x.ab;
	const double s0 = a00 * x.bb - b00 * x.ab, s1 = a10 * x.bb - b10 * x.ab;
	const double t0 = a00 * x.ab - b00 * x.aa, t1 = a01 * x.ab - b01 * x.aa;
	const double size = larger(x.size_a, x.size_b), size_s = size * x.bb + x.size_b * x.size_a,
				 size_t_ = size * x.aa + x.size_b * x.size_a;
	const int a0_inside = (b00 < 0) & (b01 > 0), a1_inside = (b10 < 0) & (b11 > 0);
	const int b0_inside = (a00 > 0) & (a10 < 0), b1_inside = (a01 > 0) & (a11 < 0);
	int members = mask_if((a00 < 0) & (b00 > 0), 1 | 4) | mask_if((a01 < 0) & (b01 < 0), 1 | 8) |
	              mask_if((a10 > 0) & (b10 > 0), 2 | 4) | mask_if((a11 > 0) & (b11 < 0), 2 | 8) |
	              mask_if(a0_inside & (s0 < 0), 1 | 4 | 8) | mask_if(a1_inside & (s1 > 0), 2 | 4 | 8) |
	              mask_if(b0_inside & (t0 < 0), 1 | 2 | 4) | mask_if(b1_inside & (t1 > 0), 1 | 2 | 8);
	members = members ? members : 1 | 2 | 4 | 8;
	const int dots = is_certain(a00, x.size_a) & is_certain(a10, x.size_a) & is_certain(a01, x.size_a) &
	                 is_certain(a11, x.size_a) & is_certain(b00, x.size_b) & is_certain(b10, x.size_b) &
	                 is_certain(b01, x.size_b) & is_certain(b11, x.size_b);
	const int lines = is_certain(s0, size_s) & is_certain(s1, size_s) & is_certain(t0, size_t_) &
	                  is_certain(t1, size_t_);
	return (struct fast_feature){members, x.fit & dots & lines};
}

/* With r_i from vertex i of the triangle to p: a_i = r_i . a and b_i = r_i . b, for a and b from t0 to t1 and t2. w_i
 * is the weight of t_i at the point of the plane that is closest, times |a x b|^2. */
INLINE struct fast_feature fast_face_vertex_feature(struct v3 p, struct v3 t0, struct v3 t1, struct v3 t2)
{
	const struct fast_sides x = fast_sides_of(t0, t1, t0, t2, p);
	const double a0 = x.ra, a1 = x.ra - x.aa, a2 = x.ra - x.ab, b0 = x.rb, b1 = x.rb - x.ab, b2 = x.rb - x.bb;
	const double c1 = b1 - a1, c2 = b2 - a2; /* r_i . (t2 - t1) */
	const double w2 = a0 * b1 - a1 * b0, w1 = a2 * b0 - a0 * b2, w0 = a1 * b2 - a2 * b1;
	const double size_c = larger(x.size_a, x.size_b), size_w = size_c * size_c;
	int members = mask_if((a0 < 0) & (b0 < 0), 1 | 2) | mask_if((a1 > 0) & (c1 < 0), 1 | 4) |
	              mask_if((b2 > 0) & (c2 > 0), 1 | 8) | mask_if((a0 > 0) & (a1 < 0) & (w2 < 0), 1 | 2 | 4) |
	              mask_if((b0 > 0) & (b2 < 0) & (w1 < 0), 1 | 2 | 8) |
	              mask_if((c1 > 0) & (c2 < 0) & (w0 < 0), 1 | 4 | 8);
	members = members ? members : 1 | 2 | 4 | 8;
	const int dots = is_certain(a0, x.size_a) & is_certain(a1, x.size_a) & is_certain(b0, x.size_b) &
	                 is_certain(b2, x.size_b) & is_certain(c1, size_c) & is_certain(c2, size_c);
	const int lines = is_certain(w0, size_w) & is_certain(w1, size_w) & is_certain(w2, size_w);
	return (struct fast_feature){members, x.fit & dots & lines};
}

#endif
