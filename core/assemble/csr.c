/* Hessians in rows of entries (csr) and of blocks (bsr). Defines the functions that add up friction blocks for
 * sums.h. */
#include "core/assemble/blocks.h"
#include "core/assemble/hessian.h"
#include "core/assemble/sums.h"
#include "core/bodies/hessian.h"
#include "core/kernels/kernels.h"
#include "core/motion/stencil.h"

/* ---- friction at vertices ---- */

/* The blocks of a contact at vertices are w_i w_j M, so its locals are M and its stencil weights, 0 beyond the stencil.
 * In 3D they hold the lower triangle of M by rows, in 2D all of M, so that a block always fills whole vectors. Wider
 * vectors need padding in 3D. */
INLINE struct block_form form_at_vertices(int dim)
{
	return dim == 2 ? (struct block_form){2, 2, 4} : (struct block_form){3, 0, 6};
}

INLINE struct block_form padded_form(void)
{
	return (struct block_form){3, 0, 8};
}

struct friction {
	const struct fric_contacts *contacts;
	const double *inner;
	double *locals; /* [n, n_local(form)] M and weights of each contact */
	bool padded;
};

INLINE size_t n_local(struct block_form form)
{
	return (size_t)form.n + FRIC_MAX_STENCIL;
}

INLINE void fill_locals(const struct friction *task, struct block_form form, enum fric_type type, size_t begin,
                        size_t end)
{
	const struct fric_contacts *c = task->contacts;
	for (size_t i = begin; i < end; i++) {
		double *local = task->locals + i * n_local(form), block[9];
		memset(local, 0, n_local(form) * sizeof(double));
		contact_weights(c, type, i, local + form.n);
		fricp_core_block(c, task->inner, i, block);
		for (int a = 0; a < form.width; a++)
			for (int b = form.width == 2 ? 0 : a; b < form.width; b++)
				local[entry_of(form, a, b)] = block[form.width * a + b];
	}
}

static void local_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct friction *task = data;
	const struct fric_contacts *c = task->contacts;
	(void)chunk;
	(void)fault;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t first = c->start[type] > begin ? c->start[type] : begin;
		const size_t last = c->start[type + 1] < end ? c->start[type + 1] : end;
		if (c->dim == 2)
			fill_locals(task, form_at_vertices(2), type, first, last);
		else if (task->padded)
			fill_locals(task, padded_form(), type, first, last);
		else
			fill_locals(task, form_at_vertices(3), type, first, last);
	}
}

enum { AHEAD = 16 }; /* prefetch distance in incidences; without it each access would miss the cache */

INLINE void fetch(const double *local, size_t n)
{
	__builtin_prefetch(local);
	__builtin_prefetch(local + n - 1);
}

/* Defines the sum_blocks function for friction at vertices, with vectors of this type. The sum for the diagonal block
 * stays in registers. */
#define SUM_FRICTION(name, vector) \
	INLINE void name(const void *source, struct block_form form, const struct block_rows *rows, size_t v, \
	                 double *sums) \
	{ \
		enum { LONG = sizeof(vector) / sizeof(double), MOST = 8 / LONG }; \
		const double *locals = ((const struct friction *)source)->locals; \
		const size_t n = n_local(form); \
		const struct incidence *e = rows->incidences + rows->first_incidence[v], \
							   *end = rows->incidences + rows->first_incidence[v + 1], \
							   *all = rows->incidences + rows->n_incidences; \
		vector own[MOST] = {{0}}; \
		for (; e < end; e++) { \
			const double *local = locals + contact_of(e) * n, *weights = local + form.n; \
			const unsigned corner = corner_of(e); \
			const double weight = weights[corner]; \
			vector block[MOST] = {{0}}; \
			if (e + AHEAD < all) \
				fetch(locals + contact_of(e + AHEAD) * n, n); \
			UNROLL \
			for (int q = 0; q < form.n / LONG; q++) { \
				memcpy(&block[q], local + LONG * q, sizeof(vector)); \
				own[q] += weight * weight * block[q]; \
			} \
			UNROLL \
			for (unsigned j = 0; j < N_OTHERS; j++) { \
				const double both = weight * weights[other_member(corner, j)]; \
				double *to = sums + (size_t)form.n * (e->place[j] + 1u); \
				UNROLL \
				for (int q = 0; q < form.n / LONG; q++) { \
					vector sum; \
					memcpy(&sum, to + LONG * q, sizeof(vector)); \
					sum += both * block[q]; \
					memcpy(to + LONG * q, &sum, sizeof(vector)); \
				} \
			} \
		} \
		UNROLL \
		for (int q = 0; q < form.n / LONG; q++) { \
			double *to = sums + (size_t)form.n * (rows->diagonal[v] + 1u) + LONG * q; \
			vector sum; \
			memcpy(&sum, to, sizeof(vector)); \
			sum += own[q]; \
			memcpy(to, &sum, sizeof(vector)); \
		} \
	}

