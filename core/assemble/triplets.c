/* Triplets of Hessians. Loops with constant bounds for each dimension and stencil size write blocks in order: in place,
 * or, if the triplets do not fit into the caches, through stages that stream whole cache lines to memory. */
#include "core/assemble/triplets.h"

#include <math.h>
#include <string.h>

#include "core/assemble/blocks.h"
#include "core/assemble/hessian.h"
#include "core/base/inline.h"
#include "core/base/parallel.h"
#include "core/base/stream.h"
#include "core/base/vectors.h"
#include "core/bodies/hessian.h"
#include "core/motion/stencil.h"

enum { STREAM_FROM = 64 << 20 }; /* bytes; smaller results are faster in the last-level cache */

/* The number of a contact's triplets. A triangle contains one of the two blocks of each pair of members, by global row
 * and column. */
static size_t n_local(const struct fric_contacts *c, enum fric_type type, enum fric_triangle triangle)
{
	const size_t k = (size_t)fric_stencil_size(type) * (size_t)n_member_dofs(c->dim, type);
	return triangle == FRIC_FULL ? k * k : k * (k + 1) / 2;
}

size_t fricp_triplets_before(const struct fric_contacts *c, size_t i, enum fric_triangle triangle)
{
	size_t n = 0;
	for (enum fric_type g = 0; g < FRIC_N_TYPES && i > c->start[g]; g++) {
		const size_t end = i < c->start[g + 1] ? i : c->start[g + 1];
		n += (end - c->start[g]) * n_local(c, g, triangle);
	}
	return n;
}

size_t fric_n_triplets(const struct fric_contacts *contacts, enum fric_triangle triangle)
{
	const struct fric_contacts *b = contacts->bodies;
	return fricp_triplets_before(contacts, contacts->n, triangle) + (b ? fricp_triplets_before(b, b->n, triangle) : 0);
}

/* The numbers that one contact's triplets are computed from. */
struct local {
	int32_t dofs[FRIC_MAX_STENCIL]; /* first DOF of each member */
	double weights[FRIC_MAX_STENCIL];
	double block[9];
};

INLINE void load(const struct fric_contacts *c, const double *inner, int dim, enum fric_type type, size_t i,
                 struct local *local)
{
	UNROLL
	for (int k = 0; k < stencil_size_of(type); k++)
		local->dofs[k] = (int32_t)member_dof(c, dim, type, k, i);
	contact_weights(c, type, i, local->weights);
	fricp_core_block(c, inner, i, local->block);
}

/* Rounding is monotone, so the products are finite if the product of the largest weights and the largest entry is. An
 * infinite weight or entry makes a NaN. */
static bool finite_local(const struct local *local, int dim, int k)
{
	double weight = 0, entry = 0, nan = 0;
	for (int v = 0; v < k; v++) {
		weight = fabs(local->weights[v]) > weight ? fabs(local->weights[v]) : weight;
		nan += local->weights[v] * 0;
	}
	for (int e = 0; e < dim * dim; e++) {
		entry = fabs(local->block[e]) > entry ? fabs(local->block[e]) : entry;
		nan += local->block[e] * 0;
	}
	return isfinite((weight * weight) * entry + nan);
}

/* rows, cols: NULL if only values are wanted. */
struct cursor {
	int32_t *rows, *cols;
	double *values;
};

INLINE void advance(struct cursor *cursor, int n)
{
	if (cursor->rows) {
		cursor->rows += n;
		cursor->cols += n;
	}
	cursor->values += n;
}

/* Column indices of a block's rows, four at a time. */
INLINE void list_columns(int dim, int k, const int32_t *v, int4 col[3])
{
	UNROLL
	for (int q = 0; q < (dim * k + 3) / 4; q++) {
		const int s = 4 * q;
		col[q] = (int4){v[s / dim], v[(s + 1) / dim % k], v[(s + 2) / dim % k], v[(s + 3) / dim % k]} +
		         (int4){s % dim, (s + 1) % dim, (s + 2) % dim, (s + 3) % dim};
	}
}

