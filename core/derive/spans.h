/**
 * Spans of 3D contacts on their way to the kernels for derivatives: which spans these know enough of, and what they read.
 */
#ifndef FRIC_DERIVE_SPANS_H
#define FRIC_DERIVE_SPANS_H

#include "core/derive/point.h"
#include "core/kernels/derivatives.h"
#include "core/kernels/run.h"

struct span_source {
	const struct fric_derivation *derivation;
	struct kernel_task kernel;
	bool runs;                      /* there are kernels, for contacts like these */
	bool fits[FRIC_N_VERTEX_TYPES]; /* and they know enough of what a group's contacts change by with positions */
};

struct span_source fricp_span_source(const struct fric_context *context, const struct fric_derivation *derivation);

/* Whether positions change the geometry of a group's contacts, or their normal forces. */
bool fricp_group_moves(const struct fric_batch *batch, enum fric_type type);

/**
 * Whether kernels know derivatives of a group by all that its contacts take from the fields of a differential.
 * @param by_law  set to whether numbers of the law are among them
 */
bool fricp_kernels_know(const struct span_source *source, const struct point_task *vertices, enum fric_type type,
                        bool *by_law);

/* Forces and inner matrices of a span, and potentials if wanted; and for which contacts kernels will do: good, unless their
 * basis is given and not orthonormal. @return whether doubles were enough */
bool fricp_span_law(const struct span_source *source, struct span span, bool potentials,
                    struct derivative_workspace *work);

/* How normal forces change with distances and with the barrier's numbers. */
void fricp_span_barrier(const struct span_source *source, struct span span, struct derivative_workspace *work);

/* The rest of what kernels read of a span that moves. */
void fricp_span_geometry(const struct span_source *source, struct span span, struct derivative_workspace *work);

/* Rows [n_vertices, 3] at the members of a span's stencils, as columns. */
void fricp_span_members(const struct fric_contacts *contacts, struct span span, const double *rows,
                        span_column (*out)[3]);

/* What Gamma v changes by with both coordinates of the closest point: differences along edges. @param v [n_dofs] */
void fricp_span_along(const struct fric_contacts *contacts, struct span span, const double *v, span_column (*out)[3]);

#endif
