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
	const struct row_task *rows = data;
	const struct friction *task = rows->source;
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

/* The index in a block of the blocks of member i: with member j < i, row by row, or its own lower triangle (j == i). */
INLINE int part_at(int dim, int i, int j)
{
	return dim * dim * ((i - 1) * (i - 2) / 2 + (j - 1)) + dim * (dim + 1) / 2 * (i - 1);
}

INLINE double part_entry(int dim, const double *from, int i, int j, int a, int b)
{
	if (i == j)
		return from[part_at(dim, i, i) + (a > b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a)];
	return i > j ? from[part_at(dim, i, j) + dim * a + b] : from[part_at(dim, j, i) + dim * b + a];
}

/* The blocks of one member with the others in registers: those with the first member are minus sums, in the same order
 * as in expand_block. */
INLINE void add_corner(struct block_form form, int k, const double *from, int corner, const uint32_t *places,
                       double *sums)
{
	const int dim = form.width;
	double block[FRIC_MAX_STENCIL][9] = {{0}};
	for (int e = 0; e < dim * dim && k == 1; e++)
		block[0][e] = part_entry(dim, from, 1, 1, e / dim, e % dim);
	UNROLL
	for (int j = 1; j < k; j++)
		UNROLL
	for (int a = 0; a < dim; a++)
		UNROLL
	for (int b = 0; b < dim; b++) {
		double sum = 0;
		UNROLL
		for (int m = 1; m < k; m++)
			sum = corner == 0 ? sum - part_entry(dim, from, j, m, b, a) : sum;
		sum = corner == 0 ? sum : part_entry(dim, from, corner, j, a, b);
		block[j][dim * a + b] = sum;
		block[0][dim * a + b] -= sum;
	}
	for (int a = 0; a < dim && corner == 0; a++)
		for (int b = a + 1; b < dim; b++)
			block[0][dim * a + b] = block[0][dim * b + a];
	UNROLL
	for (int j = 0; j < k; j++) {
		double *to = sums + (size_t)form.n * (places[j] + 1u);
		UNROLL
		for (int e = 0; e < dim * dim; e++)
			to[e] += block[j][e];
	}
}

/* Adds the blocks of one member of a contact of k members. */
INLINE void add_member(struct block_form form, int k, const double *from, unsigned corner, const uint32_t *places,
                       double *sums)
{
	switch (corner) {
	case 0: add_corner(form, k, from, 0, places, sums); return;
	case 1: add_corner(form, k, from, 1, places, sums); return;
	case 2: add_corner(form, k, from, k > 2 ? 2 : 0, places, sums); return;
	default: add_corner(form, k, from, k > 3 ? 3 : 0, places, sums); return;
	}
}

#ifdef __x86_64__
/* A block of 3 x 3 by rows: its first eight numbers, and the last one. */
struct nine {
	eight most;
	double last;
};

/* As part_entry for all entries: a block with a member before is as stored; one with a member behind is transposed; the
 * own one is a lower triangle. */
INLINE void load_nine(const double *from, int i, int j, struct nine *x)
{
	from += i > j ? part_at(3, i, j) : part_at(3, j, i);
	memcpy(&x->most, from, sizeof(x->most)); /* of a triangle also the next two numbers, which there always are */
	x->last = from[i == j ? 5 : 8];
	if (i == j)
		x->most = __builtin_shufflevector(x->most, x->most, 0, 1, 3, 1, 2, 4, 3, 4);
	else if (i < j)
		x->most = __builtin_shufflevector(x->most, x->most, 0, 3, 6, 1, 4, 7, 2, 5);
}

/* Not an initializer of an array, which gcc turns into a string instruction (see clear_blocks). */
INLINE void clear_nine(struct nine *x)
{
	x->most = (eight){0};
	x->last = 0;
}

INLINE void subtract_nine(struct nine *from, const struct nine *x)
{
	from->most -= x->most;
	from->last -= x->last;
}

INLINE void add_nine(double *to, const struct nine *x)
{
	eight sum;
	memcpy(&sum, to, sizeof(sum));
	sum += x->most;
	memcpy(to, &sum, sizeof(sum));
	to[8] += x->last;
}

/* As add_corner for four members in space. */
INLINE void add_corner_by_eight(const double *from, int corner, const uint32_t *places, double *sums)
{
	const size_t n = 10;
	struct nine block[FRIC_MAX_STENCIL];
	clear_nine(&block[0]);
	UNROLL
	for (int j = 1; j < FRIC_MAX_STENCIL; j++) {
		if (corner > 0)
			load_nine(from, corner, j, &block[j]);
		else
			clear_nine(&block[j]);
		UNROLL
		for (int m = 1; m < FRIC_MAX_STENCIL && corner == 0; m++) {
			struct nine part;
			load_nine(from, m, j, &part);
			subtract_nine(&block[j], &part);
		}
		subtract_nine(&block[0], &block[j]);
	}
	if (corner == 0) /* the lower triangle is the one that all formats have */
		block[0].most = __builtin_shufflevector(block[0].most, block[0].most, 0, 3, 6, 3, 4, 7, 6, 7);
	UNROLL
	for (int j = 0; j < FRIC_MAX_STENCIL; j++)
		add_nine(sums + n * (places[j] + 1u), &block[j]);
}