/* Writes the whole block. Each row is written in whole vectors, whose surplus the next row overwrites. Vectors are
 * assembled in registers, because loading a vector that was just stored in halves stalls. */
INLINE size_t full_block(const struct local *local, int dim, int k, struct cursor to)
{
	const int n = dim * k, n_double2 = (n + 1) / 2, n_int4 = (n + 3) / 4;
	const int32_t *v = local->dofs;
	const double *w = local->weights, *m = local->block;
	int4 col[3];
	double2 entry[3][3];
	list_columns(dim, k, v, col);
	UNROLL
	for (int a = 0; a < dim; a++) {
		UNROLL
		for (int p = 0; p < 3; p++)
			entry[a][p] = (double2){m[dim * a + 2 * p % dim], m[dim * a + (2 * p + 1) % dim]};
	}
	for (int i = 0; i < k; i++) {
		double2 weight[3 * FRIC_MAX_STENCIL / 2];
		UNROLL
		for (int p = 0; p < n_double2; p++)
			weight[p] = w[i] * (double2){w[2 * p / dim], w[(2 * p + 1) / dim % k]};
		UNROLL
		for (int a = 0; a < dim; a++) {
			const int32_t row = v[i] + a;
			const int4 same = {row, row, row, row};
			if (to.rows) {
				UNROLL
				for (int q = 0; q < n_int4; q++)
					memcpy(to.rows + 4 * q, &same, sizeof(same));
				UNROLL
				for (int q = 0; q < n_int4; q++)
					memcpy(to.cols + 4 * q, &col[q], sizeof(int4));
			}
			UNROLL
			for (int p = 0; p < n_double2; p++) {
				const double2 value = weight[p] * entry[a][p % 3];
				memcpy(to.values + 2 * p, &value, sizeof(value));
			}
			advance(&to, n);
		}
	}
	return (size_t)n * (size_t)n;
}

/* The blocks of the first member, from those of the others. */
INLINE void add_first_member(int dim, int k, double block[FRIC_MAX_STENCIL][FRIC_MAX_STENCIL][9])
{
	UNROLL
	for (int i = 1; i < k; i++)
		UNROLL
	for (int e = 0; e < dim * dim; e++) {
		double sum = 0;
		UNROLL
		for (int j = 1; j < k; j++)
			sum -= block[i][j][e];
		block[i][0][e] = block[0][i][dim * (e % dim) + e / dim] = sum;
	}
	UNROLL
	for (int e = 0; e < dim * dim; e++) {
		double sum = 0;
		UNROLL
		for (int j = 1; j < k; j++)
			sum -= block[0][j][e];
		if (e % dim <= e / dim)
			block[0][0][e] = block[0][0][dim * (e % dim) + e / dim] = sum;
	}
}

/* As full_block for a whole block. As expand_block, with constant dim and k, so that each number is loaded once. */
INLINE size_t full_whole(const double *from, int dim, int k, const int32_t *dofs, struct cursor to)
{
	const int n = dim * k, n_int4 = (n + 3) / 4, first = first_stored(k);
	double block[FRIC_MAX_STENCIL][FRIC_MAX_STENCIL][9];
	int4 col[3];
	list_columns(dim, k, dofs, col);
	if (to.rows) {
		UNROLL
		for (int r = 0; r < n; r++) {
			const int32_t row = dofs[r / dim] + r % dim;
			const int4 same = {row, row, row, row};
			UNROLL
			for (int q = 0; q < n_int4; q++)
				memcpy(to.rows + n * r + 4 * q, &same, sizeof(same));
			UNROLL
			for (int q = 0; q < n_int4; q++)
				memcpy(to.cols + n * r + 4 * q, &col[q], sizeof(int4));
		}
	}
	UNROLL
	for (int i = first; i < k; i++)
		UNROLL
	for (int j = first; j <= i; j++)
		UNROLL
	for (int e = 0; e < dim * dim; e++)
		if (i != j || e % dim <= e / dim)
			block[i][j][e] = block[j][i][dim * (e % dim) + e / dim] = *from++;
	if (first)
		add_first_member(dim, k, block);
	UNROLL
	for (int r = 0; r < n; r++)
		UNROLL
	for (int s = 0; s < n; s++)
		to.values[n * r + s] = block[r / dim][s / dim][dim * (r % dim) + s % dim];
	return (size_t)n * (size_t)n;
}

