/**
 * The pairs of a mesh whose primitives are near, or may come near each other, in no particular order.
 */
#ifndef FRIC_PAIRS_H
#define FRIC_PAIRS_H

#include "core/find/overlap.h"

struct pairing {
	const struct fric_context *context;
	const struct fric_mesh *mesh;
	const struct order *order;
	const struct sweep *sweep; /* NULL: pairs closer than `reach` */
	double reach;              /* with a sweep, of the places, beside the motions */
	/* Factor of motions in the distance of pairs that matter; it may fall. NULL without a sweep. */
	double (*slope)(void *task);
	/* Called for every pair of two primitives, on thread `share` of context.n_threads. v: the pair's vertices, each side
	 * in the order of the mesh */
	enum fric_code (*visit)(void *task, int share, enum fric_type type, const int32_t v[FRIC_MAX_STENCIL]);
	/* Called for every vertex that may touch planes. */
	enum fric_code (*visit_vertex)(void *task, int share, int32_t v);
	void *task;
};

/* @return FRIC_OK, FRIC_E_MEMORY, FRIC_E_STOPPED, or the first code of a visit; which one depends on threads */
enum fric_code fricp_pairs(const struct pairing *pairing);

#endif
