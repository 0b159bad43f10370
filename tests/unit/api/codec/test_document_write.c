/* Writing: shapes, the ceiling, round trips. */
#include "api/codec/document.h"
#include "api/codec/document_write.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct api_document read_text(const char *text)
{
	struct api_document document;
	struct api_text_fault fault;
	if (!api_document_read_pooled(NULL, text, strlen(text), &document, &fault))
		fail_msg("%.60s refused: %s at %zu", text, fault.detail, fault.offset);
	return document;
}

static char *write_document(const struct api_document *d, size_t max_bytes)
{
	struct api_buffer text = {0};
	enum api_written written = api_document_write_json(d, max_bytes, &text);
	if (written == API_WRITTEN)
		assert_int_equal(strlen(text.data), text.bytes);
	else
		assert_true(written == API_TOO_LONG && !text.data);
	return text.data;
}

static void writes_arrays_in_their_shapes(void **unused)
{
	(void)unused;
	static const double reals[] = {1, -0.0, 0.1, 1e300, 5e-324, -2.5};
	static const int32_t ints[] = {0, -7, INT32_MAX};
	static const int64_t longs[] = {INT64_MIN};
	static const uint32_t naturals[] = {UINT32_MAX, 7};
	struct api_array arrays[] = {
		{.dtype = API_F64, .rank = 2, .shape = {3, 2}, .n = 6, .data = reals},
		{.dtype = API_I32, .rank = 1, .shape = {3}, .n = 3, .data = ints},
		{.dtype = API_I64, .n = 1, .data = longs},
		{.dtype = API_F64, .n = 1, .data = reals},
		{.dtype = API_F64, .rank = 1, .data = reals},
		{.dtype = API_F64, .rank = 3, .shape = {2, 2, 0}, .data = reals},
		{.dtype = API_F64, .rank = 2, .shape = {0, 3}, .data = reals},
		{.dtype = API_I32, .rank = 4, .shape = {1, 3, 1, 1}, .n = 3, .data = ints},
		{.dtype = API_U32, .rank = 1, .shape = {2}, .n = 2, .data = naturals},
		{.dtype = API_U32, .n = 1, .data = naturals},
	};
	struct api_document d = {.arrays = arrays, .n_arrays = sizeof(arrays) / sizeof(arrays[0])};
	d.root = json_pack("{s:i,s:[i,i,i],s:s,s:{s:i,s:i},s:b,s:n,s:i,s:i,s:[i,i],s:s}", "z", 0, "a", 1, 2, 3, "1\"2",
	                   "say \"3\" \\", "o", "e", 4, "f", 5, "t", 1, "n", "x0", 6, "g", 7, "u", 8, 9, "b", "\\");
	static const char expected[] = "{\"z\":[[1.0,-0.0],[0.1,1e+300],[5e-324,-2.5]],\"a\":[[0,-7,2147483647],-"
								   "9223372036854775808,1.0],\"1\\\"2\":\"say \\\"3\\\" \\\\\","
								   "\"o\":{\"e\":[],\"f\":[[[],[]],[[],[]]]},\"t\":true,\"n\":null,\"x0\":[],\"g\":[[[["
								   "0]],[[-7]],[[2147483647]]]],\"u\":[[4294967295,7],4294967295],\"b\":\"\\\\\"}";
	char *text = write_document(&d, 10000);
	assert_string_equal(text, expected);
	free(text);
	/* this limit is the exact length */
	text = write_document(&d, sizeof expected - 1);
	assert_string_equal(text, expected);
	free(text);
	for (size_t max_bytes = 0; max_bytes < sizeof expected - 1; max_bytes++)
		assert_null(write_document(&d, max_bytes));
	text = write_document(&d, SIZE_MAX);
	assert_string_equal(text, expected);
	free(text);
	json_decref(d.root);
}

