/* Potential and gradient: contacts are evaluated in spans, forces added at each vertex in the order of the sweep. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/kernels/run.h"
#include "core/motion/scatter.h"
#include "core/order/schedule.h"
#include "core/order/sweep.h"

enum {
	LANES = 8,
	SPANS_BETWEEN_STOPS = 64,
	AHEAD = 256,           /* vertices */
	FETCH_MOST = 64 << 10, /* bytes; more would be evicted before they are used */
};

struct evaluation {
	const struct fric_context *context;
	struct kernel_task kernel;
	double *potentials; /* [span_slots] sums of spans, or NULL */
	double *gradient;   /* or NULL */
	double *forces;     /* [n, dim] of each contact, if the schedule keeps forces, or NULL */
	struct schedule schedule;
};

static double sum_lanes(const double lane[LANES])
{
	return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* x - x is 0 for every finite x, and NaN otherwise. */
static bool all_finite(const double *x, size_t n)
{
	double sum[LANES] = {0};
	size_t i = 0;
	for (; i + LANES <= n; i += LANES)
		for (int l = 0; l < LANES; l++)
			sum[l] += x[i + (size_t)l] - x[i + (size_t)l];
	for (; i < n; i++)
		sum[0] += x[i] - x[i];
	return sum_lanes(sum) == 0;
}

static void keep_potential(const struct evaluation *task, struct span span, const struct workspace *work)
{
	double lane[LANES] = {0};
	if (!task->potentials)
		return;
	size_t j = 0;
	for (; j + LANES <= span.n; j += LANES)
		for (size_t l = 0; l < LANES; l++)
			lane[l] += work->potential[j + l];
	for (; j < span.n; j++)
		lane[j % LANES] += work->potential[j];
	task->potentials[span_slot(span)] = sum_lanes(lane);
}

static void potential_span(void *data, struct span span, struct fault *fault)
{
	const struct evaluation *task = data;
	struct workspace work;
	if (fricp_run_span(&task->kernel, span, &work, fault))
		keep_potential(task, span, &work);
}

/* The same, and keeps the forces. */
static void forces_span(void *data, struct span span, struct fault *fault)
{
	const struct evaluation *task = data;
	const size_t dim = (size_t)task->kernel.contacts->dim;
	struct workspace work;
	if (!fricp_run_span(&task->kernel, span, &work, fault))
		return;
	keep_potential(task, span, &work);
	forces_in_rows(dim, span, &work, task->forces + span.begin * dim);
}

static void forces_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct evaluation *task = data;
	struct sweep sweep = {task->kernel.contacts, forces_span, data};
	fricp_sweep_chunk(&sweep, chunk, begin, end, fault);
}

static bool lies_within(const struct part *part, struct span_extent extent)
{
	return extent.lowest >= part->first && extent.highest < part->last;
}

/* Evaluates a span and adds its forces at the vertices of a part. */
static bool add_span(const struct evaluation *task, const struct part *part, struct span span, struct fault *fault)
{
	const struct fric_contacts *c = task->kernel.contacts;
	const struct span_extent extent = c->extents[span_slot(span)];
	struct workspace work;
	if (!fricp_run_span(&task->kernel, span, &work, fault))
		return false;
	if (extent.lowest >= part->first) /* otherwise another part keeps it */
		keep_potential(task, span, &work);
	if (lies_within(part, extent))
		fricp_scatter_span(c, span, &work, task->gradient);
	else
		fricp_scatter_span_part(c, span, &work, part->first, part->last, task->gradient);
	return true;
}

/* The same with kept forces. */
static void add_kept(const struct evaluation *task, const struct part *part, struct span span)
{
	const struct fric_contacts *c = task->kernel.contacts;
	const double *forces = task->forces + span.begin * (size_t)c->dim;
	if (lies_within(part, c->extents[span_slot(span)]))
		fricp_scatter_rows(c, span, forces, task->gradient);
	else
		fricp_scatter_rows_part(c, span, forces, part->first, part->last, task->gradient);
}

/* A fault that no single contact is to blame for. */
static struct fault overflow(const struct evaluation *task)
{
	return (struct fault){FRIC_E_NOT_FINITE, task->kernel.contacts->n};
}

