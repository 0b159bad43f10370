/**
 * Blocks of up to FRIC_SPAN contacts of one type on their way through a kernel.
 */
#ifndef FRIC_RUN_H
#define FRIC_RUN_H

#include "core/base/parallel.h"
#include "core/contacts/span.h"
#include "core/kernels/kernels.h"

/* What a kernel is wanted to fill in. */
enum kernel_result { KERNEL_POTENTIAL, KERNEL_FORCE, KERNEL_INNER };

struct kernel_task {
	const struct fric_contacts *contacts;
	const struct fric_kernels *kernels;
	const double *velocities;
	bool potentials;                 /* KERNEL_FORCE: potentials too, or they are not looked at */
	enum kernel_result result;
	enum fric_projection projection; /* KERNEL_INNER */
};

/* Fills in the work's results for a span. @return false with *fault set when a result is not finite */
bool fricp_run_span(const struct kernel_task *task, struct span span, struct workspace *work, struct fault *fault);

/* Rows [n, dim] of the span's forces. */
static inline void forces_in_rows(size_t dim, struct span span, const struct workspace *work, double *out)
{
	for (size_t j = 0; j < span.n; j++)
		for (size_t d = 0; d < dim; d++)
			out[j * dim + d] = work->force[d][j];
}

/* Adds the work's forces up at the vertices of its span; gradient: [n_vertices, dim] */
void fricp_scatter_span(const struct fric_contacts *contacts, struct span span, const struct workspace *work,
                   double *gradient);

/* The same at vertices [first, last) only; there is at least one. */
void fricp_scatter_span_part(const struct fric_contacts *contacts, struct span span, const struct workspace *work,
                        int32_t first, int32_t last, double *gradient);

#endif
