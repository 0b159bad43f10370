#include "core/geometry/derivative.h"

#include <math.h>

#include "core/base/quad.h"
#include "core/geometry/geometry.h"
#include "core/motion/stencil.h"

/* Indices of the two inputs of a difference; from == to: no such difference. */
struct ends {
	int from, to;
};

/* The ends of a vector in derivative.inc. Two points have one vector only, which is both a and r. */
static struct ends ends_of(enum fric_type type, int vector)
{
	struct ends ends = {0, 0};
	vector = geometry_of(type) == TWO_POINTS && vector == VECTOR_R ? VECTOR_A : vector;
	for (int k = 0; k < n_points_of(type); k++)
		if (vector_sign(type, vector, k) != 0)
			*(vector_sign(type, vector, k) > 0 ? &ends.to : &ends.from) = k;
	return ends;
}

/* Whether the vector a is the normal. */
static bool has_normal(enum fric_type type)
{
	return geometry_of(type) == TWO_POINTS || geometry_of(type) == POINT_PLANE;
}

#define real long double
#define root sqrtl
#define NAME(x) x##_l
#include "core/geometry/derivative.inc"
#undef real
#undef root
#undef NAME

#define real quad
#define root quad_root
#define NAME(x) x##_q
#include "core/geometry/derivative.inc"

/* Limits beyond which quad replaces long double, at twenty times the time: there the errors of long double, which grow
 * like 2^-64 over the sine, exceed the rounding errors of doubles. The limits apply to sin^2 of the angle between two
 * edges, or a grain and a normal; to sin^2 of the angle between an edge and a vertex; and to (|r| / |edge|)^2. */
static const long double least_edges = 0x1p-22L, least_vertex = 0x1p-24L, most_reach = 0x1p+22L;
/* Above this (distance / |r|)^2 the side is certain. */
static const long double least_distance = 0x1p-80L;

/* The axis of a basis perpendicular to a normal. Long double arithmetic may find equally long axes different, so this
 * uses the exact comparison of the forward computation. */
static int axis_of(const struct geometry_case *c, const struct geometry_inputs *at)
{
	double a[3], b[3];
	if (c->dim == 2 || !has_normal(c->type))
		return 0;
	for (int i = 0; i < 3; i++) {
		a[i] = (double)(geometry_of(c->type) == POINT_PLANE ? at->normal[i] : at->position[0][i]);
		b[i] = (double)at->position[1][i];
	}
	return geometry_of(c->type) == POINT_PLANE ? fricp_plane_axis(a) : fricp_vertices_axis(a, b);
}

static bool keeps_its_digits(const struct geometry_case *c, const struct edges_l *e, const struct frame_l *g)
{
	const long double aa = dot_l(e->a, e->a), bb = dot_l(e->b, e->b), rr = dot_l(e->r, e->r);
	const bool vertex = geometry_of(c->type) == POINT_LINE && c->dim == 3;
	const bool far = g->height * g->height > (vertex ? least_vertex : least_distance) * rr;
	const struct vec_l n = cross_l(e->a, e->b), m = cross_l(g->normal, e->grain);
	const bool grain = !c->has_grain || dot_l(m, m) > least_edges * dot_l(e->grain, e->grain);
	if (geometry_of(c->type) == TWO_POINTS)
		return grain;
	if (geometry_of(c->type) == POINT_PLANE)
		return grain && (far || !c->has_distance);
	if (geometry_of(c->type) == POINT_LINE)
		return grain && far && rr < most_reach * aa;
	return grain && far && dot_l(n, n) > least_edges * (aa * bb) && rr < most_reach * aa && rr < most_reach * bb;
}

void fricp_geometry_tangent(const struct geometry_case *contact, const struct geometry_inputs *at,
                            const struct geometry_inputs *tangent, struct geometry_values *out, long double *turn)
{
	const int axis = axis_of(contact, at);
	const struct edges_l e = edges_of_l(contact, at);
	const struct frame_l g = frame_of_l(contact, axis, &e);
	if (keeps_its_digits(contact, &e, &g)) {
		tangent_l(contact, &g, tangent, out, turn);
		return;
	}
	const struct edges_q exact = edges_of_q(contact, at);
	const struct frame_q frame = frame_of_q(contact, axis, &exact);
	tangent_q(contact, &frame, tangent, out, turn);
}

void fricp_geometry_cotangent(const struct geometry_case *contact, const struct geometry_inputs *at,
                              const struct geometry_values *cotangent, const long double *turn,
                              struct geometry_inputs *out)
{
	const int axis = axis_of(contact, at);
	const struct edges_l e = edges_of_l(contact, at);
	const struct frame_l g = frame_of_l(contact, axis, &e);
	if (keeps_its_digits(contact, &e, &g)) {
		cotangent_l(contact, &g, cotangent, turn, out);
		return;
	}
	const struct edges_q exact = edges_of_q(contact, at);
	const struct frame_q frame = frame_of_q(contact, axis, &exact);
	cotangent_q(contact, &frame, cotangent, turn, out);
}

/* Computes (x - n (n.x)) / |normal|. As a double cross product, n x (x x n), it does not cancel. */
void fricp_unit_normal_derivative(int dim, const long double normal[3], const long double x[3], long double out[3])
{
	const struct vec_l a = read_l(dim, normal);
	const long double length = norm_l(a);
	const struct vec_l n = scaled_l(1 / length, a), flat = cross_l(n, cross_l(read_l(dim, x), n));
	for (int i = 0; i < 3; i++)
		out[i] = flat.x[i] / length;
}
