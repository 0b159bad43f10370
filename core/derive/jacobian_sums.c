/* The Jacobian by positions in triplets and in CSR rows. A row is added up by one thread over its incidences, in contact
 * order, as Hessians are (assemble/csr.c); but blocks are not symmetric, and there are three matrices to each contact. */
#include <math.h>
#include <string.h>

#include "core/assemble/pattern.h"
#include "core/base/delivery.h"
#include "core/base/memory.h"
#include "core/base/vectors.h"
#include "core/derive/jacobian.h"
#include "core/order/sweep.h"

/* ---- blocks ---- */

enum { BLOCK = 10, PAIRS = BLOCK / 2 }; /* a [3, 3] block and one number that is 0 */

typedef double2 block[PAIRS];

/* What the force at one member changes by r, a and b. */
struct force_row {
	block by[3];
};

/* row.by[v] := weight * dF/dv + F (change of the weight by v) */
INLINE void row_by(const struct jacobian_local *local, double weight, const double *change, int v,
                   struct force_row *out)
{
	double2 *row = out->by[v];
	const double *f = local->force, *m = local->force_by[v], x = change[3 * v], y = change[3 * v + 1],
				 z = change[3 * v + 2];
	row[0] = weight * load_double2(m) + (double2){f[0], f[0]} * (double2){x, y};
	row[1] = weight * load_double2(m + 2) + (double2){f[0], f[1]} * (double2){z, x};
	row[2] = weight * load_double2(m + 4) + (double2){f[1], f[1]} * (double2){y, z};
	row[3] = weight * load_double2(m + 6) + (double2){f[2], f[2]} * (double2){x, y};
	row[4] = weight * load_double2(m + 8) + (double2){f[2], 0} * (double2){z, 0};
}

/* Where the weights' slopes by the closest point are: 1, -1 or 0. */
static const double slopes[FRIC_N_VERTEX_TYPES][2][FRIC_MAX_STENCIL] = {
	[FRIC_EDGE_VERTEX] = {{0, 1, -1}},
	[FRIC_EDGE_EDGE] = {{-1, 1}, {0, 0, 1, -1}},
	[FRIC_FACE_VERTEX] = {{0, 1, -1}, {0, 1, 0, -1}},
};

INLINE void row_of(enum fric_type type, const struct jacobian_local *local, int k, struct force_row *row)
{
	const double a = slopes[type][0][k], b = slopes[type][1][k], weight = local->weights[k];
	double change[9];
	UNROLL
	for (int e = 0; e < 9; e++)
		change[e] = a * local->point_by[0][e] + b * local->point_by[1][e];
	UNROLL
	for (int v = 0; v < 3; v++)
		row_by(local, weight, change, v, row);
}

/* The block of member l in such a row. */
INLINE void block_of(enum fric_type type, const struct force_row *row, int l, block out)
{
	const signed char(*signs)[FRIC_MAX_STENCIL] = vector_signs[type];
	UNROLL
	for (int p = 0; p < PAIRS; p++) {
		double2 sum = {0, 0};
		UNROLL
		for (int v = 0; v < 3; v++)
			sum = signs[v][l] > 0 ? sum + row->by[v][p] : signs[v][l] < 0 ? sum - row->by[v][p] : sum;
		out[p] = sum;
	}
}

/* ---- triplets ---- */

struct triplet_task {
	struct jacobian_task jacobian;
	int32_t *rows, *cols;
	double *values;
};

/* The number of triplets of a contact. */
static size_t n_local(const struct fric_contacts *c, enum fric_type type)
{
	const size_t n = (size_t)fric_stencil_size(type) * (size_t)c->dim;
	return n * n;
}

static size_t first_triplet(const struct fric_contacts *c, size_t i)
{
	size_t n = 0;
	for (enum fric_type g = 0; g < FRIC_N_VERTEX_TYPES && i > c->start[g]; g++)
		n += ((i < c->start[g + 1] ? i : c->start[g + 1]) - c->start[g]) * n_local(c, g);
	return n;
}

