/**
 * What holds for the answer to any request. Every function aborts if it does not hold.
 */
#ifndef FUZZ_JUDGE_H
#define FUZZ_JUDGE_H

#include "api/api.h"
#include "api/codec/document.h"

/* The body in one piece: body itself, or its parts joined. The caller frees it. */
char *fuzz_body(const struct api_response *response);

/**
 * An answer of api_handle must have a status of the contract, never 500, and a body that is JSON or a frame as the type
 * says, with finite numbers only. A problem must be complete, and its pointers must lead somewhere in the request's
 * document.
 * @param body  of the response, in one piece
 */
void fuzz_judge(const struct api_service *service, const struct api_request *request,
                const struct api_response *response, const char *body);

/* An answer's body as a document, which borrows from body. The caller frees it. */
struct api_arena;
void fuzz_read_body(const struct api_response *response, const char *body, struct api_arena *arena,
                    struct api_document *document);

/* Both answers must have the same status, type and bytes. */
void fuzz_same_answers(const struct api_response *a, const char *body_a, const struct api_response *b,
                       const char *body_b);

#endif
