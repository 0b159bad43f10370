/**
 * The gap of one contact: the distance of the two sides' closest points in more than double precision, the directions
 * in which it changes, and how the closest point slides. Here the sides are a vertex, a line or a plane; features.h
 * tells which vertices these consist of. Plain doubles and double-double for contacts far from degenerate, branch-free,
 * so that loops over contacts vectorise; where `good` is false, the caller falls back on fricp_gap (gap.c).
 *
 * r = Gamma x is the difference of the closest points, first side minus second, d = |r|, n = r/d. Along a unit tangent
 * t, the closest point of a line or plane slides. With slide s its coordinates change by s per length, so that
 * d(r) = 0 along t. Directions t along which it does not slide are curved.
 */
#ifndef FRIC_GAP_H
#define FRIC_GAP_H

#include "core/geometry/geometry_fast.h"

/* The two sides of a gap: two vertices; a vertex and a line; two lines; a vertex and a plane through three vertices; a
 * vertex and a plane with a given normal. */
enum gap_kind { GAP_POINTS, GAP_LINE, GAP_LINES, GAP_TRIANGLE, GAP_PLANE, GAP_N_KINDS };

struct gap {
	double a, b;             /* coordinates of the closest point: of the line; of the first and second line or edge */
	struct v3 normal, first; /* n, and the first tangent; the second one is n x first */
	double slide[4];         /* changes of a and b along the first tangent, then along the second */
	double distance, rest;   /* their unevaluated sum is d */
	bool good;
};

/* Lower limits of (length / reach)^2 for double-double: of a cross product, and of the distance. */
static const double gap_cross = 0x1p-80, gap_distance = 0x1p-60;

/* The sizes of coordinates for which no product here over- or underflows. */
INLINE int gap_scale(double largest)
{
	return (largest > 0x1p-100) & (largest < 0x1p+100);
}

INLINE double dd3_largest(struct dd3 a)
{
	return v3_largest(dd3_rounded(a));
}

INLINE struct dd gap_dot(struct dd3 a, struct dd3 b)
{
	return dd_add(dd_add(dd_multiply(a.x, b.x), dd_multiply(a.y, b.y)), dd_multiply(a.z, b.z));
}

INLINE struct dd gap_root(struct dd x)
{
	const double root = sqrt(x.hi);
	return dd_fast_sum(root, (fma(-root, root, x.hi) + x.lo) / (2 * root));
}

INLINE struct dd gap_quotient(struct dd a, struct dd b)
{
	const double q = a.hi / b.hi;
	return dd_fast_sum(q, dd_subtract(a, dd_multiply(b, (struct dd){q, 0})).hi / b.hi);
}

/* A vector perpendicular to n, of length about that of n. */
INLINE struct v3 across(struct v3 n)
{
	const double y_longer = fabs(n.y) > fabs(n.x) ? 1 : 0, x_longer = 1 - y_longer;
	return (struct v3){x_longer * n.z, y_longer * -n.z, y_longer * n.y - x_longer * n.x};
}

INLINE struct gap gap_of_points(struct v3 p0, struct v3 p1)
{
	struct gap g = {0};
	const struct dd3 r = dd3_between(p1, p0, 1);
	const double largest = dd3_largest(r);
	const struct dd d = gap_root(gap_dot(r, r));
	g.normal = v3_times(1 / d.hi, dd3_rounded(r));
	g.first = normalised(across(g.normal));
	g.distance = d.hi;
	g.rest = d.lo;
	g.good = gap_scale(largest);
	return g;
}

