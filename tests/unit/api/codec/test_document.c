/* Reading, case by case. The comparison with jansson on whole texts is in test_document_oracle.c. */
#include "api/codec/document.h"
#include "api/base/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/base/account.h"
#include "tests/share.h"

static struct api_document read_text(const char *text)
{
	struct api_document document;
	struct api_text_fault fault;
	if (!api_document_read_pooled(NULL, text, strlen(text), &document, &fault))
		fail_msg("%.60s refused: %s at %zu", text, fault.detail, fault.offset);
	return document;
}

/* ---- lifting ---- */

static void lifts_every_number_and_array(void **unused)
{
	(void)unused;
	struct api_document d = read_text(
		"{\"a\": -2.5e1, \"b\":[[1,2 , 3],\n[4,5,6]], \"c\":[1,\"x\",[7,8]], \"d\":\"[1,\\\"2]\", \"e\":null}");
	assert_int_equal(d.n_arrays, 4);
	const struct api_array *a = api_document_array(&d, json_object_get(d.root, "a"));
	assert_true(a->rank == 0 && a->n == 1 && a->first_non_integer == 0 && *(const double *)a->data == -25);
	const struct api_array *b = api_document_array(&d, json_object_get(d.root, "b"));
	assert_true(b->rank == 2 && b->shape[0] == 2 && b->shape[1] == 3 && b->n == 6 && b->first_non_integer == 6 &&
	            !b->ragged);
	for (int i = 0; i < 6; i++)
		assert_true(((const double *)b->data)[i] == i + 1);
	assert_int_equal((uintptr_t)b->data % 64, 0);
	json_t *c = json_object_get(d.root, "c");
	assert_int_equal(json_array_size(c), 3);
	const struct api_array *c0 = api_document_array(&d, json_array_get(c, 0));
	const struct api_array *c2 = api_document_array(&d, json_array_get(c, 2));
	assert_true(c0->rank == 0 && c0->first_non_integer == 1 && *(const double *)c0->data == 1);
	assert_true(c2->rank == 1 && c2->n == 2 && ((const double *)c2->data)[1] == 8);
	assert_string_equal(json_string_value(json_object_get(d.root, "d")), "[1,\"2]");
	assert_null(api_document_array(&d, json_object_get(d.root, "d")));
	assert_null(api_document_array(&d, NULL));
	json_t *stray = json_integer(4);
	assert_null(api_document_array(&d, stray));
	json_decref(stray);
	api_document_free(&d);
	assert_null(d.root);
}

