#include "core/motion/scatter.h"

#include "core/base/inline.h"
#include "core/base/vectors.h"
#include "core/motion/stencil.h"

/* gradient += w (x) force for a span. The same for 2D and 3D, rows and columns: k, dim and stride are constants after
 * inlining. */
INLINE void scatter(const struct fric_contacts *c, struct span span, enum fric_type type, size_t dim, const double *x,
                    const double *y, const double *z, size_t stride, double *g)
{
	const int k = stencil_size_of(type);
	for (size_t j = 0; j < span.n; j++) {
		const size_t i = span.begin + j;
		double w[FRIC_MAX_STENCIL] = {0};
		stencil_weights(type, c->closest_point[0][i], c->closest_point[1][i], w);
		for (int v = 0; v < k; v++) {
			double *out = g + (size_t)c->vertices[v][i] * dim;
			add_double2(out, w[v] * (double2){x[j * stride], y[j * stride]});
			if (dim == 3)
				out[2] += w[v] * z[j * stride];
		}
	}
}

#define SCATTER_CASE(type) \
	case type: scatter(c, span, type, dim, x, y, z, stride, g); break

INLINE void scatter_type(const struct fric_contacts *c, struct span span, size_t dim, const double *x, const double *y,
                         const double *z, size_t stride, double *g)
{
	switch (span.type) {
		SCATTER_CASE(FRIC_VERTEX_VERTEX);
		SCATTER_CASE(FRIC_EDGE_VERTEX);
		SCATTER_CASE(FRIC_EDGE_EDGE);
		SCATTER_CASE(FRIC_FACE_VERTEX);
		SCATTER_CASE(FRIC_PLANE_VERTEX);
	}
}

void fricp_scatter_columns(const struct fric_contacts *c, struct span span, const double *const forces[3], double *g)
{
	if (c->dim == 3)
		scatter_type(c, span, 3, forces[0], forces[1], forces[2], 1, g);
	else
		scatter_type(c, span, 2, forces[0], forces[1], NULL, 1, g);
}

void fricp_scatter_rows(const struct fric_contacts *c, struct span span, const double *forces, double *g)
{
	if (c->dim == 3)
		scatter_type(c, span, 3, forces, forces + 1, forces + 2, 3, g);
	else
		scatter_type(c, span, 2, forces, forces + 1, NULL, 2, g);
}

/* Without branches, which would be mispredicted: what is not wanted is added to numbers that nothing reads. */
void fricp_scatter_rows_part(const struct fric_contacts *c, struct span span, const double *forces, int32_t first,
                             int32_t last, double *gradient)
{
	const size_t dim = (size_t)c->dim;
	double elsewhere[FRIC_MAX_STENCIL][3] = {{0}};
	for (size_t j = 0; j < span.n; j++) {
		const size_t i = span.begin + j;
		double w[FRIC_MAX_STENCIL] = {0};
		stencil_weights(span.type, c->closest_point[0][i], c->closest_point[1][i], w);
		for (int k = 0; k < fric_stencil_size(span.type); k++) {
			const int32_t v = c->vertices[k][i];
			double *out = v >= first && v < last ? gradient + (size_t)v * dim : elsewhere[k];
			for (size_t d = 0; d < dim; d++)
				out[d] += w[k] * forces[j * dim + d];
		}
	}
}
