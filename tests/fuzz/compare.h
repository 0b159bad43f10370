/**
 * Compares documents with what they must be. Every function aborts at the first difference.
 */
#ifndef FUZZ_COMPARE_H
#define FUZZ_COMPARE_H

#include "api/codec/document.h"

/* Both trees must be equal, with members in the same order. */
void fuzz_same_trees(const json_t *a, const json_t *b);

/**
 * Compares a document that was read from a text with jansson's tree of it: structure, shapes, ragged arrays, the bits
 * of all numbers.
 * @param expected  by JSON_DECODE_INT_AS_REAL: all numbers are reals
 */
void fuzz_same_as_jansson(const struct api_document *document, const json_t *expected);

/* Compares which numbers were written as integers. @param expected the same text without JSON_DECODE_INT_AS_REAL */
void fuzz_same_integers(const struct api_document *document, const json_t *expected);

/* Compares two documents of the same answer, each read from JSON or a frame: shapes, and values bit for bit. */
void fuzz_same_documents(const struct api_document *a, const struct api_document *b);

/* An array's number as a double. */
double fuzz_value(const struct api_array *array, size_t i);

#endif