/* The sign of the slide is that of a line on the second side. */
INLINE struct gap gap_of_line(struct v3 p, struct v3 e0, struct v3 e1)
{
	struct gap g = {0};
	const struct dd3 e = dd3_between(e0, e1, 1), r = dd3_between(e0, p, 1), n = dd3_cross(e, r);
	const struct v3 edge = dd3_rounded(e), area = dd3_rounded(n);
	const double ee = v3_dot(edge, edge), rr = v3_dot(dd3_rounded(r), dd3_rounded(r)), n2 = v3_dot(area, area);
	const double largest = larger(dd3_largest(e), dd3_largest(r)), over = 1 / sqrt(ee);
	const struct dd d = gap_root(gap_quotient(gap_dot(n, n), gap_dot(e, e)));
	g.a = v3_dot(dd3_rounded(r), edge) / ee;
	g.normal = normalised(v3_cross(area, edge));
	g.first = v3_times(over, edge);
	g.slide[0] = -over;
	g.distance = d.hi;
	g.rest = d.lo;
	g.good = gap_scale(largest) & (ee > 0x1p-40 * (largest * largest)) & (n2 > gap_cross * (ee * rr));
	return g;
}

/* Two lines through a0, a1 and b0, b1, or a vertex p and the plane through a0 = b0, a1 and b1. */
INLINE struct gap gap_of_plane(struct v3 a0, struct v3 a1, struct v3 b0, struct v3 b1, struct v3 p, bool lines)
{
	struct gap g = {0};
	const struct dd3 a = dd3_between(a0, a1, 1), b = dd3_between(b0, b1, 1);
	const struct dd3 r = lines ? dd3_between(b0, a0, 1) : dd3_between(a0, p, 1), n = dd3_cross(a, b);
	const struct v3 va = dd3_rounded(a), vb = dd3_rounded(b), vr = dd3_rounded(r), vn = dd3_rounded(n);
	const double aa = v3_dot(va, va), bb = v3_dot(vb, vb), rr = v3_dot(vr, vr), n2 = v3_dot(vn, vn), over = 1 / n2;
	const double largest = larger(larger(dd3_largest(a), dd3_largest(b)), dd3_largest(r)), per_a = 1 / sqrt(aa);
	const struct dd rn = gap_dot(r, n), d = gap_quotient(rn, gap_root(gap_dot(n, n)));
	const double sign = rn.hi < 0 ? -1 : 1, length = sqrt(n2), way = lines ? 1 : -1;
	/* the closest point is a0 + a a, or a0 + a a + b b; r changes by `way` times a along a, and by -b along b */
	g.a = -way * (v3_dot(v3_cross(vr, vb), vn) * over);
	g.b = lines ? -(v3_dot(v3_cross(vr, va), vn) * over) : v3_dot(v3_cross(va, vr), vn) * over;
	g.normal = v3_times(sign / length, vn);
	g.first = v3_times(per_a, va);
	const double along = v3_dot(vb, g.first), beside = sign * (length * per_a); /* of b: along both tangents */
	g.slide[0] = way * per_a;
	g.slide[2] = -way * (per_a * along) / beside;
	g.slide[3] = -1 / beside;
	g.distance = sign * d.hi;
	g.rest = sign * d.lo;
	g.good = gap_scale(largest) & (n2 > fast_edges * (aa * bb)) & (rr < 0x1p+20 * aa) & (rr < 0x1p+20 * bb) &
	         (rn.hi * rn.hi > gap_distance * (rr * n2));
	return g;
}

INLINE struct gap gap_of_lines(struct v3 a0, struct v3 a1, struct v3 b0, struct v3 b1)
{
	return gap_of_plane(a0, a1, b0, b1, b0, true);
}

INLINE struct gap gap_of_triangle(struct v3 p, struct v3 t0, struct v3 t1, struct v3 t2)
{
	return gap_of_plane(t0, t1, t0, t2, p, false);
}

