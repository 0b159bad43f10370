/**
 * The stored form of a lagged document, which PATCH needs: a frame (codec/frame.h) in one block of the pool, with every
 * array in the tail, whatever the format of the document was. Only a document that has passed the checks can be stored.
 */
#ifndef API_ARCHIVE_H
#define API_ARCHIVE_H

#include "api/base/arena.h"
#include "api/base/fault.h"
#include "api/codec/document.h"

struct api_archive {
	char *bytes; /* [n] from the pool */
	size_t n;
	struct api_pool *pool;
};

/**
 * @param document  its tree is rewritten; only freeing it is allowed afterwards. Arrays of f64 become i32 if all
 *                  numbers are integers and no bit is lost (-0 would lose its sign)
 * @param arena     for temporary memory
 * @param archive   pool set; filled in on success, to be freed with api_archive_free
 * @return false with *fault: 503
 */
bool api_archive_write(struct api_document *document, struct api_arena *arena, struct api_archive *archive,
                       struct api_fault *fault);
/**
 * Reads the stored document. dtypes may differ, but it passes the same checks and gives the same batch, bit for bit.
 * @param document  its arrays are borrowed from *archive, which must outlive it; to be freed with api_document_free
 * @return false with *fault: 503
 */
bool api_archive_read(const struct api_archive *archive, struct api_arena *arena, struct api_document *document,
                      struct api_fault *fault);
void api_archive_free(struct api_archive *archive);

#endif
