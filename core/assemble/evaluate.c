/* Potential and gradient: contacts are evaluated in spans, forces added at each vertex in the order of the sweep. */
#include "core/assemble/evaluate.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/bodies/evaluate.h"
#include "core/kernels/run.h"
#include "core/motion/scatter.h"
#include "core/order/schedule.h"
#include "core/order/sweep.h"

enum { SPANS_BETWEEN_STOPS = 64 };

struct evaluation {
	const struct fric_context *context;
	struct kernel_task kernel;
	double *potentials;                /* [span_slots] sums of spans, or NULL */
	double *gradient;                  /* or NULL */
	double *forces;                    /* [n, dim] of each contact, if the schedule keeps forces, or NULL */
	const struct companion *companion; /* or NULL */
	double *other_forces;              /* [n, dim] the companion's */
	struct fric_schedule own;          /* if the question has none */
	const struct fric_schedule *schedule;
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

/* Evaluates a span, and the companion's forces if there is a companion. */
static bool run_span(const struct evaluation *task, struct span span, bool keeps, struct workspace *work,
                     double *others, struct fault *fault)
{
	if (!task->companion)
		return fricp_run_span(&task->kernel, span, work, fault);
	return task->companion->run(task->companion->task, &task->kernel, span, keeps, work, others, fault);
}

/* Evaluates a span and keeps its forces. */
static void forces_span(void *data, struct span span, struct fault *fault)
{
	const struct evaluation *task = data;
	const size_t dim = (size_t)task->kernel.contacts->dim;
	double others[3 * FRIC_SPAN];
	struct workspace work;
	if (!run_span(task, span, true, &work, others, fault))
		return;
	keep_potential(task, span, &work);
	forces_in_rows(dim, span, work.force[0], task->forces + span.begin * dim);
	if (task->companion)
		forces_in_rows(dim, span, others, task->other_forces + span.begin * dim);
}

static void forces_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct evaluation *task = data;
	struct sweep sweep = {task->kernel.contacts, forces_span, data};
	fricp_sweep_chunk(&sweep, chunk, begin, end, fault);
}

/* What a part adds up: the gradient, and what the companion has. */
struct part_sums {
	struct scatter gradient, others;
};

/* Evaluates a span and adds its forces at the vertices of a part. */
static bool add_span(const struct evaluation *task, const struct part_sums *sums, struct span span, struct fault *fault)
{
	const struct scatter *scatter = &sums->gradient;
	/* otherwise another part keeps it */
	const bool keeps = scatter->contacts->extents[span_slot(span)].lowest >= scatter->first;
	double others[3 * FRIC_SPAN];
	struct workspace work;
	if (!run_span(task, span, keeps, &work, others, fault))
		return false;
	if (keeps)
		keep_potential(task, span, &work);
	fricp_scatter_columns(scatter, span, work.force[0]);
	if (task->companion)
		fricp_scatter_columns(&sums->others, span, others);
	return true;
}

/* The same with forces that are kept. */
static void add_kept(const struct evaluation *task, const struct part_sums *sums, struct span span)
{
	const size_t at = span.begin * (size_t)task->kernel.contacts->dim;
	fricp_scatter_rows(&sums->gradient, span, task->forces + at);
	if (task->companion)
		fricp_scatter_rows(&sums->others, span, task->other_forces + at);
}

static void reach(const struct evaluation *task, struct part_sums *sums, struct span span)
{
	fricp_scatter_reach(&sums->gradient, span);
	if (task->companion)
		fricp_scatter_reach(&sums->others, span);
}

/* @return whether all sums are finite */
static bool close_part(const struct evaluation *task, struct part_sums *sums)
{
	const bool finite = fricp_scatter_close(&sums->gradient);
	return (!task->companion || fricp_scatter_close(&sums->others)) && finite;
}

static struct part_sums open_part(const struct evaluation *task, struct part part)
{
	const struct fric_contacts *c = task->kernel.contacts;
	struct part_sums sums;
	sums.gradient = (struct scatter){.contacts = c,
	                                 .gamma = task->kernel.kernels->gamma,
	                                 .velocities = task->forces ? NULL : task->kernel.velocities,
	                                 .gradient = task->gradient,
	                                 .ordinary = task->kernel.ordinary && !c->viscous.data,
	                                 .first = part.first,
	                                 .last = part.last,
	                                 .opened = part.first,
	                                 .context = task->context};
	sums.others = sums.gradient;
	if (task->companion) {
		sums.others.velocities = task->forces ? NULL : task->companion->velocities;
		sums.others.gradient = task->companion->sums;
		sums.others.ordinary = task->companion->bounded;
	}
	return sums;
}

/* A fault that no single contact is to blame for. */
static struct fault overflow(const struct evaluation *task)
{
	return (struct fault){FRIC_E_NOT_FINITE, task->kernel.contacts->n};
}

