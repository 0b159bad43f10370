/* Reading and writing while memory runs out. */
#include "api/codec/document.h"
#include "api/codec/document_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static size_t allocations_left;

static void *scarce_malloc(size_t bytes)
{
	if (allocations_left == 0)
		return NULL;
	allocations_left--;
	return malloc(bytes);
}

/* Intercepts the allocations that grow; a sanitizer's functions are left alone. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#endif

#ifndef SANITIZED
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
static size_t growths_left = SIZE_MAX;

static bool may_grow(void)
{
	return growths_left == SIZE_MAX || (growths_left > 0 && growths_left--);
}

void *realloc(void *memory, size_t n)
{
	return may_grow() ? __libc_realloc(memory, n) : NULL;
}

void *aligned_alloc(size_t alignment, size_t n)
{
	return may_grow() ? __libc_memalign(alignment, n) : NULL;
}
#endif

/* Every growth of the skeleton, the values and the list of arrays fails in turn, then every one of the written text. */
static void survives_failed_growth(void **unused)
{
	(void)unused;
#ifdef SANITIZED
	skip();
#else
	enum { N = 40, UNIT = 40 };
	char text[N * UNIT + 3];
	struct api_buffer written = {0};
	char *p = stpcpy(text, "[");
	for (int i = 0; i < N; i++)
		p = stpcpy(p, "\"a rather longer string\",[],[1,2,3,4],5,");
	strcpy(p - 1, "]");
	struct api_document d;
	struct api_text_fault fault;
	size_t n = 0;
	for (bool done = false; !done; n++) {
		growths_left = n;
		done = api_document_read_pooled(NULL, text, strlen(text), &d, &fault);
		assert_true(done || fault.status == 503);
	}
	assert_true(n > 6);
	for (n = 0; !written.data; n++) {
		growths_left = n;
		enum api_written result = api_document_write_json(&d, SIZE_MAX, &written);
		assert_int_equal(result, written.data ? API_WRITTEN : API_WRITE_NO_MEMORY);
	}
	growths_left = SIZE_MAX;
	assert_true(n > 1);
	assert_int_equal(strlen(written.data), written.bytes);
	api_buffer_free(&written);
	api_document_free(&d);
#endif
}

/* The allocation of the text fails, then those of the threads' buffers. libgomp, which ends the program if it gets no
 * memory, has allocated its own in a first run. */
static void survives_failed_places(void **unused)
{
	(void)unused;
#ifdef SANITIZED
	skip();
#else
	enum { N = 40000 };
	double *values = calloc(N, sizeof(*values));
	struct api_array array = {.dtype = API_F64, .rank = 1, .shape = {N}, .n = N, .data = values};
	struct api_document d = {.root = json_integer(0), .arrays = &array, .n_arrays = 1, .n_threads = 2};
	struct api_buffer written = {0};
	assert_int_equal(api_document_write_json(&d, SIZE_MAX, &written), API_WRITTEN);
	api_buffer_free(&written);
	size_t n = 0;
	for (; !written.data; n++) {
		growths_left = n;
		const enum api_written result = api_document_write_json(&d, SIZE_MAX, &written);
		assert_int_equal(result, written.data ? API_WRITTEN : API_WRITE_NO_MEMORY);
	}
	growths_left = SIZE_MAX;
	assert_int_equal(n, 3);
	assert_int_equal(strlen(written.data), written.bytes);
	api_buffer_free(&written);
	json_decref(d.root);
	free(values);
#endif
}

#ifndef SANITIZED
/* @return the number of growths */
static size_t fail_growth(const char *text)
{
	size_t n = 0;
	for (bool done = false; !done; n++) {
		struct api_document d;
		struct api_text_fault fault;
		growths_left = n;
		done = api_document_read_pooled(NULL, text, strlen(text), &d, &fault);
		growths_left = SIZE_MAX;
		if (done)
			api_document_free(&d);
		else
			assert_int_equal(fault.status, 503);
	}
	return n - 1;
}
#endif

/* The skeleton grows in the middle of a long copied range, or for the text after the last number. */
static void survives_failed_copies(void **unused)
{
	(void)unused;
#ifdef SANITIZED
	skip();
#else
	enum { BYTES = 1 << 19, UNIT = 1 << 12 };
	char *text = malloc(BYTES + 1);
	memset(text, 'a', BYTES);
	for (size_t i = 0; i < BYTES; i += UNIT)
		memcpy(text + i, i ? "\",\"" : "[\"", i ? 3 : 2);
	memcpy(text + BYTES - 2, "\"]", 3);
	assert_true(fail_growth(text) > 2);
	memcpy(text, "[1,\"", 4);
	memcpy(text + UNIT - 2, "\"]", 3);
	assert_true(fail_growth(text) > 2);
	free(text);
#endif
}

/* Every allocation of jansson fails in turn. */
static void tells_lack_of_memory(void **unused)
{
	(void)unused;
	const char *text = "{\"a\":[1,2],\"b\":[\"\\u00e9\",{\"c\":3,\"d\":[]}],\"e\":null}";
	struct api_document d;
	struct api_text_fault fault;
	size_t n = 0;
	for (bool done = false; !done; n++) {
		allocations_left = n;
		json_set_alloc_funcs(scarce_malloc, free);
		done = api_document_read_pooled(NULL, text, strlen(text), &d, &fault);
		json_set_alloc_funcs(malloc, free);
		if (!done)
			assert_int_equal(fault.status, 503);
	}
	assert_true(n > 10);
	for (size_t left = 0; left < 3; left++) {
		struct api_buffer written = {0};
		allocations_left = left;
		json_set_alloc_funcs(scarce_malloc, free);
		enum api_written result = api_document_write_json(&d, 1000, &written);
		json_set_alloc_funcs(malloc, free);
		assert_int_equal(result, written.data ? API_WRITTEN : API_WRITE_NO_MEMORY);
		assert_true(left > 0 || !written.data);
		api_buffer_free(&written);
	}
	api_document_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_lack_of_memory),
		cmocka_unit_test(survives_failed_growth),
		cmocka_unit_test(survives_failed_copies),
		cmocka_unit_test(survives_failed_places),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
