/**
 * Writes documents as JSON text.
 */
#ifndef API_DOCUMENT_WRITE_H
#define API_DOCUMENT_WRITE_H

#include "api/base/buffer.h"
#include "api/codec/document.h"
#include "api/codec/document_write.h"

/**
 * Writes a document whose tree was built by the caller, with integers as marks into arrays. The text is compact. Reals
 * are printed as the shortest decimal that reads back to the same bits, always recognisable as reals ("1.0"). Arrays
 * are nested to their shapes. Numbers must be finite, because JSON has no others. A tree with reals, or with integers
 * that are not marks, is the caller's mistake. It is reported as API_WRITE_NO_MEMORY, as is a stopped request.
 * @param max_bytes  limit on the text
 * @param text       pool set, all else zero; on success NUL-terminated after its bytes, to be freed with
 *                   api_buffer_free
 * @return on any other result than API_WRITTEN there is nothing to free
 */
enum api_written { API_WRITTEN, API_TOO_LONG, API_WRITE_NO_MEMORY, API_NOT_FINITE };
enum api_written api_document_write_json(const struct api_document *document, size_t max_bytes,
                                         struct api_buffer *text);

#endif
