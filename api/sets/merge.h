/**
 * JSON Merge Patch (RFC 7396) of documents with arrays: objects are merged member by member, null removes a member, and
 * anything else, such as an array, replaces the old value as a whole.
 */
#ifndef API_MERGE_H
#define API_MERGE_H

#include "api/base/fault.h"
#include "api/codec/document.h"

/**
 * @param document  becomes the merged document. Its arrays come from both, so the patch, and all memory that either
 *                  borrows, must outlive it
 * @param patch     its tree may be changed; still to be freed, after document
 * @return false with *fault: 503
 */
bool api_merge(struct api_document *document, struct api_document *patch, struct api_fault *fault);

/**
 * Adds an array to a patch, as {"collisions": {group: {name: values}}}.
 * @param values  [n, width], finite; borrowed as long as the patch
 * @return false with *fault: 503
 */
bool api_patch_add(struct api_document *patch, const char *group, const char *name, const double *values, size_t n,
                   size_t width, struct api_fault *fault);

#endif
