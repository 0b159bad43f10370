/**
 * One document, two dresses: a small JSON tree plus numeric arrays.
 *
 * Reading lifts every number and every regular array of numbers out of the text into the document's arena; in the tree, a
 * JSON integer k stands for arrays[k]. No client can write such a mark: each number that it sends is itself lifted, so
 * the tree that jansson sees holds no other integers and no reals. Writing does the reverse.
 * jansson on the whole text (JSON_DECODE_INT_AS_REAL, JSON_REJECT_DUPLICATES, JSON_DECODE_ANY) is the oracle of reading:
 * both accept and read the same bits, or both refuse. Ours alone are the ceilings on values outside numeric arrays and on
 * the length of strings and numbers (no field needs long ones, and whoever reads one does not look up from it), and the
 * refusal of NUL bytes everywhere (jansson overlooks one behind a number or a word).
 *
 * Reading and writing end early when the request that the thread handles (account.h) is no longer wanted.
 */
#ifndef API_DOCUMENT_H
#define API_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/base/buffer.h"
#include "api/codec/text.h"

enum api_dtype { API_F64, API_F32, API_I32, API_U32, API_I64 };
enum {
	API_MAX_RANK = 4,          /* deeper nests of numbers stay in the tree as JSON arrays */
	API_MAX_VALUES = 2000000,  /* values and keys of a text, a lifted array or number being one: more is 413 */
	API_MAX_TOKEN = 1 << 20,   /* bytes of a string, a key or a number as it is written, without quotes: more is 413 */
};

/* A number (rank 0) or a row-major array. */
struct api_array {
	enum api_dtype dtype;         /* of a number in a text that was read: always API_F64 */
	int rank;                     /* API_MAX_RANK + 1 stands for all deeper ones that a frame may hold */
	size_t shape[API_MAX_RANK];
	size_t n;                     /* product of shape; 1 for rank 0 */
	const void *data;             /* [n], 8-byte aligned; borrowed from the document or the frame (read; never NULL), or the
	                               * caller (written) */
	bool binary;                  /* from a frame's tail: of any dtype, and perhaps not finite */
	/* Of a text that was read: */
	size_t first_non_integer;     /* flat index of the first number written with '.', 'e' or 'E'; n if there is none.
	                               * Binary: 0 for the real dtypes */
	bool ragged;                  /* rows differ in length or depth; data and shape then mean nothing, but n counts all */
	size_t ragged_path[API_MAX_RANK]; /* where: index at each level down to the first row that does not fit */
	int ragged_depth;             /* entries of ragged_path */
};

struct api_document {
	json_t *root;
	struct api_array *arrays;
	size_t n_arrays;
	int n_threads;  /* written: how many may print large arrays; 0 is as 1. More only on the thread that owns the team */
	void *memory;   /* what reading allocated; private, as where it and arrays go back to */
	size_t memory_bytes, arrays_bytes;
	struct api_pool *pool;
};

/**
 * Reads a JSON text (RFC 8259: any value at the top). Numbers: bits of strtod; too small becomes 0, beyond a double's
 * range is malformed. Duplicate keys, trailing bytes, invalid UTF-8, a BOM, \u0000 in strings, NUL bytes and nesting over
 * 2048 are malformed, too. A ragged array is not: it is marked, for the caller to judge once the whole text is known.
 * @param text      [bytes], need not end in NUL; borrowed during the call only
 * @param document  filled in on success; to be freed with api_document_free
 * @return false with *fault filled in; nothing to free then
 */
bool api_document_read_json(const char *text, size_t bytes, struct api_document *document, struct api_text_fault *fault);

/* The same with large blocks from a pool (or NULL), which must live as long as the document. */
bool api_document_read_pooled(struct api_pool *pool, const char *text, size_t bytes, struct api_document *document,
                              struct api_text_fault *fault);

/**
 * The text of a document whose tree was built by the caller, integers being marks into arrays.
 * Compact. Reals are printed as the shortest decimal that reads back to the same bits and always look like reals ("1.0").
 * Nested to the arrays' shapes. Numbers must be finite: they can be none of JSON's else.
 * A tree with reals, or with integers that are no marks, is a mistake of the caller's, answered like lack of memory, as is
 * a request that was stopped.
 * @param max_bytes  ceiling of the text
 * @param text       pool set, all else zero; on success NUL-terminated behind its bytes, to be freed with api_buffer_free
 * @return else nothing is left to free
 */
enum api_written { API_WRITTEN, API_TOO_LONG, API_WRITE_NO_MEMORY, API_NOT_FINITE };
enum api_written api_document_write_json(const struct api_document *document, size_t max_bytes, struct api_buffer *text);

void api_document_free(struct api_document *document);

/* "f64" …, as a frame names it, and the size of one number. */
const char *api_dtype_name(enum api_dtype dtype);
size_t api_dtype_bytes(enum api_dtype dtype);

/* arrays[k] of a mark, or NULL if the node is no mark. */
const struct api_array *api_document_array(const struct api_document *document, const json_t *node);

#endif
