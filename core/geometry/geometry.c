/* Closest point, tangent basis and distance from cross products instead of normal equations (docs/physics.md 4).
 * Contacts far from degenerate go through geometry_fast.h, all others through this file. Products are double-double
 * here, so that closest points, distances and bases of nearly parallel edges are as accurate as the coordinates. Every
 * vector is first scaled by a power of two, so that lengths from 2^-300 to 2^300 give the same bits. */
#include "core/geometry/geometry.h"

#include "core/base/quad.h"
#include "core/base/types.h"
#include "core/geometry/exact.h"
#include "core/geometry/geometry_fast.h"

/* Sets a column of the [3, 2] basis to a / |a|. */
static void set_column(double basis[6], int column, const double a[3])
{
	double largest = fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
	const int exponent = ilogb(largest);
	const double s[3] = {scalbn(a[0], -exponent), scalbn(a[1], -exponent), scalbn(a[2], -exponent)};
	const double n = norm3(s);
	for (int i = 0; i < 3; i++)
		basis[2 * i + column] = s[i] / n;
}

static void rounded(const struct vec *a, double out[3])
{
	for (int i = 0; i < 3; i++)
		out[i] = a->x[i].hi;
}

static void set_columns(double basis[6], const struct vec *first, const struct vec *second)
{
	double x[3];
	rounded(first, x);
	set_column(basis, 0, x);
	rounded(second, x);
	set_column(basis, 1, x);
}

static void cross3(const double a[3], const double b[3], double c[3])
{
	for (int i = 0; i < 3; i++) {
		const int j = (i + 1) % 3, k = (i + 2) % 3;
		c[i] = a[j] * b[k] - a[k] * b[j];
	}
}

/* Computes the basis [a, n x a] for n perpendicular to a. */
static void basis_in_plane(const struct vec *a, const struct vec *n, double basis[6])
{
	double first[3], normal[3], second[3];
	rounded(a, first);
	rounded(n, normal);
	cross3(normal, first, second);
	set_column(basis, 0, first);
	set_column(basis, 1, second);
}

static bool longer(struct dd a, struct dd b) /* |a| > |b|, exactly */
{
	if (signbit(a.hi))
		a = dd_negate(a);
	if (signbit(b.hi))
		b = dd_negate(b);
	return a.hi != b.hi ? a.hi > b.hi : a.lo > b.lo;
}

/* The axis whose cross product with n is longer, x (0) or y (1); y if they are equally long. */
static int axis_across(const struct vec *n)
{
	return longer(n->x[1], n->x[0]) ? 0 : 1;
}

/* Computes the basis perpendicular to n: in 3D [c, n x c], where c is the longer of the cross products of the x and y
 * axes with n; in 2D the perpendicular of n. */
static void basis_across(int dim, const struct vec *n, double basis[6])
{
	double normal[3], c[3], second[3];
	rounded(n, normal);
	if (dim == 2) {
		const double l = norm3(normal);
		basis[0] = -normal[1] / l;
		basis[1] = normal[0] / l;
		return;
	}
	cross3(axis_across(n) == 0 ? (double[]){1, 0, 0} : (double[]){0, 1, 0}, normal, c);
	cross3(normal, c, second);
	set_column(basis, 0, c);
	set_column(basis, 1, second);
}

static double unscaled(double x, int exponent)
{
	return scalbn(x, exponent);
}

/* |r . n| / |n|: the distance between two parallel planes perpendicular to n. */
static double distance_along(const struct vec *r, const struct vec *n)
{
	return unscaled(fabs(dot(r, n).hi) / length(n), r->exponent);
}

static quad quad_of(struct dd x)
{
	return (quad)x.hi + x.lo;
}

/* As distance_along for n = a x b, but from r - s a - t b, the difference of the closest points. For edges that nearly
 * touch, r is so much longer than the distance that r . n would cancel. */
static double distance_across(const struct vec *r, const struct vec *a, double s, const struct vec *b, double t,
                              const struct vec *n)
{
	const quad by_a = scalbnl(s, a->exponent - r->exponent), by_b = scalbnl(t, b->exponent - r->exponent);
	quad sum = 0;
	if (!isfinite(s) || !isfinite(t) || dot(r, n).hi == 0)
		return distance_along(r, n);
	for (int i = 0; i < 3; i++)
		sum += (quad_of(r->x[i]) - by_a * quad_of(a->x[i]) - by_b * quad_of(b->x[i])) * quad_of(n->x[i]);
	return unscaled(fabs((double)sum) / length(n), r->exponent);
}

