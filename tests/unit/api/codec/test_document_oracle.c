/*
 * Compares reading with jansson on the whole text, for thousands of random documents and mutations of them. Both
 * accept, with the same structure and bits, or both refuse. Every text ends at an unreadable page.
 */
#include "api/codec/document.h"
#include "api/codec/document_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { N_DOCUMENTS = 8000, N_MUTATIONS = 8, MOST_BYTES = 1 << 16 };

static uint64_t state = 0x2545F4914F6CDD1Du;

static size_t below(size_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)(state >> 11) % n;
}

/* ---- random texts ---- */

static char text[MOST_BYTES];
static size_t bytes;

static void put(const char *what)
{
	size_t n = strlen(what);
	if (bytes + n <= sizeof text) {
		memcpy(text + bytes, what, n);
		bytes += n;
	}
}

static void put_blanks(void)
{
	static const char *const blanks[] = {"", "", "", "", "", "", " ", "\n", "\t", "\r\n  "};
	put(blanks[below(10)]);
}

static void put_number(void)
{
	static const char *const special[] = {"0",
	                                      "-0",
	                                      "-0.0",
	                                      "1e308",
	                                      "-4.9e-324",
	                                      "1e-400",
	                                      "1e999",
	                                      "-1e400",
	                                      "01",
	                                      "1.",
	                                      ".5",
	                                      "+1",
	                                      "-",
	                                      "1e",
	                                      "1.5.3",
	                                      "123456789012345678901234567890",
	                                      "9007199254740993",
	                                      "2.2250738585072011e-308"};
	char number[64];
	switch (below(8)) {
	case 0:
		/* rare, so that valid documents remain */
		put(special[below(10) ? below(6) : below(sizeof special / sizeof special[0])]);
		return;
	case 1:
	case 2: snprintf(number, sizeof number, "%d", (int)below(2000) - 1000); break;
	case 3: snprintf(number, sizeof number, "%.*f", (int)below(12), ((double)below(1000000) - 5e5) / 7); break;
	default:
		snprintf(number, sizeof number, "%.*g", 1 + (int)below(20),
		         (double)(state >> 1) * 1e-19 / (double)(1 + below(1000)));
	}
	put(number);
}

static void put_string(void)
{
	static const char *const pieces[] = {"a",        "b",
	                                     "key",      " ",
	                                     "1",        "[1,2]",
	                                     ",",        "\\\"",
	                                     "\\\\",     "\\n",
	                                     "\\u00e9",  "\\ud83d\\ude00",
	                                     "\xc3\xa9", "\xf0\x9f\x98\x80",
	                                     "{",        "}",
	                                     "\\/",      "-1.5e3"};
	put("\"");
	for (size_t n = below(4); n > 0; n--)
		put(pieces[below(sizeof pieces / sizeof pieces[0])]);
	put("\"");
}

/* An array of one shape, except for an occasional mistake. */
static void put_rows(const size_t *shape, int rank)
{
	if (rank == 0 || below(200) == 0) {
		put_number();
		return;
	}
	size_t n = below(40) ? *shape : below(4);
	put("[");
	for (size_t i = 0; i < n; i++) {
		put_blanks();
		put_rows(shape + 1, rank - 1);
		put_blanks();
		put(i + 1 < n ? "," : "");
	}
	put("]");
}

static void put_value(int depth)
{
	static const char *const words[] = {"true", "false", "null", "tru", "nan"};
	size_t kind = depth == 0 && below(4) ? 6 + below(2) : below(depth > 5 ? 4 : 8);
	put_blanks();
	if (kind == 0) {
		put_string();
	} else if (kind == 1) {
		put(words[below(60) ? below(3) : below(5)]);
	} else if (kind == 2) {
		put_number();
	} else if (kind <= 5) {
		size_t shape[6];
		for (int i = 0; i < 6; i++)
			shape[i] = below(4);
		put_rows(shape, 1 + (int)below(below(4) ? 3 : 6));
	} else {
		bool object = kind == 6;
		put(object ? "{" : "[");
		for (size_t n = below(5); n > 0; n--) {
			if (object) {
				char key[8];
				snprintf(key, sizeof key, "\"k%d\"", (int)below(100));
				put(key);
				put_blanks();
				put(":");
			}
			put_value(depth + 1);
			put(n > 1 ? "," : "");
		}
		put(object ? "}" : "]");
	}
	put_blanks();
}

