/**
 * The vertices of a mesh along a Hilbert curve, so that neighbours in this order are neighbours in space.
 */
#ifndef FRIC_ORDER_H
#define FRIC_ORDER_H

#include "core/find/store.h"
#include "core/fric.h"

/* Vertices by their place in the order, their rank. */
struct order {
	size_t n;
	int32_t *vertex; /* [n] */
	int32_t *rank;   /* [n_vertices]; of listed vertices */
	double *place;   /* [n, 3] positions; in 2D, z is 0 */
};

/**
 * Orders some vertices.
 * @param listed  [n]
 * @param store   gives the arrays of `order`
 * @return FRIC_OK, FRIC_E_MEMORY or FRIC_E_STOPPED
 */
enum fric_code fricp_order(const struct fric_context *context, int dim, size_t n_vertices, const double *positions,
                           const int32_t *listed, size_t n, struct store *store, struct order *order);

#endif
