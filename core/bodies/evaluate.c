#include "core/bodies/evaluate.h"

#include <math.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/vectors.h"

struct evaluation {
	const struct fric_contacts *b;
	const struct coefficients *coefficients;
	const double *velocities;
	double *potentials; /* [chunks] sums, or NULL */
	double *each;       /* [n] potentials, or NULL */
	double *wrenches;   /* [n_actions, n_body_dofs] or NULL */
};

bool fricp_store_wrenches(const struct fric_contacts *b, size_t i, const struct action *action, double *wrenches)
{
	const size_t m = (size_t)n_body_dofs(b->dim), k = (size_t)n_bodies_of(contact_type(b, i));
	double *out = wrenches + first_action(b, i) * m;
	for (size_t j = 0; j < k; j++)
		wrench_of(b, b->dim, (int)j, i, action, out + j * m);
	return all_finite(out, k * m);
}

static void add_row(double *sum, const double *row, size_t width)
{
	for (size_t e = 0; e < width; e++)
		sum[e] += row[e];
}

struct fault fricp_add_actions(const struct fric_context *context, const struct fric_contacts *b, const double *rows,
                               size_t width, double *sums)
{
	const size_t pairs = b->start[FRIC_BODY_BODY + 1];
	fricp_zero(context, sums, b->n_vertices * width * sizeof(*sums));
	for (size_t i = 0; i < b->n; i++) {
		const double *row = rows + first_action(b, i) * width;
		if (i % FRIC_CHUNK == 0 && fricp_stop_raised(context))
			break;
		add_row(sums + (size_t)b->vertices[0][i] * width, row, width);
		if (i < pairs)
			add_row(sums + (size_t)b->vertices[1][i] * width, row + width, width);
	}
	if (fricp_stop_raised(context))
		return (struct fault){FRIC_E_STOPPED, SIZE_MAX};
	return all_finite(sums, b->n_vertices * width) ? (struct fault){FRIC_OK, SIZE_MAX} : body_overflow(b);
}

/* @return whether everything is finite */
static bool evaluate_contact(const struct evaluation *task, size_t i, double *sum)
{
	const struct fric_contacts *b = task->b;
	struct slip slip;
	struct action action = {{0}, {0}};
	double potential = 0;
	body_slip_of(b, task->coefficients, contact_type(b, i), i, task->velocities, &slip);
	if (!slip_finite(&slip))
		return false;
	if (task->potentials || task->each)
		potential = contact_potential(b, i, &slip);
	if (task->each)
		task->each[i] = potential;
	*sum += potential;
	if (!task->wrenches)
		return isfinite(potential);
	body_action(b, i, &slip, &action);
	return fricp_store_wrenches(b, i, &action, task->wrenches) && isfinite(potential);
}

static void evaluate_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct evaluation *task = data;
	double sum = 0;
	for (size_t i = begin; i < end && fault->code == FRIC_OK; i++)
		if (!evaluate_contact(task, i, &sum))
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
	if (task->potentials)
		task->potentials[chunk] = sum;
}

static double sum_of(const double *x, size_t n)
{
	double sum = 0;
	for (size_t e = 0; e < n; e++)
		sum += x[e];
	return sum;
}

static struct fault evaluate(const struct fric_context *context, struct evaluation *task, double *potential,
                             double *gradient)
{
	const struct fric_contacts *b = task->b;
	struct fault fault = fricp_parallel_chunks(context, b->n, evaluate_chunk, task);
	if (fault.code != FRIC_OK)
		return fault;
	if (potential)
		*potential += sum_of(task->potentials, n_chunks(b->n, FRIC_CHUNK));
	if (gradient)
		fault = fricp_add_actions(context, b, task->wrenches, (size_t)n_body_dofs(b->dim), gradient + b->first_dof);
	return fault.code == FRIC_OK && potential && !isfinite(*potential) ? body_overflow(b) : fault;
}

enum fric_code fricp_bodies_evaluate(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_query *query, double *potential, double *gradient,
                                     struct fric_error *error)
{
	const struct fric_contacts *b = contacts->bodies;
	const size_t chunks = potential ? n_chunks(b->n, FRIC_CHUNK) : 0;
	const size_t wrenches = gradient ? n_actions(b) * (size_t)n_body_dofs(b->dim) : 0;
	const size_t bytes = (chunks + wrenches + 1) * sizeof(double);
	double *room = memory_take(context->memory, bytes);
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	struct evaluation task = {
		.b = b, .coefficients = body_coefficients_for(contacts, query), .velocities = query->velocities};
	if (room) {
		task.potentials = potential ? room : NULL;
		task.wrenches = gradient ? room + chunks : NULL;
		fault = evaluate(context, &task, potential, gradient);
	}
	memory_give(context->memory, room, bytes);
	return fricp_report_fault(b, fault, error);
}