/* Writes row a of block (i, j), i != j. In 3D this writes one row index and one column index too many. */
INLINE void block_row(const struct local *local, int dim, int i, int j, int a, const struct cursor *to)
{
	const int32_t row = local->dofs[i] + a, col = local->dofs[j];
	const double weight = local->weights[i] * local->weights[j], *m = local->block + dim * a;
	const int4 rows = {row, row, row, row}, cols = {col, col + 1, col + 2, col + 3};
	const size_t bytes = dim == 3 ? sizeof(int4) : sizeof(int4) / 2;
	if (to->rows) {
		memcpy(to->rows, &rows, bytes);
		memcpy(to->cols, &cols, bytes);
	}
	UNROLL
	for (int b = 0; b < dim; b++)
		to->values[b] = weight * m[b];
}

/* Writes the triangle's part of row a of block (i, i). */
INLINE void diagonal_row(const struct local *local, int dim, int i, int a, bool upper, const struct cursor *to)
{
	const double weight = local->weights[i] * local->weights[i];
	int n = 0;
	for (int b = upper ? a : 0; b < (upper ? dim : a + 1); b++, n++) {
		if (to->rows) {
			to->rows[n] = local->dofs[i] + a;
			to->cols[n] = local->dofs[i] + b;
		}
		to->values[n] = weight * local->block[dim * a + b];
	}
}

/* Either all or no entries of a block (i, j) are in the triangle, depending on which member has the higher DOFs. The
 * block is always written, and kept by advancing the cursor; a branch would be mispredicted half of the time. */
INLINE size_t triangle_block(const struct local *local, int dim, int k, bool upper, struct cursor to)
{
	const double *const first = to.values;
	const int32_t *v = local->dofs;
	for (int i = 0; i < k; i++) {
		UNROLL
		for (int a = 0; a < dim; a++)
			for (int j = 0; j < k; j++)
				if (i == j) {
					diagonal_row(local, dim, i, a, upper, &to);
					advance(&to, upper ? dim - a : a + 1);
				} else {
					block_row(local, dim, i, j, a, &to);
					advance(&to, (upper ? v[i] < v[j] : v[i] > v[j]) ? dim : 0);
				}
	}
	return (size_t)(to.values - first);
}

INLINE int clamp(int32_t x, int most)
{
	return x < 0 ? 0 : x > most ? most : (int)x;
}

/* Writes the triangle's part of a block of k members, each with `width` DOFs from dofs[] on. */
INLINE size_t any_block(double block[MOST_BLOCK][MOST_BLOCK], int width, int k, const int32_t *dofs,
                        enum fric_triangle triangle, struct cursor to)
{
	size_t n = 0;
	for (int r = 0; r < k * width; r++)
		for (int j = 0; j < k; j++) {
			const int32_t row = dofs[r / width] + r % width;
			const int begin = triangle == FRIC_UPPER ? clamp(row - dofs[j], width) : 0,
					  end = triangle == FRIC_LOWER ? clamp(row - dofs[j] + 1, width) : width;
			for (int e = begin; to.rows && e < end; e++) {
				to.rows[n + (size_t)(e - begin)] = row;
				to.cols[n + (size_t)(e - begin)] = dofs[j] + e;
			}
			for (int e = begin; e < end; e++)
				to.values[n++] = block[r][j * width + e];
		}
	return n;
}

