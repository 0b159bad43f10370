/**
 * Closest point, tangent basis and distance in plain doubles, for 3D contacts that are far from degenerate. Where
 * `good` is false, the caller falls back on double-double arithmetic (geometry.c): nearly parallel edges, slivers,
 * distances that cancel, coordinates far from the origin. Where it is true, errors stay below about 1e-13 of the
 * contact's size. Branch-free, so that a loop over contacts vectorises.
 */
#ifndef FRIC_GEOMETRY_FAST_H
#define FRIC_GEOMETRY_FAST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/dd.h"
#include "core/base/inline.h"
#include "core/fric.h"

struct v3 {
	double x, y, z;
};

struct fast_geometry {
	double a, b;             /* closest point */
	struct v3 first, second; /* columns of the basis */
	double distance;
	bool good;
};

/* Lower limits for plain doubles: sin^2 of the angle between edges, sin^2 of the angle between edge and vertex, and
 * (distance / reach)^2. */
static const double fast_edges = 0x1p-10, fast_vertex = 0x1p-20, fast_distance = 0x1p-24;
/* An edge with at least this (length / largest coordinate)^2 is certainly longer than zero_length (geometry.c). */
static const double fast_length = 0x1p-90;
/* Above this (r . n)^2 over the squares of all three lengths, a double-double product is accurate to a double. */
static const double fast_precise = 0x1p-96;

INLINE struct v3 v3_minus(struct v3 a, struct v3 b)
{
	return (struct v3){a.x - b.x, a.y - b.y, a.z - b.z};
}

INLINE struct v3 v3_times(double s, struct v3 a)
{
	return (struct v3){s * a.x, s * a.y, s * a.z};
}

