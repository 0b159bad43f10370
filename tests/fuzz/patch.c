/* Applies a merge patch to a document and compares the result with RFC 7396 on jansson's trees of the plain texts; then
 * does the same with the patch as a frame and, if the document is a collision set's, with its archived form: same
 * batch, bit for bit, or the same faults. The input is the document's text, a NUL and the patch's text. */
#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/parts.h"

#include "api/codec/frame.h"
#include "api/sets/merge.h"
#include "api/sets/archive.h"
#include "api/validate/query.h"

/* The texts of both. */
struct texts {
	char *document, *patch;
	size_t document_bytes, patch_bytes;
};

/* ---- RFC 7396, 2, making a new tree ---- */

static json_t *expected_merge(const json_t *target, const json_t *patch)
{
	const char *key;
	json_t *value, *result;
	if (!json_is_object(patch))
		return json_deep_copy(patch);
	result = json_object();
	json_object_foreach((json_t *)(uintptr_t)target, key, value) {
		const json_t *change = json_object_get(patch, key);
		if (!json_is_null(change))
			json_object_set_new(result, key, change ? expected_merge(value, change) : json_deep_copy(value));
	}
	json_object_foreach((json_t *)(uintptr_t)patch, key, value)
		if (!json_is_null(value) && !json_object_get(target, key))
			json_object_set_new(result, key, expected_merge(NULL, value));
	return result;
}

static json_t *expected_of(const struct texts *t)
{
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL;
	json_t *target = json_loadb(t->document, t->document_bytes, flags, NULL),
		   *patch = json_loadb(t->patch, t->patch_bytes, flags, NULL);
	FUZZ_CHECK(target && patch, "jansson refuses");
	json_t *merged = expected_merge(target, patch);
	json_decref(target);
	json_decref(patch);
	return merged;
}

/* ---- documents ---- */

static bool read_text(const char *text, size_t bytes, struct api_document *document)
{
	struct api_text_fault fault;
	return !memchr(text, 0, bytes) && api_document_read_pooled(NULL, text, bytes, document, &fault);
}

static void merge(struct api_document *document, struct api_document *patch)
{
	struct api_fault fault = {0};
	FUZZ_CHECK(api_merge(document, patch, &fault), "%s", fault.detail);
}

static void read_and_merge(const struct texts *t, struct api_document *document, struct api_document *patch)
{
	FUZZ_CHECK(read_text(t->document, t->document_bytes, document) && read_text(t->patch, t->patch_bytes, patch),
	           "not the second time");
	merge(document, patch);
}

static void put_to_rest(struct api_document *document, struct api_archive *rest)
{
	struct api_arena arena = {0};
	struct api_fault fault = {0};
	FUZZ_CHECK(api_archive_write(document, &arena, rest, &fault), "%s", fault.detail);
	api_arena_free(&arena);
}

static bool has_ragged(const struct api_document *document)
{
	bool ragged = false;
	for (size_t k = 0; k < document->n_arrays; k++)
		ragged |= document->arrays[k].ragged;
	return ragged;
}

/* Whether a frame could mistake an object of the patch for a reference. */
static bool may_refer(const struct texts *t)
{
	return memmem(t->patch, t->patch_bytes, "dtype", 5) || memmem(t->patch, t->patch_bytes, "shape", 5) ||
	       memmem(t->patch, t->patch_bytes, "offset", 6) || memchr(t->patch, '\\', t->patch_bytes);
}

/* ---- checks ---- */

static void check_texts(const struct texts *t)
{
	struct api_document document, patch;
	json_t *expected = expected_of(t);
	read_and_merge(t, &document, &patch);
	fuzz_same_as_jansson(&document, expected);
	json_decref(expected);
	api_document_free(&document);
	api_document_free(&patch);
}

