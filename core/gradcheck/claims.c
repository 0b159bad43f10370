/* The results to be compared, computed by the public functions. */
#include "core/gradcheck/claims.h"

#include "core/base/memory.h"
#include "core/bodies/evaluate.h"
#include "core/kernels/run.h"
#include "core/motion/dofs.h"
#include "core/order/sweep.h"

struct forces_task {
	struct kernel_task kernel;
	struct claims *claims;
};

static void forces_span(void *data, struct span span, struct fault *fault)
{
	const struct forces_task *task = data;
	const size_t dim = (size_t)task->kernel.contacts->dim;
	struct workspace work;
	if (!fricp_run_span(&task->kernel, span, &work, fault))
		return;
	memcpy(task->claims->potentials + span.begin, work.potential, span.n * sizeof(double));
	forces_in_rows(dim, span, work.force[0], task->claims->forces + span.begin * dim);
}

/* The forces that fric_evaluate sums. */
static enum fric_code forces(const struct fric_context *context, const struct fric_contacts *contacts,
                             const struct fric_question *question, struct claims *claims, struct fric_error *error)
{
	struct forces_task task = {fricp_kernel_task(context, contacts, question, KERNEL_FORCE), claims};
	task.kernel.potentials = true;
	return fricp_report_fault(contacts, fricp_sweep_run(context, contacts, forces_span, &task), error);
}

struct wrenches_task {
	const struct fric_contacts *b;
	const struct coefficients *coefficients;
	const double *velocities;
	double *potentials, *wrenches;
};

static void wrenches_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct wrenches_task *task = data;
	(void)chunk;
	for (size_t i = begin; i < end; i++) {
		struct slip slip;
		struct action action;
		body_slip_of(task->b, task->coefficients, contact_type(task->b, i), i, task->velocities, &slip);
		body_action(task->b, i, &slip, &action);
		task->potentials[i] = contact_potential(task->b, i, &slip);
		if (!fricp_store_wrenches(task->b, i, &action, task->wrenches)) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
			return;
		}
	}
}

/* The wrenches of bodies that fric_evaluate sums. */
static enum fric_code wrenches(const struct fric_context *context, const struct fric_contacts *contacts,
                               const struct fric_question *question, struct claims *claims, struct fric_error *error)
{
	const struct fric_contacts *b = contacts->bodies;
	struct wrenches_task task = {b, body_coefficients_for(contacts, question), question->velocities,
	                             claims->potentials + contacts->n, claims->wrenches};
	return fricp_report_fault(b, fricp_parallel_chunks(context, b->n, wrenches_chunk, &task), error);
}

static bool allocate(const struct fric_context *context, const struct fric_contacts *c, struct claims *claims)
{
	const size_t dim = (size_t)c->dim, ndof = n_dofs(c), n = fric_n_contacts(c);
	const size_t wrenches = c->bodies ? n_actions(c->bodies) * (size_t)n_body_dofs(c->dim) : 0;
	claims->arrays_bytes = (ndof + n + c->n * dim + wrenches + fric_n_inner(c) + 1) * sizeof(double);
	claims->arrays = memory_take(context->memory, claims->arrays_bytes);
	if (!claims->arrays)
		return false;
	claims->gradient = claims->arrays;
	claims->potentials = claims->gradient + ndof;
	claims->forces = claims->potentials + n;
	claims->wrenches = claims->forces + c->n * dim;
	claims->inner = claims->wrenches + wrenches;
	return true;
}

static enum fric_code csr(const struct fric_context *context, const struct fric_contacts *contacts,
                          struct claims *claims, struct fric_error *error)
{
	const enum fric_code code = fric_pattern_create(context, contacts, FRIC_FULL, &claims->pattern, error);
	if (code != FRIC_OK)
		return code;
	claims->csr_bytes = (fric_pattern_n_entries(claims->pattern) + 1) * sizeof(double);
	claims->csr = memory_take(context->memory, claims->csr_bytes);
	if (!claims->csr)
		return report_code(FRIC_E_MEMORY, error);
	return fric_hessian_csr(context, contacts, claims->inner, claims->pattern, claims->csr, error);
}

enum fric_code fricp_claims_make(const struct fric_context *context, const struct fric_contacts *contacts,
                                 const struct fric_question *question, struct claims *claims, struct fric_error *error)
{
	*claims = (struct claims){0};
	if (!allocate(context, contacts, claims))
		return report_code(FRIC_E_MEMORY, error);
	enum fric_code code = fric_evaluate(context, contacts, question, &claims->potential, claims->gradient, error);
	if (code == FRIC_OK)
		code = forces(context, contacts, question, claims, error);
	if (code == FRIC_OK && contacts->bodies)
		code = wrenches(context, contacts, question, claims, error);
	if (code == FRIC_OK)
		code = fric_hessian_inner(context, contacts, question, FRIC_PROJECT_NONE, claims->inner, error);
	return code == FRIC_OK ? csr(context, contacts, claims, error) : code;
}

void fricp_claims_free(const struct fric_context *context, struct claims *claims)
{
	memory_give(context->memory, claims->csr, claims->csr_bytes);
	memory_give(context->memory, claims->arrays, claims->arrays_bytes);
	fric_pattern_free(claims->pattern);
	*claims = (struct claims){0};
}