size_t fricp_triplets_plain(const struct fric_contacts *contacts, const double *inner, size_t i,
                            enum fric_triangle triangle, int32_t *rows, int32_t *cols, double *values)
{
	const struct fric_contacts *c = contacts;
	const enum fric_type type = contact_type(c, i);
	const int width = n_member_dofs(c->dim, type), k = fric_stencil_size(type);
	int32_t dofs[FRIC_MAX_STENCIL];
	double w[FRIC_MAX_STENCIL] = {0}, m[9] = {0}, block[MOST_BLOCK][MOST_BLOCK];
	for (int j = 0; j < k; j++)
		dofs[j] = (int32_t)member_dof(c, c->dim, type, j, i);
	if (is_of_bodies(type)) {
		fricp_body_block(c, inner, type, i, block);
	} else if (has_blocks(c, inner)) {
		expand_block(c->dim, k, inner + block_at(c, type, i), MOST_BLOCK, block[0]);
	} else {
		contact_weights(c, type, i, w);
		fricp_core_block(c, inner, i, m);
		for (int r = 0; r < k * width; r++)
			for (int s = 0; s < k * width; s++)
				block[r][s] = (w[r / width] * w[s / width]) * m[width * (r % width) + s % width];
	}
	return any_block(block, width, k, dofs, triangle, (struct cursor){rows, cols, values});
}

struct triplet_task {
	const struct fric_contacts *contacts;
	const double *inner;
	enum fric_triangle triangle;
	int32_t *rows, *cols;
	double *values;
	bool streams;
	bool whole; /* inner has whole blocks */
};

/* Destination of a chunk: the caller's arrays, or stages. */
struct target {
	struct cursor cursor;
	bool streams;
	struct stage rows, cols, values;
};

INLINE void open_target(const struct triplet_task *task, size_t at, struct target *to)
{
	to->cursor =
		(struct cursor){task->rows ? task->rows + at : NULL, task->rows ? task->cols + at : NULL, task->values + at};
	to->streams = task->streams;
	if (!to->streams)
		return;
	if (task->rows) {
		stage_open(&to->rows, task->rows + at);
		stage_open(&to->cols, task->cols + at);
	}
	stage_open(&to->values, task->values + at);
}

INLINE void close_target(struct target *to)
{
	if (!to->streams)
		return;
	if (to->cursor.rows) {
		stage_close(&to->rows);
		stage_close(&to->cols);
	}
	stage_close(&to->values);
	stream_end();
}

INLINE struct cursor next_cursor(struct target *to)
{
	if (!to->streams)
		return to->cursor;
	return (struct cursor){to->cursor.rows ? stage_place(&to->rows) : NULL,
	                       to->cursor.rows ? stage_place(&to->cols) : NULL, stage_place(&to->values)};
}

INLINE void deliver(struct target *to, size_t n)
{
	advance(&to->cursor, (int)n);
	if (!to->streams)
		return;
	if (to->cursor.rows) {
		stage_deliver(&to->rows, n * sizeof(int32_t));
		stage_deliver(&to->cols, n * sizeof(int32_t));
	}
	stage_deliver(&to->values, n * sizeof(double));
}

/* Writes contacts [begin, end) at vertices, all of one type. @return the first whose block is not finite, or end */
INLINE size_t write_blocks(const struct triplet_task *task, enum fric_type type, int dim, size_t begin, size_t end,
                           struct target *to)
{
	const int k = stencil_size_of(type);
	for (size_t i = begin; i < end; i++) {
		struct local local;
		const struct cursor cursor = next_cursor(to);
		load(task->contacts, task->inner, dim, type, i, &local);
		if (!finite_local(&local, dim, k))
			return i;
		deliver(to, task->triangle == FRIC_FULL ? full_block(&local, dim, k, cursor)
		                                        : triangle_block(&local, dim, k, task->triangle == FRIC_UPPER, cursor));
	}
	return end;
}

