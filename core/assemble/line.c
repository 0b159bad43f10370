/* Potential and slope along a line of velocities, in one pass over the contacts. */
#include <math.h>

#include "core/base/memory.h"
#include "core/bodies/evaluate.h"
#include "core/kernels/line.h"
#include "core/order/sweep.h"

struct line_task {
	struct kernel_task kernel;
	struct line line;
	double *sums; /* [span_slots, 2, n_steps] sums of potentials, then of slopes; unused slots are not read */
};

static void line_span(void *data, struct span span, struct fault *fault)
{
	const struct line_task *task = data;
	const size_t m = task->line.n_steps;
	double *sums = task->sums + span_slot(span) * 2 * m;
	fricp_run_line(&task->kernel, &task->line, span, sums, sums + m, fault);
}

static double largest_step(const double *steps, size_t n)
{
	double largest = 0;
	for (size_t k = 0; k < n; k++)
		largest = fabs(steps[k]) > largest ? fabs(steps[k]) : largest;
	return largest;
}

/* The number of spans between two checks of the stop flag: a few thousand evaluations. */
static size_t spans_at_a_time(size_t n_steps)
{
	return 1 + SWEEP_CHUNK / 2 / (1 + n_steps / 8);
}

static struct fault run(const struct fric_context *context, struct line_task *task)
{
	const struct fric_contacts *c = task->kernel.contacts;
	struct sweep sweep = {c, line_span, task};
	const struct phase phase = {fricp_sweep_chunk, c->n_spans, spans_at_a_time(task->line.n_steps), false, NULL};
	return fricp_parallel_phases(context, fricp_team_size(context, c->n), &phase, 1, &sweep);
}

/* Adds up spans in contact order, like fric_evaluate. @return FRIC_E_STOPPED, or FRIC_E_NOT_FINITE without a contact if
 * a sum overflows */
static struct fault add_up(const struct fric_context *context, const struct line_task *task, double *potential,
                           double *slope)
{
	const struct fric_contacts *c = task->kernel.contacts;
	const size_t m = task->line.n_steps;
	struct span span;
	bool finite = true;
	memset(potential, 0, m * sizeof(*potential));
	memset(slope, 0, m * sizeof(*slope));
	for (size_t i = 0; i < c->n; i += span.n) {
		if (fricp_stop_raised(context))
			return (struct fault){FRIC_E_STOPPED, SIZE_MAX};
		span = span_at(c, i);
		const double *sums = task->sums + span_slot(span) * 2 * m;
		for (size_t k = 0; k < m; k++) {
			potential[k] += sums[k];
			slope[k] += sums[m + k];
		}
	}
	for (size_t k = 0; k < m; k++)
		finite &= isfinite(potential[k]) && isfinite(slope[k]);
	return (struct fault){finite ? FRIC_OK : FRIC_E_NOT_FINITE, c->n};
}

/* Finds the cause of a sum that is not finite: the scalar form evaluates each contact again. */
static struct fault blame(const struct fric_context *context, struct line_task *task)
{
	task->kernel.kernels = &fricp_kernels_scalar;
	const struct fault fault = run(context, task);
	return fault.code ? fault : (struct fault){FRIC_E_NOT_FINITE, task->kernel.contacts->n};
}

/* The vertices' part of fric_line. */
static enum fric_code line_of_vertices(const struct fric_context *context, const struct fric_contacts *contacts,
                                       const struct fric_query *query, const double *direction, size_t n_steps,
                                       const double *steps, double *potential, double *slope, struct fric_error *error)
{
	const size_t bytes = span_slots(contacts->n) * 2 * n_steps * sizeof(double);
	struct line_task task = {fricp_kernel_task(context, contacts, query, KERNEL_POTENTIAL),
	                         {direction, steps, n_steps, largest_step(steps, n_steps)},
	                         NULL};
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	task.sums = memory_take(context->memory, bytes);
	if (!task.sums)
		return fricp_report_fault(contacts, fault, error);
	fault = run(context, &task);
	if (fault.code == FRIC_OK)
		fault = add_up(context, &task, potential, slope);
	if (fault.code == FRIC_E_NOT_FINITE && fault.position == contacts->n)
		fault = blame(context, &task);
	memory_give(context->memory, task.sums, bytes);
	return fricp_report_fault(contacts, fault, error);
}

enum fric_code fric_line(const struct fric_context *context, const struct fric_contacts *contacts,
                         const struct fric_query *query, const double *direction, size_t n_steps, const double *steps,
                         double *potential, double *slope, struct fric_error *error)
{
	if (n_steps == 0)
		return FRIC_OK;
	contacts = contacts_for(contacts, query);
	const enum fric_code code =
		line_of_vertices(context, contacts, query, direction, n_steps, steps, potential, slope, error);
	if (code != FRIC_OK || !contacts->bodies)
		return code;
	return fricp_bodies_line(context, contacts, query, direction, n_steps, steps, potential, slope, error);
}
