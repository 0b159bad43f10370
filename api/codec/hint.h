/**
 * What a text that is no JSON may have been meant to be, in words that help: NaN, True, a comment, gzip's bytes ...
 * Looked at only once a text is refused.
 */
#ifndef API_HINT_H
#define API_HINT_H

#include <stdbool.h>

#include "api/codec/text.h"

/* What the first bytes of a body tell of it, if it is neither JSON nor a frame: a sentence; NULL: nothing. */
const char *api_hint_of_body(const char *body, size_t bytes);
/* Whether it has a frame's length in front, and what may be a document after it. */
bool api_looks_like_frame(const char *body, size_t bytes);
bool api_looks_like_json(const char *body, size_t bytes);

/**
 * Adds to a fault what may help: another code, a pointer to the place, words.
 * @param text   [bytes], refused with 400
 * @param fault  its offset and detail are those of the refusal
 */
void api_hint_add(const char *text, size_t bytes, struct api_text_fault *fault);

/**
 * The JSON Pointer to the value at an offset, before which the text is well-formed.
 * @param pointer  [bytes]; empty if the place is too deep, its pointer too long, or a key in it has an escape
 */
void api_hint_place(const char *text, size_t offset, char *pointer, size_t bytes);

#endif
