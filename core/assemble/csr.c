/* The values of a CSR matrix: each block row is added up by one thread, over its incidences in contact order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/assemble/hessian.h"
#include "core/assemble/pattern.h"
#include "core/assemble/triangle.h"
#include "core/base/inline.h"
#include "core/base/memory.h"
#include "core/base/vectors.h"
#include "core/motion/stencil.h"

struct accumulation {
	const struct fric_pattern *pattern;
	block_row *row;
	void *task;
	double *data;
};

/* Where entry 0 of row (v, axis) would be if the diagonal block were whole: in `upper`, rows lack its first `axis`
 * entries, in `lower` its last ones. */
static double *row_start(const struct fric_pattern *p, size_t v, size_t axis, double *data)
{
	return data + p->indptr[v * p->dim + axis] - (p->triangle == FRIC_UPPER ? (int64_t)axis : 0);
}

static void add_block(const struct fric_pattern *p, size_t v, size_t place, bool diagonal, const double block[9],
                      double *data)
{
	for (size_t a = 0; a < p->dim; a++) {
		double *row = row_start(p, v, a, data) + place * p->dim;
		for (size_t b = 0; b < p->dim; b++)
			if (!diagonal || in_triangle(p->triangle, (int32_t)a, (int32_t)b))
				row[b] += block[p->dim * a + b];
	}
}

static void accumulate_vertex(const struct accumulation *task, size_t v)
{
	const struct fric_pattern *p = task->pattern;
	double blocks[FRIC_MAX_STENCIL][9];
	for (size_t at = p->first_incidence[v]; at < p->first_incidence[v + 1]; at++) {
		const struct incidence *e = &p->incidences[at];
		task->row(task->task, e->contact, e->corner, blocks);
		for (int j = 0; j < e->size; j++)
			if (e->place[j] != PATTERN_NOWHERE)
				add_block(p, v, e->place[j], j == e->corner, blocks[j], task->data);
	}
}

static bool all_finite(const double *x, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += x[i] * 0;
	return sum == 0;
}

static void accumulate_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct accumulation *task = data;
	const struct fric_pattern *p = task->pattern;
	(void)chunk;
	for (size_t v = fricp_pattern_first_vertex(p, begin); v < p->n_vertices && p->first_incidence[v] < end; v++) {
		const int64_t first = p->indptr[v * p->dim], n = p->indptr[(v + 1) * p->dim] - first;
		memset(task->data + first, 0, (size_t)n * sizeof(double));
		accumulate_vertex(task, v);
		if (!all_finite(task->data + first, n))
			*fault = (struct fault){FRIC_E_NOT_FINITE, begin};
	}
}

struct fault fricp_pattern_accumulate(const struct fric_context *context, const struct fric_pattern *pattern,
                                      block_row *row, void *task, double *data)
{
	struct accumulation accumulation = {pattern, row, task, data};
	return fricp_parallel_chunks(context, pattern->n_incidences, accumulate_chunk, &accumulation);
}

struct friction_blocks {
	const struct fric_contacts *contacts;
	const double *inner;
};

static void friction_block_row(void *data, size_t i, int corner, double blocks[FRIC_MAX_STENCIL][9])
{
	const struct friction_blocks *task = data;
	const struct fric_contacts *c = task->contacts;
	const enum fric_type type = contact_type(c, i);
	double w[FRIC_MAX_STENCIL] = {0}, block[9] = {0};
	stencil_weights(type, c->closest_point[0][i], c->closest_point[1][i], w);
	fricp_core_block(c, task->inner, i, block);
	for (int k = 0; k < fric_stencil_size(type); k++)
		for (int e = 0; e < c->dim * c->dim; e++)
			blocks[k][e] = (w[corner] * w[k]) * block[e];
}

struct fault fricp_csr_plain(const struct fric_context *context, const struct fric_contacts *contacts,
                             const double *inner, const struct fric_pattern *pattern, double *data)
{
	struct friction_blocks blocks = {contacts, inner};
	return fricp_pattern_accumulate(context, pattern, friction_block_row, &blocks, data);
}

/* What each vertex of a contact needs: w, and M's lower triangle by rows, where the first two numbers of any row of M
 * lie side by side. */
struct local {
	double block[6], weights[FRIC_MAX_STENCIL];
};

struct csr_task {
	const struct fric_contacts *contacts;
	const double *inner;
	const struct fric_pattern *pattern;
	struct local *locals;
	double *data;
};