SUM_FRICTION(sum_friction, double2)

SUM_ROWS_IN_CHUNKS(friction_chunk, sum_friction, form_at_vertices(2), form_at_vertices(3))

#ifdef __x86_64__
typedef double four __attribute__((vector_size(32)));
typedef double eight __attribute__((vector_size(64)));

SUM_FRICTION(sum_by_four, four)
SUM_FRICTION(sum_by_eight, eight)

__attribute__((target("avx2"))) static void avx2_chunk(void *data, size_t chunk, size_t begin, size_t end,
                                                       struct fault *fault)
{
	(void)chunk;
	sum_rows(data, padded_form(), sum_by_four, begin, end, fault);
}

__attribute__((target("avx512f,avx512vl"))) static void avx512_chunk(void *data, size_t chunk, size_t begin, size_t end,
                                                                     struct fault *fault)
{
	(void)chunk;
	sum_rows(data, padded_form(), sum_by_eight, begin, end, fault);
}
#endif

static chunk_work *friction_work(const struct fric_context *context, const struct fric_contacts *contacts)
{
#ifdef __x86_64__
	const struct fric_kernels *kernels = fricp_kernels_of(context);
	if (contacts->dim == 3 && kernels == &fricp_kernels_avx512)
		return avx512_chunk;
	if (contacts->dim == 3 && kernels == &fricp_kernels_avx2)
		return avx2_chunk;
#endif
	return friction_chunk;
}

/* ---- whole blocks ---- */

INLINE struct block_form form_of_blocks(int dim)
{
	return dim == 2 ? (struct block_form){2, 2, 4} : (struct block_form){3, 3, 10};
}

struct blocks {
	const struct fric_contacts *contacts;
	const double *blocks;
	size_t first[FRIC_N_VERTEX_TYPES]; /* index of each type's first number */
};

/* Adds the blocks of one member of a contact of k members. */
INLINE void add_member(struct block_form form, int k, const double *from, unsigned corner, const uint32_t *places,
                       double *sums)
{
	const int dim = form.width;
	double block[FRIC_MAX_STENCIL * 3][FRIC_MAX_STENCIL * 3];
	expand_block(dim, k, from, FRIC_MAX_STENCIL * 3, block[0]);
	for (int j = 0; j < k; j++) {
		double *to = sums + (size_t)form.n * (places[j] + 1u);
		for (int a = 0; a < dim; a++)
			for (int b = 0; b < dim; b++)
				to[dim * a + b] += block[(int)corner * dim + a][j * dim + b];
	}
}

INLINE void sum_blocks_of(const void *source, struct block_form form, const struct block_rows *rows, size_t v,
                          double *sums)
{
	const struct blocks *task = source;
	const struct fric_contacts *c = task->contacts;
	for (size_t at = rows->first_incidence[v]; at < rows->first_incidence[v + 1]; at++) {
		const struct incidence *e = &rows->incidences[at];
		const size_t i = contact_of(e);
		const enum fric_type type = contact_type(c, i);
		const int k = fric_stencil_size(type);
		const double *from = task->blocks + task->first[type] + (i - c->start[type]) * n_block_numbers(form.width, k);
		uint32_t places[FRIC_MAX_STENCIL];
		places_of(e, rows->diagonal[v], places);
		if (k == 4)
			add_member(form, 4, from, corner_of(e), places, sums);
		else if (k == 3)
			add_member(form, 3, from, corner_of(e), places, sums);
		else if (k == 2)
			add_member(form, 2, from, corner_of(e), places, sums);
		else
			add_member(form, 1, from, corner_of(e), places, sums);
	}
}

SUM_ROWS_IN_CHUNKS(blocks_chunk, sum_blocks_of, form_of_blocks(2), form_of_blocks(3))

/* @param first_block  [n_members + 1] for bsr; NULL for csr */
static enum fric_code sum_up_blocks(const struct fric_context *context, const struct fric_contacts *contacts,
                                    const double *inner, const struct fric_pattern *pattern,
                                    const int64_t *first_block, size_t n_entries, double *data)
{
	struct blocks blocks = {.contacts = contacts, .blocks = inner};
	struct row_task task = {.memory = context->memory,
	                        .rows = &pattern->vertices,
	                        .source = &blocks,
	                        .data = data,
	                        .first_block = first_block,
	                        .streams = streams(context, n_entries * sizeof(double), STREAM_VALUES_FROM)};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		blocks.first[type] = block_at(contacts, type, contacts->start[type]);
	return fricp_parallel_chunks(context, task.rows->n_incidences, blocks_chunk, &task).code;
}

/* ---- vertices ---- */

