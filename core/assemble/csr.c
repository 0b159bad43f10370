/* The values of a CSR matrix: each block row is added up by one thread, over its incidences in contact order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/assemble/hessian.h"
#include "core/assemble/pattern.h"
#include "core/base/delivery.h"
#include "core/base/triangle.h"
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
	return data + p->indptr[vertex_dof(p->dim, v) + axis] - (p->triangle == FRIC_UPPER ? (int64_t)axis : 0);
}

/* The number of entries before the block row of vertex v. */
static size_t first_entry(const struct fric_pattern *p, int dim, size_t v)
{
	return (size_t)p->indptr[vertex_dof(dim, v)];
}

static void add_block(const struct fric_pattern *p, size_t v, size_t place, bool diagonal, const double block[9],
                      double *data)
{
	const size_t n = (size_t)n_vertex_dofs(p->dim);
	for (size_t a = 0; a < n; a++) {
		double *row = row_start(p, v, a, data) + place * n;
		for (size_t b = 0; b < n; b++)
			if (!diagonal || in_triangle(p->triangle, (int32_t)a, (int32_t)b))
				row[b] += block[n * a + b];
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

static void accumulate_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct accumulation *task = data;
	const struct fric_pattern *p = task->pattern;
	(void)chunk;
	for (size_t v = fricp_pattern_first_vertex(p, begin); v < p->n_vertices && p->first_incidence[v] < end; v++) {
		const size_t first = first_entry(p, p->dim, v), n = first_entry(p, p->dim, v + 1) - first;
		memset(task->data + first, 0, n * sizeof(double));
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
	const int n = n_member_dofs(c->dim, type);
	double w[FRIC_MAX_STENCIL] = {0}, block[9] = {0};
	contact_weights(c, type, i, w);
	fricp_core_block(c, task->inner, i, block);
	for (int k = 0; k < fric_stencil_size(type); k++)
		for (int e = 0; e < n * n; e++)
			blocks[k][e] = (w[corner] * w[k]) * block[e];
}

struct fault fricp_csr_plain(const struct fric_context *context, const struct fric_contacts *contacts,
                             const double *inner, const struct fric_pattern *pattern, double *data)
{
	struct friction_blocks blocks = {contacts, inner};
	return fricp_pattern_accumulate(context, pattern, friction_block_row, &blocks, data);
}

/* What each vertex of a contact needs: its weights, 0 beyond the stencil, and M. In 3D that is M's lower triangle by
 * rows, in 2D all of it: either way the sums of a block are whole vectors. */
struct local {
	double block[6], weights[FRIC_MAX_STENCIL];
};

/* Where entry (a, b) of a symmetric block is. */
INLINE size_t entry_of(int dim, int a, int b)
{
	if (dim == 2)
		return 2 * (size_t)a + (size_t)b;
	return (size_t)(a > b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a);
}

INLINE size_t n_kept(int dim)
{
	return dim == 2 ? 4 : 6;
}

struct csr_task {
	const struct fric_contacts *contacts;
	const double *inner;
	const struct fric_pattern *pattern;
	struct local *locals;
	const int64_t *first_block; /* [n_vertices + 1] blocks are laid out one after the other; NULL: in rows */
	double *data;
	bool streams; /* the values do not fit into the caches */
};

INLINE void fill_locals(const struct csr_task *task, int dim, enum fric_type type, size_t begin, size_t end)
{
	const struct fric_contacts *c = task->contacts;
	for (size_t i = begin; i < end; i++) {
		struct local *local = &task->locals[i];
		double block[9];
		memset(local->weights, 0, sizeof(local->weights));
		contact_weights(c, type, i, local->weights);
		fricp_core_block(c, task->inner, i, block);
		for (int a = 0; a < dim; a++)
			for (int b = dim == 2 ? 0 : a; b < dim; b++)
				local->block[entry_of(dim, a, b)] = block[dim * a + b];
	}
}

static void local_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct csr_task *task = data;
	const struct fric_contacts *c = task->contacts;
	(void)chunk;
	(void)fault;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const size_t first = c->start[type] > begin ? c->start[type] : begin;
		const size_t last = c->start[type + 1] < end ? c->start[type + 1] : end;
		if (c->dim == 2)
			fill_locals(task, 2, type, first, last);
		else
			fill_locals(task, 3, type, first, last);
	}
}

