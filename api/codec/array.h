/**
 * Loops over whole arrays that judge or convert every number without a branch, so that they run as fast as memory gives
 * the numbers. They tell that something is wrong; where it is, their callers look for then.
 */
#ifndef API_SWEEP_H
#define API_SWEEP_H

#include "api/codec/document.h"

/* low <= x <= high for all; false if there is a NaN. */
bool api_sweep_reals(const double *x, size_t n, double low, double high);
/* None is infinite or NaN; faster than asking for their range. */
bool api_sweep_finite(const double *x, size_t n);
/* 0 <= i < limit for all. @param limit up to INT32_MAX */
bool api_sweep_i32(const int32_t *i, size_t n, size_t limit);
/* No row of k numbers holds one twice. @param k 1 to 4 */
bool api_sweep_distinct(const int32_t *rows, size_t n, size_t k);

/* Numbers of any dtype as doubles. @param out [array->n] */
void api_sweep_to_reals(const struct api_array *array, double *out);
/* Integers (f64: that were written as such in a text) as indices; out is complete only if all are in [0, limit).
 * @param limit up to INT32_MAX */
bool api_sweep_to_indices(const struct api_array *array, size_t limit, int32_t *out);

#endif
