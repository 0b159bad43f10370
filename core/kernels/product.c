#include "core/kernels/product.h"

#include <math.h>

#include "core/motion/stencil.h"

/* Defines P A P^T r for one contact; the operations and their order are the same as in kernels.inc. */
#define PRODUCT_DEFINE(real, name) \
	static void name(const struct fric_contacts *c, size_t i, const double a[3], const double r[3], double force[3]) \
	{ \
		double *const *p = c->tangent_basis; \
		if (c->dim == 2) { \
			const real y = a[0] * ((real)p[0][i] * r[0] + (real)p[1][i] * r[1]); \
			force[0] = (double)(p[0][i] * y); \
			force[1] = (double)(p[1][i] * y); \
			return; \
		} \
		const real u = ((real)p[0][i] * r[0] + (real)p[2][i] * r[1]) + (real)p[4][i] * r[2]; \
		const real v = ((real)p[1][i] * r[0] + (real)p[3][i] * r[1]) + (real)p[5][i] * r[2]; \
		const real x = a[0] * u + a[1] * v, y = a[1] * u + a[2] * v; \
		for (int d = 0; d < 3; d++) \
			force[d] = (double)(p[2 * d][i] * x + p[2 * d + 1][i] * y); \
	}

PRODUCT_DEFINE(double, plain_product)
PRODUCT_DEFINE(long double, extreme_product) /* for products that may over- or underflow although the result does not */

/* Computes one contact's force, which is 0 at any relative velocity if the contact was skipped. @return whether the
 * force is finite */
static bool plain_contact(const struct product_task *task, struct span span, size_t j, const double *const inner[3],
                          const double *vector, double *relative, double *forces)
{
	const struct fric_contacts *c = task->contacts;
	const size_t i = span.begin + j;
	const double a[3] = {inner[0][j], c->dim == 3 ? inner[1][j] : 0, c->dim == 3 ? inner[2][j] : 0};
	double r[3] = {0}, force[3] = {0};
	relative_velocity(c, span.type, i, vector, r);
	if (!c->skipped[i])
		(c->ordinary ? plain_product : extreme_product)(c, i, a, r, force);
	for (int d = 0; d < c->dim; d++) {
		relative[d * FRIC_SPAN + (int)j] = r[d];
		forces[d * FRIC_SPAN + (int)j] = force[d];
	}
	return isfinite(force[0]) && isfinite(force[1]) && isfinite(force[2]);
}

bool fricp_product_is_bounded(const struct product_task *task)
{
	return task->contacts->dim == 3 && task->contacts->ordinary && task->kernels->product;
}

bool fricp_product_of_span(const struct product_task *task, struct span span, const double *const inner[3],
                           const double *vector, double *relative, double *forces, struct fault *fault)
{
	const struct fric_contacts *c = task->contacts;
	if (fricp_product_is_bounded(task)) {
		task->kernels->gamma->relative(c, span, vector, relative);
		const bool small = task->kernels->product(c, span, inner, relative, forces);
		if (!small)
			*fault = (struct fault){FRIC_E_NOT_FINITE, c->n};
		return small;
	}
	for (size_t j = 0; j < span.n; j++)
		if (!plain_contact(task, span, j, inner, vector, relative, forces)) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, span.begin + j};
			return false;
		}
	return true;
}

bool fricp_product_forces(const struct product_task *task, struct span span, const double *vector, double *forces,
                          struct fault *fault)
{
	const bool flat = task->contacts->dim == 2; /* in 2D there is only one column */
	const double *const inner[3] = {task->inner[0] + span.begin, task->inner[flat ? 0 : 1] + span.begin,
	                                task->inner[flat ? 0 : 2] + span.begin};
	double relative[3 * FRIC_SPAN];
	return fricp_product_of_span(task, span, inner, vector, relative, forces, fault);
}
