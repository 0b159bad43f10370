/**
 * A number or an array of numbers, as read or to be written, and loops over whole arrays. The loops check or convert
 * every number without a branch, so that they are limited by memory bandwidth. They only detect that something is
 * wrong; their callers then look for the place.
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
	enum api_dtype dtype; /* type of the numbers; API_F64 for numbers read from text */
	int rank;             /* API_MAX_RANK + 1 stands for all larger ranks, which only occur in frames */
	size_t shape[API_MAX_RANK];
	size_t n;         /* product of shape; 1 for rank 0 */
	const void *data; /* [n], 8-byte aligned. When read, borrowed from the document or the frame, and never NULL;
	                   * when written, borrowed from the caller */
	bool binary;      /* from a frame's tail: of any dtype, and possibly not finite */
	bool finite;      /* when written: known to be finite, and not checked again */
	/* The members below are set only when read from text. */
	size_t first_non_integer; /* flat index of the first number written with '.', 'e' or 'E'; n if there is none.
	                           * Binary: 0 for real dtypes */
	bool ragged; /* rows differ in length or depth; data and shape are then meaningless, but n counts all numbers */
	size_t ragged_path[API_MAX_RANK]; /* the place: the index at each level, down to the first row that does not fit */
	int ragged_depth;                 /* entries of ragged_path */
};

/* The name of a type in a frame, such as "f64", and the size of one number. */
const char *api_dtype_name(enum api_dtype dtype);
size_t api_dtype_bytes(enum api_dtype dtype);

/* Whether low <= x <= high for all; false if any is NaN. */
bool api_reals_are_within(const double *x, size_t n, double low, double high);
/* Whether no number is infinite or NaN. Faster than checking a range. */
bool api_reals_are_finite(const double *x, size_t n);
/* Whether 0 <= i < limit for all. @param limit  up to INT32_MAX */
bool api_indices_are_below(const int32_t *i, size_t n, size_t limit);
/* Whether no row of k numbers contains the same one twice. @param k  1 to 4 */
bool api_rows_are_distinct(const int32_t *rows, size_t n, size_t k);

/* Converts numbers of any dtype to doubles. @param out  [array->n] */
void api_array_to_reals(const struct api_array *array, double *out);
/* Converts integers (for f64, those written as integers in the text) to indices. @param limit  up to INT32_MAX
 * @return false if any is outside [0, limit); out is then incomplete */
bool api_array_to_indices(const struct api_array *array, size_t limit, int32_t *out);

#endif