/* (a x b) . n / |n|^2 */
static double area_ratio(const struct vec *a, const struct vec *b, const struct vec *n)
{
	const struct vec c = cross(a, b);
	return unscaled(dd_quotient(dot(&c, n), dot(n, n)), c.exponent - n->exponent);
}

static enum fric_code vertex_vertex(int dim, const double *const p[], struct fric_geometry *g)
{
	const struct vec n = difference(dim, p[0], p[1]);
	if (!n.finite)
		return FRIC_E_NOT_FINITE;
	if (n.is_zero)
		return FRIC_E_COINCIDENT_VERTICES;
	basis_across(dim, &n, g->tangent_basis);
	g->distance = unscaled(length(&n), n.exponent);
	return FRIC_OK;
}

static enum fric_code edge_vertex(int dim, const double *const p[], struct fric_geometry *g)
{
	const struct vec e = difference(dim, p[1], p[2]), r = difference(dim, p[1], p[0]);
	if (!e.finite || !r.finite)
		return FRIC_E_NOT_FINITE;
	if (e.is_zero)
		return FRIC_E_ZERO_LENGTH_EDGE;
	const struct vec n = cross(&e, &r);
	if (dim == 3 && (r.is_zero || n.is_zero))
		return FRIC_E_VERTEX_ON_EDGE;
	g->closest_point[0] = unscaled(dd_quotient(dot(&r, &e), dot(&e, &e)), r.exponent - e.exponent);
	const double area = dim == 2 ? fabs(n.x[2].hi) : length(&n); /* not squared, which may underflow in 2D */
	g->distance = unscaled(area / length(&e), n.exponent - e.exponent);
	if (dim == 3)
		set_columns(g->tangent_basis, &e, &n);
	for (int i = 0; i < 2 && dim == 2; i++)
		g->tangent_basis[i] = e.x[i].hi / length(&e);
	g->right = dim == 2 && n.x[2].hi < 0;
	return FRIC_OK;
}

/* The sides' vectors: of two edges, or of a triangle and a vertex. r leads from the start of a to the other side. */
struct plane {
	struct vec a, b, r;
};

static struct plane plane_of(bool edges, const double *const p[])
{
	const int start = edges ? 0 : 1;
	return (struct plane){difference(3, p[start], p[start + 1]), difference(3, p[edges ? 2 : 1], p[3]),
	                      difference(3, p[start], p[edges ? 2 : 0])};
}

static enum fric_code edge_edge_or_face_vertex(bool edges, const double *const p[], struct fric_geometry *g)
{
	const struct plane s = plane_of(edges, p);
	if (!s.a.finite || !s.b.finite || !s.r.finite)
		return FRIC_E_NOT_FINITE;
	const struct vec n = cross(&s.a, &s.b);
	if (s.a.is_zero || s.b.is_zero)
		return edges ? FRIC_E_ZERO_LENGTH_EDGE : FRIC_E_COLLAPSED_TRIANGLE;
	if (n.is_zero)
		return edges ? FRIC_E_PARALLEL_EDGES : FRIC_E_COLLAPSED_TRIANGLE;
	g->closest_point[0] = area_ratio(&s.r, &s.b, &n);
	g->closest_point[1] = edges ? area_ratio(&s.r, &s.a, &n) : area_ratio(&s.a, &s.r, &n);
	g->distance =
		distance_across(&s.r, &s.a, g->closest_point[0], &s.b, edges ? -g->closest_point[1] : g->closest_point[1], &n);
	basis_in_plane(&s.a, &n, g->tangent_basis);
	return FRIC_OK;
}

static enum fric_code exact_geometry(enum fric_type type, int dim, const double *const p[],
                                     struct fric_geometry *geometry)
{
	switch (geometry_of(type)) {
	case TWO_POINTS: return vertex_vertex(dim, p, geometry);
	case POINT_LINE: return edge_vertex(dim, p, geometry);
	case TWO_LINES: return edge_edge_or_face_vertex(true, p, geometry);
	case POINT_TRIANGLE: return edge_edge_or_face_vertex(false, p, geometry);
	default: return FRIC_OK; /* fricp_plane_basis handles it */
	}
}

static struct v3 point(const double *p)
{
	return (struct v3){p[0], p[1], p[2]};
}