enum fric_code fricp_bodies_actions(const struct fric_context *context, const struct fric_contacts *contacts,
                                    const struct fric_query *query, double *potentials, double *wrenches,
                                    struct fric_error *error)
{
	const struct fric_contacts *b = contacts->bodies;
	struct evaluation task = {.b = b,
	                          .coefficients = body_coefficients_for(contacts, query),
	                          .velocities = query->velocities,
	                          .each = potentials,
	                          .wrenches = wrenches};
	return fricp_report_fault(b, fricp_parallel_chunks(context, b->n, evaluate_chunk, &task), error);
}

/* ---- a line ---- */

struct line {
	const struct fric_contacts *b;
	const struct coefficients *coefficients;
	const double *velocities, *direction, *steps;
	size_t n_steps;
	double *sums; /* [chunks, 2, n_steps] sums of potentials and of slopes */
};

static bool line_contact(const struct line *task, size_t i, double *sums)
{
	const struct fric_contacts *b = task->b;
	const enum fric_type type = contact_type(b, i);
	struct slip slip, change;
	double along[MOST_SLIP] = {0};
	body_slip_velocity(b, type, i, task->velocities, &slip);
	body_slip_change(b, type, i, task->direction, &change);
	const struct slip_line line = slip_line_through(&slip, &change);
	for (size_t k = 0; k < task->n_steps; k++) {
		if (!slip_on_line(b, task->coefficients, i, &line, task->steps[k], &slip, along))
			return false;
		const double potential = contact_potential(b, i, &slip), slope = contact_slope(b, i, &slip, &line, along);
		if (!isfinite(potential) || !isfinite(slope))
			return false;
		sums[k] += potential;
		sums[task->n_steps + k] += slope;
	}
	return true;
}

static void line_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct line *task = data;
	double *sums = task->sums + chunk * 2 * task->n_steps;
	memset(sums, 0, 2 * task->n_steps * sizeof(*sums));
	for (size_t i = begin; i < end && fault->code == FRIC_OK; i++)
		if (!line_contact(task, i, sums))
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
}

/* Adds the sums of all chunks, in order. @return FRIC_E_STOPPED, or body_overflow if a sum is not finite */
static struct fault add_up(const struct fric_context *context, const struct line *task, double *potential,
                           double *slope)
{
	const size_t m = task->n_steps, chunks = n_chunks(task->b->n, FRIC_CHUNK);
	bool finite = true;
	for (size_t k = 0; k < m; k++) {
		double sums[2] = {0};
		if (fricp_stop_raised(context))
			return (struct fault){FRIC_E_STOPPED, SIZE_MAX};
		for (size_t chunk = 0; chunk < chunks; chunk++) {
			sums[0] += task->sums[chunk * 2 * m + k];
			sums[1] += task->sums[chunk * 2 * m + m + k];
		}
		potential[k] += sums[0];
		slope[k] += sums[1];
		finite &= isfinite(potential[k]) && isfinite(slope[k]);
	}
	return finite ? (struct fault){FRIC_OK, SIZE_MAX} : body_overflow(task->b);
}

enum fric_code fricp_bodies_line(const struct fric_context *context, const struct fric_contacts *contacts,
                                 const struct fric_query *query, const double *direction, size_t n_steps,
                                 const double *steps, double *potential, double *slope, struct fric_error *error)
{
	const struct fric_contacts *b = contacts->bodies;
	const size_t bytes = (n_chunks(b->n, FRIC_CHUNK) * 2 * n_steps + 1) * sizeof(double);
	struct line task = {b,       body_coefficients_for(contacts, query), query->velocities, direction, steps,
	                    n_steps, memory_take(context->memory, bytes)};
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	if (task.sums)
		fault = fricp_parallel_chunks(context, b->n, line_chunk, &task);
	if (fault.code == FRIC_OK)
		fault = add_up(context, &task, potential, slope);
	memory_give(context->memory, task.sums, bytes);
	return fricp_report_fault(b, fault, error);
}
