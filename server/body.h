/**
 * A request's body while it arrives. Its memory follows what has arrived, never what was announced; beyond a first part
 * it is taken from the memory that admission grants to bodies.
 */
#ifndef SERVER_BODY_H
#define SERVER_BODY_H

#include "admission.h"
#include "api/pool.h"

#include <stddef.h>

enum {
	SRV_SMALL_BODY = 64 << 10,      /* a longer body counts */
	SRV_FIRST_BYTES = 4 << 10,      /* of a body of unknown length */
};

/* All zero but for the pool: empty. */
struct srv_body {
	struct api_pool *pool; /* or NULL */
	char *bytes;           /* aligned for any type */
	size_t n;
	size_t capacity;       /* address space; pages that nothing was written to take no memory */
	size_t held;           /* of the admission's memory */
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