static struct fast_geometry fast_geometry(enum fric_type type, const double *const p[], bool precise)
{
	switch (geometry_of(type)) {
	case TWO_POINTS: return fast_vertex_vertex(point(p[0]), point(p[1]), precise);
	case POINT_LINE: return fast_edge_vertex(point(p[0]), point(p[1]), point(p[2]), precise);
	case TWO_LINES: return fast_edge_edge(point(p[0]), point(p[1]), point(p[2]), point(p[3]), precise);
	case POINT_TRIANGLE: return fast_face_vertex(point(p[0]), point(p[1]), point(p[2]), point(p[3]), precise);
	default: return (struct fast_geometry){.good = false};
	}
}

enum fric_code fricp_stencil_geometry(enum fric_type type, int dim, const double *const p[FRIC_MAX_STENCIL],
                                      bool precise, struct fric_geometry *geometry)
{
	*geometry = (struct fric_geometry){0};
	if (dim == 3) {
		const struct fast_geometry f = fast_geometry(type, p, precise);
		if (f.good) {
			*geometry = (struct fric_geometry){
				{f.a, f.b}, {f.first.x, f.second.x, f.first.y, f.second.y, f.first.z, f.second.z}, f.distance, false};
			return FRIC_OK;
		}
	}
	const enum fric_code code = exact_geometry(type, dim, p, geometry);
	const bool finite = isfinite(geometry->closest_point[0]) && isfinite(geometry->closest_point[1]) &&
	                    isfinite(geometry->distance);
	return code == FRIC_OK && !finite ? FRIC_E_NOT_FINITE : code;
}

static struct vec given_vector(int dim, const double *normal)
{
	struct vec n = {.finite = true};
	for (int i = 0; i < dim; i++)
		n.x[i].hi = normal[i];
	scale(&n);
	return n;
}

void fricp_plane_basis(int dim, const double *normal, double tangent_basis[6])
{
	const struct vec n = given_vector(dim, normal);
	basis_across(dim, &n, tangent_basis);
}

int fricp_plane_axis(const double normal[3])
{
	const struct vec n = given_vector(3, normal);
	return axis_across(&n);
}

int fricp_vertices_axis(const double first[3], const double second[3])
{
	const struct vec n = difference(3, first, second);
	return axis_across(&n);
}

enum fric_code fricp_plane_distance(int dim, const double *normal, const double *origin, const double *p,
                                    double *distance)
{
	const struct vec n = given_vector(dim, normal), r = difference(dim, origin, p);
	*distance = r.finite ? distance_along(&r, &n) : 0;
	return r.finite && isfinite(*distance) ? FRIC_OK : FRIC_E_NOT_FINITE;
}

/* (n x grain) x n is the component of the grain perpendicular to n. */
static enum fric_code basis_along(const struct vec *n, const double grain[3], double basis[6])
{
	const struct vec g = given_vector(3, grain), across = cross(n, &g), along = cross(&across, n);
	if (across.is_zero)
		return FRIC_E_GRAIN_ALONG_NORMAL;
	set_columns(basis, &along, &across);
	return FRIC_OK;
}

enum fric_code fricp_grain_basis(const double normal[3], const double grain[3], double tangent_basis[6])
{
	const struct vec n = given_vector(3, normal);
	return basis_along(&n, grain, tangent_basis);
}

/* The normal, from the edge to the vertex or perpendicular to both edges. */
static struct vec stencil_normal(enum fric_type type, const double *const p[])
{
	if (geometry_of(type) == TWO_POINTS)
		return difference(3, p[0], p[1]);
	if (geometry_of(type) == POINT_LINE) {
		const struct vec edge = difference(3, p[1], p[2]), r = difference(3, p[1], p[0]), n = cross(&edge, &r);
		return cross(&n, &edge);
	}
	const struct plane s = plane_of(geometry_of(type) == TWO_LINES, p);
	return cross(&s.a, &s.b);
}

enum fric_code fricp_stencil_grain(enum fric_type type, const double *const p[FRIC_MAX_STENCIL], const double grain[3],
                                   double tangent_basis[6])
{
	struct vec n = stencil_normal(type, p);
	scale(&n);
	return basis_along(&n, grain, tangent_basis);
}

void fricp_unit_normal(int dim, const double *normal, double unit[3])
{
	const struct vec n = given_vector(dim, normal);
	const double l = length(&n);
	for (int i = 0; i < 3; i++)
		unit[i] = n.x[i].hi / l;
}
