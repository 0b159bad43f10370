#include "server/exchange/body.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The next capacity on the way to an announced length. Each capacity is the length divided by a power of SRV_BODY_STEP:
 * the last one is exactly as long as the body, and none exceeds SRV_BODY_STEP times the bytes received.
 * needed <= length */
static size_t step_towards(size_t length, size_t needed)
{
	const size_t least = larger(needed, SRV_FIRST_BYTES);
	while (length / SRV_BODY_STEP >= least)
		length /= SRV_BODY_STEP;
	return length;
}

/* The next capacity of a body. needed <= limit */
static size_t next_capacity(const struct srv_body *body, size_t needed, long long announced, size_t limit)
{
	if (announced >= 0 && (size_t)announced >= needed)
		return step_towards(smaller((size_t)announced, limit), needed);
	return smaller(limit, larger(needed, larger(2 * body->capacity, SRV_FIRST_BYTES)));
}

static size_t queue_bytes(size_t capacity)
{
	return capacity > SRV_SMALL_BODY ? capacity : 0;
}

/* Reserves the growth from `from` to `to` bytes. from < to */
static bool hold(const struct srv_body *body, struct srv_admission *admission, size_t from, size_t to)
{
	const size_t before = api_pool_block_bytes(body->pool, from), after = api_pool_block_bytes(body->pool, to);
	return srv_admission_hold(admission, after - before, queue_bytes(to) - queue_bytes(from));
}

static void release(const struct srv_body *body, struct srv_admission *admission, size_t from, size_t to)
{
	const size_t before = api_pool_block_bytes(body->pool, from), after = api_pool_block_bytes(body->pool, to);
	srv_admission_release(admission, before - after, queue_bytes(from) - queue_bytes(to));
}

static bool grow(struct srv_body *body, struct srv_admission *admission, size_t capacity)
{
	if (!hold(body, admission, body->capacity, capacity))
		return false;
	char *bytes = api_pool_resize(body->pool, body->bytes, body->capacity, capacity);
	if (!bytes) {
		release(body, admission, capacity, body->capacity);
		return false;
	}
	body->bytes = bytes;
	body->capacity = capacity;
	return true;
}

enum srv_append srv_body_append(struct srv_body *body, struct srv_admission *admission, const char *bytes, size_t n,
                                long long announced, size_t limit)
{
	const size_t needed = body->n + n;
	if (n > limit - body->n)
		return SRV_OVER_LIMIT;
	if (needed > body->capacity && !grow(body, admission, next_capacity(body, needed, announced, limit)))
		return SRV_NO_MEMORY;
	if (n)
		memcpy(body->bytes + body->n, bytes, n);
	body->n = needed;
	return SRV_APPENDED;
}

void srv_body_free(struct srv_body *body, struct srv_admission *admission)
{
	api_pool_give(body->pool, body->bytes, body->capacity);
	if (body->capacity)
		release(body, admission, body->capacity, 0);
	*body = (struct srv_body){.pool = body->pool};
}
