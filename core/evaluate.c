/* Potential and gradient. Contacts are evaluated in blocks; a vertex adds up its forces in contact order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "memory.h"
#include "scatter.h"
#include "schedule.h"

enum { LANES = 8, SPANS_BETWEEN_STOPS = 64 };

struct evaluation {
	const struct fric_context *context;
	struct block_task block;
	double *potentials; /* [span_slots] sums of spans, or NULL */
	double *gradient;   /* or NULL */
	double *forces;     /* [n, dim] of each contact if they are kept, or NULL */
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

static void keep_potential(const struct evaluation *task, struct span span, const struct kernel_block *b)
{
	double lane[LANES] = {0};
	if (!task->potentials)
		return;
	size_t j = 0;
	for (; j + LANES <= span.n; j += LANES)
		for (size_t l = 0; l < LANES; l++)
			lane[l] += b->potential[j + l];
	for (; j < span.n; j++)
		lane[j % LANES] += b->potential[j];
	task->potentials[span_slot(span)] = sum_lanes(lane);
}

/* Contacts one after the other: forces are kept, or added up by this thread, which is then the only one. */
static void evaluate_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct evaluation *task = data;
	const struct fric_contacts *c = task->block.contacts;
	struct kernel_block block;
	(void)chunk;
	for (size_t at = begin; at < end;) {
		const struct span span = next_span(c, at, end);
		if (!block_run(&task->block, span, &block, fault))
			return;
		keep_potential(task, span, &block);
		if (task->forces)
			block_forces((size_t)c->dim, span, &block, task->forces + at * (size_t)c->dim);
		else if (task->gradient)
			scatter_block(c, span, &block, task->gradient);
		at += span.n;
	}
}

/* A span of a part, whose vertices are [first, last). */
static bool evaluate_span(const struct evaluation *task, struct span span, int32_t first, int32_t last,
                          struct fault *fault)
{
	const struct fric_contacts *c = task->block.contacts;
	const struct span_range range = c->ranges[span_slot(span)];
	struct kernel_block block;
	double forces[FRIC_BLOCK * 3];
	if (!block_run(&task->block, span, &block, fault))
		return false;
	if (range.lowest >= first) /* else another part does that */
		keep_potential(task, span, &block);
	if (range.lowest >= first && range.highest < last) {
		scatter_block(c, span, &block, task->gradient);
	} else {
		block_forces((size_t)c->dim, span, &block, forces);
		scatter_part(c, span, forces, first, last, task->gradient);
	}
	return true;
}

/* The same with kept forces. */
static void gather_span(const struct evaluation *task, struct span span, int32_t first, int32_t last)
{
	const struct fric_contacts *c = task->block.contacts;
	const struct span_range range = c->ranges[span_slot(span)];
	const double *forces = task->forces + span.begin * (size_t)c->dim;
	if (range.lowest >= first && range.highest < last)
		scatter_rows(c, span, forces, task->gradient);
	else
		scatter_part(c, span, forces, first, last, task->gradient);
}

/* The position of faults that are nobody's. */
static struct fault overflow(const struct evaluation *task)
{
	return (struct fault){FRIC_E_NOT_FINITE, task->block.contacts->n};
}

static void work_on_part(void *data, size_t part, size_t begin, size_t end, struct fault *fault)
{
	const struct evaluation *task = data;
	const struct fric_contacts *c = task->block.contacts;
	const struct schedule *s = &task->schedule;
	const int32_t first = s->first_vertex[part], last = s->first_vertex[part + 1];
	double *gradient = task->gradient + (size_t)first * (size_t)c->dim;
	const size_t n = (size_t)(last - first) * (size_t)c->dim;
	(void)begin;
	(void)end;
	memset(gradient, 0, n * sizeof(double));
	for (size_t i = s->first_span[part]; i < s->first_span[part + 1]; i++) {
		const struct span span = span_at(c, (size_t)s->begins[i]);
		if (task->forces)
			gather_span(task, span, first, last);
		else if (!evaluate_span(task, span, first, last, fault))
			return;
		if (i % SPANS_BETWEEN_STOPS == 0 && stop_raised(task->context))
			return; /* parallel_phases looks at the flag afterwards */
	}
	if (!c->ordinary && !all_finite(gradient, n))
		*fault = overflow(task);
}

