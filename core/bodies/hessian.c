#include "core/bodies/hessian.h"

#include <math.h>

#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/bodies/evaluate.h"

/* ---- inner matrices ---- */

struct inner_task {
	const struct fric_contacts *b;
	const struct coefficients *coefficients;
	const double *velocities;
	enum fric_projection projection;
	double *inner;                      /* [n, body_inner_size], or NULL */
	const struct fric_factors *factors; /* or NULL */
};

/* out := across I + (along - across) s s^T for the unit vector s, without cancellation. @return whether it is finite */
INLINE bool matrix_of(int n, const double *s, long double along, long double across, double *out)
{
	double sum = 0;
	for (int r = 0, e = 0; r < n; r++)
		for (int t = r; t < n; t++, e++) {
			long double entry = (along - across) * s[r] * s[t], others = 0;
			for (int o = 0; o < n; o++)
				others += o == r ? 0 : (long double)s[o] * s[o];
			if (t == r)
				entry = across * others + along * s[r] * s[r];
			out[e] = (double)entry;
			sum += out[e] * 0;
		}
	return isfinite(sum);
}

static bool store_matrix(int dim, const double *s, long double along, long double across, double *out)
{
	return dim == 2 ? matrix_of(2, s, along, across, out) : matrix_of(5, s, along, across, out);
}

/* Uses doubles if they lose nothing. An overflow is reported even if projection would remove it. */
static bool find_inner(const struct inner_task *task, enum fric_type type, size_t i, double *out)
{
	const struct fric_contacts *b = task->b;
	struct slip slip;
	long double along, across;
	body_slip_of(b, task->coefficients, type, i, task->velocities, &slip);
	if (!slip_finite(&slip))
		return false;
	contact_eigenvalues(b, i, &slip, &along, &across);
	if (!slip.extreme &&
	    !whole_eigenvalues((double)along, (double)across, slip_strength(b, &slip) + slip.drag, largest_eigenvalue)) {
		slip.extreme = true;
		contact_eigenvalues(b, i, &slip, &along, &across);
	}
	return store_matrix(b->dim, slip.unit, along, across, out) &&
	       store_matrix(b->dim, slip.unit, projected_l(task->projection, along), projected_l(task->projection, across),
	                    out);
}

/* Stores the matrix of contact i and, if factors are wanted, its Jacobian. */
static bool store_matrices(const struct inner_task *task, size_t i)
{
	const struct fric_contacts *b = task->b;
	const enum fric_type type = contact_type(b, i);
	const size_t m = body_inner_size(b->dim), at = i - b->start[type];
	const size_t size = (size_t)n_body_slip(b->dim) * (size_t)n_bodies_of(type) * (size_t)n_body_dofs(b->dim);
	double sum = 0;
	if (!task->factors)
		return find_inner(task, type, i, task->inner + i * m);
	double *jacobian = task->factors->jacobian[type] + at * size;
	body_jacobian(b, b->dim, n_bodies_of(type), i, jacobian);
	for (size_t e = 0; e < size; e++)
		sum += jacobian[e] * 0;
	return find_inner(task, type, i, task->factors->inner[type] + at * m) && isfinite(sum);
}

static void inner_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct inner_task *task = data;
	(void)chunk;
	for (size_t i = begin; i < end && fault->code == FRIC_OK; i++)
		if (!store_matrices(task, i))
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
}

static struct inner_task inner_task(const struct fric_contacts *contacts, const struct fric_query *query,
                                    enum fric_projection projection)
{
	return (struct inner_task){.b = contacts->bodies,
	                           .coefficients = body_coefficients_for(contacts, query),
	                           .velocities = query->velocities,
	                           .projection = projection};
}

enum fric_code fricp_bodies_inner(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const struct fric_query *query, enum fric_projection projection, double *inner,
                                  const struct fric_factors *factors, struct fric_error *error)
{
	struct inner_task task = inner_task(contacts, query, projection);
	task.inner = inner ? inner + first_body_inner(contacts) : NULL;
	task.factors = factors;
	return fricp_report_fault(task.b, fricp_parallel_chunks(context, task.b->n, inner_chunk, &task), error);
}

/* ---- products ---- */

struct products {
	struct inner_task matrices;
	const double *vector; /* [n_dofs] */
	double *wrenches;     /* [n_actions, n_body_dofs] */
};

/* The index of entry (r, t) of a symmetric matrix with n rows. */
INLINE int entry(int n, int r, int t)
{
	const int low = r < t ? r : t, high = r < t ? t : r;
	return low * n - low * (low - 1) / 2 + (high - low);
}

/* f := A x. @return whether doubles lose none of its digits */
INLINE bool multiply_inner(int n, const double *a, const double *x, long double f[MOST_SLIP])
{
	bool plain = true;
	UNROLL
	for (int r = 0; r < n; r++) {
		f[r] = 0;
		UNROLL
		for (int t = 0; t < n; t++)
			f[r] += (long double)a[entry(n, r, t)] * x[t];
		plain &= ordinary((double)f[r]) && (f[r] == 0) == ((double)f[r] == 0);
	}
	return plain;
}

/* Stores the wrenches of A S', where S' is the change of the slip along the vector. */
static bool multiply_contact(const struct products *task, size_t i)
{
	const struct fric_contacts *b = task->matrices.b;
	const double *a = task->matrices.inner + i * body_inner_size(b->dim);
	long double f[MOST_SLIP] = {0};
	struct slip slip;
	struct action action = {{0}, {0}};
	body_slip_change(b, contact_type(b, i), i, task->vector, &slip);
	const bool plain = b->dim == 2 ? multiply_inner(2, a, slip.scaled, f) : multiply_inner(5, a, slip.scaled, f);
	action_of(b, i, f, !plain || !has_unit_basis(b, i), &action);
	return slip_finite(&slip) && fricp_store_wrenches(b, i, &action, task->wrenches);
}

