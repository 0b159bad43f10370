/**
 * A growing byte buffer. {0} with a limit is an empty buffer; the caller frees it with api_buffer_free.
 */
#ifndef API_BUFFER_H
#define API_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "api/base/pool.h"

struct api_buffer {
	char *data; /* [capacity], the first `bytes` in use */
	size_t bytes, capacity;
	size_t limit;          /* capacity never exceeds it, even when it would double */
	struct api_pool *pool; /* source of large buffers, or NULL */
};

/* Makes room for `more` bytes after those in use. @return false, with the buffer unchanged, when out of memory or
 * beyond the limit */
bool api_buffer_reserve(struct api_buffer *buffer, size_t more);

bool api_buffer_append(struct api_buffer *buffer, const char *bytes, size_t n);

/* Call it for a buffer that is kept for long, because its whole capacity counts. A large one (API_POOL_LEAST) that is
 * less than two thirds full moves to a smaller block, with one byte to spare. If there is no memory for that, it stays
 * where it is. */
void api_buffer_trim(struct api_buffer *buffer);

/* Frees the memory. The buffer is then empty, with the same limit and pool. */
void api_buffer_free(struct api_buffer *buffer);

#endif
