/**
 * A document: a small JSON tree plus numeric arrays, in either format.
 *
 * Reading lifts every number and every regular array of numbers out of the text into the document's arena. In the tree,
 * a JSON integer k stands for arrays[k]. No client can write such a mark: each number that it sends is itself lifted,
 * so the tree that jansson sees contains no other integers and no reals. Writing does the reverse. jansson on the whole
 * text (JSON_DECODE_INT_AS_REAL, JSON_REJECT_DUPLICATES, JSON_DECODE_ANY) is the oracle of reading: both accept and
 * read the same bits, or both refuse. The only differences are the limits on the number of values outside numeric
 * arrays and on the length of strings and numbers (no field needs long ones, and the stop flag is not checked within
 * one), and the refusal of NUL bytes everywhere (jansson overlooks one after a number or a word).
 *
 * Reading and writing end early when the thread's request (account.h) is stopped.
 */
#ifndef API_DOCUMENT_H
#define API_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/codec/array.h"
#include "api/codec/text.h"

struct api_pool;

struct api_document {
	json_t *root;
	struct api_array *arrays;
	size_t n_arrays;
	int n_threads; /* for writing: number of threads that may print large arrays; 0 counts as 1. More than 1 only on
	                * the thread that owns the team */
	void *memory;  /* allocated by reading; private, including how to free it and the arrays */
	size_t memory_bytes, arrays_bytes;
	struct api_pool *pool;
};

/**
 * Reads a JSON text (RFC 8259: any value at the top). Numbers have the bits of strtod; those too small become 0, those
 * beyond a double's range are malformed. Duplicate keys, trailing bytes, invalid UTF-8, a BOM, \u0000 in strings, NUL
 * bytes and nesting over 2048 are malformed, too. A ragged array is not malformed: it is marked, for the caller to
 * judge once the whole text has been read.
 * @param pool      source of large blocks, must live as long as the document; NULL: malloc
 * @param text      [bytes], need not end in NUL; borrowed during the call only
 * @param document  filled in on success; to be freed with api_document_free
 * @return false with *fault filled in; there is nothing to free then
 */
bool api_document_read_pooled(struct api_pool *pool, const char *text, size_t bytes, struct api_document *document,
                              struct api_text_fault *fault);

/* As api_document_read_pooled, but every row of numbers becomes an array of its own, so that rows may differ in length:
 * [[1, 2], [3]] is a list of two marks. */
bool api_document_read_rows(struct api_pool *pool, const char *text, size_t bytes, struct api_document *document,
                            struct api_text_fault *fault);

void api_document_free(struct api_document *document);

/* The array of a mark, arrays[k]. @return NULL if the node is not a mark */
const struct api_array *api_document_array(const struct api_document *document, const json_t *node);

#endif
