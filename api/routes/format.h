/**
 * The two dresses of a document over HTTP: which one a request wears, and which one its answer gets.
 */
#ifndef API_FORMAT_H
#define API_FORMAT_H

#include "api/base/arena.h"
#include "api/codec/document.h"
#include "api/problem.h"

enum api_format { API_JSON, API_FRAME };

/* Its media type. */
const char *api_format_type(enum api_format format);

/* By Content-Type, absent meaning JSON; JSON for methods without a body. @return false with a 415 */
bool api_format_of_request(const struct api_request *request, enum api_format *format, struct api_fault *fault);

/* By Accept: the better one for the client; of two that are as good, the request's own. @return false with a 406 */
bool api_format_of_answer(const struct api_request *request, enum api_format *format, struct api_fault *fault);

/* Longest body of a format. */
size_t api_format_limit(const struct api_service *service, enum api_format format);

/**
 * Reads a request's body.
 * @param arena     of arrays that have to be copied; must outlive the document, as must the body
 * @param document  filled in on success, to be freed with api_document_free; as it was after a fault
 */
bool api_format_read(const struct api_service *service, const struct api_request *request, struct api_arena *arena,
                     struct api_document *document, struct api_fault *fault);

#endif
