/**
 * A number or an array of numbers, as it was read or as it is to be written; and loops over whole arrays that judge or
 * convert every number without a branch, so that they run as fast as memory delivers the numbers. They tell whether
 * something is wrong; their callers then look for the place.
 */
#ifndef API_ARRAY_H
#define API_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum api_dtype { API_F64, API_F32, API_I32, API_U32, API_I64 };
enum { API_MAX_RANK = 4 }; /* deeper nests of numbers stay in the tree as JSON arrays */

/* A number (rank 0) or a row-major array. */
struct api_array {
	enum api_dtype dtype; /* of a number in a text that was read: always API_F64 */
	int rank;             /* API_MAX_RANK + 1 stands for all deeper ones that a frame may hold */
	size_t shape[API_MAX_RANK];
	size_t n;         /* product of shape; 1 for rank 0 */
	const void *data; /* [n], 8-byte aligned; borrowed: when read, from the document or the frame, and never
	                               * NULL; when written, from the caller */
	bool binary;      /* from a frame's tail: of any dtype, and perhaps not finite */
	/* Of a text that was read: */
	size_t first_non_integer; /* flat index of the first number written with '.', 'e' or 'E'; n if there is none.
	                               * Binary: 0 for real dtypes */
	bool ragged;              /* rows differ in length or depth; data and shape then mean nothing, but n counts all */
	size_t ragged_path[API_MAX_RANK]; /* where: the index at each level, down to the first row that does not fit */
	int ragged_depth;                 /* entries of ragged_path */
};

/* "f64" …, as a frame names it, and the size of one number. */
const char *api_dtype_name(enum api_dtype dtype);
size_t api_dtype_bytes(enum api_dtype dtype);

/* low <= x <= high for all; false if there is a NaN. */
bool api_reals_are_within(const double *x, size_t n, double low, double high);
/* None is infinite or NaN; faster than asking for a range. */
bool api_reals_are_finite(const double *x, size_t n);
/* 0 <= i < limit for all. @param limit up to INT32_MAX */
bool api_indices_are_below(const int32_t *i, size_t n, size_t limit);
/* No row of k numbers holds the same one twice. @param k 1 to 4 */
bool api_rows_are_distinct(const int32_t *rows, size_t n, size_t k);

/* Numbers of any dtype as doubles. @param out [array->n] */
void api_array_to_reals(const struct api_array *array, double *out);
/* Integers (as f64, those written as integers in a text) as indices; out is complete only if all are in [0, limit).
 * @param limit up to INT32_MAX */
bool api_array_to_indices(const struct api_array *array, size_t limit, int32_t *out);

#endif