static void writes_a_bare_mark(void **unused)
{
	(void)unused;
	double value = 3;
	struct api_array array = {.dtype = API_F64, .n = 1, .data = &value};
	struct api_document d = {.root = json_integer(0), .arrays = &array, .n_arrays = 1};
	char *text = write_document(&d, 3);
	assert_string_equal(text, "3.0");
	free(text);
	assert_null(write_document(&d, 2));
	json_decref(d.root);
}

static void refuses_numbers_that_are_no_marks(void **unused)
{
	(void)unused;
	double value = 3;
	struct api_array array = {.dtype = API_F64, .n = 1, .data = &value};
	json_t *const roots[] = {json_integer(1), json_integer(-1), json_real(0.5), json_real(1e100),
	                         json_pack("[i,f]", 0, 0.25)};
	for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
		struct api_document d = {.root = roots[i], .arrays = &array, .n_arrays = 1};
		struct api_buffer text = {0};
		assert_int_equal(api_document_write_json(&d, 1000, &text), API_WRITE_NO_MEMORY);
		assert_null(text.data);
		json_decref(roots[i]);
	}
}

static uint64_t state = 0x9E3779B97F4A7C15u;

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double random_finite(size_t i)
{
	static const double special[] = {0,
	                                 -0.0,
	                                 5e-324,
	                                 -5e-324,
	                                 2.2250738585072011e-308,
	                                 2.2250738585072014e-308,
	                                 1.7976931348623157e308,
	                                 -1.7976931348623157e308,
	                                 1,
	                                 9007199254740992,
	                                 9007199254740994,
	                                 1e22,
	                                 1e23};
	if (i < sizeof special / sizeof special[0])
		return special[i];
	uint64_t bits = random_bits();
	if (i % 4 == 0)
		bits &= 0x800FFFFFFFFFFFFFu; /* subnormal */
	double value;
	memcpy(&value, &bits, sizeof value);
	return isfinite(value) ? value : 0.5;
}

/* Control characters: DEL is printed unchanged; those with short escapes use them. */
static void writes_odd_characters(void **unused)
{
	(void)unused;
	struct api_document d = {.root = json_pack("[s,s]", "a\x7f~", "\x1f\xc3\xa9")};
	char *text = write_document(&d, 100);
	assert_string_equal(text, "[\"a\x7f~\",\"\\u001F\xc3\xa9\"]");
	free(text);
	json_decref(d.root);
}

static void a_document_that_memory_did_not_suffice_for(void **unused)
{
	(void)unused;
	const struct api_document d = {0};
	struct api_buffer text = {0};
	assert_int_equal(api_document_write_json(&d, 100, &text), API_WRITE_NO_MEMORY);
	assert_null(text.data);
}

static void written_arrays_read_back(void **unused)
{
	(void)unused;
	enum { N = 60000 };
	double *values = malloc(N * sizeof *values);
	for (size_t i = 0; i < N; i++)
		values[i] = random_finite(i);
	struct api_array array = {.dtype = API_F64, .rank = 3, .shape = {N / 6, 2, 3}, .n = N, .data = values};
	struct api_document d = {.root = json_pack("{s:i}", "x", 0), .arrays = &array, .n_arrays = 1};
	char *text = write_document(&d, SIZE_MAX);
	json_decref(d.root);
	struct api_document back = read_text(text);
	const struct api_array *read = api_document_array(&back, json_object_get(back.root, "x"));
	assert_int_equal(read->rank, 3);
	assert_memory_equal(read->shape, array.shape, 3 * sizeof(size_t));
	assert_memory_equal(read->data, values, N * sizeof *values);
	assert_int_equal(read->first_non_integer, 0);
	api_document_free(&back);
	free(text);
	free(values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_arrays_in_their_shapes),
		cmocka_unit_test(writes_a_bare_mark),
		cmocka_unit_test(refuses_numbers_that_are_no_marks),
		cmocka_unit_test(writes_odd_characters),
		cmocka_unit_test(a_document_that_memory_did_not_suffice_for),
		cmocka_unit_test(written_arrays_read_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