size_t fric_n_jacobian_triplets(const struct fric_contacts *contacts)
{
	return first_triplet(contacts, contacts->n);
}

/* @return the sum of all values times 0 */
INLINE double write_values(enum fric_type type, int dim, const struct jacobian_local *local, double *out)
{
	const int k = stencil_size_of(type);
	double sum = 0;
	for (int r = 0; r < k; r++) {
		struct force_row row;
		row_of(type, local, r, &row);
		UNROLL
		for (int l = 0; l < k; l++) {
			block at;
			block_of(type, &row, l, at);
			for (int e = 0; e < dim * dim; e++) {
				const int a = e / dim, b = e % dim;
				const double value = at[(3 * a + b) / 2][(3 * a + b) % 2];
				out[(size_t)(((r * dim + a) * k + l) * dim + b)] = value;
				sum += value * 0;
			}
		}
	}
	return sum;
}

static void write_indices(const struct fric_contacts *c, enum fric_type type, size_t i, int32_t *rows, int32_t *cols)
{
	const int dim = c->dim, n = fric_stencil_size(type) * dim;
	for (int r = 0; r < n; r++)
		for (int s = 0; s < n; s++) {
			*rows++ = (int32_t)member_dof(c, dim, type, r / dim, i) + r % dim;
			*cols++ = (int32_t)member_dof(c, dim, type, s / dim, i) + s % dim;
		}
}

INLINE void write_span(enum fric_type type, const struct triplet_task *task, struct span span,
                       const struct jacobian_local *locals, struct fault *fault)
{
	const struct fric_contacts *c = task->jacobian.source.kernel.contacts;
	const size_t step = n_local(c, type);
	size_t at = first_triplet(c, span.begin);
	for (size_t j = 0; j < span.n; j++, at += step) {
		const double sum = !task->values ? 0
		                   : c->dim == 2 ? write_values(type, 2, &locals[j], task->values + at)
		                                 : write_values(type, 3, &locals[j], task->values + at);
		if (task->rows)
			write_indices(c, type, span.begin + j, task->rows + at, task->cols + at);
		if (sum != 0 && fault->code == FRIC_OK) /* a NaN is not 0 either */
			*fault = (struct fault){FRIC_E_NOT_FINITE, span.begin + j};
	}
}

static void triplet_span(void *data, struct span span, struct fault *fault)
{
	const struct triplet_task *task = data;
	struct jacobian_local locals[FRIC_SPAN];
	if (task->values)
		fricp_jacobian_span(&task->jacobian, span, false, locals, fault);
	if (fault->code == FRIC_OK)
		FOR_TYPE(write_span, span.type, task, span, locals, fault)
}

enum fric_code fric_position_jacobian_triplets(const struct fric_context *context,
                                               const struct fric_derivation *derivation, int32_t *rows, int32_t *cols,
                                               double *values, struct fric_error *error)
{
	struct triplet_task task = {.rows = rows, .cols = cols, .values = values};
	fricp_jacobian_task(context, derivation, &task.jacobian);
	const struct fault fault = fricp_sweep_run(context, derivation->contacts, triplet_span, &task);
	return fricp_report_fault(derivation->contacts, fault, error);
}

/* ---- CSR ---- */

struct csr_task {
	struct jacobian_task jacobian;
	const struct fric_contacts *contacts;
	const struct fric_pattern *pattern;
	struct jacobian_local *locals; /* [n] */
	double *data;
	bool streams, streams_locals; /* the values, the locals do not fit into the caches */
};

static void locals_span(void *data, struct span span, struct fault *fault)
{
	const struct csr_task *task = data;
	fricp_jacobian_span(&task->jacobian, span, task->streams_locals, task->locals + span.begin, fault);
	if (task->streams_locals)
		stream_end();
}

enum { AHEAD = 6, LINE = 64 }; /* incidences: their contacts are fetched this early; bytes */