enum { AHEAD = 8 }; /* incidences: their contacts are fetched this early; without locality each would stall */

INLINE void fetch_ahead(const struct csr_task *task, size_t at)
{
	if (at + AHEAD >= task->pattern->n_incidences)
		return;
	const char *later = (const char *)&task->locals[task->pattern->incidences[at + AHEAD].contact];
	__builtin_prefetch(later);
	__builtin_prefetch(later + sizeof(struct local) - 1);
}

/* Most block rows are narrow. Their sums are formed in the first-level cache, block after block, and laid out in rows
 * when they are complete. */
enum { NARROW = 64 }; /* neighbours */

/* Clears n blocks and up to three more. Not by memset, which gcc makes a string instruction of: that waits until all
 * that was streamed has arrived. */
INLINE void clear_blocks(int dim, size_t n, double *blocks)
{
	const double2 zero = {0, 0};
	for (size_t i = 0; i < n; i += 4)
		UNROLL
	for (size_t q = 0; q < 4 * n_kept(dim); q += 2)
		memcpy(blocks + i * n_kept(dim) + q, &zero, sizeof(zero));
}

/* What belongs to no entry (PATTERN_NOWHERE) goes into one block more, before the first: cheaper than a branch. */
INLINE void sum_narrow(const struct csr_task *task, int dim, size_t v, size_t n, double *nowhere)
{
	const struct fric_pattern *p = task->pattern;
	const size_t kept = n_kept(dim);
	clear_blocks(dim, n + 1, nowhere);
	for (size_t at = p->first_incidence[v]; at < p->first_incidence[v + 1]; at++) {
		const struct incidence *e = &p->incidences[at];
		const struct local *local = &task->locals[e->contact];
		fetch_ahead(task, at);
		UNROLL
		for (int j = 0; j < FRIC_MAX_STENCIL; j++) {
			const double weight = local->weights[e->corner] * local->weights[j];
			double *to = nowhere + kept * (e->place[j] + 1u);
			UNROLL
			for (size_t q = 0; q < kept; q += 2)
				add_double2(to + q, weight * load_double2(local->block + q));
		}
	}
}

/* A block of three rows, or two, from column `at` on. */
INLINE void lay_out_whole(int dim, const double *sums, double *const *rows, size_t at)
{
	const double2 first = load_double2(sums), second = load_double2(sums + 2);
	if (dim == 2) {
		memcpy(rows[0] + at, &first, sizeof(first));
		memcpy(rows[1] + at, &second, sizeof(second));
		return;
	}
	const double2 third = load_double2(sums + 4), middle = {second[0], third[0]};
	memcpy(rows[0] + at, &first, sizeof(first));
	rows[0][at + 2] = second[1];
	rows[1][at] = first[1];
	memcpy(rows[1] + at + 1, &middle, sizeof(middle));
	rows[2][at] = second[1];
	memcpy(rows[2] + at + 1, &third, sizeof(third));
}

INLINE void lay_out_cut(int dim, bool upper, const double *sums, double *const *rows, size_t at)
{
	for (int a = 0; a < dim; a++)
		for (int b = upper ? a : 0; b < (upper ? dim : a + 1); b++)
			rows[a][at + (size_t)b] = sums[entry_of(dim, a, b)];
}

/* n blocks; in a triangle, that of the diagonal is the first or the last. @param rows  where entry 0 of each row is, or
 * would be if the diagonal block were whole */
INLINE void lay_out(int dim, enum fric_triangle triangle, const double *sums, size_t n, double *const *rows)
{
	const size_t first = triangle == FRIC_UPPER, end = triangle == FRIC_LOWER ? n - 1 : n;
	const size_t width = (size_t)n_vertex_dofs(dim);
	for (size_t i = first; i < end; i++)
		lay_out_whole(dim, sums + i * n_kept(dim), rows, i * width);
	if (triangle == FRIC_UPPER)
		lay_out_cut(dim, true, sums, rows, 0);
	else if (triangle == FRIC_LOWER)
		lay_out_cut(dim, false, sums + end * n_kept(dim), rows, end * width);
}

