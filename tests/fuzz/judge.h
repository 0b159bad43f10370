/**
 * Invariants of the response to any request. Every function aborts if one is violated.
 */
#ifndef FUZZ_JUDGE_H
#define FUZZ_JUDGE_H

#include "api/api.h"
#include "api/codec/document.h"

/* Returns the body in one piece: a copy, or its parts joined. The caller frees it. */
char *fuzz_body(const struct api_response *response);

/**
 * Requires of a response of api_handle: a status of the contract other than 500, and a body that is JSON or a frame as
 * its type declares, with finite numbers only. A problem must be complete, and its pointers must lead somewhere in the
 * request's document.
 * @param body  of the response, in one piece
 */
void fuzz_judge(const struct api_service *service, const struct api_request *request,
                const struct api_response *response, const char *body);

/* Reads a response's body as a document, which borrows from body. The caller frees it. */
struct api_arena;
void fuzz_read_body(const struct api_response *response, const char *body, struct api_arena *arena,
                    struct api_document *document);

/* Requires two responses with the same status, type and bytes. */
void fuzz_same_answers(const struct api_response *a, const char *body_a, const struct api_response *b,
                       const char *body_b);

#endif
