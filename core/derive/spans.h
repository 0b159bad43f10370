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
	bool runs;                      /* kernels exist for these contacts */
	bool fits[FRIC_N_VERTEX_TYPES]; /* kernels support every effect of positions on a group's contacts */
	bool by_kernel[FRIC_N_VERTEX_TYPES], by_law[FRIC_N_VERTEX_TYPES]; /* from fricp_choose_kernels */
};

struct span_source fricp_span_source(const struct fric_context *context, const struct fric_derivation *derivation);

/* Whether a group's geometry or normal forces depend on positions. */
bool fricp_group_moves(const struct fric_batch *batch, enum fric_type type);

/* Sets by_kernel: whether kernels compute all derivatives of a group that the fields of a differential require; and
 * by_law: whether parameters of the law are among these. */
void fricp_choose_kernels(const struct point_task *vertices, struct span_source *source);

/* Computes forces and inner matrices of a span, and potentials if wanted. Sets work->good for all contacts that kernels
 * support; they do not support a given basis that is not orthonormal. @return whether doubles were accurate enough */
bool fricp_span_law(const struct span_source *source, struct span span, bool potentials,
                    struct derivative_workspace *work);

/* As fricp_span_law with potentials, and loads the remaining inputs of kernels. @param moves  set to whether the span's
 * geometry changes */
bool fricp_span_inputs(const struct span_source *source, const struct point_task *vertices, struct span span,
                       struct derivative_workspace *work, bool *moves);

/* Loads the remaining inputs for a span whose geometry changes. */
void fricp_span_geometry(const struct span_source *source, struct span span, struct derivative_workspace *work);

/* Loads rows [n_vertices, 3] at the members of a span's stencils as columns. */
void fricp_span_members(const struct fric_contacts *contacts, struct span span, const double *rows,
                        span_column (*out)[3]);

/* Computes derivatives of Gamma v with respect to both coordinates of the closest point: differences along edges.
 * @param v  [n_dofs] */
void fricp_span_along(const struct fric_contacts *contacts, struct span span, const double *v, span_column (*out)[3]);

#endif