INLINE void write_narrow(const struct csr_task *task, int dim, size_t v, const double *sums, size_t n,
                         struct delivery *delivery)
{
	const struct fric_pattern *p = task->pattern;
	const int64_t *start = p->indptr + vertex_dof(dim, v);
	const size_t bytes = (size_t)(start[n_vertex_dofs(dim)] - start[0]) * sizeof(double);
	double *const in_place = task->data + start[0], *rows[3];
	double *const out = task->streams ? delivery_place(delivery, bytes, in_place) : in_place;
	for (int a = 0; a < dim; a++)
		rows[a] = out + (start[a] - start[0]) - (p->triangle == FRIC_UPPER ? a : 0);
	if (p->triangle == FRIC_FULL)
		lay_out(dim, FRIC_FULL, sums, n, rows);
	else
		lay_out(dim, p->triangle, sums, n, rows);
}

/* A block as it stands in a row of blocks. */
INLINE void lay_out_block(int dim, const double *sums, double *out)
{
	for (int a = 0; a < dim; a++)
		for (int b = 0; b < dim; b++)
			*out++ = sums[entry_of(dim, a, b)];
}

INLINE void write_blocks(const struct csr_task *task, int dim, size_t v, const double *sums, size_t n,
                         struct delivery *delivery)
{
	const size_t block = (size_t)dim * (size_t)dim, bytes = n * block * sizeof(double);
	double *const in_place = task->data + (size_t)task->first_block[v] * block;
	double *const out = task->streams ? delivery_place(delivery, bytes, in_place) : in_place;
	for (size_t i = 0; i < n; i++)
		lay_out_block(dim, sums + i * n_kept(dim), out + i * block);
}

/* Adds w M to three (in 2D two) rows, from `column` on. */
INLINE void add_whole(int dim, const double *m, double w, double *const *rows, size_t column)
{
	for (int a = 0; a < dim; a++)
		for (int b = 0; b < dim; b++)
			rows[a][column + (size_t)b] += w * m[entry_of(dim, a, b)];
}

INLINE void add_cut(int dim, bool upper, const double *m, double w, double *const *rows, size_t column)
{
	for (int a = 0; a < dim; a++)
		for (int b = upper ? a : 0; b < (upper ? dim : a + 1); b++)
			rows[a][column + (size_t)b] += w * m[entry_of(dim, a, b)];
}

/* A wide block row is added up where it belongs. */
INLINE void sum_wide(const struct csr_task *task, int dim, size_t v)
{
	const struct fric_pattern *p = task->pattern;
	const size_t width = (size_t)n_vertex_dofs(dim);
	double *rows[3];
	for (int a = 0; a < dim; a++)
		rows[a] = row_start(p, v, (size_t)a, task->data);
	for (size_t at = p->first_incidence[v]; at < p->first_incidence[v + 1]; at++) {
		const struct incidence *e = &p->incidences[at];
		const struct local *local = &task->locals[e->contact];
		fetch_ahead(task, at);
		for (int j = 0; j < e->size; j++) {
			const double weight = local->weights[e->corner] * local->weights[j];
			if (e->place[j] == PATTERN_NOWHERE)
				continue;
			if (p->triangle != FRIC_FULL && j == e->corner)
				add_cut(dim, p->triangle == FRIC_UPPER, local->block, weight, rows, width * e->place[j]);
			else
				add_whole(dim, local->block, weight, rows, width * e->place[j]);
		}
	}
}

/* The same for a row of blocks. */
INLINE void sum_wide_blocks(const struct csr_task *task, int dim, size_t v)
{
	const struct fric_pattern *p = task->pattern;
	double *const blocks = task->data + (size_t)task->first_block[v] * (size_t)dim * (size_t)dim;
	for (size_t at = p->first_incidence[v]; at < p->first_incidence[v + 1]; at++) {
		const struct incidence *e = &p->incidences[at];
		const struct local *local = &task->locals[e->contact];
		fetch_ahead(task, at);
		for (int j = 0; j < e->size; j++) {
			const double weight = local->weights[e->corner] * local->weights[j];
			double *to = blocks + e->place[j] * (size_t)dim * (size_t)dim;
			for (int q = 0; q < dim * dim && e->place[j] != PATTERN_NOWHERE; q++)
				to[q] += weight * local->block[entry_of(dim, q / dim, q % dim)];
		}
	}
}

/* The numbers of vertex v's rows: where the first one is, and how many. */
struct extent {
	size_t first, n;
};

