/**
 * Adds up a sparse matrix in rows of entries (csr) or of blocks (bsr), for any source of blocks. One thread adds up the
 * blocks of a block row in the first-level cache, over its incidences in contact order, and then copies them into their
 * rows.
 *
 * A source is one function that adds up a block row. To use it, write a chunk_work that calls sum_rows with this
 * function and the form of its blocks (SUM_ROWS_IN_CHUNKS), both as constants, so that everything is inlined into one
 * loop.
 */
#ifndef FRIC_SUMS_H
#define FRIC_SUMS_H

#include "core/assemble/pattern.h"
#include "core/base/delivery.h"
#include "core/base/memory.h"
#include "core/base/vectors.h"
#include "core/motion/dofs.h"

/* The memory layout of blocks while they are added up. */
struct block_form {
	int width; /* rows and columns */
	int pitch; /* numbers from one row to the next; 0: symmetric, only the lower triangle is stored, by rows */
	int n;     /* numbers from one block to the next, even */
};

/* The index of entry (a, b). */
INLINE size_t entry_of(struct block_form form, int a, int b)
{
	const int low = a > b ? b : a, high = a > b ? a : b;
	return (size_t)(form.pitch > 0 ? form.pitch * a + b : high * (high + 1) / 2 + low);
}

struct row_task {
	const struct fric_memory *memory;
	const struct block_rows *rows;
	const void *source;
	double *data;               /* [n_entries], or [n_blocks, width, width]; the whole matrix */
	const int64_t *first_block; /* [n_members + 1] for bsr, whose blocks are contiguous; NULL for csr */
	bool streams;               /* the values do not fit into the caches */
};

/* Adds all blocks of member v. A block with place p is added at sums + form.n * (p + 1). A block without a place goes
 * to the first position, which nobody reads; this is cheaper than a branch, and PATTERN_NOWHERE + 1 is 0.
 * @param sums  1 + n_row_blocks blocks, initially zero */
typedef void sum_blocks(const void *source, struct block_form form, const struct block_rows *rows, size_t v,
                        double *sums);

/* Most block rows have few neighbours and are added up on the stack. */
enum { NARROW = 64, MOST_NARROW = 680, SPARE = 4 }; /* blocks; doubles; blocks */

INLINE size_t n_narrow(struct block_form form)
{
	const size_t n = MOST_NARROW / (size_t)form.n - SPARE;
	return n < NARROW ? n : NARROW;
}

/* Clears n blocks and up to three more. Does not use memset: gcc turns it into a string instruction, which waits for
 * all pending streaming stores. */
INLINE void clear_blocks(struct block_form form, size_t n, double *blocks)
{
	const double2 zero = {0, 0};
	for (size_t i = 0; i < n; i += SPARE)
		UNROLL
	for (int q = 0; q < SPARE * form.n; q += 2)
		memcpy(blocks + i * (size_t)form.n + q, &zero, sizeof(zero));
}

/* The sum of all numbers in a row's blocks, in independent parts: in a single sum each addition would wait for the
 * previous one. */
enum { N_PARTS = 3 };
struct total {
	double2 parts[N_PARTS];
};

INLINE void add_to_total(struct block_form form, const double *block, struct total *total)
{
	UNROLL
	for (int q = 0; q < form.n / 2; q++)
		total->parts[q % N_PARTS] += load_double2(block + 2 * q); /* NOLINT: all entries are written */
}

/* If the total is finite, so are all numbers. If not, it may itself have overflowed. */
INLINE bool is_finite_total(const struct total *total)
{
	const double2 all = (total->parts[0] + total->parts[1]) + total->parts[2];
	return (all[0] + all[1]) * 0 == 0;
}

/* Copies a symmetric block to column `at` of its rows. */
INLINE void lay_out_symmetric(const double *sums, double *const *rows, size_t at)
{
	const double2 first = load_double2(sums), second = load_double2(sums + 2), third = load_double2(sums + 4),
				  middle = {second[0], third[0]};
	memcpy(rows[0] + at, &first, sizeof(first));
	rows[0][at + 2] = second[1];
	rows[1][at] = first[1];
	memcpy(rows[1] + at + 1, &middle, sizeof(middle));
	rows[2][at] = second[1];
	memcpy(rows[2] + at + 1, &third, sizeof(third));
}

INLINE void lay_out_whole(struct block_form form, const double *sums, double *const *rows, size_t at)
{
	if (form.pitch == 0 && form.width == 3) {
		lay_out_symmetric(sums, rows, at);
		return;
	}
	UNROLL
	for (int a = 0; a < form.width; a++)
		memcpy(rows[a] + at, sums + entry_of(form, a, 0), (size_t)form.width * sizeof(double));
}

INLINE void lay_out_cut(struct block_form form, bool upper, const double *sums, double *const *rows, size_t at)
{
	for (int a = 0; a < form.width; a++)
		for (int b = upper ? a : 0; b < (upper ? form.width : a + 1); b++)
			rows[a][at + (size_t)b] = sums[entry_of(form, a, b)];
}