INLINE void fetch_ahead(const struct csr_task *task, size_t at)
{
	if (at + AHEAD >= task->pattern->n_incidences)
		return;
	const char *later = (const char *)&task->locals[task->pattern->incidences[at + AHEAD].contact];
	for (size_t byte = 0; byte < sizeof(struct jacobian_local); byte += LINE)
		__builtin_prefetch(later + byte);
}

INLINE void add_blocks(enum fric_type type, const struct csr_task *task, const struct incidence *e, double *sums)
{
	struct force_row row;
	row_of(type, &task->locals[e->contact], e->corner, &row);
	UNROLL
	for (int l = 0; l < stencil_size_of(type); l++) {
		double *to = sums + (size_t)BLOCK * e->place[l];
		block at;
		block_of(type, &row, l, at);
		UNROLL
		for (int p = 0; p < PAIRS; p++)
			add_double2(to + 2 * p, at[p]);
	}
}

/* The type of a contact, of which the size of the stencil is known. */
INLINE enum fric_type type_of_size(const struct fric_contacts *c, const struct incidence *e)
{
	static const enum fric_type types[FRIC_MAX_STENCIL + 1] = {0, FRIC_PLANE_VERTEX, FRIC_VERTEX_VERTEX,
	                                                           FRIC_EDGE_VERTEX, FRIC_FACE_VERTEX};
	return e->size == 4 && e->contact < c->start[FRIC_FACE_VERTEX] ? FRIC_EDGE_EDGE : types[e->size];
}

static void sum_incidences(const struct csr_task *task, size_t v, double *sums)
{
	const struct fric_pattern *p = task->pattern;
	for (size_t at = p->first_incidence[v]; at < p->first_incidence[v + 1]; at++) {
		const struct incidence *e = &p->incidences[at];
		fetch_ahead(task, at);
		FOR_TYPE(add_blocks, type_of_size(task->contacts, e), task, e, sums)
	}
}

/* From blocks one after the other to rows: three numbers, or two, at a time. */
INLINE void lay_out(int dim, const double *sums, size_t n, double *const rows[3])
{
	const size_t width = (size_t)dim;
	for (size_t i = 0; i < n; i++, sums += BLOCK) {
		UNROLL
		for (size_t a = 0; a < width; a++)
			memcpy(rows[a] + i * width, sums + 3 * a, width * sizeof(double));
	}
}

/* Sums side by side: in one, each addition would wait for the one before it. */
static bool finite_blocks(const double *sums, size_t n)
{
	double2 none[PAIRS] = {{0}};
	for (size_t i = 0; i < n; i++) {
		UNROLL
		for (int p = 0; p < PAIRS; p++)
			none[p] += load_double2(sums + (size_t)BLOCK * i + 2 * p) * 0;
	}
	const double2 all = ((none[0] + none[1]) + (none[2] + none[3])) + none[4];
	return all[0] + all[1] == 0;
}

enum { NARROW = 64 }; /* neighbours: most rows have fewer, and are summed up on the stack */

/* Not by memset, which waits until all that was streamed has arrived. */
INLINE void clear_blocks(size_t n, double *sums)
{
	const double2 zero = {0, 0};
	for (size_t i = 0; i < n; i++)
		UNROLL
	for (size_t p = 0; p < BLOCK; p += 2)
		memcpy(sums + BLOCK * i + p, &zero, sizeof(zero));
}

/* @param out  where the rows belong, or wait to be sent there. @return whether all sums are finite */
static bool sum_row(const struct csr_task *task, size_t v, double *sums, double *out)
{
	const struct fric_pattern *p = task->pattern;
	const int64_t *start = p->indptr + vertex_dof(p->dim, v);
	const size_t n = fricp_pattern_n_blocks(p, v);
	double *rows[3];
	for (int a = 0; a < 3; a++) /* in 2D two of them are there */
		rows[a] = out + (a < p->dim ? start[a] - start[0] : 0);
	clear_blocks(n, sums);
	sum_incidences(task, v, sums);
	if (p->dim == 2)
		lay_out(2, sums, n, rows);
	else
		lay_out(3, sums, n, rows);
	return finite_blocks(sums, n);
}

