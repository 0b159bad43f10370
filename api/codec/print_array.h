/**
 * Prints arrays as JSON text, nested to their shapes. Large ones are printed by several threads; the bytes do not
 * depend on the number of threads.
 */
#ifndef API_PRINT_ARRAY_H
#define API_PRINT_ARRAY_H

#include "api/codec/array.h"

struct api_pool;

/* An upper bound on the length of the text, including bytes temporarily written after its end: 25 bytes per double.
 * @param array  rank and n > 0 */
size_t api_print_array_bound(const struct api_array *array);

/* Whether all numbers are finite. False if the request was stopped. */
bool api_array_is_finite(const struct api_array *array, int n_threads);

/**
 * Prints an array.
 * @param array      rank and n > 0
 * @param n_threads  at most; more than one only on the thread that owns the team (ARCHITECTURE.md)
 * @param pool       source of scratch memory, a few hundred KiB per thread; or NULL
 * @param text       [api_print_array_bound(array)]
 * @return bytes written; 0 when out of memory, if a number is not finite, or if the request was stopped
 */
size_t api_print_array(const struct api_array *array, int n_threads, struct api_pool *pool, char *text);

#endif
