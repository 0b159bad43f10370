/**
 * Bytes that grow. {0} with a limit is an empty buffer; the caller frees it with api_buffer_free.
 */
#ifndef API_BUFFER_H
#define API_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "api/base/pool.h"

struct api_buffer {
	char *data; /* [capacity], the first `bytes` in use */
	size_t bytes, capacity;
	size_t limit;          /* capacity never exceeds it, so that doubling stops in time */
	struct api_pool *pool; /* where a large one comes from, or NULL */
};

/* Room for `more` bytes after those in use. False, with the buffer unchanged, if that exceeds memory or the limit. */
bool api_buffer_reserve(struct api_buffer *buffer, size_t more);

bool api_buffer_append(struct api_buffer *buffer, const char *bytes, size_t n);

/* For a buffer that is kept: it counts with its capacity. A large one (API_POOL_LEAST) that is not two thirds full moves
 * to a smaller block, with one byte beyond those in use. Without memory for that it stays where it is. */
void api_buffer_trim(struct api_buffer *buffer);

/* The buffer is then empty, with the same limit and pool. */
void api_buffer_free(struct api_buffer *buffer);

#endif
