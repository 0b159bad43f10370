/* Merge patches of documents: RFC 7396, appendix A, and arrays of frames and texts in any combination. */
#include "api/sets/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/base/account.h"
#include "api/codec/document_write.h"
#include "api/codec/frame.h"

/* Texts are written with ' instead of ". */
static char *quoted(const char *text)
{
	char *copy = strdup(text);
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return copy;
}

static void read_text(const char *text, struct api_document *document)
{
	struct api_text_fault fault;
	char *copy = quoted(text);
	if (!api_document_read_pooled(NULL, copy, strlen(copy), document, &fault))
		fail_msg("%s: %s", text, fault.detail);
	memset(copy, 'x', strlen(copy));
	free(copy);
}

static char *print(const struct api_document *document)
{
	struct api_buffer text = {0};
	assert_int_equal(api_document_write_json(document, SIZE_MAX, &text), API_WRITTEN);
	char *copy = strdup(text.data);
	api_buffer_free(&text);
	return copy;
}

static void is(const struct api_document *document, const char *text)
{
	struct api_document expected;
	read_text(text, &expected);
	char *a = print(document), *b = print(&expected);
	assert_string_equal(a, b);
	free(a);
	free(b);
	api_document_free(&expected);
}

static void merge(struct api_document *document, struct api_document *patch)
{
	struct api_fault fault = {0};
	assert_true(api_merge(document, patch, &fault));
	assert_int_equal(fault.status, 0);
}

static void texts(void **unused)
{
	static const struct {
		const char *target, *patch, *result;
	} cases[] = {
		/* The examples of the appendix. */
		{"{'a':'b'}", "{'a':'c'}", "{'a':'c'}"},
		{"{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}"},
		{"{'a':'b'}", "{'a':null}", "{}"},
		{"{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}"},
		{"{'a':['b']}", "{'a':'c'}", "{'a':'c'}"},
		{"{'a':'c'}", "{'a':['b']}", "{'a':['b']}"},
		{"{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}"},
		{"{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}"},
		{"['a','b']", "['c','d']", "['c','d']"},
		{"{'a':'b'}", "['c']", "['c']"},
		{"{'a':'foo'}", "null", "null"},
		{"{'a':'foo'}", "'bar'", "'bar'"},
		{"{'e':null}", "{'a':1}", "{'e':null,'a':1}"},
		{"[1,2]", "{'a':'b','c':null}", "{'a':'b'}"},
		{"{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}"},
		/* Numbers and arrays of any rank. */
		{"{'a':1,'b':[2,3],'c':[[4,5],[6,7]]}", "{}", "{'a':1,'b':[2,3],'c':[[4,5],[6,7]]}"},
		{"{'a':1,'b':[2,3],'c':[[4,5],[6,7]]}", "{'b':[9]}", "{'a':1,'b':[9],'c':[[4,5],[6,7]]}"},
		{"{'a':1,'b':[2,3]}", "{'a':[[[[1]]]],'c':-0.0,'b':1e3}", "{'a':[[[[1]]]],'b':1e3,'c':-0.0}"},
		{"{'a':9007199254740993,'b':2147483648}", "{'c':9007199254740993}",
	     "{'a':9007199254740993,'b':2147483648,'c':9007199254740993}"},
		{"{'a':{'b':{'c':[1,2],'d':[3]}}}", "{'a':{'b':{'c':[4]}}}", "{'a':{'b':{'c':[4],'d':[3]}}}"},
		{"{'a':{'b':[1]}}", "{'a':2}", "{'a':2}"},
		{"{'a':2}", "{'a':{'b':[1],'c':null}}", "{'a':{'b':[1]}}"},
		{"{'a':[1,2]}", "{'a':{'b':{'c':null,'d':3}}}", "{'a':{'b':{'d':3}}}"},
		{"{'a':[1,2]}", "{'a':[]}", "{'a':[]}"},
		{"{'a':[1,['x',2]],'b':3}", "{'c':[4,{'d':5,'e':null}]}", "{'a':[1,['x',2]],'b':3,'c':[4,{'d':5,'e':null}]}"},
		{"{'a':1}", "{'a':null,'b':null}", "{}"},
		{"5", "6", "6"},
		{"5", "{'a':6}", "{'a':6}"},
		{"{'a':1}", "7", "7"},
		{"{'a':true}", "{'a':false}", "{'a':false}"},
	};
	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_document document, patch;
		read_text(cases[i].target, &document);
		read_text(cases[i].patch, &patch);
		merge(&document, &patch);
		is(&document, cases[i].result);
		api_document_free(&document);
		api_document_free(&patch);
	}
}

/* Patches are applied one after the other; each result is a document like any other. */
static void several_patches(void **unused)
{
	static const char *const patches[] = {"{'a':[1,2]}", "{'b':{'c':[3]}}", "{'a':null}", "{'b':{'c':[4,5],'d':6}}"};
	enum { N = sizeof(patches) / sizeof(patches[0]) };
	struct api_document document, patch[N];
	(void)unused;
	read_text("{'a':[0],'z':[9,8]}", &document);
	for (size_t i = 0; i < N; i++) {
		read_text(patches[i], &patch[i]);
		merge(&document, &patch[i]);
	}
	is(&document, "{'z':[9,8],'b':{'c':[4,5],'d':6}}");
	api_document_free(&document);
	for (size_t i = 0; i < N; i++)
		api_document_free(&patch[i]);
}

