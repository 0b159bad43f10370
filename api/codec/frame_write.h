/**
 * Writes an answer as a frame (frame.h).
 */
#ifndef API_FRAME_WRITE_H
#define API_FRAME_WRITE_H

#include "api/api.h"
#include "api/codec/document_write.h"
#include "api/codec/render.h"

/* A written frame. */
struct api_frame {
	char *head; /* [head_bytes] from the pool of the render's arena: length, document, padding */
	size_t head_bytes;
	struct api_part *parts; /* malloc'd: the head, then arrays and the zeros between them */
	size_t n_parts, bytes;
};

enum { API_LEAST_BINARY = 16 }; /* numbers; shorter arrays are written as text */

/**
 * Writes an answer. The parts point into head and into the data of the answer's arrays. Integers that fit are i32.
 * Every array starts at a multiple of 64.
 * @param render  its tree is rewritten; only api_render_abandon is allowed afterwards
 * @param frame   filled in on success, to be freed with api_frame_free
 * @return on any other result than API_WRITTEN there is nothing to free
 */
enum api_written api_frame_write(struct api_render *render, size_t max_bytes, struct api_frame *frame);
void api_frame_free(struct api_render *render, struct api_frame *frame);

#endif
