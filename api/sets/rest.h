/**
 * A lagged document at rest: what PATCH needs of a set. A frame (codec/frame.h) in one block of the pool, whichever
 * format it came in, with every array in the tail. Only a document that has passed the checks can be put to rest.
 */
#ifndef API_REST_H
#define API_REST_H

#include "api/base/arena.h"
#include "api/base/fault.h"
#include "api/codec/document.h"

struct api_rest {
	char *bytes; /* [n] from the pool */
	size_t n;
	struct api_pool *pool;
};

/**
 * @param document  its tree is rewritten: all that can be done with it afterwards is to free it. Integers of a text become
 *                  i32 or i64 where no bit is lost (not -0), so that they are still integers when they are read
 * @param arena     of what is converted on the way
 * @param rest      pool set; filled in on success, to be freed with api_rest_free
 * @return false with *fault: 503
 */
bool api_rest_write(struct api_document *document, struct api_arena *arena, struct api_rest *rest,
                    struct api_fault *fault);
/* The document as it was, its arrays borrowed from *rest, which must outlive it; to be freed with api_document_free. */
bool api_rest_read(const struct api_rest *rest, struct api_arena *arena, struct api_document *document,
                   struct api_fault *fault);
void api_rest_free(struct api_rest *rest);

#endif
