#include "core/find/close.h"

#include <math.h>

#include "core/barrier/gap.h"
#include "core/geometry/features.h"

static struct v3 point(int dim, const double *p)
{
	return (struct v3){p[0], p[1], dim == 3 ? p[2] : 0};
}

/* The distance in plain doubles and double-double, if that is accurate. */
static struct gap fast_gap(enum fric_type type, const struct v3 p[FRIC_MAX_STENCIL])
{
	switch (geometry_of(type)) {
	case TWO_POINTS: return gap_of_points(p[0], p[1]);
	case POINT_LINE: return gap_of_line(p[0], p[1], p[2]);
	case TWO_LINES: return gap_of_lines(p[0], p[1], p[2], p[3]);
	case POINT_TRIANGLE: return gap_of_triangle(p[0], p[1], p[2], p[3]);
	default: return gap_of_world(p[0], p[1], p[2]);
	}
}

/* The kind of gap of a type. */
static enum gap_kind kind_of(enum fric_type type)
{
	static const enum gap_kind kinds[N_GEOMETRIES] = {GAP_POINTS, GAP_LINE, GAP_LINES, GAP_TRIANGLE, GAP_PLANE};
	return kinds[geometry_of(type)];
}

/* The distance of a feature. @param p  positions of its members; plane_vertex: of the vertex, origin, normal */
static enum fric_code feature_distance(enum fric_type type, int dim, const double *const p[FRIC_MAX_STENCIL],
                                       double *distance)
{
	const int n = type == FRIC_PLANE_VERTEX ? 3 : stencil_size_of(type);
	struct v3 points[FRIC_MAX_STENCIL];
	double padded[FRIC_MAX_STENCIL][3];
	const double *rows[FRIC_MAX_STENCIL];
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		points[k] = point(dim, p[k < n ? k : 0]);
	struct gap gap = fast_gap(type, points);
	enum fric_code code = FRIC_OK;
	if (!gap.good) {
		for (int k = 0; k < FRIC_MAX_STENCIL; k++) {
			memcpy(padded[k], &points[k], sizeof(padded[k]));
			rows[k] = padded[k];
		}
		code = fricp_gap(kind_of(type), false, rows, &gap);
	}
	*distance = fabs(gap.distance); /* a vertex on a plane may have -0 */
	/* Tiny primitives have a distance, although the inverse of their lengths does not fit a double. */
	if (code == FRIC_OK || code == FRIC_E_NOT_FINITE)
		return isfinite(gap.distance) ? FRIC_OK : FRIC_E_NOT_FINITE;
	return code;
}

/* ---- planes ---- */

static enum fric_code close_to_plane(const struct closing *c, const int32_t *v, double weight, struct records *records)
{
	const double *p[FRIC_MAX_STENCIL] = {c->positions + (size_t)v[1] * (size_t)c->dim,
	                                     c->origins + (size_t)v[0] * c->origin_stride,
	                                     c->normals + (size_t)v[0] * c->normal_stride};
	double distance;
	const enum fric_code code = feature_distance(FRIC_PLANE_VERTEX, c->dim, p, &distance);
	if (code != FRIC_OK || !(distance < c->reach))
		return code;
	return fricp_records_add(records, FRIC_PLANE_VERTEX, (struct record){{v[0], v[1]}, weight, 0, distance});
}

/* ---- two primitives of the mesh ---- */

static double squared_length(const double *rest, int32_t a, int32_t b)
{
	double sum = 0;
	for (int d = 0; d < 3; d++) {
		const double x = rest[3 * (size_t)b + (size_t)d] - rest[3 * (size_t)a + (size_t)d];
		sum += x * x;
	}
	return sum;
}

/* 1e-3 |a|^2 |b|^2 at the rest positions */
static double mollifier_of(const struct closing *c, const int32_t *v)
{
	return 1e-3 * squared_length(c->rest, v[0], v[1]) * squared_length(c->rest, v[2], v[3]);
}

/* The stencil in canonical order, as the feature that all of its members are. */
static unsigned all_members(enum fric_type type)
{
	return (1u << stencil_size_of(type)) - 1;
}

static enum fric_code distance_of(const struct closing *c, const struct feature *f, const double *const p[],
                                  double *distance)
{
	const double *own[FRIC_MAX_STENCIL] = {p[0], p[0], p[0], p[0]};
	for (int k = 0; k < stencil_size_of(f->type); k++)
		own[k] = p[f->member[k]];
	return feature_distance(f->type, c->dim, own, distance);
}

/* Records a close pair as a contact of its feature, or as itself with a mollifier. */
static enum fric_code keep(const struct closing *c, enum fric_type type, const int32_t *v, const double *const p[],
                           struct feature f, struct record found, struct records *records)
{
	if (type == FRIC_EDGE_EDGE) {
		found.mollifier = mollifier_of(c, v);
		if (!isfinite(found.mollifier))
			return FRIC_E_NOT_FINITE;
	}
	const bool mollified = type == FRIC_EDGE_EDGE && c->merge && fricp_edges_within(p, found.mollifier);
	if (!c->merge || mollified)
		f = fricp_feature_of(type, all_members(type), v);
	else
		found.mollifier = 0;
	for (int k = 0; k < stencil_size_of(f.type); k++)
		found.v[k] = v[f.member[k]];
	return fricp_records_add(records, f.type, found);
}

enum fric_code fricp_close(const struct closing *c, enum fric_type type, const int32_t *v, double weight,
                           struct records *records)
{
	const double *p[FRIC_MAX_STENCIL] = {c->positions};
	struct record found = {.weight = weight};
	if (type == FRIC_PLANE_VERTEX)
		return close_to_plane(c, v, weight, records);
	for (int k = 0; k < stencil_size_of(type); k++)
		p[k] = c->positions + (size_t)v[k] * (size_t)c->dim;
	const unsigned members = fricp_closest_feature(type, c->dim, p, v);
	if (!members)
		return FRIC_E_NOT_FINITE;
	const struct feature f = fricp_feature_of(type, members, v);
	const enum fric_code code = distance_of(c, &f, p, &found.distance);
	return code != FRIC_OK || !(found.distance < c->reach) ? code : keep(c, type, v, p, f, found, records);
}
