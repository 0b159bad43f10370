/**
 * Hints about texts that are not JSON: NaN, True, a comment, gzip's bytes, and others. Call these functions only for a
 * text that was refused.
 */
#ifndef API_HINT_H
#define API_HINT_H

#include <stdbool.h>

#include "api/codec/text.h"

/* Describes a body by its first bytes if it is neither JSON nor a frame; NULL: no hint. */
const char *api_hint_of_body(const char *body, size_t bytes);
/* Whether the body begins with a frame's length and something that may be a document. */
bool api_looks_like_frame(const char *body, size_t bytes);
bool api_looks_like_json(const char *body, size_t bytes);

/**
 * Adds a hint to a fault: a more specific code, a pointer to the place, a sentence.
 * @param text   [bytes], refused with 400
 * @param fault  with the offset and detail of the refusal
 */
void api_hint_add(const char *text, size_t bytes, struct api_text_fault *fault);

/**
 * Finds the JSON Pointer to the value at an offset, before which the text is well-formed.
 * @param pointer  [bytes]; empty if the place is too deep, its pointer too long, or if a key in it has an escape
 */
void api_hint_place(const char *text, size_t offset, char *pointer, size_t bytes);

#endif
