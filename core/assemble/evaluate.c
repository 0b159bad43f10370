/* Potential and gradient: contacts are evaluated in spans, and forces are added at each vertex in the order of the
 * sweep. */
#include "core/assemble/evaluate.h"

#include <math.h>
#include <stdlib.h>

#include "core/assemble/barrier.h"
#include "core/base/memory.h"
#include "core/bodies/evaluate.h"
#include "core/kernels/run.h"
#include "core/motion/dofs.h"
#include "core/order/sums.h"
#include "core/order/sweep.h"

struct evaluation {
	const struct fric_context *context;
	struct kernel_task kernel;
	double *potentials;                /* [span_slots] sums of spans, or NULL */
	const struct companion *companion; /* may be NULL */
};

static void keep_potential(const struct evaluation *task, struct span span, const struct workspace *work)
{
	if (task->potentials)
		task->potentials[span_slot(span)] = sum_of_span(work->potential, span.n);
}

static void potential_span(void *data, struct span span, struct fault *fault)
{
	const struct evaluation *task = data;
	struct workspace work;
	if (fricp_run_span(&task->kernel, span, &work, fault))
		keep_potential(task, span, &work);
}

/* A fault that no single contact causes. */
static struct fault overflow(const struct evaluation *task)
{
	return (struct fault){FRIC_E_NOT_FINITE, task->kernel.contacts->n};
}

/* Its sums are the gradient and, if there is a companion, the companion's sums. */
static void forces_span(const struct summation *sums, struct part part, size_t position, struct fault *fault)
{
	const struct evaluation *task = sums->task;
	const struct companion *companion = task->companion;
	const struct span span = sweep_span(sums->contacts, position);
	double others[3 * FRIC_SPAN];
	struct workspace work;
	(void)part;
	if (!(companion ? companion->run(companion->task, &task->kernel, span, &work, others, fault)
	                : fricp_run_span(&task->kernel, span, &work, fault)))
		return;
	keep_potential(task, span, &work);
	fricp_scatter_columns(&sums->sums[0], position, work.force[0]);
	if (companion)
		fricp_scatter_columns(&sums->sums[1], position, others);
}

static struct fault evaluate_gradient(struct evaluation *task, const struct fric_schedule *schedule, double *gradient)
{
	const struct fric_contacts *c = task->kernel.contacts;
	const struct companion *companion = task->companion;
	struct scatter at[2] = {{.gamma = task->kernel.kernels->gamma,
	                         .velocities = task->kernel.velocities,
	                         .sums = gradient,
	                         .width = c->dim,
	                         .bounded = task->kernel.ordinary && !c->viscous.data}};
	struct summation sums = {.context = task->context,
	                         .contacts = c,
	                         .schedule = schedule,
	                         .sums = at,
	                         .n_sums = companion ? 2 : 1,
	                         .span = forces_span,
	                         .task = task};
	at[1] = at[0];
	if (companion) {
		at[1].velocities = companion->velocities;
		at[1].sums = companion->sums;
		at[1].bounded = companion->bounded;
	}
	return fricp_sums_scheduled(&sums, fricp_sums_run);
}

static bool sum_potentials(const struct evaluation *task, double *potential)
{
	double sum = 0;
	for (size_t slot = 0; slot < span_slots(task->kernel.contacts->n); slot++)
		sum += task->potentials[slot];
	*potential = sum;
	return isfinite(sum);
}

/* Finds the cause of a sum that is not finite: the scalar form evaluates each contact again. */
static struct fault blame(const struct evaluation *task)
{
	struct evaluation again = {.kernel = task->kernel};
	again.kernel.kernels = &fricp_kernels_scalar;
	const struct fault fault = fricp_sweep_run(task->context, task->kernel.contacts, potential_span, &again);
	return fault.code ? fault : overflow(task);
}

