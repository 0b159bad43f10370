/**
 * Writes a document in both forms at once: as JSON text and as a frame, in whose tail arrays may be placed.
 */
#ifndef FUZZ_JSON_FRAME_H
#define FUZZ_JSON_FRAME_H

#include "api/base/buffer.h"
#include "api/codec/document.h"

struct fuzz_json_frame {
	struct api_buffer json, head, tail; /* head: the frame's document */
	bool comma;                         /* this object already has a member */
};

/* The limits of the three buffers must be set, and everything else zero. */
void fuzz_json_frame_start(struct fuzz_json_frame *d);

void fuzz_open(struct fuzz_json_frame *d, const char *key); /* "key": { */
void fuzz_close(struct fuzz_json_frame *d);
/* Writes "key": text, verbatim, in both forms. */
void fuzz_put(struct fuzz_json_frame *d, const char *key, const char *text);
/**
 * Writes an array under a key: nested text in JSON; in the frame the same text, or a reference.
 * @param binary  use a reference in the frame
 * @param dtype   of the reference; must be able to represent the values
 * @param shape   [rank], rank 0 to 3; their product is n
 * @param values  [n]; written as integers in text if integral is set
 */
void fuzz_put_array(struct fuzz_json_frame *d, const char *key, bool binary, enum api_dtype dtype, bool integral,
                    int rank, const size_t *shape, const double *values);
/* Joins the frame. @return owned by the caller */
char *fuzz_frame(const struct fuzz_json_frame *d, size_t *bytes);
void fuzz_json_frame_free(struct fuzz_json_frame *d);

#endif
