/**
 * Compares documents with their expected contents. Every function aborts at the first difference.
 */
#ifndef FUZZ_COMPARE_H
#define FUZZ_COMPARE_H

#include "api/codec/document.h"

/* Requires equal trees, with members in the same order. */
void fuzz_same_trees(const json_t *a, const json_t *b);

/**
 * Compares a document read from JSON text with jansson's tree of the text: structure, shapes, ragged arrays, the bits
 * of all numbers.
 * @param expected  decoded with JSON_DECODE_INT_AS_REAL, so that all numbers are reals
 */
void fuzz_same_as_jansson(const struct api_document *document, const json_t *expected);

/* Compares which numbers were written as integers. @param expected  decoded without JSON_DECODE_INT_AS_REAL */
void fuzz_same_integers(const struct api_document *document, const json_t *expected);

/* Compares two documents of the same response, each read from JSON or a frame: shapes, and values bit for bit. */
void fuzz_same_documents(const struct api_document *a, const struct api_document *b);

/* An array's number as a double. */
double fuzz_value(const struct api_array *array, size_t i);

#endif