INLINE double v3_dot(struct v3 a, struct v3 b)
{
	return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

INLINE struct v3 v3_cross(struct v3 a, struct v3 b)
{
	return (struct v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

INLINE double larger(double a, double b)
{
	return a > b ? a : b;
}

INLINE double v3_largest(struct v3 a)
{
	return larger(larger(fabs(a.x), fabs(a.y)), fabs(a.z));
}

/* 2^-k for 2^k <= x < 2^(k+1): scaling by it is exact. */
INLINE double inverse_power(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	bits = 0x7FE0000000000000u - (bits & 0x7FF0000000000000u);
	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* Within these limits nothing here over- or underflows after scaling. Conditions are ints, combined with & to avoid
 * branches. */
INLINE int fast_scale(double largest)
{
	return (largest > 0x1p-900) & (largest < 0x1p+900);
}

INLINE int long_enough(double squared_length, double scaled_coordinate)
{
	return squared_length > fast_length * (scaled_coordinate * scaled_coordinate);
}

INLINE struct v3 normalised(struct v3 a)
{
	return v3_times(1 / sqrt(v3_dot(a, a)), a);
}

INLINE struct fast_geometry fast_vertex_vertex(struct v3 p0, struct v3 p1, bool precise)
{
	struct fast_geometry g = {0};
	(void)precise; /* the distance of two vertices is always precise */
	struct v3 n = v3_minus(p1, p0);
	const double largest = v3_largest(n), scale = inverse_power(largest);
	const double coordinate = scale * larger(v3_largest(p0), v3_largest(p1));
	n = v3_times(scale, n);
	const double n2 = v3_dot(n, n), y_longer = fabs(n.y) > fabs(n.x) ? 1 : 0, x_longer = 1 - y_longer;
	const struct v3 c = {x_longer * n.z, y_longer * -n.z, y_longer * n.y - x_longer * n.x};
	g.first = normalised(c);
	g.second = normalised(v3_cross(n, c));
	g.distance = sqrt(n2) / scale;
	g.good = fast_scale(largest) & long_enough(n2, coordinate) & (fabs(n.y) != fabs(n.x));
	return g;
}

/* The exact difference of two points. */
struct dd3 {
	struct dd x, y, z;
};

INLINE struct dd3 dd3_between(struct v3 from, struct v3 to, double scale)
{
	const struct dd x = dd_difference(to.x, from.x), y = dd_difference(to.y, from.y), z = dd_difference(to.z, from.z);
	return (struct dd3){{scale * x.hi, scale * x.lo}, {scale * y.hi, scale * y.lo}, {scale * z.hi, scale * z.lo}};
}

INLINE struct dd3 dd3_cross(struct dd3 a, struct dd3 b)
{
	return (struct dd3){dd_subtract(dd_multiply(a.y, b.z), dd_multiply(a.z, b.y)),
	                    dd_subtract(dd_multiply(a.z, b.x), dd_multiply(a.x, b.z)),
	                    dd_subtract(dd_multiply(a.x, b.y), dd_multiply(a.y, b.x))};
}

INLINE double dd3_dot(struct dd3 a, struct dd3 b)
{
	return dd_add(dd_add(dd_multiply(a.x, b.x), dd_multiply(a.y, b.y)), dd_multiply(a.z, b.z)).hi;
}

INLINE struct v3 dd3_rounded(struct dd3 a)
{
	return (struct v3){a.x.hi, a.y.hi, a.z.hi};
}

/* precise: compute the distance in double-double, because a barrier amplifies its error */
INLINE struct fast_geometry fast_edge_vertex(struct v3 p, struct v3 e0, struct v3 e1, bool precise)
{
	struct fast_geometry g = {0};
	struct v3 e = v3_minus(e1, e0), r = v3_minus(p, e0);
	const double largest = larger(v3_largest(e), v3_largest(r)), scale = inverse_power(largest);
	const double coordinate = scale * larger(v3_largest(p), larger(v3_largest(e0), v3_largest(e1)));
	e = v3_times(scale, e);
	r = v3_times(scale, r);
	const struct v3 n = precise ? dd3_rounded(dd3_cross(dd3_between(e0, e1, scale), dd3_between(e0, p, scale)))
	                            : v3_cross(e, r);
	const double n2 = v3_dot(n, n), ee = v3_dot(e, e), rr = v3_dot(r, r);
	g.a = v3_dot(r, e) / ee;
	g.first = normalised(e);
	g.second = normalised(n);
	g.distance = sqrt(n2 / ee) / scale;
	g.good = fast_scale(largest) & long_enough(ee, coordinate) & long_enough(rr, coordinate) &
	         (n2 > fast_vertex * (ee * rr));
	return g;
}

/* Common part of edge_edge and face_vertex: an edge a0 a1, another edge b0 b1, and r from a0 to p. */
INLINE struct fast_geometry fast_plane(struct v3 a0, struct v3 a1, struct v3 b0, struct v3 b1, struct v3 p, bool edges,
                                       bool precise)
{
	struct fast_geometry g = {0};
	struct v3 a = v3_minus(a1, a0), b = v3_minus(b1, b0), r = v3_minus(p, a0);
	const double largest = larger(larger(v3_largest(a), v3_largest(b)), v3_largest(r)), scale = inverse_power(largest);
	const double coordinate =
		scale *
		larger(larger(larger(v3_largest(a0), v3_largest(a1)), larger(v3_largest(b0), v3_largest(b1))), v3_largest(p));
	a = v3_times(scale, a);
	b = v3_times(scale, b);
	r = v3_times(scale, r);
	struct v3 n = v3_cross(a, b);
	double rn = v3_dot(r, n);
	if (precise) {
		const struct dd3 exact = dd3_cross(dd3_between(a0, a1, scale), dd3_between(b0, b1, scale));
		n = dd3_rounded(exact);
		rn = dd3_dot(dd3_between(a0, p, scale), exact);
	}
	const double n2 = v3_dot(n, n), aa = v3_dot(a, a), bb = v3_dot(b, b), rr = v3_dot(r, r), over = 1 / n2;
	g.a = v3_dot(v3_cross(r, b), n) * over;
	g.b = v3_dot(edges ? v3_cross(r, a) : v3_cross(a, r), n) * over;
	g.first = normalised(a);
	g.second = normalised(v3_cross(n, a));
	g.distance = (fabs(rn) / sqrt(n2)) / scale;
	g.good = fast_scale(largest) & long_enough(aa, coordinate) & long_enough(bb, coordinate) &
	         (n2 > fast_edges * (aa * bb)) & (rr < 0x1p+20 * aa) & (rr < 0x1p+20 * bb) &
	         (precise ? rn * rn > fast_precise * (rr * (aa * bb)) : rn * rn > fast_distance * (rr * n2));
	return g;
}

INLINE struct fast_geometry fast_edge_edge(struct v3 a0, struct v3 a1, struct v3 b0, struct v3 b1, bool precise)
{
	return fast_plane(a0, a1, b0, b1, b0, true, precise);
}

INLINE struct fast_geometry fast_face_vertex(struct v3 p, struct v3 t0, struct v3 t1, struct v3 t2, bool precise)
{
	return fast_plane(t0, t1, t0, t2, p, false, precise);
}

#endif
