/**
 * The end of an answer: from a tree with arrays to the body of a response.
 */
#ifndef API_ANSWER_H
#define API_ANSWER_H

#include "api/codec/render.h"

/**
 * Prints the answer in the request's format, and frees the tree either way.
 * @param ok  whether the tree is complete; false: *fault is set, or memory ran out
 * @return ok, unless it is too long or memory runs out here: then false with *fault set
 */
bool api_answer_finish(const struct api_service *service, const struct api_request *request, struct api_render *render, bool ok,
                struct api_fault *fault, struct api_response *response);

#endif