/* ---- frames ---- */

enum { HEAD = 256 };

/* {"a": [10, 20], "b": {"c": 30}} with both arrays in the tail, at a multiple of 8. */
static char *frame(const char *a, const char *c, size_t *bytes)
{
	static const double tail[] = {10, 20, 30};
	static const int32_t integers[] = {7, 8};
	const uint64_t length = HEAD - 8;
	char text[HEAD], *body = aligned_alloc(64, HEAD + 64);
	snprintf(text, sizeof(text), "{\"a\":%s,\"b\":{\"c\":%s}}", a, c);
	memset(body, ' ', HEAD);
	memcpy(body, &length, 8);
	memcpy(body + 8, text, strlen(text));
	memcpy(body + HEAD, tail, sizeof(tail));
	memcpy(body + HEAD + sizeof(tail), integers, sizeof(integers));
	*bytes = HEAD + sizeof(tail) + sizeof(integers);
	return body;
}

#define A "{\"dtype\":\"f64\",\"shape\":[2],\"offset\":0}"
#define C "{\"dtype\":\"f64\",\"shape\":[],\"offset\":16}"
#define INTEGERS "{\"dtype\":\"i32\",\"shape\":[2,1],\"offset\":24}"

static char *read_frame(const char *a, const char *c, struct api_arena *arena, struct api_document *document)
{
	struct api_fault fault = {0};
	size_t bytes;
	char *body = frame(a, c, &bytes);
	if (!api_frame_read(&(struct api_part){body, bytes}, 1, SIZE_MAX, arena, document, &fault))
		fail_msg("%s", fault.errors[0].detail);
	return body;
}

static void frames(void **unused)
{
	struct api_arena arena = {0};
	struct api_document document, patch;
	(void)unused;
	/* Patches a text with a frame. */
	read_text("{'a':[1,2,3],'b':{'c':4,'d':[5]},'e':6}", &document);
	char *body = read_frame(A, INTEGERS, &arena, &patch);
	merge(&document, &patch);
	const json_t *root = document.root;
	const struct api_array *a = api_document_array(&document, json_object_get(root, "a")),
						   *c = api_document_array(&document, json_object_get(json_object_get(root, "b"), "c"));
	assert_true(a->binary && a->dtype == API_F64 && a->n == 2 && ((const double *)a->data)[1] == 20);
	assert_true(c->binary && c->dtype == API_I32 && c->rank == 2 && ((const int32_t *)c->data)[1] == 8);
	assert_ptr_equal(a->data, body + HEAD);
	char *text = print(&document);
	assert_string_equal(text, "{\"a\":[10.0,20.0],\"b\":{\"c\":[[7],[8]],\"d\":[5.0]},\"e\":6.0}");
	free(text);
	api_document_free(&document);
	api_document_free(&patch);
	free(body);
	/* Patches a frame with a text. */
	body = read_frame(A, C, &arena, &document);
	read_text("{'b':{'c':[1,-0.0]},'f':null}", &patch);
	merge(&document, &patch);
	is(&document, "{'a':[10,20],'b':{'c':[1,-0.0]}}");
	api_document_free(&document);
	api_document_free(&patch);
	free(body);
	/* Patches a frame with a frame that has numbers in its document. */
	body = read_frame(A, C, &arena, &document);
	char *second = read_frame("[1,2,3]", "null", &arena, &patch);
	merge(&document, &patch);
	is(&document, "{'a':[1,2,3],'b':{}}");
	api_document_free(&document);
	api_document_free(&patch);
	free(body);
	free(second);
	api_arena_free(&arena);
}

/* In a text, an object that looks like a reference is an ordinary object. */
static void what_is_no_reference(void **unused)
{
	struct api_document document, patch;
	(void)unused;
	read_text("{'a':[1,2]}", &document);
	read_text("{'a':{'dtype':'f64','shape':[1],'offset':0}}", &patch);
	merge(&document, &patch);
	is(&document, "{'a':{'dtype':'f64','shape':[1],'offset':0}}");
	api_document_free(&document);
	api_document_free(&patch);
}

static void a_raised_flag_ends_it(void **unused)
{
	static const atomic_bool stop = true;
	struct api_account account;
	struct api_document document, patch;
	struct api_fault fault = {0};
	(void)unused;
	read_text("{'a':1}", &document);
	read_text("{'a':2}", &patch);
	api_account_open(&account, NULL, &stop, 0);
	assert_false(api_merge(&document, &patch, &fault));
	assert_int_equal(fault.code, API_E_STOPPED);
	api_account_close(&account);
	api_document_free(&document);
	api_document_free(&patch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(several_patches),
		cmocka_unit_test(frames),
		cmocka_unit_test(what_is_no_reference),
		cmocka_unit_test(a_raised_flag_ends_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
