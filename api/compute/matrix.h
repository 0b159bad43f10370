/**
 * Sparse matrices in answers. Each format is rendered here; matrices differ in the function that computes their
 * numbers.
 */
#ifndef API_MATRIX_H
#define API_MATRIX_H

#include "api/compute/job.h"

/* The entries to compute. */
struct api_entries {
	const struct fric_pattern *pattern; /* for compressed rows; NULL: triplets */
	const int64_t *indptr;              /* start of each row of blocks; NULL: single entries */
	int32_t *rows, *cols;               /* for triplets; NULL if not needed */
	double *numbers;
};

struct api_matrix {
	size_t n_cols, n_triplets;
	int places; /* selects the matrix's pattern (sets/set.h) */
	bool without_places, without_numbers;
	/* Computes the entries. It is not called for compressed rows without numbers. @return false with job->fault */
	bool (*fill)(struct api_job *job, const struct api_entries *entries);
	/* For the fault of a matrix that is too large: rule and name of the field with the format, and advice. If name is
	 * NULL, the fault is the same as for any answer that is too long. */
	int choice;
	const char *name, *advice;
};

/* Adds "format" and "shape" to an object. @return false with job->fault */
bool api_render_shape(struct api_job *job, const char *format, size_t n_cols, json_t *object);
/* As api_render_shape, followed by places and numbers. @param format  triplets, csr or bsr */
bool api_render_matrix(struct api_job *job, const struct api_matrix *matrix, const char *format, json_t *object);

#endif
