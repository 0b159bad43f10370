#include "core/assemble/barrier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/assemble/blocks.h"
#include "core/barrier/mollifier.h"
#include "core/base/memory.h"
#include "core/kernels/kernels.h"
#include "core/motion/stencil.h"
#include "core/order/sums.h"
#include "core/order/sweep.h"

static struct scatter scatter_to(const struct fric_context *context, const struct fric_contacts *c, double *sums)
{
	return (struct scatter){.gamma = fricp_kernels_of(context)->gamma, .sums = sums, .width = c->dim};
}

/* ---- potential and gradient ---- */

struct evaluation {
	const struct fric_current *current;
	double *potentials; /* [span_slots] sums of spans */
};

static bool has_mollified(const struct fric_current *current, struct span span)
{
	uint8_t forms = 0;
	for (size_t i = span.begin; i < span.begin + span.n && span.type == FRIC_EDGE_EDGE; i++)
		forms |= current->form[i];
	return forms & FORM_MOLLIFIED;
}

static double contact_energy(const struct fric_current *current, size_t i)
{
	const bool mollified = current->form[i] & FORM_MOLLIFIED;
	return mollified ? current->energy[i] * fricp_mollifier(current, i).value : current->energy[i];
}

static void potential_span(void *data, struct span span, struct fault *fault)
{
	const struct evaluation *task = data;
	const struct fric_current *current = task->current;
	const bool mollified = has_mollified(current, span);
	double energies[FRIC_SPAN];
	(void)fault;
	for (size_t j = 0; j < span.n && mollified; j++)
		energies[j] = contact_energy(current, span.begin + j);
	task->potentials[span_slot(span)] = sum_of_span(mollified ? energies : current->energy + span.begin, span.n);
}

static struct fault evaluate_potential(const struct fric_context *context, const struct fric_current *current,
                                       double *potential)
{
	struct evaluation task = {current, calloc(span_slots(current->at.n), sizeof(double))};
	double sum = 0;
	if (!task.potentials)
		return (struct fault){FRIC_E_MEMORY, SIZE_MAX};
	struct fault fault = fricp_sweep_run(context, &current->at, potential_span, &task);
	for (size_t slot = 0; slot < span_slots(current->at.n); slot++)
		sum += task.potentials[slot];
	free(task.potentials);
	*potential = sum;
	if (fault.code == FRIC_OK && !isfinite(sum))
		fault = (struct fault){FRIC_E_NOT_FINITE, current->at.n};
	return fault;
}

static void gradient_at_members(const struct fric_current *current, enum fric_type type, size_t i,
                                double gradient[FRIC_MAX_STENCIL][3])
{
	double w[FRIC_MAX_STENCIL] = {0};
	if (current->form[i] & FORM_MOLLIFIED) {
		fricp_mollified_gradient(current, i, gradient);
		return;
	}
	contact_weights(&current->at, type, i, w);
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		for (int a = 0; a < 3; a++)
			gradient[k][a] = w[k] * (current->slope[i] * current->normal[a][i]);
}

double fricp_barrier_member(const struct fric_query *query, enum fric_type type, size_t i, double *out)
{
	const int dim = query->current->at.dim;
	double gradient[FRIC_MAX_STENCIL][3];
	gradient_at_members(query->current, type, i, gradient);
	for (int e = 0; e < dim * fric_stencil_size(type); e++)
		out[e] = gradient[e / dim][e % dim];
	return contact_energy(query->current, i) / time_step_of(query);
}

/* Forces of each member, of a span with mollified contacts. */
static void member_forces(const struct fric_current *current, struct span span, double *columns)
{
	const int dim = current->at.dim;
	for (size_t j = 0; j < span.n; j++) {
		double gradient[FRIC_MAX_STENCIL][3];
		gradient_at_members(current, span.type, span.begin + j, gradient);
		for (int k = 0; k < FRIC_MAX_STENCIL; k++)
			for (int a = 0; a < dim; a++)
				columns[(size_t)(k * dim + a) * FRIC_SPAN + j] = gradient[k][a];
	}
}

static void forces_span(const struct summation *sums, struct part part, size_t position, struct fault *fault)
{
	const struct fric_current *current = sums->task;
	const struct span span = sweep_span(sums->contacts, position);
	double columns[3 * FRIC_MAX_STENCIL * FRIC_SPAN];
	(void)part;
	(void)fault;
	if (has_mollified(current, span)) {
		member_forces(current, span, columns);
		fricp_scatter_members(&sums->sums[0], position, current->at.dim, columns);
		return;
	}
	for (int a = 0; a < current->at.dim; a++) {
		const double *restrict slope = current->slope + span.begin, *restrict n = current->normal[a] + span.begin;
		double *restrict out = columns + a * FRIC_SPAN;
		for (size_t j = 0; j < span.n; j++)
			out[j] = slope[j] * n[j];
	}
	fricp_scatter_columns(&sums->sums[0], position, columns);
}

