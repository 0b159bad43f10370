/**
 * Runs a kernel over a span of contacts, or the scalar form where doubles are not accurate enough.
 */
#ifndef FRIC_RUN_H
#define FRIC_RUN_H

#include "core/base/parallel.h"
#include "core/contacts/span.h"
#include "core/kernels/kernels.h"

enum kernel_result { KERNEL_POTENTIAL, KERNEL_FORCE, KERNEL_INNER };

struct kernel_task {
	const struct fric_contacts *contacts;
	const struct coefficients *coefficients;
	bool ordinary; /* all contacts and coefficients are ordinary */
	bool same_mu;  /* all contacts have the same coefficients, and the law has this shape */
	struct law_shape shape;
	const struct fric_kernels *kernels;
	const double *velocities;
	enum kernel_result result;
	bool potentials;                 /* KERNEL_FORCE: potentials are needed as well */
	enum fric_projection projection; /* KERNEL_INNER */
};

/* A task that computes no potentials and projects no eigenvalues. */
struct kernel_task fricp_kernel_task(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_query *query, enum kernel_result result);

/* Loads a kernel's inputs for a span. */
void fricp_load_span(const struct kernel_task *task, struct span span, struct workspace *work);

/* Computes the results of a span. @return false with *fault set if one is not finite */
bool fricp_run_span(const struct kernel_task *task, struct span span, struct workspace *work, struct fault *fault);

/* As fricp_run_span for KERNEL_FORCE with potentials; in the same pass it computes the effect of a change of velocities
 * on the forces of the span.
 * @param change   [n_dofs]
 * @param product  columns as in gamma.h: P A P^T Gamma change, without projection; small; overwritten
 * @param sum      set to the sum of force . Gamma change
 * @return false if no kernel supports this span; nothing is computed then */
bool fricp_run_span_along(const struct kernel_task *task, struct span span, const double *change,
                          struct workspace *work, double *product, double *sum);

/* Transposes a span's forces from columns, as in gamma.h, to rows, [n, dim]. */
static inline void forces_in_rows(size_t dim, struct span span, const double *forces, double *out)
{
	for (size_t j = 0; j < span.n; j++)
		for (size_t d = 0; d < dim; d++)
			out[j * dim + d] = forces[d * FRIC_SPAN + j];
}

#endif