/* write_blocks for whole blocks, which are in memory. */
INLINE size_t write_whole(const struct triplet_task *task, enum fric_type type, int dim, size_t begin, size_t end,
                          struct target *to)
{
	const int k = stencil_size_of(type);
	const size_t n = n_block_numbers(dim, k);
	const double *from = task->inner + block_at(task->contacts, type, begin);
	for (size_t i = begin; i < end; i++, from += n) {
		const struct cursor cursor = next_cursor(to);
		int32_t dofs[FRIC_MAX_STENCIL];
		for (int j = 0; j < k; j++)
			dofs[j] = (int32_t)member_dof(task->contacts, dim, type, j, i);
		if (task->triangle == FRIC_FULL) {
			deliver(to, full_whole(from, dim, k, dofs, cursor));
		} else {
			double block[MOST_BLOCK][MOST_BLOCK];
			expand_block(dim, k, from, MOST_BLOCK, block[0]);
			deliver(to, any_block(block, dim, k, dofs, task->triangle, cursor));
		}
	}
	return end;
}

/* write_blocks for contacts of bodies. */
INLINE size_t write_bodies(const struct triplet_task *task, enum fric_type type, int dim, size_t begin, size_t end,
                           struct target *to)
{
	const int width = n_body_dofs(dim), k = stencil_size_of(type);
	for (size_t i = begin; i < end; i++) {
		const struct cursor cursor = next_cursor(to);
		double block[MOST_BLOCK][MOST_BLOCK];
		int32_t dofs[2];
		if (!fricp_body_block(task->contacts, task->inner, type, i, block))
			return i;
		for (int j = 0; j < k; j++)
			dofs[j] = (int32_t)member_dof(task->contacts, dim, type, j, i);
		deliver(to, task->triangle == FRIC_FULL ? any_block(block, width, k, dofs, FRIC_FULL, cursor)
		                                        : any_block(block, width, k, dofs, task->triangle, cursor));
	}
	return end;
}

/* As write_blocks, for either dimension. @param fine  set to the first contact whose block is not finite, or end */
INLINE void write_type(enum fric_type type, const struct triplet_task *task, size_t begin, size_t end,
                       struct target *to, size_t *fine)
{
	const bool flat = task->contacts->dim == 2 && closest_point_size_of(type) < 2; /* others are 3D only */
	if (task->whole)
		*fine = flat ? write_whole(task, type, 2, begin, end, to) : write_whole(task, type, 3, begin, end, to);
	else
		*fine = flat ? write_blocks(task, type, 2, begin, end, to) : write_blocks(task, type, 3, begin, end, to);
}

INLINE size_t write_vertex_group(const struct triplet_task *task, enum fric_type type, size_t begin, size_t end,
                                 struct target *to)
{
	size_t fine = end;
	FOR_TYPE(write_type, type, task, begin, end, to, &fine)
	return fine;
}

INLINE size_t write_body_group(const struct triplet_task *task, enum fric_type type, size_t begin, size_t end,
                               struct target *to)
{
	const bool flat = task->contacts->dim == 2;
	if (type == FRIC_BODY_BODY)
		return flat ? write_bodies(task, FRIC_BODY_BODY, 2, begin, end, to)
		            : write_bodies(task, FRIC_BODY_BODY, 3, begin, end, to);
	return flat ? write_bodies(task, FRIC_BODY_WORLD, 2, begin, end, to)
	            : write_bodies(task, FRIC_BODY_WORLD, 3, begin, end, to);
}