static void check_framed_patch(const struct texts *t, struct api_document *patch)
{
	struct api_arena arena = {0};
	struct api_fault fault = {0};
	struct api_archive rest = {0};
	struct api_document framed, a, b, plain;
	put_to_rest(patch, &rest);
	FUZZ_CHECK(api_frame_read(&(struct api_part){rest.bytes, rest.n}, 1, SIZE_MAX, &arena, &framed, &fault), "%s",
	           fault.errors[0].detail);
	FUZZ_CHECK(read_text(t->document, t->document_bytes, &a), "not the second time");
	merge(&a, &framed);
	read_and_merge(t, &b, &plain);
	if (!has_ragged(&b))
		fuzz_same_documents(&a, &b);
	api_document_free(&a);
	api_document_free(&b);
	api_document_free(&framed);
	api_document_free(&plain);
	api_archive_free(&rest);
	api_arena_free(&arena);
}

/* The result of checking a document. */
struct checked {
	bool ok;
	struct api_arena arena;
	struct api_fault fault;
	struct api_lagged lagged;
	struct api_lagged_velocities lagged_velocities;
	struct api_set_facts facts;
};

static bool check_set(const struct api_document *document, struct checked *c)
{
	api_fault_clear(&c->fault);
	c->arena = (struct api_arena){0};
	struct api_check check = {.document = document, .arena = &c->arena, .fault = &c->fault};
	return c->ok = api_check_set(&check, &c->lagged, &c->lagged_velocities, &c->facts);
}

static void same(const struct checked *a, const struct checked *b)
{
	FUZZ_CHECK(a->ok == b->ok, "%s%s", a->ok ? "" : a->fault.errors[0].detail, b->ok ? "" : b->fault.errors[0].detail);
	if (a->ok)
		fuzz_same_batches(&a->lagged.batch, &b->lagged.batch);
	for (int i = 0; i < a->fault.n_errors && !a->ok; i++)
		FUZZ_CHECK(i < b->fault.n_errors && !strcmp(a->fault.errors[i].pointer, b->fault.errors[i].pointer), "%s",
		           a->fault.errors[i].pointer);
}

/* As PATCH does: archives the document, reads it back and merges the patch into that. */
static void check_rest(const struct texts *t, struct api_document *document)
{
	static struct checked at_rest, plain; /* too large for the stack */
	struct api_arena arena = {0};
	struct api_fault fault = {0};
	struct api_archive rest = {0};
	struct api_document read, a, patches[2];
	put_to_rest(document, &rest);
	FUZZ_CHECK(api_archive_read(&rest, &arena, &read, &fault), "%s", fault.errors[0].detail);
	FUZZ_CHECK(read_text(t->patch, t->patch_bytes, &patches[0]), "not the second time");
	merge(&read, &patches[0]);
	read_and_merge(t, &a, &patches[1]);
	check_set(&read, &at_rest);
	check_set(&a, &plain);
	same(&plain, &at_rest);
	api_document_free(&read);
	api_document_free(&a);
	api_document_free(&patches[0]);
	api_document_free(&patches[1]);
	api_arena_free(&at_rest.arena);
	api_arena_free(&plain.arena);
	api_arena_free(&arena);
	api_archive_free(&rest);
}

static void check(const struct texts *t)
{
	static struct checked before; /* too large for the stack */
	struct api_document document, patch;
	if (!read_text(t->document, t->document_bytes, &document))
		return;
	if (read_text(t->patch, t->patch_bytes, &patch)) {
		check_texts(t);
		if (json_is_object(patch.root) && !has_ragged(&patch) && !may_refer(t))
			check_framed_patch(t, &patch);
		if (check_set(&document, &before))
			check_rest(t, &document);
		api_arena_free(&before.arena);
		api_document_free(&patch);
	}
	api_document_free(&document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	if (!nul)
		return 0;
	const size_t n = (size_t)(nul - data);
	struct texts t = {.document_bytes = n, .patch_bytes = size - n - 1};
	t.document = fuzz_copy(data, n);
	t.patch = fuzz_copy(nul + 1, t.patch_bytes);
	check(&t);
	free(t.document);
	free(t.patch);
	return 0;
}