/* The numbers of the rows of vertex v: where the first one is, and how many bytes they take. */
static double *first_of(const struct csr_task *task, size_t v, size_t *bytes)
{
	const int64_t *start = task->pattern->indptr + vertex_dof(task->pattern->dim, v);
	*bytes = (size_t)(start[n_vertex_dofs(task->pattern->dim)] - start[0]) * sizeof(double);
	return task->data + start[0];
}

static bool sum_narrow(const struct csr_task *task, size_t v, struct delivery *delivery)
{
	double sums[NARROW * BLOCK];
	size_t bytes;
	double *in_place = first_of(task, v, &bytes);
	return sum_row(task, v, sums, task->streams ? delivery_place(delivery, bytes, in_place) : in_place);
}

static bool sum_wide(const struct csr_task *task, size_t v, struct fault *fault)
{
	const struct fric_memory *memory = task->pattern->memory;
	const size_t bytes = fricp_pattern_n_blocks(task->pattern, v) * BLOCK * sizeof(double);
	double *sums = memory_take(memory, bytes);
	size_t n_bytes;
	if (!sums) {
		*fault = (struct fault){FRIC_E_MEMORY, 0};
		return true;
	}
	const bool finite = sum_row(task, v, sums, first_of(task, v, &n_bytes));
	memory_give(memory, sums, bytes);
	return finite;
}

static void sum_vertex(const struct csr_task *task, size_t v, struct delivery *delivery, size_t begin,
                       struct fault *fault)
{
	const bool narrow = fricp_pattern_n_blocks(task->pattern, v) <= NARROW;
	if (!narrow)
		delivery_flush(delivery);
	const bool finite = narrow ? sum_narrow(task, v, delivery) : sum_wide(task, v, fault);
	if (!finite && fault->code == FRIC_OK)
		*fault = (struct fault){FRIC_E_NOT_FINITE, begin};
}

static void sum_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct csr_task *task = data;
	const struct fric_pattern *p = task->pattern;
	struct delivery delivery;
	(void)chunk;
	delivery_open(&delivery);
	for (size_t v = fricp_pattern_first_vertex(p, begin); v < p->n_vertices && p->first_incidence[v] < end; v++)
		if (p->first_incidence[v] < p->first_incidence[v + 1])
			sum_vertex(task, v, &delivery, begin, fault);
	delivery_flush(&delivery);
}

enum { STREAM_FROM = 4 << 20 }; /* bytes */

enum fric_code fric_position_jacobian_csr(const struct fric_context *context, const struct fric_derivation *derivation,
                                          const struct fric_pattern *pattern, double *data, struct fric_error *error)
{
	const struct fric_contacts *c = derivation->contacts;
	const size_t bytes = c->n * sizeof(struct jacobian_local);
	const size_t n_bytes = fric_pattern_n_entries(pattern) * sizeof(double);
	struct csr_task task = {.contacts = c,
	                        .pattern = pattern,
	                        .data = data,
	                        .locals = memory_take(context->memory, bytes),
	                        .streams = streams(context, n_bytes, STREAM_FROM),
	                        .streams_locals = streams(context, bytes, STREAM_FROM)};
	if (!task.locals)
		return report_code(FRIC_E_MEMORY, error);
	fricp_jacobian_task(context, derivation, &task.jacobian);
	const struct fault fault = fricp_sweep_run(context, c, locals_span, &task);
	const enum fric_code code = fault.code != FRIC_OK
	                                ? fault.code
	                                : fricp_parallel_chunks(context, pattern->n_incidences, sum_chunk, &task).code;
	memory_give(context->memory, task.locals, bytes);
	return fault.code != FRIC_OK ? fricp_report_fault(c, fault, error) : report_code(code, error);
}
