/**
 * Prepares spans of 3D contacts for the derivative kernels: selects the spans that the kernels support, and loads their
 * inputs.
 */
#ifndef FRIC_DERIVE_SPANS_H
#define FRIC_DERIVE_SPANS_H

#include "core/derive/point.h"
#include "core/kernels/derivatives.h"
#include "core/kernels/run.h"

struct span_source {
	const struct fric_derivation *derivation;
	struct kernel_task kernel;
	bool runs;                      /* kernels exist for contacts like these */
	bool fits[FRIC_N_VERTEX_TYPES]; /* kernels support every effect of positions on a group's contacts */
};

struct span_source fricp_span_source(const struct fric_context *context, const struct fric_derivation *derivation);

/* Whether a group's geometry or normal forces depend on positions. */
bool fricp_group_moves(const struct fric_batch *batch, enum fric_type type);

/**
 * Whether kernels compute all derivatives of a group that the fields of a differential require.
 * @param by_law  set to whether parameters of the law are among them
 */
bool fricp_kernels_know(const struct span_source *source, const struct point_task *vertices, enum fric_type type,
                        bool *by_law);

/* Forces and inner matrices of a span, and potentials if wanted. Sets work->good for contacts that kernels support: all
 * except those with a given basis that is not orthonormal. @return whether doubles were accurate enough */
bool fricp_span_law(const struct span_source *source, struct span span, bool potentials,
                    struct derivative_workspace *work);

/* Derivatives of normal forces with respect to distances and to the barrier's parameters. */
void fricp_span_barrier(const struct span_source *source, struct span span, struct derivative_workspace *work);

/* Loads the remaining inputs of kernels for a span whose geometry changes. */
void fricp_span_geometry(const struct span_source *source, struct span span, struct derivative_workspace *work);

/* Rows [n_vertices, 3] at the members of a span's stencils, as columns. */
void fricp_span_members(const struct fric_contacts *contacts, struct span span, const double *rows,
                        span_column (*out)[3]);

/* Derivatives of Gamma v with respect to both coordinates of the closest point: differences along edges.
 * @param v [n_dofs] */
void fricp_span_along(const struct fric_contacts *contacts, struct span span, const double *v, span_column (*out)[3]);

#endif
