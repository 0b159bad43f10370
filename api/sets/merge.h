/**
 * JSON Merge Patch (RFC 7396) of documents with arrays: an object is merged member by member, null takes a member away,
 * anything else, an array for one, replaces what was there as a whole.
 */
#ifndef API_MERGE_H
#define API_MERGE_H

#include "api/base/fault.h"
#include "api/codec/document.h"

/**
 * @param document  becomes the merged document, whose arrays may be those of either; so whatever either borrows must
 *                  outlive it, patch and its memory included
 * @param patch     its tree may be changed; still to be freed, after document
 * @return false with *fault: 503
 */
bool api_merge(struct api_document *document, struct api_document *patch, struct api_fault *fault);

#endif
