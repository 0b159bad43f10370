/* Compares the lifting pass with plain jansson: both read the same document with the same bits, or both refuse it. Then
 * compares the plain path through skeletons with jansson. The input is the text. */
#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"

#include "api/codec/skeleton.h"
#include "api/codec/document_write.h"

static const size_t strict = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;

static bool has_ragged(const struct api_document *document)
{
	for (size_t k = 0; k < document->n_arrays; k++)
		if (document->arrays[k].ragged)
			return true;
	return false;
}

/* Writing and reading back a document must reproduce it. */
static void check_written(const struct api_document *document, const json_t *expected)
{
	struct api_buffer written = {0};
	struct api_document back;
	struct api_text_fault fault;
	FUZZ_CHECK(api_document_write_json(document, SIZE_MAX, &written) == API_WRITTEN, "cannot be written");
	FUZZ_CHECK(api_document_read_pooled(NULL, written.data, written.bytes, &back, &fault), "%s", fault.detail);
	fuzz_same_as_jansson(&back, expected);
	api_document_free(&back);
	api_buffer_free(&written);
}

static void check_integers(const struct api_document *document, const char *text, size_t bytes)
{
	json_t *expected = json_loadb(text, bytes, strict, NULL);
	if (expected) /* NULL: an integer exceeds 64 bits */
		fuzz_same_integers(document, expected);
	json_decref(expected);
}

static void check_fault(const struct api_text_fault *fault, const char *text, size_t bytes)
{
	FUZZ_CHECK(fault->status == 400, "%d %s", fault->status, fault->detail);
	FUZZ_CHECK(fault->offset <= bytes && fault->line >= 1 && fault->column >= 1, "%zu", fault->offset);
	FUZZ_CHECK(fault->detail[0] && strnlen(fault->detail, sizeof(fault->detail)) < sizeof(fault->detail), "no words");
	size_t line = 1;
	for (size_t i = 0; i < fault->offset; i++)
		line += text[i] == '\n';
	FUZZ_CHECK(line == fault->line, "line %zu, not %zu", fault->line, line);
}

static void check_document(const char *text, size_t bytes)
{
	struct api_document document;
	struct api_text_fault fault;
	/* jansson ignores a NUL after a number or a word, so inputs with a NUL are skipped. */
	json_t *expected =
		bytes && memchr(text, 0, bytes) ? NULL : json_loadb(text, bytes, strict | JSON_DECODE_INT_AS_REAL, NULL);
	const bool accepted = api_document_read_pooled(NULL, text, bytes, &document, &fault);
	FUZZ_CHECK(accepted == (expected != NULL), "%s", accepted ? "jansson refuses" : fault.detail);
	if (accepted) {
		fuzz_same_as_jansson(&document, expected);
		check_integers(&document, text, bytes);
		if (!has_ragged(&document))
			check_written(&document, expected);
		api_document_free(&document);
	} else {
		check_fault(&fault, text, bytes);
	}
	json_decref(expected);
}

static void check_skeleton(const char *text, size_t bytes)
{
	json_t *root = api_skeleton_read(text, bytes);
	if (!root)
		return;
	json_t *expected = json_loadb(text, bytes, strict, NULL);
	FUZZ_CHECK(expected, "jansson refuses");
	fuzz_same_trees(root, expected);
	json_decref(expected);
	json_decref(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_copy(data, size);
	check_document(text, size);
	check_skeleton(text, size);
	free(text);
	return 0;
}
