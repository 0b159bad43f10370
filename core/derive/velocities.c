#include "core/derive/velocities.h"

#include "core/assemble/evaluate.h"
#include "core/base/memory.h"
#include "core/kernels/product.h"

struct along {
	struct kernel_task inner;
	struct product_task product;
	const double *velocities;
	double *sums; /* [span_slots] tangents of potentials */
};

/* Computes F . Gamma v' for each contact; the drag acts on the same change. */
static double potentials_along(const struct fric_contacts *c, struct span span, const struct workspace *work,
                               const double *relative)
{
	double out[FRIC_SPAN];
	for (size_t j = 0; j < span.n; j++) {
		const double *r = relative + j;
		out[j] = c->dim == 3 ? (work->force[0][j] * r[0] + work->force[1][j] * r[FRIC_SPAN]) +
		                           work->force[2][j] * r[2 * FRIC_SPAN]
		                     : work->force[0][j] * r[0] + work->force[1][j] * r[FRIC_SPAN];
	}
	return sum_of_span(out, span.n);
}

/* Computes how a change of the velocities affects the forces of a span, which fricp_run_span has evaluated. */
static bool forces_along(const struct along *task, struct span span, struct workspace *work, double *relative,
                         double *forces, struct fault *fault)
{
	/* the kernels compute inner matrices from intermediate values of the forces */
	const bool by_kernel = fricp_product_is_bounded(&task->product) && task->inner.ordinary && !work->careful;
	struct workspace again, *bent = work;
	if (by_kernel)
		task->inner.kernels->unprojected(work);
	if (!by_kernel || work->careful) {
		bent = &again;
		if (!fricp_run_span(&task->inner, span, bent, fault))
			return false;
	}
	const double *const inner[3] = {bent->inner[0], bent->inner[1], bent->inner[2]};
	return fricp_product_of_span(&task->product, span, inner, task->velocities, relative, forces, fault);
}

static bool run_along(void *data, const struct kernel_task *kernel, struct span span, struct workspace *work,
                      double *forces, struct fault *fault)
{
	const struct along *task = data;
	double relative[3 * FRIC_SPAN], sum;
	if (!fricp_run_span_along(kernel, span, task->velocities, work, forces, &sum)) {
		if (!fricp_run_span(kernel, span, work, fault) || !forces_along(task, span, work, relative, forces, fault))
			return false;
		sum = potentials_along(task->product.contacts, span, work, relative);
	}
	task->sums[span_slot(span)] = sum;
	return true;
}

enum fric_code fricp_jvp_by_velocities(const struct fric_context *context, const struct fric_derivation *derivation,
                                       const double *velocities, double *potential, double *gradient,
                                       long double *potential_tangent, double *gradient_tangent,
                                       struct fric_error *error)
{
	const struct fric_contacts *c = derivation->contacts;
	const size_t bytes = span_slots(c->n) * sizeof(double);
	struct along task = {.inner = fricp_kernel_task(context, c, derivation->query, KERNEL_INNER),
	                     .product = {.contacts = c, .kernels = fricp_kernels_of(context)},
	                     .velocities = velocities};
	const struct companion companion = {run_along, &task, velocities, gradient_tangent,
	                                    fricp_product_is_bounded(&task.product)};
	task.sums = fricp_take_zeroed(context, bytes);
	if (!task.sums)
		return report_code(FRIC_E_MEMORY, error);
	const enum fric_code code =
		fricp_evaluate_with(context, c, derivation->query, &companion, potential, gradient, error);
	for (size_t slot = 0; slot < span_slots(c->n); slot++)
		*potential_tangent += task.sums[slot];
	memory_give(context->memory, task.sums, bytes);
	return code;
}
