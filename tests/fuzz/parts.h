/**
 * A request of /v1/evaluate and its two parts, a set's document and a question on it.
 */
#ifndef FUZZ_PARTS_H
#define FUZZ_PARTS_H

#include "api/codec/document.h"

/**
 * Checks a document as a whole and in two parts: both pass or both fail, with the same batch and question, bit for bit,
 * or the same culprits in the same order. Aborts if that is not so.
 */
void fuzz_check_parts(const struct api_document *document);

/* Both batches must be the same, bit for bit. */
struct fric_batch;
void fuzz_same_batches(const struct fric_batch *a, const struct fric_batch *b);

#endif
