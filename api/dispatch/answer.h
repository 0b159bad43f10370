/**
 * Completes an answer: turns a tree with arrays into the body of a response.
 */
#ifndef API_ANSWER_H
#define API_ANSWER_H

#include "api/base/buffer.h"
#include "api/base/fault.h"
#include "api/codec/render.h"
#include "api/contract/route.h"

/**
 * Prints the answer into response (status 200), unless memory runs out or it is longer than max_bytes. Always frees the
 * tree. A long frame points into the arrays: the response then takes over everything lent and all memory of the arena,
 * which is left empty.
 */
bool api_answer_print(struct api_render *render, enum api_format format, size_t max_bytes, struct api_fault *fault,
                      struct api_response *response);

/**
 * As api_answer_print, in the format that the request accepts.
 * @param ok  whether the tree is complete; false: *fault is set, or memory ran out
 */
bool api_answer_finish(const struct api_call *call, struct api_render *render, bool ok);

/* Makes a printed buffer the body of a response. */
void api_answer_take(struct api_response *response, const struct api_buffer *text);

/* Sets the fault of an answer that is longer than the service may send. @return false */
bool api_fault_too_long(struct api_fault *fault, size_t max_bytes);

/* Whether a value of If-None-Match contains this tag. False for NULL. */
bool api_tag_is_known(const char *if_none_match, const char *tag);

#endif
