/**
 * A request's body while it arrives. Its memory follows what has arrived, never what was announced, and all of it
 * counts from the moment it is taken: a block that was used before is resident, whether or not anything arrives.
 */
#ifndef SERVER_BODY_H
#define SERVER_BODY_H

#include "server/work/admission.h"
#include "api/base/pool.h"

#include <stddef.h>

enum {
	SRV_SMALL_BODY = 64 << 10, /* a body with more room also counts against the bytes of the queue */
	SRV_FIRST_BYTES = 4 << 10, /* room that a body may have before any of it has arrived */
	SRV_BODY_STEP = 4,         /* room of an announced body grows by this factor */
};

/* All zero except the pool: empty. */
struct srv_body {
	struct api_pool *pool; /* or NULL; it has no budget, for bodies are counted here */
	char *bytes;           /* aligned for any type */
	size_t n;
	size_t capacity; /* counts as api_pool_block_bytes says */
};

enum srv_append { SRV_APPENDED, SRV_OVER_LIMIT, SRV_NO_MEMORY };

/**
 * @param announced  Content-Length, or -1
 * @param limit      longest body
 * @return anything but SRV_APPENDED leaves the body as it was
 */
enum srv_append srv_body_append(struct srv_body *body, struct srv_admission *admission, const char *bytes, size_t n,
                                long long announced, size_t limit);
void srv_body_free(struct srv_body *body, struct srv_admission *admission);

#endif
