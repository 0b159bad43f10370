/**
 * Computes matrices of arbitrary blocks, one row of a contact's blocks at a time, with the engine of all row formats
 * (core/assemble/sums.h): the plain form of fric_hessian_csr, and blocks that are not of the form T A T^T.
 */
#ifndef TESTS_BLOCKS_H
#define TESTS_BLOCKS_H

#include "core/assemble/hessian.h"
#include "core/assemble/sums.h"
#include "core/motion/stencil.h"

/* Writes row `corner` of contact i's k x k blocks: blocks[j] is the [dim, dim] block (corner, j), row-major. */
typedef void block_row(void *task, size_t contact, int corner, double blocks[FRIC_MAX_STENCIL][9]);

static inline struct block_form form_of_any(int dim)
{
	return dim == 2 ? (struct block_form){2, 2, 4} : (struct block_form){3, 3, 10};
}

struct any {
	block_row *row;
	void *task;
};

static inline void sum_any(const void *source, struct block_form form, const struct block_rows *rows, size_t v,
                           double *sums)
{
	const struct any *task = source;
	for (size_t at = rows->first_incidence[v]; at < rows->first_incidence[v + 1]; at++) {
		const struct incidence *e = &rows->incidences[at];
		double blocks[FRIC_MAX_STENCIL][9] = {{0}};
		uint32_t places[FRIC_MAX_STENCIL];
		places_of(e, rows->diagonal[v], places);
		task->row(task->task, contact_of(e), (int)corner_of(e), blocks);
		for (int j = 0; j < FRIC_MAX_STENCIL; j++)
			for (int q = 0; q < form.width * form.width; q++)
				sums[(size_t)form.n * (places[j] + 1u) + (size_t)q] += blocks[j][q];
	}
}

SUM_ROWS_IN_CHUNKS(any_chunk, sum_any, form_of_any(2), form_of_any(3))

/* data := sum of the blocks of all contacts at vertices, every entry summed in contact order. @param data [n_entries] */
static inline struct fault pattern_accumulate(const struct fric_context *context, const struct fric_pattern *pattern,
                                              block_row *row, void *task, double *data)
{
	const struct any any = {row, task};
	struct row_task rows = {.memory = context->memory, .rows = &pattern->vertices, .source = &any, .data = data};
	return fricp_parallel_chunks(context, pattern->vertices.n_incidences, any_chunk, &rows);
}

struct friction_blocks {
	const struct fric_contacts *contacts;
	const double *inner;
};

static inline void friction_block_row(void *data, size_t i, int corner, double blocks[FRIC_MAX_STENCIL][9])
{
	const struct friction_blocks *task = data;
	const struct fric_contacts *c = task->contacts;
	const enum fric_type type = contact_type(c, i);
	double w[FRIC_MAX_STENCIL] = {0}, block[9] = {0};
	contact_weights(c, type, i, w);
	fricp_core_block(c, task->inner, i, block);
	for (int k = 0; k < fric_stencil_size(type); k++)
		for (int e = 0; e < c->dim * c->dim; e++)
			blocks[k][e] = (w[corner] * w[k]) * block[e];
}

/* The vertices' part of fric_hessian_csr. */
static inline struct fault csr_plain(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const double *inner, const struct fric_pattern *pattern, double *data)
{
	struct friction_blocks blocks = {contacts, inner};
	return pattern_accumulate(context, pattern, friction_block_row, &blocks, data);
}

#endif
