/**
 * A request of /v1/evaluate, split into a set's document and a query on it.
 */
#ifndef FUZZ_PARTS_H
#define FUZZ_PARTS_H

#include "api/codec/document.h"

/**
 * Checks a document as a whole and in two parts: either both pass, with the same batch and query bit for bit, or both
 * fail at the same places in the same order. Aborts otherwise.
 */
void fuzz_check_parts(const struct api_document *document);

/* Requires equal batches, bit for bit. */
struct fric_batch;
void fuzz_same_batches(const struct fric_batch *a, const struct fric_batch *b);

#endif