INLINE void add_member_by_eight(struct block_form form, int k, const double *from, unsigned corner,
                                const uint32_t *places, double *sums)
{
	if (k < FRIC_MAX_STENCIL) {
		add_member(form, k, from, corner, places, sums);
		return;
	}
	switch (corner) {
	case 0: add_corner_by_eight(from, 0, places, sums); return;
	case 1: add_corner_by_eight(from, 1, places, sums); return;
	case 2: add_corner_by_eight(from, 2, places, sums); return;
	default: add_corner_by_eight(from, 3, places, sums); return;
	}
}
#endif

enum { BLOCKS_AHEAD = 6 };

/* Prefetches the block of a contact that comes later. */
INLINE void fetch_block(const struct blocks *task, int dim, size_t i)
{
	const struct fric_contacts *c = task->contacts;
	if (i < c->start[FRIC_EDGE_EDGE] || dim == 2)
		return;
	const double *from = task->blocks + task->first[FRIC_EDGE_EDGE] +
	                     (i - c->start[FRIC_EDGE_EDGE]) * MOST_BLOCK_NUMBERS;
	if (i >= c->start[FRIC_PLANE_VERTEX])
		return;
	UNROLL
	for (int e = 0; e < MOST_BLOCK_NUMBERS; e += 8)
		__builtin_prefetch(from + e);
}

/* Defines the sum_blocks function for whole blocks, by a function that adds those of one member. */
#define SUM_BLOCKS(name, add_blocks) \
	INLINE void name(const void *source, struct block_form form, const struct block_rows *rows, size_t v, \
	                 double *sums) \
	{ \
		const struct blocks *task = source; \
		const struct fric_contacts *c = task->contacts; \
		for (size_t at = rows->first_incidence[v]; at < rows->first_incidence[v + 1]; at++) { \
			const struct incidence *e = &rows->incidences[at]; \
			const size_t i = contact_of(e); \
			const enum fric_type type = contact_type(c, i); \
			const int k = stencil_size_of(type); \
			const double *from = task->blocks + task->first[type] + \
			                     (i - c->start[type]) * n_block_numbers(form.width, k); \
			uint32_t places[FRIC_MAX_STENCIL]; \
			if (at + BLOCKS_AHEAD < rows->n_incidences) \
				fetch_block(task, form.width, contact_of(e + BLOCKS_AHEAD)); \
			places_of(e, rows->diagonal[v], places); \
			if (k == 4) \
				add_blocks(form, 4, from, corner_of(e), places, sums); \
			else if (k == 3) \
				add_blocks(form, 3, from, corner_of(e), places, sums); \
			else if (k == 2) \
				add_blocks(form, 2, from, corner_of(e), places, sums); \
			else \
				add_blocks(form, 1, from, corner_of(e), places, sums); \
		} \
	}

SUM_BLOCKS(sum_whole, add_member)

SUM_ROWS_IN_CHUNKS(blocks_chunk, sum_whole, form_of_blocks(2), form_of_blocks(3))

#ifdef __x86_64__
SUM_BLOCKS(sum_whole_by_eight, add_member_by_eight)

__attribute__((target("avx512f,avx512vl"))) static void avx512_blocks_chunk(void *data, size_t chunk, size_t begin,
                                                                            size_t end, struct fault *fault)
{
	(void)chunk;
	sum_rows(data, form_of_blocks(3), sum_whole_by_eight, begin, end, fault);
}
#endif

static chunk_work *blocks_work(const struct fric_context *context, const struct fric_contacts *contacts)
{
#ifdef __x86_64__
	if (contacts->dim == 3 && fricp_kernels_of(context) == &fricp_kernels_avx512)
		return avx512_blocks_chunk;
#endif
	return blocks_chunk;
}

/* @param first_block  [n_members + 1] for bsr; NULL for csr */
static enum fric_code sum_up_blocks(const struct fric_context *context, const struct fric_contacts *contacts,
                                    const double *inner, const struct fric_pattern *pattern, const int64_t *first_block,
                                    size_t n_entries, double *data)
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
	return fricp_parallel_chunks(context, task.rows->n_incidences, blocks_work(context, contacts), &task).code;
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
	const size_t n_incidences = task.rows->n_incidences;
	const struct phase phases[] = {{local_chunk, contacts->n, FRIC_CHUNK, false, NULL},
	                               {work, n_incidences, FRIC_CHUNK, true, NULL}};
	enum fric_code code = FRIC_E_MEMORY;
	if (friction.locals)
		code = fricp_parallel_phases(context, fricp_chunk_threads(context, n_incidences), phases, 2, &task).code;
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
