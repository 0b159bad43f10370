/* Gaps of any contact, in 113 bits. */
#include <math.h>

#include "core/barrier/gap.h"
#include "core/base/quad.h"

/* Thresholds for zero, as in geometry/geometry.c: of a length, relative to the coordinates, and of a cross product,
 * relative to its factors. */
static const double zero_length = 1e-15, zero_cross = 1e-12;

struct quad3 {
	quad x[3];
};

static struct quad3 between(const double from[3], const double to[3])
{
	struct quad3 r;
	for (int d = 0; d < 3; d++)
		r.x[d] = (quad)to[d] - from[d];
	return r;
}

static quad dot(struct quad3 a, struct quad3 b)
{
	return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static struct quad3 cross(struct quad3 a, struct quad3 b)
{
	struct quad3 c;
	for (int i = 0; i < 3; i++)
		c.x[i] = a.x[(i + 1) % 3] * b.x[(i + 2) % 3] - a.x[(i + 2) % 3] * b.x[(i + 1) % 3];
	return c;
}

static quad length(struct quad3 a)
{
	return quad_root(dot(a, a));
}

static struct quad3 times(quad s, struct quad3 a)
{
	return (struct quad3){{s * a.x[0], s * a.x[1], s * a.x[2]}};
}

static struct v3 rounded(struct quad3 a)
{
	return (struct v3){(double)a.x[0], (double)a.x[1], (double)a.x[2]};
}

static void set_distance(quad d, struct gap *gap)
{
	gap->distance = (double)d;
	gap->rest = (double)(d - gap->distance);
}

static struct v3 tangent_across(struct quad3 n)
{
	return normalised(across(rounded(n)));
}

static bool is_short(const double from[3], const double to[3], quad size)
{
	double coordinate = 0;
	for (int d = 0; d < 3; d++)
		coordinate = fmax(coordinate, fmax(fabs(from[d]), fabs(to[d])));
	return size <= (quad)zero_length * coordinate;
}

/* Two points, or if they coincide nothing but the distance. */
static void points(struct quad3 r, struct gap *gap)
{
	const quad d = length(r);
	set_distance(d, gap);
	if (d == 0)
		return;
	const struct quad3 n = times(1 / d, r);
	gap->normal = rounded(n);
	gap->first = tangent_across(n);
}

/* The vector r between the nearest vertices of the two sides, p[from] and p[to]. Seen from a vertex that is far away, the
 * gap could be lost in the rounding of r. */
struct view {
	struct quad3 r;
	int to, from;
};

/* The first n_first of n vertices are the first side. */
static struct view nearest(const double *const p[FRIC_MAX_STENCIL], int n_first, int n)
{
	struct view best = {between(p[n_first], p[0]), 0, n_first};
	for (int to = 0; to < n_first; to++)
		for (int from = n_first; from < n; from++) {
			const struct view v = {between(p[from], p[to]), to, from};
			if (dot(v.r, v.r) < dot(best.r, best.r))
				best = v;
		}
	return best;
}

/* @param begin  the coordinate from which r leads: 0 or 1 */
static void line(struct quad3 e, struct quad3 r, int begin, struct gap *gap)
{
	const struct quad3 n = cross(e, r), out = cross(n, e);
	const quad size = length(e), area = length(n), long_out = length(out);
	gap->a = (double)(begin + dot(r, e) / (size * size));
	gap->first = rounded(times(1 / size, e));
	gap->slide[0] = (double)(-1 / size);
	set_distance(area / size, gap);
	if (long_out > 0)
		gap->normal = rounded(times(1 / long_out, out));
}

/* @param n      a x b
 * @param begin  the coordinates from which r leads, and for lines also those to which it leads: 0 or 1 */
static void plane(struct quad3 a, struct quad3 b, struct quad3 n, struct quad3 r, const int begin[2], bool lines,
                  struct gap *gap)
{
	const quad n2 = dot(n, n), size = quad_root(n2), rn = dot(r, n), per_a = 1 / length(a), way = lines ? 1 : -1;
	const quad sign = rn < 0 ? -1 : 1, along = dot(a, b) * per_a, beside = sign * size * per_a;
	gap->a = (double)(begin[0] - way * dot(cross(r, b), n) / n2);
	gap->b = (double)(begin[1] + (lines ? -dot(cross(r, a), n) : dot(cross(a, r), n)) / n2);
	gap->normal = rounded(times(sign / size, n));
	gap->first = rounded(times(per_a, a));
	gap->slide[0] = (double)(way * per_a);
	gap->slide[2] = (double)(-way * per_a * along / beside);
	gap->slide[3] = (double)(-1 / beside);
	set_distance(sign * rn / size, gap);
}

/* The normal of a triangle p[1], p[2], p[3] from the edges at one of its vertices. */
static struct quad3 normal_at(const double *const p[FRIC_MAX_STENCIL], int vertex)
{
	const int next = 1 + vertex % 3, last = 1 + next % 3;
	return cross(between(p[vertex], p[next]), between(p[vertex], p[last]));
}

static enum fric_code find_plane(bool lines, bool given, const double *const p[FRIC_MAX_STENCIL], struct gap *gap)
{
	const int a0 = lines ? 0 : 1, b0 = lines ? 2 : 1;
	const struct view v = nearest(p, lines ? 2 : 1, FRIC_MAX_STENCIL);
	const int begin[2] = {lines ? v.to : v.from == 2, v.from == 3};
	const struct quad3 a = between(p[a0], p[a0 + 1]), b = between(p[b0], p[3]);
	const struct quad3 n = lines ? cross(a, b) : normal_at(p, v.from);
	const quad size_a = length(a), size_b = length(b), size = length(n);
	if (size_a == 0 || size_b == 0 || (given && (is_short(p[a0], p[a0 + 1], size_a) || is_short(p[b0], p[3], size_b))))
		return lines ? FRIC_E_ZERO_LENGTH_EDGE : FRIC_E_COLLAPSED_TRIANGLE;
	if (size == 0 || (given && size <= zero_cross * size_a * size_b))
		return lines ? FRIC_E_PARALLEL_EDGES : FRIC_E_COLLAPSED_TRIANGLE;
	plane(a, b, n, v.r, begin, lines, gap);
	return FRIC_OK;
}

static enum fric_code find_line(bool given, const double *const p[FRIC_MAX_STENCIL], struct gap *gap)
{
	const struct quad3 e = between(p[1], p[2]);
	const quad size = length(e);
	if (size == 0 || (given && is_short(p[1], p[2], size)))
		return FRIC_E_ZERO_LENGTH_EDGE;
	const struct view v = nearest(p, 1, 3);
	line(e, v.r, v.from == 2, gap);
	return FRIC_OK;
}

/* The normal is p[2]. */
static void find_plane_gap(const double *const p[FRIC_MAX_STENCIL], struct gap *gap)
{
	static const double origin[3] = {0};
	const struct quad3 normal = between(origin, p[2]);
	const quad size = length(normal), rn = dot(between(p[1], p[0]), normal) / size; /* exactly 0 on the plane */
	const struct quad3 n = times(1 / size, normal);
	gap->normal = rounded(times(rn < 0 ? -1 : 1, n));
	gap->first = tangent_across(n);
	set_distance(rn < 0 ? -rn : rn, gap);
}

/* Whether all numbers are finite. */
static bool is_finite_gap(const struct gap *g)
{
	const double sum = (g->a + g->b) * 0 + g->distance * 0 + (g->slide[0] + g->slide[2] + g->slide[3]) * 0;
	return sum == 0;
}

enum fric_code fricp_gap(enum gap_kind kind, bool given, const double *const p[FRIC_MAX_STENCIL], struct gap *gap)
{
	enum fric_code code = FRIC_OK;
	*gap = (struct gap){.good = true};
	switch (kind) {
	case GAP_POINTS: points(between(p[1], p[0]), gap); break;
	case GAP_LINE: code = find_line(given, p, gap); break;
	case GAP_LINES: code = find_plane(true, given, p, gap); break;
	case GAP_TRIANGLE: code = find_plane(false, given, p, gap); break;
	default: find_plane_gap(p, gap);
	}
	return code == FRIC_OK && !is_finite_gap(gap) ? FRIC_E_NOT_FINITE : code;
}
