#include "core/kernels/product.h"

#include <math.h>

#include "core/motion/stencil.h"

/* P A P^T r of one contact; the operations are those of kernels.inc, in its order. */
#define PRODUCT_DEFINE(real, name) \
	static void name(const struct product_task *task, size_t i, const double r[3], double force[3]) \
	{ \
		const struct fric_contacts *c = task->contacts; \
		double *const *p = c->tangent_basis, *const *a = task->inner; \
		if (c->dim == 2) { \
			const real y = a[0][i] * ((real)p[0][i] * r[0] + (real)p[1][i] * r[1]); \
			force[0] = (double)(p[0][i] * y); \
			force[1] = (double)(p[1][i] * y); \
			return; \
		} \
		const real u = ((real)p[0][i] * r[0] + (real)p[2][i] * r[1]) + (real)p[4][i] * r[2]; \
		const real v = ((real)p[1][i] * r[0] + (real)p[3][i] * r[1]) + (real)p[5][i] * r[2]; \
		const real x = a[0][i] * u + a[1][i] * v, y = a[1][i] * u + a[2][i] * v; \
		for (int d = 0; d < 3; d++) \
			force[d] = (double)(p[2 * d][i] * x + p[2 * d + 1][i] * y); \
	}

PRODUCT_DEFINE(double, plain_product)
PRODUCT_DEFINE(long double, extreme_product) /* where a product may over- or underflow on the way */

/* One contact; a skipped one has no force, at whatever velocity it would move. @return whether the force is finite */
static bool plain_contact(const struct product_task *task, struct span span, size_t j, const double *vector,
                          double *forces)
{
	const struct fric_contacts *c = task->contacts;
	const size_t i = span.begin + j;
	double relative[3] = {0}, force[3] = {0};
	relative_velocity(c, span.type, i, vector, relative);
	if (!c->skipped[i])
		(c->ordinary ? plain_product : extreme_product)(task, i, relative, force);
	for (int d = 0; d < c->dim; d++)
		forces[d * FRIC_SPAN + (int)j] = force[d];
	return isfinite(force[0]) && isfinite(force[1]) && isfinite(force[2]);
}

bool fricp_product_is_bounded(const struct product_task *task)
{
	return task->contacts->dim == 3 && task->contacts->ordinary && task->kernels->product;
}

bool fricp_product_forces(const struct product_task *task, struct span span, const double *vector, double *forces,
                          struct fault *fault)
{
	const struct fric_contacts *c = task->contacts;
	if (fricp_product_is_bounded(task)) {
		double relative[3][FRIC_SPAN];
		task->kernels->gamma->relative(c, span, vector, relative[0]);
		const bool small = task->kernels->product(c, span, task->inner, relative[0], forces);
		if (!small)
			*fault = (struct fault){FRIC_E_NOT_FINITE, c->n};
		return small;
	}
	for (size_t j = 0; j < span.n; j++)
		if (!plain_contact(task, span, j, vector, forces)) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, span.begin + j};
			return false;
		}
	return true;
}