static void local_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct csr_task *task = data;
	const struct fric_contacts *c = task->contacts;
	(void)chunk;
	(void)fault;
	for (size_t i = begin; i < end; i++) {
		struct local *local = &task->locals[i];
		double block[9];
		stencil_weights(contact_type(c, i), c->closest_point[0][i], c->closest_point[1][i], local->weights);
		fricp_core_block(c, task->inner, i, block);
		for (int a = 0, at = 0; a < c->dim; a++)
			for (int b = 0; b <= a; b++)
				local->block[at++] = block[c->dim * a + b];
	}
}

/* Adds w M to three (in 2D two) rows, from `column` on. */
INLINE void add_whole(int dim, const double *m, double w, double *const *rows, size_t column)
{
	add_double2(rows[0] + column, w * load_double2(m));
	add_double2(rows[1] + column, w * load_double2(m + 1));
	if (dim == 2)
		return;
	add_double2(rows[2] + column, w * load_double2(m + 3));
	rows[0][column + 2] += w * m[3];
	rows[1][column + 2] += w * m[4];
	rows[2][column + 2] += w * m[5];
}

INLINE void add_cut(int dim, bool upper, const double *m, double w, double *const *rows, size_t column)
{
	for (int a = 0; a < dim; a++)
		for (int b = upper ? a : 0; b < (upper ? dim : a + 1); b++)
			rows[a][column + (size_t)b] += w * m[a > b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a];
}

enum { AHEAD = 8 }; /* incidences: their contacts are fetched this early; without locality each would stall */

INLINE void add_incidences(const struct csr_task *task, int dim, bool full, size_t v)
{
	const struct fric_pattern *p = task->pattern;
	double *rows[3];
	for (int a = 0; a < dim; a++)
		rows[a] = row_start(p, v, (size_t)a, task->data);
	for (size_t at = p->first_incidence[v]; at < p->first_incidence[v + 1]; at++) {
		const struct incidence *e = &p->incidences[at];
		const struct local *local = &task->locals[e->contact];
		const double corner = local->weights[e->corner];
		if (at + AHEAD < p->n_incidences) {
			const char *later = (const char *)&task->locals[p->incidences[at + AHEAD].contact];
			__builtin_prefetch(later);
			__builtin_prefetch(later + sizeof(struct local) - 1);
		}
		for (int j = 0; j < e->size; j++) {
			const size_t column = (size_t)dim * e->place[j];
			if (!full && e->place[j] == PATTERN_NOWHERE)
				continue;
			if (!full && j == e->corner)
				add_cut(dim, p->triangle == FRIC_UPPER, local->block, corner * local->weights[j], rows, column);
			else
				add_whole(dim, local->block, corner * local->weights[j], rows, column);
		}
	}
}

INLINE void sum_rows(const struct csr_task *task, int dim, bool full, size_t begin, size_t end, struct fault *fault)
{
	const struct fric_pattern *p = task->pattern;
	for (size_t v = fricp_pattern_first_vertex(p, begin); v < p->n_vertices && p->first_incidence[v] < end; v++) {
		const int64_t first = p->indptr[v * p->dim], n = p->indptr[(v + 1) * p->dim] - first;
		memset(task->data + first, 0, (size_t)n * sizeof(double));
		add_incidences(task, dim, full, v);
		if (!all_finite(task->data + first, n))
			*fault = (struct fault){FRIC_E_NOT_FINITE, begin};
	}
}

static void sum_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct csr_task *task = data;
	const bool full = task->pattern->triangle == FRIC_FULL;
	(void)chunk;
	if (task->contacts->dim == 2)
		full ? sum_rows(task, 2, true, begin, end, fault) : sum_rows(task, 2, false, begin, end, fault);
	else
		full ? sum_rows(task, 3, true, begin, end, fault) : sum_rows(task, 3, false, begin, end, fault);
}

enum fric_code fric_hessian_csr(const struct fric_context *context, const struct fric_contacts *contacts,
                                const double *inner, const struct fric_pattern *pattern, double *data,
                                struct fric_error *error)
{
	const size_t bytes = contacts->n * sizeof(struct local);
	struct csr_task task = {contacts, inner, pattern, memory_take(context->memory, bytes), data};
	enum fric_code code = FRIC_E_MEMORY;
	if (task.locals)
		code = fricp_parallel_chunks(context, contacts->n, local_chunk, &task).code;
	if (code == FRIC_OK)
		code = fricp_parallel_chunks(context, pattern->n_incidences, sum_chunk, &task).code;
	memory_give(context->memory, task.locals, bytes);
	return report_code(code, error);
}
