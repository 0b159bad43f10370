/**
 * From the forces of contacts to forces at vertices, in contact order: gradient += Gamma^T f. The vertices may be
 * divided among threads (order/schedule.h): each adds up at its own ones alone, so that nothing is locked.
 */
#ifndef FRIC_SCATTER_H
#define FRIC_SCATTER_H

#include "core/contacts/span.h"
#include "core/motion/gamma.h"

/* What one thread adds up. Sums are set to zero when the sweep reaches their vertices, so that their memory passes
 * through the caches once. */
struct scatter {
	const struct fric_contacts *contacts;
	const struct gamma *gamma;          /* NULL: the plain form */
	const double *velocities;           /* [n_dofs] fetched for what comes next; NULL: nothing will read them */
	double *gradient;                   /* [n_dofs] */
	bool ordinary;                      /* all contacts are (contacts/ordinary.h), and none has a drag: no sum of their
	                              forces overflows */
	int32_t first, last;                /* the vertices at which it adds */
	int32_t opened;                     /* sums of [first, opened) hold something; `first` at the beginning */
	const struct fric_context *context; /* once its flag is raised, sums stay as they are; NULL: there is none */
};

/* Opens the vertices up to the highest of a span. */
void fricp_scatter_reach(struct scatter *scatter, struct span span);

/* Adds the forces of a span that has been reached: columns as gamma.h has them. */
void fricp_scatter_columns(const struct scatter *scatter, struct span span, const double *forces);

/* The same from rows, [n, dim]. */
void fricp_scatter_rows(const struct scatter *scatter, struct span span, const double *forces);

/* Opens the vertices that no span has reached. @return whether all sums are finite, which goes without
 * saying if all contacts are ordinary, or were stopped: then nobody may read them */
bool fricp_scatter_close(struct scatter *scatter);

#endif
