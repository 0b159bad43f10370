/* The position Jacobian as triplets and as CSR rows (assemble/sums.h). Its blocks are not symmetric, and each contact
 * has three matrices, one per vector. */
#include "core/assemble/sums.h"
#include "core/assemble/triplets.h"
#include "core/derive/jacobian.h"
#include "core/order/sweep.h"

/* ---- blocks ---- */

enum { BLOCK = 10, PAIRS = BLOCK / 2 }; /* a [3, 3] block and a padding zero */

typedef double2 block[PAIRS];

/* The derivatives of the force at one member with respect to r, a and b. */
struct force_row {
	block by[3];
};

/* row.by[v] := weight * dF/dv + F (d weight/dv)^T */
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

INLINE void row_of(const struct jacobian_task *task, enum fric_type type, const struct jacobian_local *local, int k,
                   struct force_row *row)
{
	const double a = task->derivatives[type][0][k], b = task->derivatives[type][1][k], weight = local->weights[k];
	double change[9];
	UNROLL
	for (int e = 0; e < 9; e++)
		change[e] = a * local->point_by[0][e] + b * local->point_by[1][e];
	UNROLL
	for (int v = 0; v < 3; v++)
		row_by(local, weight, change, v, row);
}

/* Computes the block (k, l), where `row` belongs to member k. */
INLINE void block_of(enum fric_type type, const struct force_row *row, int l, block out)
{
	UNROLL
	for (int p = 0; p < PAIRS; p++) {
		double2 sum = {0, 0};
		UNROLL
		for (int v = 0; v < 3; v++) {
			const int sign = vector_sign(type, v, l);
			sum = sign > 0 ? sum + row->by[v][p] : sign < 0 ? sum - row->by[v][p] : sum;
		}
		out[p] = sum;
	}
}

/* ---- triplets ---- */

struct triplet_task {
	struct jacobian_task jacobian;
	int32_t *rows, *cols;
	double *values;
};

size_t fric_n_jacobian_triplets(const struct fric_contacts *contacts)
{
	return fricp_triplets_before(contacts, contacts->n, FRIC_FULL);
}

/* @return the sum of all values times 0, which is 0 if all are finite */
INLINE double write_values(const struct jacobian_task *task, enum fric_type type, int dim,
                           const struct jacobian_local *local, double *out)
{
	const int k = stencil_size_of(type);
	double sum = 0;
	for (int r = 0; r < k; r++) {
		struct force_row row;
		row_of(task, type, local, r, &row);
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
	size_t at = fricp_triplets_before(c, span.begin, FRIC_FULL);
	const size_t step = fricp_triplets_before(c, span.begin + 1, FRIC_FULL) - at;
	for (size_t j = 0; j < span.n; j++, at += step) {
		const double sum = !task->values ? 0
		                   : c->dim == 2 ? write_values(&task->jacobian, type, 2, &locals[j], task->values + at)
		                                 : write_values(&task->jacobian, type, 3, &locals[j], task->values + at);
		if (task->rows)
			write_indices(c, type, span.begin + j, task->rows + at, task->cols + at);
		if (sum != 0 && fault->code == FRIC_OK) /* also true for NaN */
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

struct csr_source {
	struct jacobian_task jacobian;
	struct jacobian_local *locals; /* [n] */
	bool streams;                  /* the locals do not fit into the caches */
};

static void locals_span(void *data, struct span span, struct fault *fault)
{
	const struct csr_source *task = data;
	fricp_jacobian_span(&task->jacobian, span, task->streams, task->locals + span.begin, fault);
	if (task->streams)
		stream_end();
}

enum { AHEAD = 6 }; /* prefetch distance in incidences */

INLINE void fetch(const struct jacobian_local *local)
{
	for (size_t byte = 0; byte < sizeof(*local); byte += STREAM_LINE)
		__builtin_prefetch((const char *)local + byte);
}

/* Adds row k of contact i's blocks. */
INLINE void add_blocks(enum fric_type type, const struct csr_source *task, size_t i, unsigned k,
                       const uint32_t places[FRIC_MAX_STENCIL], double *sums)
{
	struct force_row row;
	row_of(&task->jacobian, type, &task->locals[i], (int)k, &row);
	UNROLL
	for (int l = 0; l < stencil_size_of(type); l++) {
		double *to = sums + (size_t)BLOCK * (places[l] + 1u);
		block at;
		block_of(type, &row, l, at);
		UNROLL
		for (int p = 0; p < PAIRS; p++)
			add_double2(to + 2 * p, at[p]);
	}
}

/* contact_type without branches, which would often be mispredicted. */
INLINE enum fric_type type_of(const struct fric_contacts *c, size_t i)
{
	unsigned type = 0;
	UNROLL
	for (int g = 1; g < FRIC_N_VERTEX_TYPES; g++)
		type += i >= c->start[g];
	return (enum fric_type)type;
}

INLINE void sum_contacts(const void *source, struct block_form form, const struct block_rows *rows, size_t v,
                         double *sums)
{
	const struct csr_source *task = source;
	const struct fric_contacts *c = task->jacobian.source.kernel.contacts;
	const struct incidence *e = rows->incidences + rows->first_incidence[v],
						   *end = rows->incidences + rows->first_incidence[v + 1],
						   *all = rows->incidences + rows->n_incidences;
	const uint32_t diagonal = rows->diagonal[v];
	(void)form;
	for (; e < end; e++) {
		const size_t i = contact_of(e);
		uint32_t places[FRIC_MAX_STENCIL];
		places_of(e, diagonal, places);
		if (e + AHEAD < all)
			fetch(&task->locals[contact_of(e + AHEAD)]);
		FOR_TYPE(add_blocks, type_of(c, i), task, i, corner_of(e), places, sums)
	}
}

INLINE struct block_form form_of(int dim)
{
	return (struct block_form){dim, 3, BLOCK};
}

SUM_ROWS_IN_CHUNKS(sum_chunk, sum_contacts, form_of(2), form_of(3))

enum fric_code fric_position_jacobian_csr(const struct fric_context *context, const struct fric_derivation *derivation,
                                          const struct fric_pattern *pattern, double *data, struct fric_error *error)
{
	const struct fric_contacts *c = derivation->contacts;
	const size_t bytes = c->n * sizeof(struct jacobian_local);
	const size_t n_bytes = fric_pattern_n_entries(pattern) * sizeof(double);
	struct csr_source source = {.locals = memory_take(context->memory, bytes),
	                            .streams = streams(context, bytes, STREAM_VALUES_FROM)};
	struct row_task task = {.memory = context->memory,
	                        .rows = &pattern->vertices,
	                        .source = &source,
	                        .data = data,
	                        .streams = streams(context, n_bytes, STREAM_VALUES_FROM)};
	if (!source.locals)
		return report_code(FRIC_E_MEMORY, error);
	fricp_jacobian_task(context, derivation, &source.jacobian);
	const struct fault fault = fricp_sweep_run(context, c, locals_span, &source);
	const enum fric_code code = fault.code != FRIC_OK
	                                ? fault.code
	                                : fricp_parallel_chunks(context, task.rows->n_incidences, sum_chunk, &task).code;
	memory_give(context->memory, source.locals, bytes);
	return fault.code != FRIC_OK ? fricp_report_fault(c, fault, error) : report_code(code, error);
}