/* A plane through a point, with a normal of any length. */
INLINE struct gap gap_of_world(struct v3 p, struct v3 origin, struct v3 normal)
{
	struct gap g = {0};
	const struct dd3 r = dd3_between(origin, p, 1), n = {{normal.x, 0}, {normal.y, 0}, {normal.z, 0}};
	const struct v3 vr = dd3_rounded(r);
	const struct dd rn = gap_dot(r, n), d = gap_quotient(rn, gap_root(gap_dot(n, n)));
	const double rr = v3_dot(vr, vr), n2 = v3_dot(normal, normal), sign = rn.hi < 0 ? -1 : 1;
	g.normal = v3_times(sign / sqrt(n2), normal);
	g.first = normalised(across(g.normal));
	g.distance = sign * d.hi;
	g.rest = sign * d.lo;
	g.good = gap_scale(v3_largest(vr)) & gap_scale(v3_largest(normal)) & (rn.hi * rn.hi > gap_distance * (rr * n2));
	return g;
}

/* Calls of(KIND, ...) with expressions for the gaps of all kinds between POINT(0) to POINT(3). */
#define FOR_GAPS(of) \
	of(GAP_POINTS, gap_of_points(POINT(0), POINT(1))) of(GAP_LINE, gap_of_line(POINT(0), POINT(1), POINT(2))) \
		of(GAP_LINES, gap_of_lines(POINT(0), POINT(1), POINT(2), POINT(3))) \
			of(GAP_TRIANGLE, gap_of_triangle(POINT(0), POINT(1), POINT(2), POINT(3))) \
				of(GAP_PLANE, gap_of_world(POINT(0), POINT(1), POINT(2)))

/* The workspace for the gaps of a span, all of one kind. */
struct gap_workspace {
	size_t n;
	double position[FRIC_MAX_STENCIL][3][64];                              /* of POINT(0) to POINT(3) */
	double *closest_point[2], *normal[3], *first[3], *slide[4], *distance; /* [n] results */
	double rest[64];                                                       /* result */
	double good[64];                                                       /* result: 0 for gaps that need 113 bits */
};

/* The loop over a workspace, as a block. */
#define GAP_LOOP(w, ...) \
	{ \
		const size_t gap_n = (w)->n; \
		double *restrict a = (w)->closest_point[0], *restrict b = (w)->closest_point[1]; \
		double *restrict n0 = (w)->normal[0], *restrict n1 = (w)->normal[1], *restrict n2 = (w)->normal[2]; \
		double *restrict t0 = (w)->first[0], *restrict t1 = (w)->first[1], *restrict t2 = (w)->first[2]; \
		double *restrict s0 = (w)->slide[0], *restrict s1 = (w)->slide[1], *restrict s2 = (w)->slide[2], \
						 *restrict s3 = (w)->slide[3], *restrict d = (w)->distance; \
		_Pragma("omp simd") for (size_t i = 0; i < gap_n; i++) \
		{ \
			const struct gap g = __VA_ARGS__; \
			a[i] = g.a; \
			b[i] = g.b; \
			n0[i] = g.normal.x; \
			n1[i] = g.normal.y; \
			n2[i] = g.normal.z; \
			t0[i] = g.first.x; \
			t1[i] = g.first.y; \
			t2[i] = g.first.z; \
			s0[i] = g.slide[0]; \
			s1[i] = g.slide[1]; \
			s2[i] = g.slide[2]; \
			s3[i] = g.slide[3]; \
			d[i] = g.distance; \
			(w)->rest[i] = g.rest; \
			(w)->good[i] = g.good ? 1 : 0; \
		} \
	}

/**
 * The gap of any contact, in 113 bits.
 * @param given  the vertices are known to be the closest feature, so that an edge of no length, parallel edges and a
 *               collapsed triangle are faults (docs/physics.md 1); otherwise only if they are so exactly
 * @param p      positions of the points of the two sides, each [3]; with GAP_PLANE the vertex, the plane's origin and
 *               its normal
 * @return FRIC_OK, FRIC_E_NOT_FINITE or the kind of degeneracy. At distance 0 there is no normal
 */
enum fric_code fricp_gap(enum gap_kind kind, bool given, const double *const p[FRIC_MAX_STENCIL], struct gap *gap);

#endif
