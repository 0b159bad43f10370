/**
 * Weights of pairs by area: how much of the surface at rest each primitive stands for.
 */
#ifndef FRIC_WEIGHTS_H
#define FRIC_WEIGHTS_H

#include "core/find/mesh.h"

/* NULL: every pair counts 1. */
struct weights {
	double *vertex; /* [n_vertices] a third of the areas of its faces; 2D: half the lengths of its edges */
	double *edge;   /* [n_edges] a third of the areas of its faces; 3D */
};

/**
 * @param rest   [n_vertices, dim]
 * @param store  gives the arrays
 * @return FRIC_OK, FRIC_E_MEMORY, FRIC_E_STOPPED, or FRIC_E_NOT_FINITE if an area does not fit a double
 */
enum fric_code fricp_weights(const struct fric_context *context, const struct fric_mesh *mesh, const double *rest,
                             struct store *store, struct weights *weights);

#endif