static struct fault evaluate(struct evaluation *task, const struct fric_schedule *schedule, double *potential,
                             double *gradient)
{
	const struct fric_contacts *c = task->kernel.contacts;
	struct fault fault = gradient ? evaluate_gradient(task, schedule, gradient)
	                              : fricp_sweep_run(task->context, c, potential_span, task);
	if (fault.code == FRIC_OK && potential && !sum_potentials(task, potential))
		fault = overflow(task);
	return fault.code == FRIC_E_NOT_FINITE ? blame(task) : fault;
}

enum fric_code fricp_evaluate_with(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const struct fric_query *query, const struct companion *companion, double *potential,
                                   double *gradient, struct fric_error *error)
{
	const enum kernel_result result = gradient ? KERNEL_FORCE : KERNEL_POTENTIAL;
	struct evaluation task = {
		.context = context, .kernel = fricp_kernel_task(context, contacts, query, result), .companion = companion};
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	task.kernel.potentials = potential;
	if (potential)
		task.potentials = calloc(span_slots(contacts->n), sizeof(double));
	if (!potential || task.potentials)
		fault = evaluate(&task, query->schedule, potential, gradient);
	free(task.potentials);
	return fricp_report_fault(contacts, fault, error);
}

/* ---- both terms ---- */

struct addition {
	double *to;
	const double *from;
};

static void add_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct addition *task = data;
	double sum = 0;
	(void)chunk;
	for (size_t e = begin; e < end; e++) {
		task->to[e] += task->from[e];
		sum += task->to[e] * 0;
	}
	if (sum != 0)
		*fault = (struct fault){FRIC_E_NOT_FINITE, SIZE_MAX};
}

/* Adds the barrier's potential and gradient to friction's. */
static struct fault add_barrier(const struct fric_context *context, const struct fric_contacts *contacts,
                                const struct fric_query *query, double *potential, double *gradient)
{
	const size_t n = n_dofs(contacts), bytes = n * sizeof(double);
	double more = 0, *forces = gradient ? memory_take(context->memory, bytes) : NULL;
	if (gradient && !forces)
		return (struct fault){FRIC_E_MEMORY, SIZE_MAX};
	struct fault fault = fricp_barrier_evaluate(context, contacts, query, potential ? &more : NULL, forces);
	struct addition addition = {gradient, forces};
	if (fault.code == FRIC_OK && gradient)
		fault = fricp_parallel_chunks(context, n, add_chunk, &addition);
	if (fault.code == FRIC_OK && potential) {
		*potential += more;
		if (!isfinite(*potential))
			fault = (struct fault){FRIC_E_NOT_FINITE, SIZE_MAX};
	}
	memory_give(context->memory, forces, bytes);
	return fault;
}

static enum fric_code evaluate_terms(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_query *query, double *potential, double *gradient,
                                     struct fric_error *error)
{
	struct fault fault;
	if (terms_of(query) & FRIC_TERM_FRICTION) {
		const enum fric_code code =
			fricp_evaluate_with(context, contacts_for(contacts, query), query, NULL, potential, gradient, error);
		if (code != FRIC_OK)
			return code;
		fault = add_barrier(context, contacts, query, potential, gradient);
	} else {
		fault = fricp_barrier_evaluate(context, contacts, query, potential, gradient);
	}
	return fricp_report_fault(contacts, fault, error);
}

enum fric_code fric_evaluate(const struct fric_context *context, const struct fric_contacts *contacts,
                             const struct fric_query *query, double *potential, double *gradient,
                             struct fric_error *error)
{
	if (terms_of(query) & FRIC_TERM_BARRIER)
		return evaluate_terms(context, contacts, query, potential, gradient, error);
	contacts = contacts_for(contacts, query);
	const enum fric_code code = fricp_evaluate_with(context, contacts, query, NULL, potential, gradient, error);
	if (code != FRIC_OK || !contacts->bodies)
		return code;
	return fricp_bodies_evaluate(context, contacts, query, potential, gradient, error);
}
