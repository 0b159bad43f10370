/**
 * A document as JSON text.
 */
#ifndef API_DOCUMENT_WRITE_H
#define API_DOCUMENT_WRITE_H

#include "api/base/buffer.h"
#include "api/codec/document.h"
#include "api/codec/document_write.h"

/**
 * The text of a document whose tree was built by the caller, integers being marks into arrays. Compact. Reals are
 * printed as the shortest decimal that reads back to the same bits and always look like reals ("1.0"). Nested to the
 * arrays' shapes. Numbers must be finite: JSON has no others. A tree with reals, or with integers that are no marks, is
 * a caller's mistake, reported like lack of memory, as is a request that was stopped.
 * @param max_bytes  ceiling of the text
 * @param text       pool set, all else zero; on success NUL-terminated after its bytes, to be freed with
 *                   api_buffer_free
 * @return else nothing is left to free
 */
enum api_written { API_WRITTEN, API_TOO_LONG, API_WRITE_NO_MEMORY, API_NOT_FINITE };
enum api_written api_document_write_json(const struct api_document *document, size_t max_bytes,
                                         struct api_buffer *text);

#endif
