/**
 * The formats of a body and of its answer, and reading a body.
 */
#ifndef API_FORMAT_H
#define API_FORMAT_H

#include "api/api.h"
#include "api/base/arena.h"
#include "api/base/fault.h"
#include "api/codec/document.h"
#include "api/contract/route.h"

/* The format's media type. */
const char *api_format_type(enum api_format format);

/**
 * Determines both formats. The body's format comes from Content-Type; it is JSON by default, or without a body. The
 * answer's format is the one that Accept prefers, or the body's if it prefers none; JSON if the operation has no other.
 * @return false with a 415 or a 406
 */
bool api_formats_judge(const struct api_request *request, const struct api_operation *operation,
                       struct api_formats *formats, struct api_fault *fault);
/* The value of Accept-Patch. */
extern const char api_patch_types[];

/* The parts of a request's body, in either form. @param whole  filled in, and returned, if the body is in one piece */
const struct api_part *api_body_parts(const struct api_request *request, struct api_part *whole, size_t *n_parts);

/* Whether a body in parts must be joined before api_format_read can read it. */
bool api_format_needs_whole(const struct api_request *request);

/* The longest body of a format. */
size_t api_format_limit(const struct api_service *service, enum api_format format);

/**
 * Reads a request's body. request->formats must be set.
 * @param arena     for arrays that have to be copied; must outlive the document, as must the body
 * @param document  filled in on success, to be freed with api_document_free; unchanged after a fault
 */
bool api_format_read(const struct api_service *service, const struct api_request *request, struct api_arena *arena,
                     struct api_document *document, struct api_fault *fault);

#endif
