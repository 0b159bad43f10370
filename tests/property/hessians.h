/**
 * The three Hessian formats as dense matrices.
 */
#ifndef TESTS_HESSIANS_H
#define TESTS_HESSIANS_H

#include "tests/property/scene.h"

static inline double *inner_matrices(const struct fric_context *context, const struct fric_contacts *contacts,
                                     const double *velocities, enum fric_projection projection)
{
	struct fric_error error;
	double *inner = calloc(fric_n_inner(contacts) + 1, sizeof(double));
	assert_non_null(inner);
	assert_ok(fric_hessian_inner(context, contacts, scene_query(contacts, velocities), projection, inner, &error));
	return inner;
}

static inline size_t dense_size(const struct fric_contacts *contacts)
{
	return fric_n_dofs(contacts);
}

static inline double *dense_from_triplets(const struct fric_contacts *contacts, const double *inner,
                                          enum fric_triangle triangle)
{
	const size_t n = fric_n_triplets(contacts, triangle), ndof = dense_size(contacts);
	int32_t *rows = calloc(n + 1, sizeof(int32_t)), *cols = calloc(n + 1, sizeof(int32_t));
	double *values = calloc(n + 1, sizeof(double)), *dense = calloc(ndof * ndof + 1, sizeof(double));
	struct fric_error error;
	assert_ok(fric_hessian_triplets(&serial, contacts, inner, triangle, rows, cols, values, &error));
	for (size_t i = 0; i < n; i++)
		dense[(size_t)rows[i] * ndof + (size_t)cols[i]] += values[i];
	free(rows);
	free(cols);
	free(values);
	return dense;
}

static inline double *dense_from_csr(const struct fric_contacts *contacts, const double *inner,
                                     enum fric_triangle triangle)
{
	const size_t ndof = dense_size(contacts);
	struct fric_pattern *pattern;
	struct fric_error error;
	assert_ok(fric_pattern_create(&serial, contacts, triangle, &pattern, &error));
	double *data = calloc(fric_pattern_n_entries(pattern) + 1, sizeof(double));
	double *dense = calloc(ndof * ndof + 1, sizeof(double));
	assert_ok(fric_hessian_csr(&serial, contacts, inner, pattern, data, &error));
	const int64_t *indptr = fric_pattern_indptr(pattern);
	const int32_t *indices = fric_pattern_indices(pattern);
	for (size_t row = 0; row < ndof; row++)
		for (int64_t e = indptr[row]; e < indptr[row + 1]; e++)
			dense[row * ndof + (size_t)indices[e]] = data[e];
	free(data);
	fric_pattern_free(pattern);
	return dense;
}

/* Adds (w (x) P) A (w (x) P)^T of one contact to a dense matrix. */
static inline void add_factors(double *dense, size_t ndof, size_t dim, const int32_t *stencil, size_t k,
                               const double *w, const double *basis, const double *inner)
{
	const size_t m = dim - 1;
	double b[12][2];
	for (size_t i = 0; i < k; i++)
		for (size_t d = 0; d < dim; d++)
			for (size_t t = 0; t < m; t++)
				b[i * dim + d][t] = w[i] * basis[d * m + t];
	for (size_t r = 0; r < k * dim; r++)
		for (size_t s = 0; s < k * dim; s++) {
			const size_t row = (size_t)stencil[r / dim] * dim + r % dim, col = (size_t)stencil[s / dim] * dim + s % dim;
			double value = b[r][0] * inner[0] * b[s][0];
			if (m == 2)
				value += (b[r][0] * b[s][1] + b[r][1] * b[s][0]) * inner[1] + b[r][1] * inner[2] * b[s][1];
			dense[row * ndof + col] += value;
		}
}

static inline double *dense_from_factors(const struct fric_contacts *contacts, const struct fric_batch *batch,
                                         const double *velocities, const double *inner)
{
	const size_t ndof = dense_size(contacts), dim = (size_t)fric_dim(contacts), rows = dim * (dim - 1);
	const size_t m = (size_t)fric_inner_size((int)dim);
	double *dense = calloc(ndof * ndof + 1, sizeof(double));
	double *basis = all_contacts(&serial, contacts, velocities, FRIC_OUT_TANGENT_BASIS, rows);
	size_t at = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = fric_group_size(contacts, type), k = (size_t)fric_stencil_size(type);
		double *weights = calloc(n * k + 1, sizeof(double));
		assert_int_equal(fric_stencil_weights(&serial, contacts, type, weights,
		                                      &(struct fric_error){FRIC_OK, FRIC_VERTEX_VERTEX, 0}),
		                 FRIC_OK);
		for (size_t i = 0; i < n; i++, at++)
			add_factors(dense, ndof, dim, batch->groups[type].vertices + i * k, k, weights + i * k, basis + at * rows,
			            inner + at * m);
		free(weights);
	}
	free(basis);
	return dense;
}

static inline double largest(const double *x, size_t n)
{
	double most = 0;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs(x[i]));
	return most;
}

#endif
