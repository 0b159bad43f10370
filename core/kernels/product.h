/**
 * The product of contacts' blocks of the Hessian with a vector, without the blocks: the force P A P^T Gamma x of each
 * contact, which goes back through Gamma^T.
 */
#ifndef FRIC_PRODUCT_H
#define FRIC_PRODUCT_H

#include "core/base/fault.h"
#include "core/kernels/kernels.h"

struct product_task {
	const struct fric_contacts *contacts;
	const struct fric_kernels *kernels; /* fricp_kernels_scalar: the plain form, which looks at every force */
	double *inner[3];                   /* [n] columns of the contacts' inner matrices; in 2D only one */
};

/* Whether forces are so small that no sum of them overflows: those of the plain form may be of any size. */
bool fricp_product_is_bounded(const struct product_task *task);

/* Forces of a span as gamma.h has them: columns, [dim, FRIC_SPAN]. @param vector [n_dofs]
 * @return false with *fault set: in the plain form when one is not finite, at the contact; otherwise when one is large,
 * at none in particular */
bool fricp_product_forces(const struct product_task *task, struct span span, const double *vector, double *forces,
                          struct fault *fault);

/* The same with the inner matrices of the span alone at hand, [n] columns; task->inner is not read.
 * @param relative  columns like the forces: the relative velocities; overwritten */
bool fricp_product_of_span(const struct product_task *task, struct span span, const double *const inner[3],
                           const double *vector, double *relative, double *forces, struct fault *fault);

#endif
