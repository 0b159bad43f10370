/**
 * The frame: a JSON document followed by its arrays in binary.
 *
 *   8 bytes   L, unsigned, little-endian
 *   L bytes   the document, padded with spaces so that 8 + L is a multiple of 64
 *   the rest  the tail: arrays, little-endian, each at a multiple of 8 from its start
 *
 * In the document {"dtype": "f64", "shape": [1000, 3], "offset": 0} refers to an array in the tail. An object is such a
 * reference if it has a member "dtype", or only members of these three names (at least one).
 */
#ifndef API_FRAME_H
#define API_FRAME_H

#include "api/api.h"
#include "api/base/arena.h"
#include "api/base/fault.h"
#include "api/codec/document.h"

/* Bytes of L, and the step between the ends of a document and between arrays that are written. */
enum { FRAME_LENGTH_BYTES = 8, FRAME_STEP = 64 };

static inline size_t frame_round_up(size_t n)
{
	return (n + FRAME_STEP - 1) / FRAME_STEP * FRAME_STEP;
}

/**
 * Reads a frame. Every reference is replaced by a mark, as if its array had been lifted from a text. The data of an
 * array stays where it is in the body if it is 8-byte aligned there and lies within one part; otherwise it is copied.
 * @param parts               [n_parts] consecutive pieces of the frame; if there are several, the first one contains
 *                            the document. Their bytes are borrowed as long as the document lives
 * @param max_document_bytes  limit on L; a larger one gets 413
 * @param arena               for data that has to be moved; must outlive the document
 * @param document            filled in on success, to be freed with api_document_free
 * @return false with *fault: 400 with a pointer to the reference at fault (empty for the container), 413 or 503
 */
bool api_frame_read(const struct api_part *parts, size_t n_parts, size_t max_document_bytes, struct api_arena *arena,
                    struct api_document *document, struct api_fault *fault);

/* Whether the first part of a frame contains its whole document. */
bool api_frame_begins_whole(const struct api_part *part);

#endif
