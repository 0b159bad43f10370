#include "core/find/weights.h"

#include "core/base/parallel.h"
#include "core/geometry/geometry_fast.h"

static struct v3 point(const struct fric_mesh *mesh, const double *rest, int32_t v)
{
	const double *p = rest + (size_t)v * (size_t)mesh->dim;
	return (struct v3){p[0], p[1], mesh->dim == 3 ? p[2] : 0};
}

/* The length of a vector, without overflow on the way. */
static double length(struct v3 a)
{
	const double largest = v3_largest(a),
				 scale = largest > 0x1p-1000 && largest < 0x1p+1000 ? inverse_power(largest) : 1;
	const struct v3 s = v3_times(scale, a);
	return sqrt(v3_dot(s, s)) / scale;
}

/* In long double, which keeps the digits of slivers' areas, and cannot overflow. */
static double area(const double *rest, const int32_t *face)
{
	const double *p[3] = {rest + 3 * (size_t)face[0], rest + 3 * (size_t)face[1], rest + 3 * (size_t)face[2]};
	long double sum = 0;
	for (int i = 0; i < 3; i++) {
		const int j = (i + 1) % 3, k = (i + 2) % 3;
		const long double x = ((long double)p[1][j] - p[0][j]) * ((long double)p[2][k] - p[0][k]) -
		                      ((long double)p[1][k] - p[0][k]) * ((long double)p[2][j] - p[0][j]);
		sum += x * x;
	}
	return (double)(sqrtl(sum) / 2);
}

static bool is_stopped(const struct fric_context *context, size_t i)
{
	return i % 65536 == 0 && fricp_stop_raised(context);
}

static enum fric_code add_faces(const struct fric_context *context, const struct fric_mesh *mesh, const double *rest,
                                struct weights *w)
{
	for (size_t i = 0; i < mesh->n_faces; i++) {
		const int32_t *face = mesh->faces + 3 * i;
		const double third = area(rest, face) / 3;
		if (is_stopped(context, i))
			return FRIC_E_STOPPED;
		for (int k = 0; k < 3; k++) {
			w->vertex[face[k]] += third;
			w->edge[edge_between(mesh, face[k], face[(k + 1) % 3])] += third;
		}
	}
	return FRIC_OK;
}

static enum fric_code add_edges(const struct fric_context *context, const struct fric_mesh *mesh, const double *rest,
                                struct weights *w)
{
	for (size_t i = 0; i < mesh->n_edges; i++) {
		const int32_t *edge = mesh->edges + 2 * i;
		const double half = length(v3_minus(point(mesh, rest, edge[1]), point(mesh, rest, edge[0]))) / 2;
		if (is_stopped(context, i))
			return FRIC_E_STOPPED;
		w->vertex[edge[0]] += half;
		w->vertex[edge[1]] += half;
	}
	return FRIC_OK;
}

enum fric_code fricp_weights(const struct fric_context *context, const struct fric_mesh *mesh, const double *rest,
                             struct store *store, struct weights *weights)
{
	weights->vertex = store_take_zeroed(store, mesh->n_vertices, sizeof(double));
	weights->edge = store_take_zeroed(store, mesh->dim == 3 ? mesh->n_edges : 0, sizeof(double));
	if (store->failed)
		return FRIC_E_MEMORY;
	const enum fric_code code = (mesh->dim == 3 ? add_faces : add_edges)(context, mesh, rest, weights);
	double sum = 0;
	for (size_t v = 0; v < mesh->n_vertices; v++)
		sum += weights->vertex[v] * 0; /* NaN unless all are finite */
	return code == FRIC_OK && sum != 0 ? FRIC_E_NOT_FINITE : code;
}