INLINE size_t write_contacts(const struct triplet_task *task, bool bodies, size_t begin, size_t end, struct target *to)
{
	for (size_t i = begin; i < end;) {
		const enum fric_type type = contact_type(task->contacts, i);
		const size_t group_end = task->contacts->start[type + 1], last = group_end < end ? group_end : end;
		const size_t fine = bodies ? write_body_group(task, type, i, last, to)
		                           : write_vertex_group(task, type, i, last, to);
		if (fine < last)
			return fine;
		i = last;
	}
	return end;
}

static bool write_last(const struct triplet_task *task, size_t i, struct cursor to)
{
	double sum = 0;
	const size_t n = fricp_triplets_plain(task->contacts, task->inner, i, task->triangle, to.rows, to.cols, to.values);
	for (size_t e = 0; e < n; e++)
		sum += to.values[e] * 0;
	return isfinite(sum);
}

/* Writes contacts [begin, end) of all types. The fast form may write a few entries past a block's end, no more than the
 * next contact has. Past the end of a chunk they would belong to another one, so the last contact of a chunk is written
 * in the plain form. Everything is inlined here, so that the target stays in registers.
 * @return the first contact whose block is not finite, or end */
INLINE size_t write_all(const struct triplet_task *task, bool bodies, size_t begin, size_t end, size_t at)
{
	struct target to;
	open_target(task, at, &to);
	const size_t fine = write_contacts(task, bodies, begin, end - 1, &to);
	close_target(&to);
	return fine == end - 1 && write_last(task, end - 1, to.cursor) ? end : fine;
}

static size_t write_at_vertices(const struct triplet_task *task, size_t begin, size_t end, size_t at)
{
	return write_all(task, false, begin, end, at);
}

static size_t write_of_bodies(const struct triplet_task *task, size_t begin, size_t end, size_t at)
{
	return write_all(task, true, begin, end, at);
}

static size_t write_chunk(const struct triplet_task *task, size_t begin, size_t end, size_t at)
{
	const bool bodies = is_of_bodies(contact_type(task->contacts, begin));
	return (bodies ? write_of_bodies : write_at_vertices)(task, begin, end, at);
}

static void triplet_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct triplet_task *task = data;
	(void)chunk;
	const size_t fine = write_chunk(task, begin, end, fricp_triplets_before(task->contacts, begin, task->triangle));
	if (fine < end)
		*fault = (struct fault){FRIC_E_NOT_FINITE, fine};
}

size_t fricp_triplets_of(const struct fric_contacts *contacts, const double *inner, size_t begin, size_t end,
                         int32_t *rows, int32_t *cols, double *values)
{
	const struct triplet_task task = {contacts, inner,  FRIC_FULL, rows,
	                                  cols,     values, false,     has_blocks(contacts, inner)};
	return begin < end ? write_chunk(&task, begin, end, 0) : end;
}

enum fric_code fric_hessian_triplets(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const double *inner, enum fric_triangle triangle, int32_t *rows, int32_t *cols,
                                     double *values, struct fric_error *error)
{
	const size_t bytes = fric_n_triplets(contacts, triangle) * ((rows ? 2 * sizeof(int32_t) : 0) + sizeof(double));
	struct triplet_task task = {contacts,
	                            inner,
	                            triangle,
	                            rows,
	                            cols,
	                            values,
	                            streams(context, bytes, STREAM_FROM),
	                            has_blocks(contacts, inner)};
	struct fault fault = fricp_parallel_chunks(context, contacts->n, triplet_chunk, &task);
	if (fault.code != FRIC_OK || !contacts->bodies)
		return fricp_report_fault(contacts, fault, error);
	const size_t n = fricp_triplets_before(contacts, contacts->n, triangle);
	task.contacts = contacts->bodies;
	task.inner = inner + first_body_inner(contacts);
	task.rows = rows ? rows + n : NULL;
	task.cols = rows ? cols + n : NULL;
	task.values = values + n;
	fault = fricp_parallel_chunks(context, task.contacts->n, triplet_chunk, &task);
	return fricp_report_fault(task.contacts, fault, error);
}
