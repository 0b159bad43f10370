/* The results to be compared, computed by the public functions. */
#include "core/gradcheck/results.h"

#include "core/assemble/barrier.h"
#include "core/base/memory.h"
#include "core/bodies/evaluate.h"
#include "core/kernels/run.h"
#include "core/motion/dofs.h"
#include "core/motion/stencil.h"
#include "core/order/sweep.h"

struct forces_task {
	struct kernel_task kernel;
	struct results *results;
};

static void forces_span(void *data, struct span span, struct fault *fault)
{
	const struct forces_task *task = data;
	const size_t dim = (size_t)task->kernel.contacts->dim;
	struct workspace work;
	if (!fricp_run_span(&task->kernel, span, &work, fault))
		return;
	memcpy(task->results->potentials + span.begin, work.potential, span.n * sizeof(double));
	forces_in_rows(dim, span, work.force[0], task->results->forces + span.begin * dim);
}

/* The forces that fric_evaluate sums. */
static enum fric_code forces(const struct fric_context *context, const struct fric_contacts *contacts,
                             const struct fric_query *query, struct results *results, struct fric_error *error)
{
	struct forces_task task = {fricp_kernel_task(context, contacts, query, KERNEL_FORCE), results};
	task.kernel.potentials = true;
	return fricp_report_fault(contacts, fricp_sweep_run(context, contacts, forces_span, &task), error);
}

static bool allocate(const struct fric_context *context, const struct fric_contacts *c, unsigned terms,
                     struct results *results)
{
	const size_t dim = (size_t)c->dim, ndof = n_dofs(c), n = fric_n_contacts(c);
	const size_t wrenches = c->bodies ? n_actions(c->bodies) * (size_t)n_body_dofs(c->dim) : 0;
	const size_t members = terms & FRIC_TERM_BARRIER ? n * MOST_MEMBER_DOFS : 0;
	results->arrays_bytes = (ndof + n + c->n * dim + wrenches + fric_n_inner(c) + members + 1) * sizeof(double);
	results->arrays = memory_take(context->memory, results->arrays_bytes);
	if (!results->arrays)
		return false;
	results->gradient = results->arrays;
	results->potentials = results->gradient + ndof;
	results->forces = results->potentials + n;
	results->wrenches = results->forces + c->n * dim;
	results->inner = results->wrenches + wrenches;
	results->members = members ? results->inner + fric_n_inner(c) : NULL;
	return true;
}

static enum fric_code csr(const struct fric_context *context, const struct fric_contacts *contacts,
                          struct results *results, struct fric_error *error)
{
	const enum fric_code code = fric_pattern_create(context, contacts, FRIC_FULL, &results->pattern, error);
	if (code != FRIC_OK)
		return code;
	results->csr_bytes = (fric_pattern_n_entries(results->pattern) + 1) * sizeof(double);
	results->csr = memory_take(context->memory, results->csr_bytes);
	if (!results->csr)
		return report_code(FRIC_E_MEMORY, error);
	return fric_hessian_csr(context, contacts, results->inner, results->pattern, results->csr, error);
}

/* Adds the barrier's potentials, and computes gradients with respect to members from both terms. */
static void add_barrier(const struct fric_contacts *c, const struct fric_query *query, struct results *results)
{
	const size_t dim = (size_t)c->dim;
	for (size_t i = 0; i < c->n; i++) {
		const enum fric_type type = contact_type(c, i);
		double *out = results->members + i * MOST_MEMBER_DOFS, w[FRIC_MAX_STENCIL] = {0};
		results->potentials[i] += fricp_barrier_member(query, type, i, out);
		contact_weights(c, type, i, w);
		for (size_t e = 0; e < dim * (size_t)fric_stencil_size(type) && (terms_of(query) & FRIC_TERM_FRICTION); e++)
			out[e] += w[e / dim] * results->forces[i * dim + e % dim];
	}
}

enum fric_code fricp_results_make(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const struct fric_query *query, struct results *results, struct fric_error *error)
{
	*results = (struct results){0};
	const unsigned terms = terms_of(query);
	if (!allocate(context, contacts, terms, results))
		return report_code(FRIC_E_MEMORY, error);
	enum fric_code code = fric_evaluate(context, contacts, query, &results->potential, results->gradient, error);
	memset(results->potentials, 0, contacts->n * sizeof(double));
	if (code == FRIC_OK && (terms & FRIC_TERM_FRICTION))
		code = forces(context, contacts_for(contacts, query), query, results, error);
	if (code == FRIC_OK && results->members)
		add_barrier(contacts_for(contacts, query), query, results);
	if (code == FRIC_OK && contacts->bodies)
		code =
			fricp_bodies_actions(context, contacts, query, results->potentials + contacts->n, results->wrenches, error);
	if (code == FRIC_OK)
		code = fric_hessian_inner(context, contacts, query, FRIC_PROJECT_NONE, results->inner, error);
	return code == FRIC_OK ? csr(context, contacts, results, error) : code;
}

void fricp_results_free(const struct fric_context *context, struct results *results)
{
	memory_give(context->memory, results->csr, results->csr_bytes);
	memory_give(context->memory, results->arrays, results->arrays_bytes);
	fric_pattern_free(results->pattern);
	*results = (struct results){0};
}
