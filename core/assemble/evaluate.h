/**
 * Potential and gradient at vertices, and in the same pass a companion: other forces of the same contacts, which are
 * computed while the intermediate values of a span are still in the cache, and are added up at vertices in the same
 * way.
 */
#ifndef FRIC_ASSEMBLE_EVALUATE_H
#define FRIC_ASSEMBLE_EVALUATE_H

#include "core/kernels/run.h"

struct companion {
	/**
	 * Evaluates a span as fricp_run_span does, and computes the companion's forces.
	 * @param forces  columns as in gamma.h; overwritten
	 * @return false with *fault set when a force is not finite
	 */
	bool (*run)(void *task, const struct kernel_task *kernel, struct span span, struct workspace *work, double *forces,
	            struct fault *fault);
	void *task;
	const double *velocities; /* [n_dofs] further velocities that `run` reads */
	double *sums;             /* [n_dofs] the vertices' part is overwritten */
	bool bounded;             /* the forces are so small that no sum of them overflows */
};

/**
 * @return as fric_evaluate; also FRIC_E_NOT_FINITE without a contact if only a sum of the companion's forces overflows
 * Allocates what fric_evaluate allocates, and the same amount for the companion's forces.
 */
enum fric_code fricp_evaluate_with(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const struct fric_query *query, const struct companion *companion, double *potential,
                                   double *gradient, struct fric_error *error);

#endif