INLINE struct extent extent_of(const struct csr_task *task, int dim, size_t v)
{
	const struct fric_pattern *p = task->pattern;
	const size_t block = (size_t)dim * (size_t)dim,
				 first = task->first_block ? (size_t)task->first_block[v] * block : first_entry(p, dim, v);
	const size_t end = task->first_block ? (size_t)task->first_block[v + 1] * block : first_entry(p, dim, v + 1);
	return (struct extent){first, end - first};
}

/* @return whether all sums are finite */
INLINE bool sum_row(const struct csr_task *task, int dim, size_t v, struct delivery *delivery)
{
	const struct fric_pattern *p = task->pattern;
	const struct extent extent = extent_of(task, dim, v);
	const size_t n = fricp_pattern_n_blocks(p, v);
	double sums[(NARROW + 4) * 6];
	if (n <= NARROW) {
		sum_narrow(task, dim, v, n, sums);
		if (task->first_block)
			write_blocks(task, dim, v, sums + n_kept(dim), n, delivery);
		else
			write_narrow(task, dim, v, sums + n_kept(dim), n, delivery);
		return all_finite(sums + n_kept(dim), n * n_kept(dim));
	}
	delivery_flush(delivery);
	memset(task->data + extent.first, 0, extent.n * sizeof(double));
	if (task->first_block)
		sum_wide_blocks(task, dim, v);
	else
		sum_wide(task, dim, v);
	return all_finite(task->data + extent.first, extent.n);
}

INLINE void sum_rows(const struct csr_task *task, int dim, size_t begin, size_t end, struct fault *fault)
{
	const struct fric_pattern *p = task->pattern;
	struct delivery delivery;
	delivery_open(&delivery);
	for (size_t v = fricp_pattern_first_vertex(p, begin); v < p->n_vertices && p->first_incidence[v] < end; v++)
		if (p->first_incidence[v] < p->first_incidence[v + 1] && !sum_row(task, dim, v, &delivery))
			*fault = (struct fault){FRIC_E_NOT_FINITE, begin};
	delivery_flush(&delivery);
}

static void sum_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct csr_task *task = data;
	(void)chunk;
	if (task->contacts->dim == 2)
		sum_rows(task, 2, begin, end, fault);
	else
		sum_rows(task, 3, begin, end, fault);
}

enum { STREAM_FROM = 4 << 20 }; /* bytes */

static enum fric_code sum_up(const struct fric_context *context, struct csr_task *task, struct fric_error *error)
{
	const size_t bytes = task->contacts->n * sizeof(struct local);
	enum fric_code code = FRIC_E_MEMORY;
	task->locals = memory_take(context->memory, bytes);
	if (task->locals)
		code = fricp_parallel_chunks(context, task->contacts->n, local_chunk, task).code;
	if (code == FRIC_OK)
		code = fricp_parallel_chunks(context, task->pattern->n_incidences, sum_chunk, task).code;
	memory_give(context->memory, task->locals, bytes);
	return report_code(code, error);
}

enum fric_code fric_hessian_csr(const struct fric_context *context, const struct fric_contacts *contacts,
                                const double *inner, const struct fric_pattern *pattern, double *data,
                                struct fric_error *error)
{
	const size_t bytes = fric_pattern_n_entries(pattern) * sizeof(double);
	struct csr_task task = {.contacts = contacts,
	                        .inner = inner,
	                        .pattern = pattern,
	                        .data = data,
	                        .streams = streams(context, bytes, STREAM_FROM)};
	const enum fric_code code = sum_up(context, &task, error);
	if (code != FRIC_OK || !pattern->bodies)
		return code;
	return fricp_body_rows(context, contacts->bodies, inner + first_body_inner(contacts), pattern->bodies,
	                       pattern->indptr + vertex_dof(pattern->dim, pattern->n_vertices), data, error);
}

enum fric_code fric_hessian_bsr(const struct fric_context *context, const struct fric_contacts *contacts,
                                const double *inner, const struct fric_pattern *pattern, const int64_t *indptr,
                                double *data, struct fric_error *error)
{
	const size_t n = (size_t)indptr[pattern->n_vertices] * (size_t)(contacts->dim * contacts->dim);
	struct csr_task task = {.contacts = contacts,
	                        .inner = inner,
	                        .pattern = pattern,
	                        .first_block = indptr,
	                        .data = data,
	                        .streams = streams(context, n * sizeof(double), STREAM_FROM)};
	return sum_up(context, &task, error);
}
