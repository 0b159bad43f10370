/**
 * The product of contacts' Hessian blocks with a vector, without forming the blocks: the force P A P^T Gamma x of each
 * contact, which the caller takes to the vertices by Gamma^T.
 */
#ifndef FRIC_PRODUCT_H
#define FRIC_PRODUCT_H

#include "core/base/fault.h"
#include "core/kernels/kernels.h"

struct product_task {
	const struct fric_contacts *contacts;
	const struct fric_kernels *kernels; /* fricp_kernels_scalar selects the plain form, which checks every force */
	double *inner[3];                   /* [n] columns of the contacts' inner matrices; in 2D only the first */
};

/* Whether forces are so small that no sum of them overflows. The plain form's forces may be of any size. */
bool fricp_product_is_bounded(const struct product_task *task);

/* Computes the forces of a span in columns [dim, FRIC_SPAN], as in gamma.h. @param vector [n_dofs]
 * @return false with *fault set: in the plain form, at the contact whose force is not finite; otherwise, if a force is
 *         large, without a contact */
bool fricp_product_forces(const struct product_task *task, struct span span, const double *vector, double *forces,
                          struct fault *fault);

/* As fricp_product_forces, with the inner matrices of the span only, [n] columns; does not read task->inner.
 * @param relative  relative velocities, in columns like the forces; overwritten */
bool fricp_product_of_span(const struct product_task *task, struct span span, const double *const inner[3],
                           const double *vector, double *relative, double *forces, struct fault *fault);

#endif
