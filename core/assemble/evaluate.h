/**
 * Potential and gradient at vertices, with something beside them: other forces of the same contacts, computed of each span
 * while what it was evaluated to is at hand, and added up at vertices in the same way.
 */
#ifndef FRIC_ASSEMBLE_EVALUATE_H
#define FRIC_ASSEMBLE_EVALUATE_H

#include "core/kernels/run.h"

struct companion {
	/**
	 * Evaluates a span as fricp_run_span does, and its other forces.
	 * @param forces  columns as gamma.h has them; overwritten
	 * @return false with *fault set when a force is not finite
	 */
	bool (*run)(void *task, const struct kernel_task *kernel, struct span span, struct workspace *work, double *forces,
	            struct fault *fault);
	void *task;
	const double *velocities; /* [n_dofs] that it reads */
	double *sums;             /* [n_dofs] of vertices; overwritten */
	bool bounded;             /* forces are so small that no sum of them overflows */
};

/**
 * @return as fric_evaluate; FRIC_E_NOT_FINITE at no contact also where only something beside is not finite
 * Allocates as fric_evaluate does, and as many forces once more.
 */
enum fric_code fricp_evaluate_with(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const struct fric_query *query, const struct companion *companion, double *potential,
                                   double *gradient, struct fric_error *error);

#endif