static void finds_shapes(void **unused)
{
	(void)unused;
	static const struct {
		const char *text;
		int rank;
		size_t shape[API_MAX_RANK], n, first_non_integer;
	} cases[] = {
		{"7", 0, {0}, 1, 1},
		{"7.0", 0, {0}, 1, 0},
		{" [ ] ", 1, {0}, 0, 0},
		{"[[],[]]", 2, {2, 0}, 0, 0},
		{"[[[],[]]]", 3, {1, 2, 0}, 0, 0},
		{"[1,2.5,3e0]", 1, {3}, 3, 1},
		{"[1,2,3E0]", 1, {3}, 3, 2},
		{"[[1],[2]]", 2, {2, 1}, 2, 2},
		{"[[[1,2],[3,4],[5,6]]]", 3, {1, 3, 2}, 6, 6},
		{"[[[[1],[-0.0]]]]", 4, {1, 1, 2, 1}, 2, 1},
		{"\t[\r\n1 ,\n2\t]\r", 1, {2}, 2, 2},
		{"[[[[]]]]", 4, {1, 1, 1, 0}, 0, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct api_document d = read_text(cases[i].text);
		const struct api_array *a = api_document_array(&d, d.root);
		assert_non_null(a);
		assert_int_equal(a->rank, cases[i].rank);
		assert_memory_equal(a->shape, cases[i].shape, sizeof a->shape);
		assert_int_equal(a->n, cases[i].n);
		assert_int_equal(a->first_non_integer, cases[i].first_non_integer);
		assert_false(a->ragged);
		assert_non_null(a->data);
		api_document_free(&d);
	}
}

static void marks_ragged_arrays(void **unused)
{
	(void)unused;
	static const struct {
		const char *text;
		int depth;
		size_t path[API_MAX_RANK], n;
	} cases[] = {
		{"[[1,2],[3]]", 1, {1}, 3},
		{"[[1,2],3]", 1, {1}, 3},
		{"[1,[2]]", 1, {1}, 2},
		{"[[[1,2],[3]]]", 2, {0, 1}, 3},
		{"[[1],[2,3]]", 1, {1}, 3},
		{"[[1],[[2]]]", 2, {1, 0}, 2},
		{"[[[1]],[2]]", 2, {1, 0}, 2},
		{"[[],[1]]", 1, {1}, 1},
		{"[[1],[]]", 1, {1}, 1},
		{"[[],[[]]]", 1, {1}, 0},
		{"[[[]],[]]", 1, {1}, 0},
		{"[1,[]]", 1, {1}, 1},
		{"[[],1]", 1, {1}, 1},
		{"[[[1],[2]],[[3]]]", 1, {1}, 3},
		{"[[1,2],[3,[4]]]", 2, {1, 1}, 4},
		{"[[1],[2],[3,[4]]]", 1, {2}, 4},
		{"[[1,2],[3],[4,5,6],7]", 1, {1}, 7},
		{"[[[[1,[2]]]],3]", 0, {0}, 0},
		{"[1,2,[[[3]]]]", 1, {2}, 3},
		{"[[[[1,2],[3]]]]", 3, {0, 0, 1}, 3},
		{"[[[[1,2],[3,4]],[[5,6]]]]", 2, {0, 1}, 6},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct api_document d = read_text(cases[i].text);
		const struct api_array *a = api_document_array(&d, d.root);
		if (cases[i].depth == 0) { /* five levels: not an array to be lifted */
			assert_null(a);
		} else {
			assert_true(a->ragged);
			assert_int_equal(a->ragged_depth, cases[i].depth);
			assert_memory_equal(a->ragged_path, cases[i].path, (size_t)a->ragged_depth * sizeof(size_t));
			assert_int_equal(a->n, cases[i].n);
		}
		api_document_free(&d);
	}
}

static void leaves_deep_nests_in_the_tree(void **unused)
{
	(void)unused;
	struct api_document d = read_text("[[[[[1,2]]]],[3,4]]");
	assert_true(json_is_array(d.root));
	assert_int_equal(d.n_arrays, 2);
	assert_int_equal(api_document_array(&d, json_array_get(d.root, 0))->rank, 4);
	assert_int_equal(api_document_array(&d, json_array_get(d.root, 1))->rank, 1);
	api_document_free(&d);
}

/* ---- rows of numbers as arrays of their own ---- */

/* Prints the rows of a list as "1, 2; ; 3". */
static void rows_are(const char *text, const char *rows)
{
	struct api_document d;
	struct api_text_fault fault;
	char found[200] = "";
	if (!api_document_read_rows(NULL, text, strlen(text), &d, &fault))
		fail_msg("%s refused: %s", text, fault.detail);
	for (size_t i = 0; i < json_array_size(d.root); i++) {
		const struct api_array *row = api_document_array(&d, json_array_get(d.root, i));
		assert_true(row && row->rank == 1 && row->shape[0] == row->n && !row->ragged);
		for (size_t j = 0; j < row->n; j++)
			sprintf(found + strlen(found), "%s%g", j ? ", " : "", ((const double *)row->data)[j]);
		strcat(found, ";");
	}
	assert_string_equal(found, rows);
	api_document_free(&d);
}

static void reads_rows_by_themselves(void **unused)
{
	(void)unused;
	rows_are("[[1, 2], [3]]", "1, 2;3;");
	rows_are("[ [1,2] , [3,4] ]", "1, 2;3, 4;");
	rows_are("[[], [0.5, -1e2, 3], []]", ";0.5, -100, 3;;");
	rows_are("[[]]", ";");
	struct api_document d;
	struct api_text_fault fault;
	static const char nested[] = "{\"a\": 2, \"b\": [1, [2, [3]]], \"c\": [4, 5]}";
	assert_true(api_document_read_rows(NULL, nested, strlen(nested), &d, &fault));
	assert_int_equal(api_document_array(&d, json_object_get(d.root, "a"))->rank, 0);
	json_t *b = json_object_get(d.root, "b"), *inner = json_array_get(b, 1);
	assert_int_equal(api_document_array(&d, json_array_get(b, 0))->rank, 0);
	assert_int_equal(json_array_size(inner), 2);
	assert_int_equal(api_document_array(&d, json_array_get(inner, 1))->rank, 1);
	assert_int_equal(api_document_array(&d, json_object_get(d.root, "c"))->n, 2);
	api_document_free(&d);
	static const char *const malformed[] = {"[[1, 2], [3]", "[[1, 2,], [3]]", "[[1 2]]", "[[1], [1e999]]", "[[1]] x"};
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		assert_false(api_document_read_rows(NULL, malformed[i], strlen(malformed[i]), &d, &fault));
		assert_int_equal(fault.status, 400);
	}
}