static void mutate(void)
{
	static const char likely[] = "[]{},:\"\\-+.eE0123456789 \n\ttfn\x80\xc3\xff\0/x";
	char c = likely[below(sizeof likely - 1)];
	size_t at = below(bytes + 1), n = 1 + below(8);
	switch (below(5)) {
	case 0: /* replace */
		if (at < bytes)
			text[at] = c;
		break;
	case 1: /* insert */
		if (bytes < sizeof text) {
			memmove(text + at + 1, text + at, bytes++ - at);
			text[at] = c;
		}
		break;
	case 2: /* delete */
		n = n < bytes - at ? n : bytes - at;
		memmove(text + at, text + at + n, bytes - at - n);
		bytes -= n;
		break;
	case 3: /* repeat */
		n = n < bytes - at ? n : bytes - at;
		if (bytes + n <= sizeof text) {
			memmove(text + at + n, text + at, bytes - at);
			bytes += n;
		}
		break;
	default: /* cut off */
		if (below(3) == 0)
			bytes = at;
	}
}

/* ---- the unreadable page ---- */

static char *fence; /* the first byte that must not be read */

static int set_up_fence(void **unused)
{
	(void)unused;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, MOST_BYTES + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory + MOST_BYTES, page, PROT_NONE) != 0)
		return -1;
	fence = memory + MOST_BYTES;
	return 0;
}

static const char *fenced(const char *what, size_t n)
{
	return memcpy(fence - n, what, n);
}

/* ---- comparison ---- */

static size_t n_ragged, n_regular; /* arrays compared; regular ones of rank 2 and more */

static size_t count_numbers(const json_t *node)
{
	size_t n = json_is_real(node);
	for (size_t i = 0; i < json_array_size(node); i++)
		n += count_numbers(json_array_get(node, i));
	return n;
}

/* Number of levels of a nested array of numbers; -1 for anything else. */
static int nest_depth(const json_t *node)
{
	if (json_is_real(node))
		return 0;
	if (!json_is_array(node))
		return -1;
	int depth = 0;
	for (size_t i = 0; i < json_array_size(node); i++) {
		int below_it = nest_depth(json_array_get(node, i));
		if (below_it < 0)
			return -1;
		depth = below_it > depth ? below_it : depth;
	}
	return depth + 1;
}

/* Whether a node equals the array from some level on, including the bits. */
static bool fits(const json_t *node, const struct api_array *array, int level, size_t *i)
{
	if (level == array->rank) {
		double value = json_real_value(node);
		return json_is_real(node) && memcmp((const double *)array->data + (*i)++, &value, sizeof value) == 0;
	}
	if (!json_is_array(node) || json_array_size(node) != array->shape[level])
		return false;
	for (size_t row = 0; row < array->shape[level]; row++)
		if (!fits(json_array_get(node, row), array, level + 1, i))
			return false;
	return true;
}

/* Whether all rows of a nested array have the shape of the first rows of another one. */
static bool has_shape(const json_t *node, const json_t *other)
{
	if (json_is_real(node) || json_is_real(other))
		return json_is_real(node) && json_is_real(other);
	if (json_array_size(node) != json_array_size(other))
		return false;
	for (size_t i = 0; i < json_array_size(node); i++)
		if (!has_shape(json_array_get(node, i), json_array_get(other, 0)))
			return false;
	return true;
}

static void compare_array(const json_t *expected, const struct api_array *array)
{
	size_t i = 0;
	assert_int_equal(array->n, count_numbers(expected));
	assert_true(nest_depth(expected) >= 0 && nest_depth(expected) <= API_MAX_RANK);
	assert_int_equal(array->ragged, !has_shape(expected, expected));
	n_ragged += array->ragged;
	n_regular += !array->ragged && array->rank > 1;
	if (array->ragged)
		return;
	assert_int_equal(array->rank, nest_depth(expected));
	assert_true(fits(expected, array, 0, &i));
	assert_int_equal(i, array->n);
}

