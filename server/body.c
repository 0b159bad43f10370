#include "body.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Where there is a pool, an announced length is taken in whole: a warm block of that size may be there, and of a fresh
 * one only the pages that arrive are touched. malloc's memory follows what arrives, doubling. needed <= limit. */
static size_t next_capacity(const struct srv_body *body, size_t needed, long long announced, size_t limit)
{
	const bool told = announced >= 0 && (size_t)announced >= needed;
	const size_t end = told ? smaller((size_t)announced, limit) : limit;
	if (told && (body->pool || end <= SRV_SMALL_BODY))
		return end;
	return smaller(end, larger(needed, larger(2 * body->capacity, SRV_FIRST_BYTES)));
}

/* What counts of a body: what has arrived, in steps. Hence capacity itself where it is not only address space. */
static bool hold(struct srv_body *body, struct srv_admission *admission, size_t needed)
{
	size_t wanted = smaller(body->capacity, larger(needed, 2 * body->held));
	if (needed <= SRV_SMALL_BODY || needed <= body->held)
		return true;
	if (!srv_admission_hold(admission, wanted - body->held))
		return false;
	body->held = wanted;
	return true;
}

static bool grow(struct srv_body *body, size_t capacity)
{
	char *bytes = api_pool_resize(body->pool, body->bytes, body->capacity, capacity);
	if (!bytes)
		return false;
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
	if (needed > body->capacity && !grow(body, next_capacity(body, needed, announced, limit)))
		return SRV_NO_MEMORY;
	if (!hold(body, admission, needed))
		return SRV_NO_MEMORY;
	if (n)
		memcpy(body->bytes + body->n, bytes, n);
	body->n = needed;
	return SRV_APPENDED;
}

void srv_body_free(struct srv_body *body, struct srv_admission *admission)
{
	api_pool_give(body->pool, body->bytes, body->capacity);
	if (body->held)
		srv_admission_release(admission, body->held);
	*body = (struct srv_body){.pool = body->pool};
}
