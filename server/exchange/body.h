/**
 * A request's body while it arrives. Its memory grows with the bytes received, never with the announced length. The
 * whole capacity counts from the moment of allocation, because a recycled block is resident from the start.
 */
#ifndef SERVER_BODY_H
#define SERVER_BODY_H

#include "server/work/admission.h"
#include "api/base/pool.h"

#include <stddef.h>

enum {
	SRV_SMALL_BODY = 64 << 10, /* a body with more capacity also counts against the queue's bytes */
	SRV_FIRST_BYTES = 4 << 10, /* capacity that a body may have before any of it has arrived */
	SRV_BODY_STEP = 4,         /* growth factor of an announced body's capacity */
};

/* An empty body has all members zero except the pool. */
struct srv_body {
	struct api_pool *pool; /* or NULL; without a budget, because bodies are counted here */
	char *bytes;           /* aligned for any type */
	size_t n;
	size_t capacity; /* counted with api_pool_block_bytes */
};

enum srv_append { SRV_APPENDED, SRV_OVER_LIMIT, SRV_NO_MEMORY };

/**
 * @param announced  Content-Length, or -1
 * @param limit      longest body
 * @return the body is unchanged unless this is SRV_APPENDED
 */
enum srv_append srv_body_append(struct srv_body *body, struct srv_admission *admission, const char *bytes, size_t n,
                                long long announced, size_t limit);
void srv_body_free(struct srv_body *body, struct srv_admission *admission);

#endif