static void compare(const json_t *expected, const struct api_document *d, const json_t *node)
{
	const struct api_array *array = api_document_array(d, node);
	if (array) {
		compare_array(expected, array);
		return;
	}
	assert_int_equal(json_typeof(node), json_typeof(expected));
	if (json_is_array(node)) {
		int depth = nest_depth(expected);
		assert_true(depth < 0 || depth > API_MAX_RANK);
		assert_int_equal(json_array_size(node), json_array_size(expected));
		for (size_t i = 0; i < json_array_size(node); i++)
			compare(json_array_get(expected, i), d, json_array_get(node, i));
	} else if (json_is_object(node)) {
		const char *key;
		json_t *value;
		assert_int_equal(json_object_size(node), json_object_size(expected));
		json_object_foreach((json_t *)(uintptr_t)expected, key, value) {
			assert_non_null(json_object_get(node, key));
			compare(value, d, json_object_get(node, key));
		}
	} else {
		assert_true(json_equal(node, expected));
	}
}

static const size_t oracle_flags = JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;

static bool has_ragged(const struct api_document *d)
{
	for (size_t k = 0; k < d->n_arrays; k++)
		if (d->arrays[k].ragged)
			return true;
	return false;
}

/* A document that was read can be written, and jansson reads the same from it. */
static void check_written(const json_t *expected, const struct api_document *d)
{
	struct api_buffer written = {0};
	assert_int_equal(api_document_write_json(d, SIZE_MAX, &written), API_WRITTEN);
	json_t *back = json_loadb(written.data, written.bytes, oracle_flags, NULL);
	assert_true(json_equal(back, expected));
	json_decref(back);
	api_buffer_free(&written);
}

/* @return whether the text was accepted */
static bool check_text(const char *what, size_t n)
{
	struct api_document d;
	struct api_text_fault fault;
	json_error_t error;
	/* jansson overlooks a NUL after a number or a word, so such texts are skipped. */
	json_t *expected = memchr(what, 0, n) ? NULL : json_loadb(what, n, oracle_flags, &error);
	bool accepted = api_document_read_pooled(NULL, fenced(what, n), n, &d, &fault);
	if (accepted != (expected != NULL)) {
		print_error("text: %.*s\n", (int)n, what);
		fail_msg("%s", accepted ? "accepted, but not by jansson" : fault.detail);
	}
	if (accepted) {
		compare(expected, &d, d.root);
		if (!has_ragged(&d))
			check_written(expected, &d);
		api_document_free(&d);
	} else {
		assert_int_equal(fault.status, 400);
		assert_true(fault.offset <= n && fault.line >= 1 && fault.column >= 1 && fault.detail[0]);
	}
	json_decref(expected);
	return accepted;
}

static void reads_random_texts_like_jansson(void **unused)
{
	(void)unused;
	size_t n_accepted = 0, n_mutants_accepted = 0;
	for (int i = 0; i < N_DOCUMENTS; i++) {
		bytes = 0;
		put_value(0);
		n_accepted += check_text(text, bytes);
		for (int j = 0; j < N_MUTATIONS; j++) {
			mutate();
			n_mutants_accepted += check_text(text, bytes);
		}
	}
	/* The comparison is meaningful only if every case is frequent. */
	assert_in_range(n_accepted, N_DOCUMENTS / 2, N_DOCUMENTS - 100);
	assert_in_range(n_mutants_accepted, N_DOCUMENTS / 2, N_DOCUMENTS * (N_MUTATIONS - 1));
	assert_true(n_ragged > 1000 && n_regular > 1000);
}

/* Every beginning of a text with all syntax elements, and every byte at every position of a short one. */
static void reads_variants_like_jansson(void **unused)
{
	(void)unused;
	static const char whole[] = " {\"a\\\"\xc3\xa9\": [[1, -2.5e+3], [0.25, 12345678901]], \"b\": [true, \"\\u00e9\", "
								"-0], \"c\": {\"d\": 1E5}, \"e\": [[], []]} ";
	static const char short_one[] = "{\"a\":[1.5,[2]],\"b\":tr0}";
	assert_true(check_text(whole, sizeof whole - 1));
	for (size_t n = 0; n < sizeof whole - 1; n++)
		check_text(whole, n);
	for (size_t n = 0; n < sizeof short_one - 1; n++) {
		char variant[sizeof short_one];
		for (int c = 0; c < 256; c++) {
			memcpy(variant, short_one, sizeof variant);
			variant[n] = (char)c;
			check_text(variant, sizeof variant - 1);
			memcpy(variant, "[[1,2],[3.5e1,4]]", 17);
			variant[n % 17] = (char)c;
			check_text(variant, 17);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_random_texts_like_jansson),
		cmocka_unit_test(reads_variants_like_jansson),
	};
	return cmocka_run_group_tests(tests, set_up_fence, NULL);
}
