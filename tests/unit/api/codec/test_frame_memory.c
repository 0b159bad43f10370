/* Frames while memory runs out: every allocation fails in turn, and nothing leaks. A sanitizer's functions are left
 * alone. */
#include "api/codec/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/base/pool.h"
#include "api/dispatch/answer.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#endif

static size_t allocations_left = SIZE_MAX;
static long n_live; /* blocks that are not freed yet */

#ifdef SANITIZED
enum { CAN_FAIL = 0 };
#else
extern void *__libc_malloc(size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *memory);
enum { CAN_FAIL = 1 };

static bool may_allocate(void)
{
	return allocations_left == SIZE_MAX || (allocations_left > 0 && allocations_left--);
}

static void *count(void *memory)
{
	n_live += memory != NULL;
	return memory;
}

void *malloc(size_t n)
{
	return may_allocate() ? count(__libc_malloc(n)) : NULL;
}

void *realloc(void *memory, size_t n)
{
	if (!memory)
		return malloc(n);
	return may_allocate() ? __libc_realloc(memory, n) : NULL;
}

void *aligned_alloc(size_t alignment, size_t n)
{
	return may_allocate() ? count(__libc_memalign(alignment, n)) : NULL;
}

void free(void *memory)
{
	n_live -= memory != NULL;
	__libc_free(memory);
}
#endif

static const char text[] =
	"{\"a\":{\"dtype\":\"f64\",\"shape\":[3],\"offset\":0},\"b\":[{\"dtype\":\"i32\",\"shape\":[],"
	"\"offset\":24}],\"c\":[1,2,3]}";

/* The body is not aligned, so that arrays are copied. */
static void reads(void **unused)
{
	(void)unused;
	_Alignas(64) char space[512];
	char *body = space + 4;
	const uint64_t length = 184;
	memset(body, ' ', 192);
	memcpy(body, &length, 8);
	memcpy(body + 8, text, strlen(text));
	memset(body + 192, 1, 32);
	size_t n = 0;
	for (bool done = !CAN_FAIL; !done; n++) {
		struct api_document document;
		struct api_arena arena = {0};
		struct api_fault fault = {0};
		const long live = n_live;
		allocations_left = n;
		done = api_frame_read(&(struct api_part){body, 224}, 1, 4096, &arena, &document, &fault);
		allocations_left = SIZE_MAX;
		if (!done && fault.status != 503)
			fail_msg("allocation %zu: status %d, %s", n, fault.status, fault.n_errors ? fault.errors[0].detail : "");
		if (done)
			api_document_free(&document);
		api_arena_free(&arena);
		assert_int_equal(n_live, live);
	}
	assert_true(n > 10 || !CAN_FAIL);
}

/* More references than qsort sorts in place: the last allocations are its own. */
static void reads_many(void **unused)
{
	(void)unused;
	enum { N = 1001, UNIT = 40, BYTES = 64 * (N * UNIT / 64 + 1) };
	char *body = calloc(1, BYTES), *at = body + 8;
	const uint64_t length = BYTES - 8;
	memcpy(body, &length, 8);
	for (int i = 0; i < N; i++) {
		const int n = snprintf(at, UNIT, "%c{\"dtype\":\"f64\",\"shape\":[0],\"offset\":0}", i ? ',' : '[');
		memset(at + n, ' ', (size_t)(UNIT + 1 - n));
		at += UNIT;
	}
	memset(at, ' ', (size_t)(body + BYTES - at));
	*at = ']';
	size_t total = 0;
	for (size_t last = 0; CAN_FAIL && last < 10; last++) {
		struct api_document document;
		struct api_arena arena = {0};
		struct api_fault fault = {0};
		const long live = n_live;
		allocations_left = last ? total - last : SIZE_MAX - 1;
		const bool done = api_frame_read(&(struct api_part){body, BYTES}, 1, BYTES, &arena, &document, &fault);
		total = last ? total : SIZE_MAX - 1 - allocations_left;
		allocations_left = SIZE_MAX;
		const bool needed = last > 1; /* qsort can do without the last one */
		if (done == needed || fault.status != (needed ? 503 : 0))
			fail_msg("%zu of %zu: %d %s", last, total, fault.status, fault.n_errors ? fault.errors[0].detail : "");
		if (done)
			api_document_free(&document);
		api_arena_free(&arena);
		assert_int_equal(n_live, live);
	}
	free(body);
}

static double many[20000];
static int64_t wide[3000]; /* narrowing it to i32 allocates another block */

static bool render(struct api_response *response, struct api_fault *fault)
{
	struct api_arena arena = {0};
	struct api_render r;
	bool ok = api_render_start(&r, &arena);
	if (ok) {
		api_render_integer(&r, r.document.root, "n", 3);
		api_render_add(&r, r.document.root, "many", api_render_array(&r, API_F64, many, 20000, 0, 0));
		api_render_add(&r, r.document.root, "wide", api_render_array(&r, API_I64, wide, 3000, 0, 0));
		ok = api_answer_print(&r, API_FRAME, SIZE_MAX, fault, response);
	}
	api_arena_free(&arena);
	return ok;
}

static void writes(void **unused)
{
	(void)unused;
	size_t n = 0;
	for (bool done = !CAN_FAIL; !done; n++) {
		struct api_response response = {0};
		struct api_fault fault = {0};
		const long live = n_live;
		allocations_left = n;
		done = render(&response, &fault);
		allocations_left = SIZE_MAX;
		assert_true(done == (response.parts != NULL) && done == (response.body != NULL));
		assert_true(done == (response.release != NULL));
		assert_true(done || n == 0 || fault.status == 503 || fault.status == 0);
		api_response_free(&response);
		assert_int_equal(n_live, live);
	}
	assert_true(n > 15 || !CAN_FAIL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(reads_many),
		cmocka_unit_test(writes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
