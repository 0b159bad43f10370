/**
 * Arrays as JSON text, nested to their shapes; large ones by several threads, with the same bytes for any number of
 * threads.
 */
#ifndef API_PRINT_ARRAY_H
#define API_PRINT_ARRAY_H

#include "api/codec/array.h"

struct api_pool;

/* An upper bound on the length of the text, plus room for what is temporarily written after its end: 25 bytes a double.
 * array: rank and n > 0 */
size_t api_print_array_bound(const struct api_array *array);

/* Whether all its numbers are finite; also false if the request is no longer wanted. */
bool api_array_is_finite(const struct api_array *array, int n_threads);

/**
 * @param array      rank and n > 0
 * @param n_threads  at most; more than one only on the thread that owns the team (ARCHITECTURE.md)
 * @param pool       of what they need, a few hundred KiB each; or NULL
 * @param text       [api_print_array_bound(array)]
 * @return bytes written; 0 when out of memory, if a number is not finite, or if the request is no longer wanted
 */
size_t api_print_array(const struct api_array *array, int n_threads, struct api_pool *pool, char *text);

#endif
