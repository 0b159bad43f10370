/**
 * Adds forces of contacts at vertices, in the order of the sweep: gradient += Gamma^T f. Also adds other values of
 * stencil members. Contributions to vertices that a part (order/schedule.h) does not own go to their places in a list.
 */
#ifndef FRIC_SCATTER_H
#define FRIC_SCATTER_H

#include "core/motion/gamma.h"
#include "core/order/schedule.h"

/* Sums at vertices. They are set to zero when the sweep reaches their blocks, so that their memory passes through the
 * caches once. */
struct scatter {
	const struct fric_context *context;
	const struct fric_contacts *contacts;
	const struct fric_schedule *schedule; /* NULL: there is only one part */
	const struct gamma *gamma;            /* NULL: the plain form */
	const double *velocities;             /* [n_dofs] prefetched for upcoming spans; NULL: nothing to prefetch */
	double *sums;                         /* [n_vertices, width] */
	double *deferred;                     /* [schedule->n_deferred, width]; elements are `apart` numbers apart */
	int apart;                            /* 1, or LANES for DOFs in 3D */
	int width;                            /* elements per vertex */
	bool bounded;                         /* no sum can overflow */
};

/* Opens the blocks that upcoming spans reach. Call it before the span at a position of a part is added. */
void fricp_scatter_reach(const struct scatter *scatter, struct part part, size_t position);

/* Opens only the blocks that the span at a position is the first to reach. */
void fricp_scatter_open(const struct scatter *scatter, size_t position);

/* Adds the forces of the span at a position, times stencil weights. Columns as in gamma.h; width is dim. */
void fricp_scatter_columns(const struct scatter *scatter, size_t position, const double *forces);

/* Adds values of each member: value d of member k of contact j is columns[(k * per_member + d) * FRIC_SPAN + j]. */
void fricp_scatter_members(const struct scatter *scatter, size_t position, int per_member, const double *columns);

/* Opens a part's share of the blocks that no span reaches, until the stop flag is set. */
void fricp_scatter_close(const struct scatter *scatter, struct part part, size_t n_parts);

/* Adds the deferred values of a range of vertices, after all parts are done: to n sums with interleaved places if apart
 * > 1, else to one. */
void fricp_scatter_deferred(const struct scatter *sums, size_t n, size_t range);

#endif