/* Copies n blocks to their rows, each `step` after the previous one. In a triangle, the first or last one is the
 * diagonal block.
 * @param rows   the start of each row, as if the diagonal block were whole
 * @param total  the numbers are added to it */
INLINE void lay_out(struct block_form form, enum fric_triangle triangle, const double *sums, size_t n,
                    double *const *rows, size_t step, struct total *total)
{
	const size_t kept = (size_t)form.n, begin = triangle == FRIC_UPPER, end = triangle == FRIC_LOWER ? n - 1 : n;
	for (size_t i = begin; i < end; i++) {
		lay_out_whole(form, sums + i * kept, rows, i * step);
		add_to_total(form, sums + i * kept, total);
	}
	if (triangle == FRIC_FULL)
		return;
	const size_t cut = triangle == FRIC_UPPER ? 0 : end;
	lay_out_cut(form, triangle == FRIC_UPPER, sums + cut * kept, rows, cut * step);
	add_to_total(form, sums + cut * kept, total);
}

/* @param out  where the rows belong, or a buffer from which they are streamed */
INLINE void lay_out_rows(const struct row_task *task, struct block_form form, size_t v, const double *sums, size_t n,
                         double *out, struct total *total)
{
	const enum fric_triangle triangle = task->rows->triangle;
	const int64_t *start = task->rows->indptr + (size_t)form.width * v;
	const size_t width = (size_t)form.width;
	double *rows[MOST_WIDTH];
	for (int a = 0; a < form.width; a++)
		rows[a] = task->first_block ? out + a * form.width
		                            : out + (start[a] - start[0]) - (triangle == FRIC_UPPER ? a : 0);
	if (task->first_block)
		lay_out(form, FRIC_FULL, sums, n, rows, width * width, total);
	else if (triangle == FRIC_FULL)
		lay_out(form, FRIC_FULL, sums, n, rows, width, total);
	else
		lay_out(form, triangle, sums, n, rows, width, total);
}

/* The memory to write the rows of member v to. */
INLINE double *place_rows(const struct row_task *task, struct block_form form, size_t v, size_t n,
                          struct delivery *delivery)
{
	const size_t width = (size_t)form.width, block = width * width;
	const int64_t *start = task->rows->indptr + width * v;
	double *in_place = task->data + (task->first_block ? (size_t)task->first_block[v] * block : (size_t)start[0]);
	const size_t entries = task->first_block ? n * block : (size_t)(start[width] - start[0]);
	if (!task->streams)
		return in_place;
	if (n <= n_narrow(form))
		return delivery_place(delivery, entries * sizeof(double), in_place);
	delivery_flush(delivery);
	return in_place;
}

/* @param sums  1 + n blocks and SPARE - 1 more */
INLINE bool sum_row(const struct row_task *task, struct block_form form, sum_blocks *sum, size_t v, size_t n,
                    double *sums, struct delivery *delivery)
{
	struct total total = {{{0}}};
	clear_blocks(form, n + 1, sums);
	sum(task->source, form, task->rows, v, sums);
	lay_out_rows(task, form, v, sums + form.n, n, place_rows(task, form, v, n, delivery), &total);
	return is_finite_total(&total) || all_finite(sums + form.n, n * (size_t)form.n);
}

/* Adds up the block rows whose incidences begin in [begin, end). */
INLINE void sum_rows(const struct row_task *task, struct block_form form, sum_blocks *sum, size_t begin, size_t end,
                     struct fault *fault)
{
	const struct block_rows *rows = task->rows;
	_Alignas(STREAM_LINE) double narrow[MOST_NARROW];
	struct delivery delivery;
	delivery_open(&delivery);
	for (size_t v = fricp_first_member(rows, begin); v < rows->n_members && rows->first_incidence[v] < end; v++) {
		const size_t n = n_row_blocks(rows, form.width, v), bytes = (n + SPARE) * (size_t)form.n * sizeof(double);
		double *sums = n <= n_narrow(form) ? narrow : memory_take(task->memory, bytes);
		if (n > 0 && sums && !sum_row(task, form, sum, v, n, sums, &delivery))
			*fault = (struct fault){FRIC_E_NOT_FINITE, begin};
		if (!sums)
			*fault = (struct fault){FRIC_E_MEMORY, begin};
		if (sums != narrow)
			memory_give(task->memory, sums, bytes);
	}
	delivery_flush(&delivery);
}

/* Defines a chunk_work for blocks of two forms, of which the rows' width selects one. */
#define SUM_ROWS_IN_CHUNKS(name, sum, narrow, wide) \
	static void name(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault) \
	{ \
		const struct row_task *task = data; \
		(void)chunk; \
		if (task->rows->width == (narrow).width) \
			sum_rows(task, narrow, sum, begin, end, fault); \
		else \
			sum_rows(task, wide, sum, begin, end, fault); \
	}

enum { STREAM_VALUES_FROM = 4 << 20 }; /* bytes */

#endif
