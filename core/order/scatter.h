/**
 * From the forces of contacts to forces at vertices, in the order of the sweep: gradient += Gamma^T f; and other numbers
 * of stencil members in the same way. What a part (order/schedule.h) does not own goes to its place in a list.
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
	const struct fric_schedule *schedule; /* NULL: there is one part */
	const struct gamma *gamma;            /* NULL: the plain form */
	const double *velocities;             /* [n_dofs] fetched for what comes next; NULL: nothing will read them */
	double *sums;                         /* [n_vertices, width] */
	double *deferred; /* [n_deferred, width] of the schedule, `apart` numbers from one to the next */
	int apart;        /* 1, or LANES for DOFs in 3D */
	int width;        /* numbers of a vertex */
	bool bounded;     /* no sum overflows */
};

/* Opens the blocks that are about to be reached, before the span at a position of a part is added. */
void fricp_scatter_reach(const struct scatter *scatter, struct part part, size_t position);

/* Opens the blocks that the span at a position is the first to reach, and no others. */
void fricp_scatter_open(const struct scatter *scatter, size_t position);

/* Adds the forces of the span at a position, times stencil weights: columns as gamma.h has them; width is dim. */
void fricp_scatter_columns(const struct scatter *scatter, size_t position, const double *forces);

/* Adds numbers of each member: number d of member k of contact j is columns[(k * per_member + d) * FRIC_SPAN + j]. */
void fricp_scatter_members(const struct scatter *scatter, size_t position, int per_member, const double *columns);

/* Opens a part's share of the blocks that no span reaches, until the stop flag is raised. */
void fricp_scatter_close(const struct scatter *scatter, struct part part, size_t n_parts);

/* Adds what was deferred to a range of vertices, once all parts are through: of n sums that have it side by side, if it
 * is apart, or of one. */
void fricp_scatter_deferred(const struct scatter *sums, size_t n, size_t range);

#endif
