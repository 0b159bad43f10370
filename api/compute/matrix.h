/**
 * A sparse matrix in an answer. Each format is written here once; matrices differ in where their numbers come from.
 */
#ifndef API_MATRIX_H
#define API_MATRIX_H

#include "api/compute/job.h"

/* Entries to be computed. */
struct api_entries {
	const struct fric_pattern *pattern; /* of compressed rows; NULL: triplets */
	const int64_t *indptr;              /* where rows of blocks begin; NULL: entries stand alone */
	int32_t *rows, *cols;               /* of triplets; NULL: they are left out */
	double *numbers;
};

struct api_matrix {
	size_t n_cols, n_triplets;
	int places; /* its pattern (sets/set.h) */
	bool without_places, without_numbers;
	/* Not called for compressed rows without numbers. @return false with job->fault */
	bool (*fill)(struct api_job *job, const struct api_entries *entries);
	/* For one that would be too long: the request's field with its format, and words; name NULL: as any answer. */
	int choice;
	const char *name, *advice;
};

/* Adds "format" and "shape" to an object. @return false with job->fault */
bool api_render_shape(struct api_job *job, const char *format, size_t n_cols, json_t *object);
/* The same, then places and numbers. @param format  triplets, csr or bsr */
bool api_render_matrix(struct api_job *job, const struct api_matrix *matrix, const char *format, json_t *object);

#endif