/* Evaluates the spans of a part, or takes their forces if they are kept, and adds them up at its vertices. */
static void work_on_part(void *data, size_t index, size_t begin, size_t end, struct fault *fault)
{
	const struct evaluation *task = data;
	const struct fric_contacts *c = task->kernel.contacts;
	const struct part part = fricp_schedule_part(c, task->schedule, index);
	struct part_sums sums = open_part(task, part);
	(void)begin;
	(void)end;
	for (size_t i = 0; i < part.n_slots; i++) {
		const struct span span = span_at(c, (size_t)c->extents[part.slots[i]].begin);
		reach(task, &sums, span);
		if (task->forces)
			add_kept(task, &sums, span);
		else if (!add_span(task, &sums, span, fault))
			return;
		if (i % SPANS_BETWEEN_STOPS == 0 && fricp_stop_raised(task->context))
			return; /* fricp_parallel_phases looks at the flag afterwards */
	}
	if (!close_part(task, &sums))
		*fault = overflow(task);
}

static struct fault add_up(struct evaluation *task)
{
	const struct fric_contacts *c = task->kernel.contacts;
	const struct phase phases[] = {{forces_chunk, c->n_spans, SWEEP_CHUNK, false, NULL},
	                               {work_on_part, task->schedule->n_parts, 1, false, NULL}};
	const int n_threads = fricp_team_size(task->context, c->n);
	const size_t n = c->n * (size_t)c->dim, bytes = (task->companion ? 2 : 1) * n * sizeof(double);
	if (!task->schedule->keeps_forces)
		return fricp_parallel_phases(task->context, n_threads, phases + 1, 1, task);
	task->forces = memory_take(task->context->memory, bytes);
	if (!task->forces)
		return (struct fault){FRIC_E_MEMORY, SIZE_MAX};
	task->other_forces = task->forces + n;
	const struct fault fault = fricp_parallel_phases(task->context, n_threads, phases, 2, task);
	memory_give(task->context->memory, task->forces, bytes);
	return fault;
}

static bool sum_potentials(const struct evaluation *task, double *potential)
{
	double sum = 0;
	for (size_t slot = 0; slot < span_slots(task->kernel.contacts->n); slot++)
		sum += task->potentials[slot];
	*potential = sum;
	return isfinite(sum);
}

/* A sum is not finite. If a single contact is to blame, the scalar form finds it. */
static struct fault blame(const struct evaluation *task)
{
	struct evaluation again = {.kernel = task->kernel};
	again.kernel.kernels = &fricp_kernels_scalar;
	const struct fault fault = fricp_sweep_run(task->context, task->kernel.contacts, potential_span, &again);
	return fault.code ? fault : overflow(task);
}

static struct fault evaluate_gradient(struct evaluation *task)
{
	const struct fric_contacts *c = task->kernel.contacts;
	if (task->schedule)
		return add_up(task);
	task->schedule = &task->own;
	if (!fricp_schedule_make(task->context->memory, c, fricp_team_size(task->context, c->n), &task->own))
		return (struct fault){FRIC_E_MEMORY, SIZE_MAX};
	const struct fault fault = add_up(task);
	fricp_schedule_clear(&task->own);
	return fault;
}

static struct fault evaluate(struct evaluation *task, double *potential)
{
	const struct fric_contacts *c = task->kernel.contacts;
	struct fault fault = task->gradient ? evaluate_gradient(task)
	                                    : fricp_sweep_run(task->context, c, potential_span, task);
	if (fault.code == FRIC_OK && potential && !sum_potentials(task, potential))
		fault = overflow(task);
	return fault.code == FRIC_E_NOT_FINITE ? blame(task) : fault;
}

enum fric_code fricp_evaluate_with(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const struct fric_question *question, const struct companion *companion,
                                   double *potential, double *gradient, struct fric_error *error)
{
	const enum kernel_result result = gradient ? KERNEL_FORCE : KERNEL_POTENTIAL;
	struct evaluation task = {.context = context,
	                          .kernel = fricp_kernel_task(context, contacts, question, result),
	                          .gradient = gradient,
	                          .companion = companion,
	                          .schedule = question->schedule};
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	task.kernel.potentials = potential;
	if (potential)
		task.potentials = calloc(span_slots(contacts->n), sizeof(double));
	if (!potential || task.potentials)
		fault = evaluate(&task, potential);
	free(task.potentials);
	return fricp_report_fault(contacts, fault, error);
}

enum fric_code fric_evaluate(const struct fric_context *context, const struct fric_contacts *contacts,
                             const struct fric_question *question, double *potential, double *gradient,
                             struct fric_error *error)
{
	const enum fric_code code = fricp_evaluate_with(context, contacts, question, NULL, potential, gradient, error);
	if (code != FRIC_OK || !contacts->bodies)
		return code;
	return fricp_bodies_evaluate(context, contacts, question, potential, gradient, error);
}