static void multiply_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct products *task = data;
	(void)chunk;
	for (size_t i = begin; i < end && fault->code == FRIC_OK; i++)
		if (!multiply_contact(task, i))
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
}

static struct fault multiply(const struct fric_context *context, struct products *task, double *product)
{
	const struct fric_contacts *b = task->matrices.b;
	const struct fault fault = fricp_parallel_chunks(context, b->n, multiply_chunk, task);
	if (fault.code != FRIC_OK)
		return fault;
	return fricp_add_actions(context, b, task->wrenches, (size_t)n_body_dofs(b->dim), product + b->first_dof);
}

enum fric_code fricp_bodies_products(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const struct fric_query *query, enum fric_projection projection, size_t n_vectors,
                                     const double *vectors, double *products, struct fric_error *error)
{
	const struct fric_contacts *b = contacts->bodies;
	const size_t inner = b->n * body_inner_size(b->dim), n = n_dofs(contacts);
	const size_t bytes = (inner + n_actions(b) * (size_t)n_body_dofs(b->dim) + 1) * sizeof(double);
	struct products task = {.matrices = inner_task(contacts, query, projection)};
	struct fault fault = {FRIC_E_MEMORY, SIZE_MAX};
	task.matrices.inner = memory_take(context->memory, bytes);
	if (task.matrices.inner) {
		task.wrenches = task.matrices.inner + inner;
		fault = fricp_parallel_chunks(context, b->n, inner_chunk, &task.matrices);
	}
	for (size_t l = 0; l < n_vectors && fault.code == FRIC_OK; l++) {
		task.vector = vectors + l * n;
		fault = multiply(context, &task, products + l * n);
	}
	memory_give(context->memory, task.matrices.inner, bytes);
	return fricp_report_fault(b, fault, error);
}

/* ---- blocks ---- */

/* Defines a function that computes J^T A J in type `number`, row by row; the lower triangle copies the upper one. Loops
 * over e are whole vectors. */
#define MULTIPLY_OUT(name, number) \
	INLINE void name(int n, int m, const double *jacobian, const double *a, double block[MOST_BLOCK][MOST_BLOCK]) \
	{ \
		number aj[MOST_SLIP][MOST_BLOCK] = {{0}}; \
		for (int r = 0; r < n; r++) \
			for (int t = 0; t < n; t++) { \
				const number x = a[entry(n, r, t)]; \
				for (int e = 0; e < m; e++) \
					aj[r][e] += x * jacobian[t * m + e]; \
			} \
		for (int d = 0; d < m; d++) { \
			number sums[MOST_BLOCK] = {0}; \
			for (int r = 0; r < n; r++) \
				for (int e = 0; e < m; e++) \
					sums[e] += jacobian[r * m + d] * aj[r][e]; \
			for (int e = 0; e < m; e++) \
				block[d][e] = e < d ? block[e][d] : (double)sums[e]; \
		} \
	}

MULTIPLY_OUT(multiply_out, double)
MULTIPLY_OUT(multiply_out_extreme, long double)

/* Rarely called, so it is kept out of line. */
static __attribute__((noinline)) void multiply_out_far(int n, int m, const double *jacobian, const double *a,
                                                       double block[MOST_BLOCK][MOST_BLOCK])
{
	multiply_out_extreme(n, m, jacobian, a, block);
}

/* Whether products of two entries and an eigenvalue keep their digits in doubles. */
INLINE bool moderate_entries(const double *x, int n, double smallest, double largest)
{
	bool all = true;
	for (int e = 0; e < n; e++)
		/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all entries of a Jacobian are written */
		all &= (x[e] == 0) | ((fabs(x[e]) > smallest) & (fabs(x[e]) < largest));
	return all;
}

/* Whether all entries are finite. Several sums run side by side: in a single one each addition would wait for the
 * previous one. */
INLINE bool finite_block(int m, double block[MOST_BLOCK][MOST_BLOCK])
{
	double sums[MOST_BLOCK] = {0}, sum = 0;
	for (int d = 0; d < m; d++)
		for (int e = 0; e < m; e++)
			sums[e] += block[d][e] * 0;
	for (int e = 0; e < m; e++)
		sum += sums[e];
	return isfinite(sum);
}

INLINE bool block_of(const struct fric_contacts *b, int dim, int k, const double *inner, size_t i,
                     double block[MOST_BLOCK][MOST_BLOCK])
{
	const int n = n_body_slip(dim), m = k * n_body_dofs(dim), n_inner = (int)body_inner_size(dim);
	const double *a = inner + i * (size_t)n_inner;
	double jacobian[MOST_SLIP * MOST_BLOCK];
	body_jacobian(b, dim, k, i, jacobian);
	if (moderate_entries(jacobian, n * m, 0x1p-200, 0x1p+200) && moderate_entries(a, n_inner, 0x1p-500, 0x1p+500))
		multiply_out(n, m, jacobian, a, block);
	else
		multiply_out_far(n, m, jacobian, a, block);
	return finite_block(m, block);
}

bool fricp_body_block(const struct fric_contacts *b, const double *inner, enum fric_type type, size_t i,
                      double block[MOST_BLOCK][MOST_BLOCK])
{
	if (b->dim == 2)
		return type == FRIC_BODY_BODY ? block_of(b, 2, 2, inner, i, block) : block_of(b, 2, 1, inner, i, block);
	return type == FRIC_BODY_BODY ? block_of(b, 3, 2, inner, i, block) : block_of(b, 3, 1, inner, i, block);
}
