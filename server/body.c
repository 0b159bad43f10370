#include "body.h"

#include <stdlib.h>
#include <string.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Doubling, but never beyond what can still come. needed <= limit. */
static size_t next_capacity(const struct srv_body *body, size_t needed, long long announced, size_t limit)
{
	size_t capacity = body->capacity ? 2 * body->capacity : 4096;
	size_t end = announced >= 0 && (size_t)announced >= needed ? smaller((size_t)announced, limit) : limit;
	if (body->capacity == 0 && announced >= 0)
		capacity = smaller((size_t)announced, SRV_TRUSTED_LENGTH);
	while (capacity < needed)
		capacity = capacity ? 2 * capacity : needed;
	return smaller(capacity, end);
}

static enum srv_append grow(struct srv_body *body, struct srv_admission *admission, size_t capacity)
{
	size_t more = capacity > SRV_SMALL_BODY ? capacity - body->held : 0;
	if (more && !srv_admission_hold(admission, more))
		return SRV_NO_MEMORY;
	char *bytes = realloc(body->bytes, capacity);
	if (!bytes) {
		srv_admission_release(admission, more);
		return SRV_NO_MEMORY;
	}
	body->bytes = bytes;
	body->capacity = capacity;
	body->held += more;
	return SRV_APPENDED;
}

enum srv_append srv_body_append(struct srv_body *body, struct srv_admission *admission, const char *bytes, size_t n,
                                long long announced, size_t limit)
{
	if (n > limit - body->n)
		return SRV_OVER_LIMIT;
	if (n > body->capacity - body->n) {
		size_t capacity = next_capacity(body, body->n + n, announced, limit);
		enum srv_append grown = grow(body, admission, capacity);
		if (grown != SRV_APPENDED)
			return grown;
	}
	if (n)
		memcpy(body->bytes + body->n, bytes, n);
	body->n += n;
	return SRV_APPENDED;
}

void srv_body_free(struct srv_body *body, struct srv_admission *admission)
{
	free(body->bytes);
	if (body->held)
		srv_admission_release(admission, body->held);
	memset(body, 0, sizeof *body);
}
