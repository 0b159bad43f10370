/* Messages for texts that are not JSON. */
#include "api/codec/document.h"
#include "api/codec/hint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void words(void **unused)
{
	(void)unused;
	static const struct {
		const char *text;
		enum api_code code;
		const char *words, *pointer;
	} cases[] = {
		{"NaN", API_E_NAN_IN_JSON, "NaN is not JSON", ""},
		{"{\"a\":[[1,NaN]]}", API_E_NAN_IN_JSON, "NaN is not JSON", "/a/0/1"},
		{"{\"a\":[[1,nan]]}", API_E_NAN_IN_JSON, "nan is not JSON", "/a/0/1"},
		{"{\"a\":[-Infinity]}", API_E_NAN_IN_JSON, "-Infinity is not JSON", "/a/0"},
		{"{\"a\":-Inf}", API_E_NAN_IN_JSON, "-Inf is not JSON", "/a"},
		{"{\"a\":{\"b\":1},\"c/~\":[\"]\\\"[\",inf]}", API_E_NAN_IN_JSON, "inf is not JSON", "/c~1~0/1"},
		{"{\"a\\n\":NaN}", API_E_NAN_IN_JSON, "NaN is not JSON", ""},
		{"{\"a\":NaNo}", API_E_MALFORMED_JSON, "invalid token", ""},
		{"{\"a\":True}", API_E_MALFORMED_JSON, "true", ""},
		{"{\"a\":False}", API_E_MALFORMED_JSON, "false", ""},
		{"{\"a\":None}", API_E_MALFORMED_JSON, "leave out", ""},
		{"{'a':1}", API_E_MALFORMED_JSON, "double quotes", ""},
		{"{\"a\":1,}", API_E_MALFORMED_JSON, "remove the comma", ""},
		{"{\"a\":[1,2,]}", API_E_MALFORMED_JSON, "remove the comma", ""},
		{"{\"a\":1 // b\n}", API_E_MALFORMED_JSON, "no comments", ""},
		{"{\"a\":1 # b\n}", API_E_MALFORMED_JSON, "no comments", ""},
		{"{\"a\":[.5]}", API_E_MALFORMED_JSON, "0.5", ""},
		{"{\"a\":[5.]}", API_E_MALFORMED_JSON, "1.0", ""},
		{"{\"a\":[+5]}", API_E_MALFORMED_JSON, "plus sign", ""},
		{"{\"a\":[01]}", API_E_MALFORMED_JSON, "begin with 0", ""},
		{"{\"a\":[1d0]}", API_E_MALFORMED_JSON, "with e", ""},
		{"{\"a\":[1f]}", API_E_MALFORMED_JSON, "suffix", ""},
		{"{\"a\":[1 2]}", API_E_MALFORMED_JSON, "comma missing", ""},
		{"{\"a\":1 \"b\":2}", API_E_MALFORMED_JSON, "comma missing", ""},
		{"{\"a\":[1;2]}", API_E_MALFORMED_JSON, "[[1, 2], [3, 4]]", ""},
		{"{a:1}", API_E_MALFORMED_JSON, "double quotes", ""},
		{"{\"a\":[1,2", API_E_MALFORMED_JSON, "too early", ""},
		{"{\"a\":(1,2)}", API_E_MALFORMED_JSON, "brackets", ""},
		{"a=1", API_E_MALFORMED_JSON, "an object", ""},
		{"\xef\xbb\xbf{}", API_E_NOT_JSON, "byte order mark", ""},
		{"\x1f\x8b\x08", API_E_NOT_JSON, "gzip", ""},
		{"\xff\xfe{", API_E_NOT_JSON, "UTF-16", ""},
		{"@batch.json", API_E_NOT_JSON, "--data-binary @FILE", ""},
		{"b'{}'", API_E_NOT_JSON, "Python", ""},
		{"--boundary", API_E_NOT_JSON, "multipart", ""},
		{"\x28\xb5\x2f\xfd", API_E_NOT_JSON, "zstd", ""},
		{"", API_E_EMPTY_BODY, "the body is empty", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_document document;
		struct api_text_fault fault;
		const size_t n = strlen(cases[i].text);
		char *text = malloc(n + 1); /* exact size, so that sanitizers detect reads beyond it */
		memcpy(text, cases[i].text, n);
		assert_false(api_document_read_pooled(NULL, text, n, &document, &fault));
		if (fault.code != cases[i].code || !strstr(fault.detail, cases[i].words) ||
		    strcmp(fault.pointer, cases[i].pointer) != 0)
			fail_msg("%s: %s, \"%s\", %s", cases[i].text, api_code_name(fault.code), fault.pointer, fault.detail);
		free(text);
	}
}

/* A zero byte in place of something else gets no hint about a missing comma. */
static void a_zero_byte_gets_no_hint_about_a_comma(void **unused)
{
	(void)unused;
	static const char text[] = "{\"a\":[1\0]}";
	struct api_document document;
	struct api_text_fault fault;
	assert_false(api_document_read_pooled(NULL, text, sizeof(text) - 1, &document, &fault));
	assert_true(fault.code == API_E_MALFORMED_JSON && fault.offset == 7);
	assert_null(strstr(fault.detail, "comma missing"));
}

/* Every prefix of a text has a place, unless that is too deep or its pointer too long. */
static void places(void **unused)
{
	(void)unused;
	static const char text[] = "{\"a\":[[1,2],{\"b~\":[true,null,\"x\\\"]\"]}],\"c\":{\"d\":3}}";
	static const struct {
		size_t offset;
		const char *pointer;
	} cases[] = {
		{0, ""},
		{5, "/a"},
		{6, "/a/0"},
		{7, "/a/0/0"},
		{9, "/a/0/1"},
		{12, "/a/1"},
		{18, "/a/1/b~0"},
		{19, "/a/1/b~0/0"},
		{24, "/a/1/b~0/1"},
		{39, ""},
		{43, "/c"},
		{48, "/c/d"},
		{sizeof(text) - 1, ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char pointer[64] = "?";
		api_hint_place(text, cases[i].offset, pointer, sizeof(pointer));
		if (strcmp(pointer, cases[i].pointer) != 0)
			fail_msg("%.*s: \"%s\"", (int)cases[i].offset, text, pointer);
	}
	for (size_t n = 0; n <= sizeof(text) - 1; n++)
		for (size_t room = 1; room < 24; room++) {
			char *pointer = malloc(room);
			api_hint_place(text, n, pointer, room);
			assert_true(strlen(pointer) < room);
			free(pointer);
		}
}

static void deep_places(void **unused)
{
	(void)unused;
	char text[64], pointer[256];
	memset(text, '[', sizeof(text));
	api_hint_place(text, 16, pointer, sizeof(pointer));
	assert_string_equal(pointer, "/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0");
	api_hint_place(text, 17, pointer, sizeof(pointer));
	assert_string_equal(pointer, "");
	memset(text + 17, ']', 4);
	api_hint_place(text, 21, pointer, sizeof(pointer));
	assert_string_equal(pointer, "/0/0/0/0/0/0/0/0/0/0/0/0/0");
	memset(text, ']', sizeof(text));
	api_hint_place(text, 64, pointer, sizeof(pointer));
	assert_string_equal(pointer, "");
}

static void frames(void **unused)
{
	(void)unused;
	char frame[64] = "\x38\0\0\0\0\0\0\0{}";
	memset(frame + 10, ' ', sizeof(frame) - 10);
	assert_true(api_looks_like_frame(frame, sizeof(frame)));
	assert_false(api_looks_like_frame(frame, sizeof(frame) - 1));
	assert_false(api_looks_like_frame(frame, 8));
	frame[0]--;
	assert_false(api_looks_like_frame(frame, sizeof(frame)));
	assert_true(api_looks_like_json("{\"", 2) && api_looks_like_json(" \n[1", 4) && api_looks_like_json("{}", 2));
	assert_true(api_looks_like_json("{", 1) && api_looks_like_json("{'", 2));
	assert_false(api_looks_like_json("", 0) || api_looks_like_json(" ", 1) || api_looks_like_json("{x", 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),  cmocka_unit_test(a_zero_byte_gets_no_hint_about_a_comma),
		cmocka_unit_test(places), cmocka_unit_test(deep_places),
		cmocka_unit_test(frames),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
