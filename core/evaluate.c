/* Potential and gradient. Contacts are evaluated in blocks; a vertex adds up its forces in contact order. */
#include <math.h>
#include <string.h>

#include "block.h"
#include "memory.h"
#include "scatter.h"

enum { LANES = 8 };

struct evaluation {
	struct block_task block;
	double *potentials; /* [n_chunks] partial sums, or NULL */
	double *forces;     /* [n, dim] of each contact; NULL: straight into the gradient, by one thread */
	double *gradient;   /* or NULL */
	int32_t *lowest, *highest; /* [n_chunks] vertices of a chunk */
};

static void keep_forces(const struct evaluation *task, struct span span, const struct kernel_block *b)
{
	const size_t dim = (size_t)task->block.contacts->dim;
	double *out = task->forces + span.begin * dim;
	for (size_t j = 0; j < span.n; j++)
		for (size_t d = 0; d < dim; d++)
			out[j * dim + d] = b->force[d][j];
}

/* Which vertices a chunk touches: a part whose vertices are all others need not look at it. */
static void keep_bounds(const struct evaluation *task, size_t chunk, size_t begin, size_t end)
{
	const struct fric_contacts *c = task->block.contacts;
	int32_t lowest = INT32_MAX, highest = 0;
	for (size_t at = begin; at < end;) {
		const size_t stop = c->start[contact_type(c, at) + 1] < end ? c->start[contact_type(c, at) + 1] : end;
		for (int v = 0; v < fric_stencil_size(contact_type(c, at)); v++)
			for (size_t i = at; i < stop; i++) {
				lowest = c->vertices[v][i] < lowest ? c->vertices[v][i] : lowest;
				highest = c->vertices[v][i] > highest ? c->vertices[v][i] : highest;
			}
		at = stop;
	}
	task->lowest[chunk] = lowest;
	task->highest[chunk] = highest;
}

static double sum_lanes(const double lane[LANES])
{
	return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static void evaluate_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct evaluation *task = data;
	struct kernel_block block;
	double lane[LANES] = {0};
	for (size_t at = begin; at < end;) {
		const struct span span = next_span(task->block.contacts, at, end);
		if (!block_run(&task->block, span, &block, fault))
			return;
		for (size_t j = 0; j < span.n; j++)
			lane[j % LANES] += block.potential[j];
		if (task->forces)
			keep_forces(task, span, &block);
		else if (task->gradient)
			scatter_block(task->block.contacts, span, &block, task->gradient);
		at += span.n;
	}
	if (task->potentials)
		task->potentials[chunk] = sum_lanes(lane);
	if (task->forces)
		keep_bounds(task, chunk, begin, end);
}

/* Each part owns a range of vertices and walks over all chunks: the order of additions is that of the contacts. */
static void gather_part(void *data, int part, int n_parts)
{
	const struct evaluation *task = data;
	const struct fric_contacts *c = task->block.contacts;
	const size_t n = c->n_vertices, p = (size_t)part, all = (size_t)n_parts, dim = (size_t)c->dim;
	const int32_t first = (int32_t)(n * p / all), last = (int32_t)(n * (p + 1) / all);
	memset(task->gradient + (size_t)first * dim, 0, (size_t)(last - first) * dim * sizeof(double));
	for (size_t chunk = 0; chunk < n_chunks(c->n); chunk++) {
		const size_t begin = chunk * FRIC_CHUNK, end = begin + FRIC_CHUNK < c->n ? begin + FRIC_CHUNK : c->n;
		if (task->highest[chunk] < first || task->lowest[chunk] >= last)
			continue;
		if (task->lowest[chunk] >= first && task->highest[chunk] < last)
			scatter_whole(c, task->forces, begin, end, task->gradient);
		else
			scatter_part(c, task->forces, begin, end, first, last, task->gradient);
	}
}

static enum fric_code sum_potentials(const struct evaluation *task, double *potential)
{
	double sum = 0;
	for (size_t chunk = 0; chunk < n_chunks(task->block.contacts->n); chunk++)
		sum += task->potentials[chunk];
	*potential = sum;
	return isfinite(sum) ? FRIC_OK : FRIC_E_NOT_FINITE;
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

/* A sum that is not finite: is one contact alone at fault? The scalar form looks at each of them. */
static enum fric_code blame(const struct fric_context *context, const struct evaluation *task, struct fric_error *error)
{
	struct evaluation again = {.block = task->block};
	again.block.kernels = &fric_kernels_scalar;
	const struct fault fault = parallel_chunks(context, task->block.contacts->n, evaluate_chunk, &again);
	return fault.code ? report_fault(task->block.contacts, fault, error) : report_code(FRIC_E_NOT_FINITE, error);
}

static enum fric_code evaluate(const struct fric_context *context, struct evaluation *task, double *potential,
                               struct fric_error *error)
{
	const struct fric_contacts *c = task->block.contacts;
	const size_t ndof = c->n_vertices * (size_t)c->dim;
	if (task->gradient && !task->forces)
		memset(task->gradient, 0, ndof * sizeof(double));
	const struct fault fault = parallel_chunks(context, c->n, evaluate_chunk, task);
	enum fric_code code = report_fault(c, fault, error);
	if (code == FRIC_OK && potential && task->potentials)
		code = sum_potentials(task, potential);
	if (code == FRIC_OK && task->forces)
		parallel_parts(context, c->n, gather_part, task);
	if (code == FRIC_OK && task->gradient && !all_finite(task->gradient, ndof))
		code = FRIC_E_NOT_FINITE;
	return code == FRIC_E_NOT_FINITE && fault.code == FRIC_OK ? blame(context, task, error) : code;
}

enum fric_code fric_evaluate(const struct fric_context *context, const struct fric_contacts *contacts,
                             const double *velocities, double *potential, double *gradient, struct fric_error *error)
{
	const size_t n = contacts->n, chunks = n_chunks(n) + 1;
	const size_t forces_bytes = n * (size_t)contacts->dim * sizeof(double);
	const bool parallel = gradient && context->n_threads > 1 && n_chunks(n) > 1;
	struct evaluation task = {.block = {contacts, kernels_of(context), velocities,
	                                    potential, gradient ? BLOCK_FORCE : BLOCK_POTENTIAL, FRIC_PROJECT_NONE},
	                          .gradient = gradient};
	enum fric_code code = FRIC_E_MEMORY;
	task.potentials = potential ? malloc(chunks * sizeof(double)) : NULL;
	task.forces = parallel ? memory_take(context->memory, forces_bytes) : NULL;
	task.lowest = parallel ? malloc(2 * chunks * sizeof(int32_t)) : NULL;
	task.highest = parallel && task.lowest ? task.lowest + chunks : NULL;
	if ((!potential || task.potentials) && (!parallel || (task.forces && task.lowest)))
		code = evaluate(context, &task, potential, error);
	else
		report_code(code, error);
	free(task.potentials);
	memory_give(context->memory, task.forces, forces_bytes);
	free(task.lowest);
	return code;
}