/* One thread, everything in contact order. */
static struct fault evaluate_in_order(struct evaluation *task)
{
	const struct fric_contacts *c = task->block.contacts;
	const size_t ndof = c->n_vertices * (size_t)c->dim;
	const struct phase phase = {evaluate_chunk, c->n, FRIC_CHUNK, true, NULL};
	memset(task->gradient, 0, ndof * sizeof(double));
	const struct fault fault = parallel_phases(task->context, 1, &phase, 1, task);
	return fault.code == FRIC_OK && !c->ordinary && !all_finite(task->gradient, ndof) ? overflow(task) : fault;
}

static struct fault evaluate_parts(struct evaluation *task)
{
	const struct fric_contacts *c = task->block.contacts;
	const struct phase phases[] = {{evaluate_chunk, c->n, FRIC_CHUNK, true, NULL},
	                               {work_on_part, task->schedule.n_parts, 1, false, NULL}};
	const int n_threads = team_size(task->context, c->n);
	const size_t bytes = c->n * (size_t)c->dim * sizeof(double);
	if (!task->schedule.keeps_forces)
		return parallel_phases(task->context, n_threads, phases + 1, 1, task);
	task->forces = memory_take(task->context->memory, bytes);
	if (!task->forces)
		return (struct fault){FRIC_E_MEMORY, SIZE_MAX};
	const struct fault fault = parallel_phases(task->context, n_threads, phases, 2, task);
	memory_give(task->context->memory, task->forces, bytes);
	return fault;
}

static bool sum_potentials(const struct evaluation *task, double *potential)
{
	double sum = 0;
	for (size_t slot = 0; slot < span_slots(task->block.contacts->n); slot++)
		sum += task->potentials[slot];
	*potential = sum;
	return isfinite(sum);
}

/* A sum that is not finite: is one contact alone at fault? The scalar form looks at each of them. */
static struct fault blame(const struct evaluation *task)
{
	struct evaluation again = {.block = task->block};
	again.block.kernels = &fric_kernels_scalar;
	const struct fault fault = parallel_chunks(task->context, task->block.contacts->n, evaluate_chunk, &again);
	return fault.code ? fault : overflow(task);
}

static struct fault evaluate_gradient(struct evaluation *task)
{
	const struct fric_contacts *c = task->block.contacts;
	if (!schedule_make(c, team_size(task->context, c->n), &task->schedule))
		return (struct fault){FRIC_E_MEMORY, SIZE_MAX};
	return task->schedule.n_parts ? evaluate_parts(task) : evaluate_in_order(task);
}

static struct fault evaluate(struct evaluation *task, double *potential)
{
	const struct fric_contacts *c = task->block.contacts;
	struct fault fault = task->gradient ? evaluate_gradient(task)
	                                    : parallel_contacts(task->context, c, evaluate_chunk, task);
	if (fault.code == FRIC_OK && potential && !sum_potentials(task, potential))
		fault = overflow(task);
	return fault.code == FRIC_E_NOT_FINITE && fault.position >= c->n ? blame(task) : fault;
}

enum fric_code fric_evaluate(const struct fric_context *context, const struct fric_contacts *contacts,
                             const double *velocities, double *potential, double *gradient, struct fric_error *error)
{
	struct evaluation task = {.context = context,
	                          .block = {contacts, kernels_of(context), velocities, potential,
	                                    gradient ? BLOCK_FORCE : BLOCK_POTENTIAL, FRIC_PROJECT_NONE},
	                          .gradient = gradient};
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	if (potential)
		task.potentials = calloc(span_slots(contacts->n), sizeof(double));
	if (!potential || task.potentials)
		fault = evaluate(&task, potential);
	free(task.potentials);
	schedule_free(&task.schedule);
	return report_fault(contacts, fault, error);
}