static void lifts_many_numbers(void **unused)
{
	(void)unused;
	const size_t n = 300000;
	char *text = malloc(2 * n + 3), *p = text;
	for (size_t i = 0; i < n; i++) {
		*p++ = i ? ',' : '[';
		*p++ = (char)('0' + i % 10);
	}
	*p++ = ']';
	struct api_document d;
	struct api_text_fault fault;
	assert_true(api_document_read_pooled(NULL, text, (size_t)(p - text), &d, &fault));
	const struct api_array *a = api_document_array(&d, d.root);
	assert_int_equal(a->shape[0], n);
	for (size_t i = 0; i < n; i++)
		assert_true(((const double *)a->data)[i] == (double)(i % 10));
	api_document_free(&d);
	free(text);
}

/* ---- refusals ---- */

static void check_refused(const char *text, size_t bytes, int status, size_t offset, const char *words)
{
	struct api_document d;
	struct api_text_fault fault;
	if (api_document_read_pooled(NULL, text, bytes, &d, &fault))
		fail_msg("%.60s accepted", text);
	if (fault.status != status || fault.offset != offset || !strstr(fault.detail, words))
		fail_msg("%.60s: %d at %zu, %s", text, fault.status, fault.offset, fault.detail);
}

static void names_the_place_of_a_fault(void **unused)
{
	(void)unused;
	static const struct {
		const char *text;
		size_t offset;
		const char *words;
	} cases[] = {
		{"", 0, "the body is empty"},
		{" \t\r\n", 4, "the body is empty"},
		/* in arrays of numbers */
		{"[1,]", 3, "a value expected"},
		{"[1 2]", 3, "',' or ']' expected"},
		{"[01]", 2, "',' or ']' expected"},
		{"[1", 2, "not closed"},
		{"[[1,2],[3", 9, "not closed"},
		{"[1,", 3, "not closed"},
		{"[", 1, "not closed"},
		{"[1.5.3]", 4, "',' or ']'"},
		{"[,1]", 1, "a value"},
		{"[1}", 2, "',' or ']'"},
		{"[+1]", 1, "a value"},
		{"[.5]", 1, "a value"},
		{"[-]", 2, "malformed number"},
		{"[1.]", 3, "malformed"},
		{"[1e]", 3, "malformed"},
		{"[0x10]", 2, "',' or ']'"},
		{"[[1],,[2]]", 5, "a value"},
		{"[1\"a\"]", 2, "',' or ']'"},
		{"[1,1e999]", 3, "beyond the range"},
		{"[[1], -1e309]", 6, "beyond the range"},
		{"[Infinity]", 1, "Infinity is not JSON"},
		{"[1,/**/2]", 3, "a value"},
		/* numbers on their own */
		{"1.5.3", 3, "after a number"},
		{"{\"a\":01}", 6, "after a number"},
		{"-", 1, "malformed"},
		{"{\"a\":1e400}", 5, "beyond"},
		{"1:", 1, "after"},
		{"{\"a\":-x}", 6, "malformed"},
		{"[\"x\",2.]", 7, "malformed"},
		/* refused by jansson, whose position is mapped back */
		{"{\"a\":1,\"a\":[2,3]}", 7, "duplicate"},
		{"[1,2] x", 6, "follows the end"},
		{"[1,2][3]", 5, "follows the end"},
		{"{\"a\" [1,2]}", 5, "':' expected"},
		{"{[1,2]:3}", 1, "string or '}' expected before"},
		{"[1,nope]", 3, "invalid token near 'nope'"},
		{"{\"a\":[1,2,3],\"b\":tru}", 17, "near 'tru'"},
		{"{\"a\":[1,2", 9, "not closed"},
		{"{\"a\":1,}", 7, "string or '}'"},
		{"{\"a\":1 \"b\":2}", 7, "'}' expected"},
		{"[\"x\",]", 5, "unexpected token"},
		{"{\"a\":[1,2],\"b\":\"\\q\"}", 15, "invalid escape"},
		{"{\"a\":1", 6, "'}' expected"},
		{"\"abc", 0, "premature end"},
		{"\"abc\\", 0, ""},
		{"[\"\\u0000\"]", 1, "\\u0000"},
		{"{\"\\u0000\":1}", 1, "\\u0000"},
		{"[\"\\ud800\"]", 1, "invalid Unicode"},
		{"{\"a\":[1,2],\"\xff\":1}", 12, "unable to decode"},
		{"\xef\xbb\xbf{}", 0, "byte order mark"},
		{"[1,2]]", 5, "follows the end"},
		{"[12345,1]  {}", 11, "follows"},
		{"{\"\\u0061\":1,\"a\":[2]}", 12, "duplicate"},
		{"[NaN,1]", 1, "NaN is not JSON"},
		{"[nan]", 1, "nan is not JSON"},
		{"[\"x\ty\"]", 1, "control character"},
		/* the first of several faults */
		{"{\"a\":tru,\"b\":[1,]}", 5, "near 'tru'"},
		{"{\"a\":[1,],\"b\":tru}", 8, "a value"},
		{"{\"a\" 1,\"b\":1e999}", 5, "':' expected before"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check_refused(cases[i].text, strlen(cases[i].text), 400, cases[i].offset, cases[i].words);
}

static void refuses_nul_bytes(void **unused)
{
	(void)unused;
	static const struct {
		const char *text;
		size_t bytes, offset;
	} cases[] = {
		{"\0", 1, 0},       {"1\0", 2, 1},    {"[1\0,2]", 6, 2},
		{"[1,\0 2]", 7, 3}, {"true\0", 5, 4}, {"{\"a\":true\0}", 11, 9},
		{"{}\0", 3, 2},     {"[]\0", 3, 2},   {" \0", 2, 1},
		{"\"a\0b\"", 5, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check_refused(cases[i].text, cases[i].bytes, 400, cases[i].offset, "");
}

static void tells_line_and_column(void **unused)
{
	(void)unused;
	struct api_document d;
	struct api_text_fault fault;
	const char *text = "{\n \"\xc3\xa9t\xc3\xa9\": [1,\n2], \"x\": [3\n,\n  \"\xe2\x82\xac\", bad]}";
	assert_false(api_document_read_pooled(NULL, text, strlen(text), &d, &fault));
	assert_int_equal(fault.offset, strstr(text, "bad") - text);
	assert_int_equal(fault.line, 5);
	assert_int_equal(fault.column, 8);
	assert_false(api_document_read_pooled(NULL, "x", 1, &d, &fault));
	assert_true(fault.line == 1 && fault.column == 1);
}

/* Writes n copies of a text, of which there are then twice as many, and so on. @return their end */
static char *repeat(char *p, const char *what, size_t n)
{
	const size_t all = n * strlen(what);
	size_t done = n ? strlen(what) : 0, more;
	memcpy(p, what, done);
	for (; done < all; done += more) {
		more = done < all - done ? done : all - done;
		memcpy(p + done, p, more);
	}
	return p + all;
}

/* A value inside n arrays, or objects. */
static void check_nested(const char *open, const char *value, const char *close, size_t n, bool accepted, size_t offset)
{
	char *text = malloc(n * (strlen(open) + strlen(close)) + strlen(value) + 1);
	strcpy(repeat(stpcpy(repeat(text, open, n), value), close, n), "");
	struct api_document d;
	struct api_text_fault fault;
	json_t *oracle = json_loads(text, JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	assert_int_equal(oracle != NULL, accepted);
	json_decref(oracle);
	assert_int_equal(api_document_read_pooled(NULL, text, strlen(text), &d, &fault), accepted);
	if (accepted) {
		api_document_free(&d);
	} else {
		assert_int_equal(fault.status, 400);
		assert_int_equal(fault.offset, offset);
		assert_non_null(strstr(fault.detail, "nesting deeper than 2048"));
	}
	free(text);
}

/* The value itself counts as a level, and so do lifted arrays. */
static void limits_nesting(void **unused)
{
	(void)unused;
	check_nested("[", "", "]", 2048, true, 0);
	check_nested("[", "", "]", 2049, false, 2048);
	check_nested("[", "1,2", "]", 2047, true, 0);
	check_nested("[", "1,2", "]", 2048, false, 2048);
	check_nested("[", "\"x\"", "]", 2047, true, 0);
	check_nested("[", "\"x\"", "]", 2048, false, 2048);
	check_nested("{\"a\":", "1", "}", 2047, true, 0);
	check_nested("{\"a\":", "1", "}", 2048, false, 2048 * 5);
	for (size_t n = 2040; n <= 2048; n++) {
		check_nested("{\"a\":", "[[[[]]]]", "}", n, n <= 2044, 2048 * 5 - (n > 2044 ? (2048 - n) * 4 : 0));
		check_nested("{\"a\":", "[[[1]]]", "}", n, n <= 2044, 2048 * 5 - (n > 2044 ? (2048 - n) * 4 : 0));
	}
	check_nested("[", "", "]", 100000, false, 2048);
	check_nested("[", "", "]", 1000000, false, 2048);
	check_nested("[", "", "", 10000, false, 2048);
}

static void check_count(const char *first, const char *unit, size_t n, const char *last, int status)
{
	char *text = malloc(strlen(first) + n * (strlen(unit) + 1) + strlen(last) + 1);
	char separated[16];
	snprintf(separated, sizeof(separated), ",%s", unit);
	strcpy(repeat(stpcpy(stpcpy(text, first), unit), separated, n - 1), last);
	struct api_document d;
	struct api_text_fault fault = {0};
	if (api_document_read_pooled(NULL, text, strlen(text), &d, &fault))
		api_document_free(&d);
	assert_int_equal(fault.status, status);
	if (status == 413)
		assert_non_null(strstr(fault.detail, "2000000"));
	free(text);
}

/* Each text takes millions of allocations, so a share of the cases has few of them. */
static void limits_values(void **unused)
{
	(void)unused;
	check_count("[", "\"a\"", API_MAX_VALUES - 1, "]", 0);
	check_count("[", "\"a\"", API_MAX_VALUES, "]", 413);
	/* malformed before the ceiling is reached */
	check_count("[tru,", "\"a\"", API_MAX_VALUES, "]", 400);
	if (one_in() > 1)
		return;
	check_count("[", "true", API_MAX_VALUES, "]", 413);
	check_count("[", "{}", API_MAX_VALUES, "]", 413);
	check_count("[\"a\",", "1", API_MAX_VALUES - 2, "]", 0);
	check_count("[\"a\",", "1", API_MAX_VALUES - 1, "]", 413);
	check_count("[\"a\",", "[1,2,3,4]", API_MAX_VALUES - 2, "]", 0);
	check_count("[\"a\",", "[]", API_MAX_VALUES - 1, "]", 413);
	check_count("[", "{\"a\":1}", (API_MAX_VALUES - 1) / 3, "]", 0);
	check_count("[", "{\"a\":1}", (API_MAX_VALUES - 1) / 3 + 1, "]", 413);
	check_count("[", "[1]", 2 * API_MAX_VALUES, "]", 0);
}

/* A string or number of n bytes after its first one, between two other texts: as long as allowed, and longer. */
static void check_token(const char *first, const char *unit, size_t n, const char *last, int status)
{
	char *text = malloc(strlen(first) + n + strlen(unit) + strlen(last) + 1);
	strcpy(repeat(stpcpy(text, first), unit, (n + strlen(unit) - 1) / strlen(unit)), last);
	struct api_document d;
	struct api_text_fault fault = {0};
	if (api_document_read_pooled(NULL, text, strlen(text), &d, &fault))
		api_document_free(&d);
	if (fault.status != status)
		fail_msg("%s%s... of %zu bytes: %d %s", first, unit, n, fault.status, fault.detail);
	if (status == 413) {
		assert_non_null(strstr(fault.detail, " of more than 1048576 bytes"));
		assert_int_equal(fault.offset, strlen(first) - 1);
	}
	free(text);
}

static void limits_numbers(void **unused)
{
	(void)unused;
	check_token("0", ".", 1, "5", 0);
	check_token("[1", "0", 300, "]", 0);
	check_token("[1", "0", 400, "]", 400);
	check_token("[0.1", "0", API_MAX_TOKEN - 3, "]", 0);
	check_token("[0.1", "0", API_MAX_TOKEN - 3, "", 400);
	check_token("[1", "0", API_MAX_TOKEN - 10, "e-1048567]", 0);
	check_token("[1", "0", API_MAX_TOKEN - 9, "e-1048567]", 413);
	check_token("[1", "0", API_MAX_TOKEN - 1, "]", 400);
	check_token("1", "0", API_MAX_TOKEN + 1, "", 413);
	check_token("[1", "0", API_MAX_TOKEN, "]", 413);
	check_token("[1", "0", 2 * API_MAX_TOKEN, "e-2097152]", 413);
	check_token("{\"a\":1", "0", 2 * API_MAX_TOKEN, "}", 413);
	check_token("[[1],[1", "0", 2 * API_MAX_TOKEN, "\"]", 413);
	check_token("[1", "1,", 4 * API_MAX_TOKEN, "1]", 0);
	check_token("[-", "-", 2 * API_MAX_TOKEN, "]", 413);
	check_token("[1.5", ".5", 2 * API_MAX_TOKEN, "]", 400);
}

/* About as long as the buffer for most keys. */
static void long_keys_are_read(void **unused)
{
	(void)unused;
	for (size_t n = 60; n < 70; n++) {
		char key[128] = "", text[128] = "{\"";
		memset(key, 'k', n);
		strcat(strcat(text, key), "\":true}");
		struct api_document d;
		struct api_text_fault fault;
		assert_true(api_document_read_pooled(NULL, text, strlen(text), &d, &fault));
		assert_true(json_is_true(json_object_get(d.root, key)));
		api_document_free(&d);
	}
}

static void limits_strings(void **unused)
{
	(void)unused;
	check_token("\"", "a", API_MAX_TOKEN, "\"", 0);
	check_token("\"", "a", API_MAX_TOKEN + 1, "\"", 413);
	check_token("[1,{\"", "a", API_MAX_TOKEN, "\":2}]", 0);
	check_token("[1,{\"", "a", API_MAX_TOKEN + 1, "\":2}]", 413);
	check_token("[1, \"", "\\\\", API_MAX_TOKEN, "\"]", 0);
	check_token("[1, \"", "\\\\", API_MAX_TOKEN + 2, "\"]", 413);
	check_token("[1, \"a", "\\\"", API_MAX_TOKEN - 2, "\"]", 0);
	check_token("\"", "a", API_MAX_TOKEN, "", 400);
	check_token("\"", "a", API_MAX_TOKEN + 100, "", 413);
	/* malformed before the long token, and in it */
	check_token("[tru,\"", "a", 2 * API_MAX_TOKEN, "\"]", 400);
	check_token("[\"", "\\x", 2000, "\"]", 400);
}

/* [1.5,1.5,...] of n numbers, or with something invalid at its end. */
static char *long_text(size_t n, const char *end)
{
	char *text = malloc(4 * n + strlen(end) + 2), *p = stpcpy(text, "[");
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, "1.5,");
	strcpy(p - 1, end);
	return text;
}

/* Whether read, refused by the lifting pass, or refused by jansson: all blocks are returned and reused. */
static void takes_large_blocks_from_the_pool(void **unused)
{
	(void)unused;
	static const char *const ends[] = {"]", "x]", "]]"};
	struct api_pool *pool = api_pool_create(SIZE_MAX / 2, NULL);
	size_t n_fresh = 0;
	for (size_t i = 0; i < 9; i++) {
		char *text = long_text(200000, ends[i % 3]);
		struct api_document d;
		struct api_text_fault fault;
		const bool read = api_document_read_pooled(pool, text, strlen(text), &d, &fault);
		assert_int_equal(read, i % 3 == 0);
		if (read) {
			assert_int_equal(d.arrays[0].n, 200000);
			assert_true(API_POOL_EMULATED || api_pool_counts(pool).used_bytes >= 200000 * sizeof(double));
			api_document_free(&d);
		}
		free(text);
		assert_int_equal(api_pool_counts(pool).used_bytes, 0);
		if (i == 0)
			n_fresh = api_pool_counts(pool).n_fresh;
	}
	assert_int_equal(api_pool_counts(pool).n_fresh, n_fresh);
	assert_true(API_POOL_EMULATED || n_fresh > 0);
	api_pool_free(pool);
}

/* Reading does not begin if the request is stopped already. */
static void reads_nothing_once_the_flag_is_raised(void **unused)
{
	(void)unused;
	const atomic_bool stop = true;
	struct api_account account;
	struct api_document document;
	struct api_text_fault fault;
	api_account_open(&account, NULL, &stop, 0);
	assert_false(api_document_read_pooled(NULL, "[1]", 3, &document, &fault));
	api_account_close(&account);
	assert_int_equal(fault.status, 503);
	assert_string_equal(fault.detail, "stopped");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lifts_every_number_and_array),
		cmocka_unit_test(finds_shapes),
		cmocka_unit_test(marks_ragged_arrays),
		cmocka_unit_test(leaves_deep_nests_in_the_tree),
		cmocka_unit_test(reads_rows_by_themselves),
		cmocka_unit_test(lifts_many_numbers),
		cmocka_unit_test(names_the_place_of_a_fault),
		cmocka_unit_test(refuses_nul_bytes),
		cmocka_unit_test(tells_line_and_column),
		cmocka_unit_test(limits_nesting),
		cmocka_unit_test(limits_values),
		cmocka_unit_test(limits_strings),
		cmocka_unit_test(long_keys_are_read),
		cmocka_unit_test(limits_numbers),
		cmocka_unit_test(takes_large_blocks_from_the_pool),
		cmocka_unit_test(reads_nothing_once_the_flag_is_raised),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
