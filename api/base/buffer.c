#include "api/base/buffer.h"

#include <string.h>

enum { LEAST = 256 };

static size_t next_capacity(const struct api_buffer *buffer, size_t needed)
{
	size_t doubled = buffer->capacity > buffer->limit / 2 ? buffer->limit : 2 * buffer->capacity;
	size_t capacity = doubled > needed ? doubled : needed;
	return capacity < LEAST && buffer->limit >= LEAST ? LEAST : capacity;
}

bool api_buffer_reserve(struct api_buffer *buffer, size_t more)
{
	if (more <= buffer->capacity - buffer->bytes && buffer->data)
		return true;
	if (more > buffer->limit - buffer->bytes)
		return false;
	size_t capacity = next_capacity(buffer, buffer->bytes + more);
	char *data = api_pool_resize(buffer->pool, buffer->data, buffer->capacity, capacity);
	if (!data)
		return false;
	buffer->data = data;
	buffer->capacity = capacity;
	return true;
}

bool api_buffer_append(struct api_buffer *buffer, const char *bytes, size_t n)
{
	if (!api_buffer_reserve(buffer, n))
		return false;
	memcpy(buffer->data + buffer->bytes, bytes, n);
	buffer->bytes += n;
	return true;
}

void api_buffer_trim(struct api_buffer *buffer)
{
	const size_t kept = buffer->bytes + 1;
	if (buffer->capacity < API_POOL_LEAST || kept > buffer->capacity / 3 * 2)
		return;
	char *data = api_pool_resize(buffer->pool, buffer->data, buffer->capacity, kept);
	if (!data)
		return;
	buffer->data = data;
	buffer->capacity = kept;
}

void api_buffer_free(struct api_buffer *buffer)
{
	api_pool_give(buffer->pool, buffer->data, buffer->capacity);
	buffer->data = NULL;
	buffer->bytes = buffer->capacity = 0;
}