/* @param first_block  [n_members + 1] for bsr; NULL for csr */
static enum fric_code sum_up(const struct fric_context *context, const struct fric_contacts *contacts,
                             const double *inner, const struct fric_pattern *pattern, const int64_t *first_block,
                             size_t n_entries, double *data)
{
	if (has_blocks(contacts, inner))
		return sum_up_blocks(context, contacts, inner, pattern, first_block, n_entries, data);
	chunk_work *const work = friction_work(context, contacts);
	const bool padded = work != friction_chunk;
	const size_t n = n_local(padded ? padded_form() : form_at_vertices(contacts->dim));
	const size_t bytes = contacts->n * n * sizeof(double);
	struct friction friction = {contacts, inner, memory_take(context->memory, bytes), padded};
	struct row_task task = {.memory = context->memory,
	                        .rows = &pattern->vertices,
	                        .source = &friction,
	                        .data = data,
	                        .first_block = first_block,
	                        .streams = streams(context, n_entries * sizeof(double), STREAM_VALUES_FROM)};
	enum fric_code code = FRIC_E_MEMORY;
	if (friction.locals)
		code = fricp_parallel_chunks(context, contacts->n, local_chunk, &friction).code;
	if (code == FRIC_OK)
		code = fricp_parallel_chunks(context, task.rows->n_incidences, work, &task).code;
	memory_give(context->memory, friction.locals, bytes);
	return code;
}

/* ---- bodies ---- */

INLINE struct block_form form_of_bodies(int width)
{
	return width == 3 ? (struct block_form){3, 3, 10} : (struct block_form){6, 6, 36};
}

struct body_friction {
	const struct fric_contacts *b;
	const double *inner;
};

INLINE void sum_bodies(const void *source, struct block_form form, const struct block_rows *rows, size_t v,
                       double *sums)
{
	const struct body_friction *task = source;
	const int width = form.width;
	double block[MOST_BLOCK][MOST_BLOCK];
	for (size_t at = rows->first_incidence[v]; at < rows->first_incidence[v + 1]; at++) {
		const struct incidence *e = &rows->incidences[at];
		const enum fric_type type = contact_type(task->b, contact_of(e));
		uint32_t places[FRIC_MAX_STENCIL];
		places_of(e, rows->diagonal[v], places);
		fricp_body_block(task->b, task->inner, type, contact_of(e), block);
		for (int j = 0; j < fric_stencil_size(type); j++) {
			double *to = sums + (size_t)form.n * (places[j] + 1u);
			for (int a = 0; a < width; a++, to += width)
				for (int b = 0; b < width; b++)
					to[b] += block[(int)corner_of(e) * width + a][j * width + b];
		}
	}
}

SUM_ROWS_IN_CHUNKS(bodies_chunk, sum_bodies, form_of_bodies(3), form_of_bodies(6))

/* Reports the lowest contact whose block is not finite. */
static void check_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct body_friction *task = data;
	double block[MOST_BLOCK][MOST_BLOCK];
	(void)chunk;
	for (size_t i = begin; i < end && fault->code == FRIC_OK; i++)
		if (!fricp_body_block(task->b, task->inner, contact_type(task->b, i), i, block))
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
}

static enum fric_code sum_up_bodies(const struct fric_context *context, const struct fric_contacts *contacts,
                                    const double *inner, const struct fric_pattern *pattern, size_t n_entries,
                                    double *data, struct fric_error *error)
{
	const struct fric_contacts *b = contacts->bodies;
	struct body_friction friction = {b, inner + first_body_inner(contacts)};
	struct row_task task = {.memory = context->memory,
	                        .rows = &pattern->bodies,
	                        .source = &friction,
	                        .data = data,
	                        .streams = streams(context, n_entries * sizeof(double), STREAM_VALUES_FROM)};
	const enum fric_code code = fricp_parallel_chunks(context, task.rows->n_incidences, bodies_chunk, &task).code;
	struct fault fault = {FRIC_OK, b->n};
	if (code == FRIC_E_NOT_FINITE) /* looks for a contact that overflows by itself */
		fault = fricp_parallel_chunks(context, b->n, check_chunk, &friction);
	return fault.code != FRIC_OK ? fricp_report_fault(b, fault, error) : report_code(code, error);
}

/* ---- both ---- */

enum fric_code fric_hessian_csr(const struct fric_context *context, const struct fric_contacts *contacts,
                                const double *inner, const struct fric_pattern *pattern, double *data,
                                struct fric_error *error)
{
	const size_t n = fric_pattern_n_entries(pattern);
	const enum fric_code code = sum_up(context, contacts, inner, pattern, NULL, n, data);
	if (code != FRIC_OK || !contacts->bodies)
		return report_code(code, error);
	return sum_up_bodies(context, contacts, inner, pattern, n, data, error);
}

enum fric_code fric_hessian_bsr(const struct fric_context *context, const struct fric_contacts *contacts,
                                const double *inner, const struct fric_pattern *pattern, const int64_t *indptr,
                                double *data, struct fric_error *error)
{
	const size_t n = (size_t)indptr[pattern->vertices.n_members] * (size_t)(contacts->dim * contacts->dim);
	return report_code(sum_up(context, contacts, inner, pattern, indptr, n, data), error);
}