/* Prepares vertices [begin, end) for use: sets their sums to zero and prefetches their velocities, in sequence now
 * rather than with a stall for each later. */
static void open_vertices(const struct evaluation *task, int32_t begin, int32_t end)
{
	const size_t dim = (size_t)task->kernel.contacts->dim, first = (size_t)begin * dim;
	const size_t bytes = (size_t)(end - begin) * dim * sizeof(double);
	const char *velocities = (const char *)(task->kernel.velocities + first);
	memset(task->gradient + first, 0, bytes);
	for (size_t at = 0; at < bytes && bytes <= FETCH_MOST && !task->forces; at += FRIC_ALIGNMENT)
		__builtin_prefetch(velocities + at, 0, 2);
}

/* Opens the vertices of a part up to a span's highest, and some more. @return the first that is not open */
static int32_t open_for(const struct evaluation *task, const struct part *part, int32_t opened, int32_t highest)
{
	if (highest < opened || opened == part->last)
		return opened;
	const int32_t next = part->last - highest > AHEAD ? highest + AHEAD : part->last;
	open_vertices(task, opened, next);
	return next;
}

/* Vertices are opened when the sweep reaches them, so that their memory passes through the caches once. */
static void work_on_part(void *data, size_t index, size_t begin, size_t end, struct fault *fault)
{
	const struct evaluation *task = data;
	const struct fric_contacts *c = task->kernel.contacts;
	const struct part part = fricp_schedule_part(c, &task->schedule, index);
	int32_t opened = part.first;
	(void)begin;
	(void)end;
	for (size_t i = 0; i < part.n_slots; i++) {
		const struct span_extent extent = c->extents[part.slots[i]];
		const struct span span = span_at(c, (size_t)extent.begin);
		opened = open_for(task, &part, opened, extent.highest);
		if (task->forces)
			add_kept(task, &part, span);
		else if (!add_span(task, &part, span, fault))
			return;
		if (i % SPANS_BETWEEN_STOPS == 0 && fricp_stop_raised(task->context))
			return; /* fricp_parallel_phases looks at the flag afterwards */
	}
	open_vertices(task, opened, part.last);
	const size_t dim = (size_t)c->dim;
	if (!task->kernel.ordinary &&
	    !all_finite(task->gradient + (size_t)part.first * dim, (size_t)(part.last - part.first) * dim))
		*fault = overflow(task);
}

static struct fault add_up(struct evaluation *task)
{
	const struct fric_contacts *c = task->kernel.contacts;
	const struct phase phases[] = {{forces_chunk, c->n_spans, SWEEP_CHUNK, false, NULL},
	                               {work_on_part, task->schedule.n_parts, 1, false, NULL}};
	const int n_threads = fricp_team_size(task->context, c->n);
	const size_t bytes = c->n * (size_t)c->dim * sizeof(double);
	if (!task->schedule.keeps_forces)
		return fricp_parallel_phases(task->context, n_threads, phases + 1, 1, task);
	task->forces = memory_take(task->context->memory, bytes);
	if (!task->forces)
		return (struct fault){FRIC_E_MEMORY, SIZE_MAX};
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
	if (!fricp_schedule_make(c, fricp_team_size(task->context, c->n), &task->schedule))
		return (struct fault){FRIC_E_MEMORY, SIZE_MAX};
	return add_up(task);
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

enum fric_code fric_evaluate(const struct fric_context *context, const struct fric_contacts *contacts,
                             const struct fric_question *question, double *potential, double *gradient,
                             struct fric_error *error)
{
	const enum kernel_result result = gradient ? KERNEL_FORCE : KERNEL_POTENTIAL;
	struct evaluation task = {
		.context = context, .kernel = fricp_kernel_task(context, contacts, question, result), .gradient = gradient};
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	task.kernel.potentials = potential;
	if (potential)
		task.potentials = calloc(span_slots(contacts->n), sizeof(double));
	if (!potential || task.potentials)
		fault = evaluate(&task, potential);
	free(task.potentials);
	fricp_schedule_free(&task.schedule);
	return fricp_report_fault(contacts, fault, error);
}