static struct fault evaluate_gradient(const struct fric_context *context, const struct fric_query *query,
                                      double *gradient)
{
	const struct fric_current *current = query->current;
	struct scatter at = scatter_to(context, &current->at, gradient);
	struct summation sums = {.context = context,
	                         .contacts = &current->at,
	                         .schedule = query->schedule,
	                         .sums = &at,
	                         .n_sums = 1,
	                         .span = forces_span,
	                         .task = (void *)current};
	return fricp_sums_scheduled(&sums, fricp_sums_run);
}

struct fault fricp_barrier_evaluate(const struct fric_context *context, const struct fric_contacts *contacts,
                                    const struct fric_query *query, double *potential, double *gradient)
{
	struct fault fault = {FRIC_OK, SIZE_MAX};
	(void)contacts;
	if (gradient)
		fault = evaluate_gradient(context, query, gradient);
	if (fault.code == FRIC_OK && potential) {
		fault = evaluate_potential(context, query->current, potential);
		*potential /= time_step_of(query);
		if (fault.code == FRIC_OK && !isfinite(*potential))
			fault = (struct fault){FRIC_E_NOT_FINITE, query->current->at.n};
	}
	return fault;
}

/* ---- products ---- */

struct products {
	const struct fric_query *query;
	enum fric_projection projection;
	size_t n_vectors;
	const double *vectors, *vector; /* all, and the one that is multiplied */
	double *blocks, *out;
};

/* y := H x of one contact, from differences to the first member, so that equal vectors give exactly zero. */
INLINE void multiply(enum fric_type type, int dim, const struct products *task, const struct fric_contacts *c,
                     struct span span, double *columns)
{
	const int k = stencil_size_of(type), first = first_stored(k);
	const size_t n = n_block_numbers(dim, k);
	const double *from = task->blocks + block_at(c, type, span.begin);
	for (size_t j = 0; j < span.n; j++, from += n) {
		double block[FRIC_MAX_STENCIL * 3][FRIC_MAX_STENCIL * 3], x[FRIC_MAX_STENCIL * 3] = {0},
																					   y[FRIC_MAX_STENCIL * 3];
		const double *at = from;
		UNROLL
		for (int p = 0; p < k; p++)
			for (int a = 0; a < dim; a++) {
				const double own = task->vector[member_dof(c, dim, type, p, span.begin + j) + (size_t)a];
				x[dim * p + a] = p < first ? own : first ? own - x[a] : own;
				y[dim * p + a] = 0;
			}
		UNROLL
		for (int p = first; p < k; p++)
			UNROLL
		for (int q = first; q <= p; q++)
			for (int a = 0; a < dim; a++)
				for (int b = 0; b < (p == q ? a + 1 : dim); b++)
					block[dim * p + a][dim * q + b] = block[dim * q + b][dim * p + a] = *at++;
		for (int p = first; p < k; p++)
			for (int a = 0; a < dim; a++) {
				double sum = 0;
				for (int q = dim * first; q < dim * k; q++)
					sum += block[dim * p + a][q] * x[q];
				y[dim * p + a] = sum;
				if (first)
					y[a] -= sum;
			}
		for (int e = 0; e < dim * k; e++)
			columns[(size_t)e * FRIC_SPAN + j] = y[e];
	}
}

INLINE void multiply_type(enum fric_type type, const struct products *task, const struct fric_contacts *c,
                          struct span span, double *columns)
{
	if (c->dim == 2 && closest_point_size_of(type) < 2)
		multiply(type, 2, task, c, span, columns);
	else
		multiply(type, 3, task, c, span, columns);
}

static void product_span(const struct summation *sums, struct part part, size_t position, struct fault *fault)
{
	const struct products *task = sums->task;
	const struct span span = sweep_span(sums->contacts, position);
	double columns[3 * FRIC_MAX_STENCIL * FRIC_SPAN];
	(void)part;
	(void)fault;
	FOR_TYPE(multiply_type, span.type, task, sums->contacts, span, columns)
	fricp_scatter_members(&sums->sums[0], position, sums->contacts->dim, columns);
}

static struct fault multiply_all(struct summation *sums)
{
	struct products *task = sums->task;
	const size_t n = n_dofs(sums->contacts);
	struct fault fault = fricp_blocks(sums->context, sums->contacts, task->query, task->projection, task->blocks);
	for (size_t l = 0; l < task->n_vectors && fault.code == FRIC_OK; l++) {
		*sums->sums = scatter_to(sums->context, sums->contacts, task->out + l * n);
		task->vector = task->vectors + l * n;
		fault = fricp_sums_run(sums);
	}
	return fault;
}

struct fault fricp_block_products(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const struct fric_query *query, enum fric_projection projection, size_t n_vectors,
                                  const double *vectors, double *products)
{
	const size_t bytes = fric_n_inner(contacts) * sizeof(double);
	struct products task = {query, projection, n_vectors, vectors, NULL, memory_take(context->memory, bytes), products};
	struct scatter at;
	struct summation sums = {.context = context,
	                         .contacts = contacts,
	                         .schedule = query->schedule,
	                         .n_sums = 1,
	                         .sums = &at,
	                         .span = product_span,
	                         .task = &task};
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	if (task.blocks)
		fault = fricp_sums_scheduled(&sums, multiply_all);
	memory_give(context->memory, task.blocks, bytes);
	return fault;
}
