/* The container of a frame: reading, refusals and their pointers, writing. */
#include "api/codec/frame.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/codec/frame_write.h"

/* Bytes at the end of a block, so that sanitizers detect reads beyond them. */
struct fence {
	char *map, *end;
	size_t bytes;
};

static struct fence fence_make(size_t most)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (most + page - 1) / page * page;
	char *map = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(map != MAP_FAILED && mprotect(map + bytes, page, PROT_NONE) == 0);
	return (struct fence){map, map + bytes, bytes + page};
}

static void fence_free(struct fence *fence)
{
	munmap(fence->map, fence->bytes);
}

/* A frame of a text and a tail. @return its length */
static size_t build(const char *text, const void *tail, size_t tail_bytes, char *out)
{
	const size_t head = (8 + strlen(text) + 63) / 64 * 64;
	const uint64_t length = head - 8;
	memset(out, ' ', head);
	memcpy(out, &length, 8);
	memcpy(out + 8, text, strlen(text));
	if (tail_bytes)
		memcpy(out + head, tail, tail_bytes);
	return head + tail_bytes;
}

/* The result of reading one frame. */
struct outcome {
	bool ok;
	struct api_arena arena;
	struct api_document document;
	struct api_fault fault;
};

static struct outcome read_bytes(const struct fence *fence, const char *bytes, size_t n)
{
	struct outcome o = {0};
	char *body = fence->end - n;
	memcpy(body, bytes, n);
	o.ok = api_frame_read(&(struct api_part){body, n}, 1, 1 << 20, &o.arena, &o.document, &o.fault);
	return o;
}

static void forget(struct outcome *o)
{
	if (o->ok)
		api_document_free(&o->document);
	assert_null(o->document.root);
	api_arena_free(&o->arena);
}

static const struct api_array *member(const struct outcome *o, const char *name)
{
	return api_document_array(&o->document, json_object_get(o->document.root, name));
}

enum { TAIL = 160 };

/* Byte k of the tail is k. */
static struct outcome read_text(const struct fence *fence, const char *text, size_t tail_bytes)
{
	char tail[TAIL], frame[4096];
	for (int k = 0; k < TAIL; k++)
		tail[k] = (char)k;
	return read_bytes(fence, frame, build(text, tail, tail_bytes, frame));
}

/* ---- reading ---- */

static void reads_every_dtype(void **unused)
{
	(void)unused;
	static const struct {
		const char *name;
		enum api_dtype dtype;
		bool real;
	} cases[] = {{"f64", API_F64, true},
	             {"f32", API_F32, true},
	             {"i32", API_I32, false},
	             {"u32", API_U32, false},
	             {"i64", API_I64, false}};
	struct fence fence = fence_make(4096);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[128];
		snprintf(text, sizeof(text), "{\"a\":{\"dtype\":\"%s\",\"shape\":[2,3],\"offset\":16}}", cases[i].name);
		const size_t bytes = 16 + 6 * api_dtype_bytes(cases[i].dtype);
		struct outcome o = read_text(&fence, text, bytes);
		const struct api_array *a = member(&o, "a");
		assert_true(o.ok && a && a->binary && a->dtype == cases[i].dtype && a->rank == 2 && a->n == 6);
		assert_true(a->shape[0] == 2 && a->shape[1] == 3 && !a->ragged);
		assert_int_equal(a->first_non_integer, cases[i].real ? 0 : 6);
		assert_ptr_equal(a->data, fence.end - bytes + 16);
		assert_string_equal(api_dtype_name(a->dtype), cases[i].name);
		forget(&o);
	}
	fence_free(&fence);
}

static void reads_every_shape(void **unused)
{
	(void)unused;
	static const struct {
		const char *shape;
		int rank;
		size_t n;
	} cases[] = {
		{"[]", 0, 1},
		{"[ ]", 0, 1},
		{"[0]", 1, 0},
		{"[20]", 1, 20},
		{"[5,4]", 2, 20},
		{"[1,2,2,5]", 4, 20},
		{"[0,4]", 2, 0},
		{"[4,0,9007199254740992]", 3, 0},
		{"[9007199254740992,9007199254740992,0]", 3, 0},
		{"[1,1,1,2,2]", API_MAX_RANK + 1, 4},
		{"[1,1,1,1,1,1,1,1,20]", API_MAX_RANK + 1, 20},
		{"[-0]", 1, 0},
	};
	struct fence fence = fence_make(4096);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[160];
		snprintf(text, sizeof(text), "{\"a\":{\"offset\":0,\"shape\":%s,\"dtype\":\"f64\"}}", cases[i].shape);
		struct outcome o = read_text(&fence, text, TAIL);
		if (!o.ok)
			fail_msg("%s: %s", cases[i].shape, o.fault.errors[0].detail);
		assert_int_equal(member(&o, "a")->rank, cases[i].rank);
		assert_int_equal(member(&o, "a")->n, cases[i].n);
		forget(&o);
	}
	fence_free(&fence);
}

static void reads_text_and_references_side_by_side(void **unused)
{
	(void)unused;
	struct fence fence = fence_make(4096);
	struct outcome o = read_text(&fence,
	                             "{\"n\":7,\"t\":[[1,2],[3,4.5]],\"e\":[],"
	                             "\"o\":{\"a\":{\"dtype\":\"i32\",\"shape\":[2],\"offset\":8}},"
	                             "\"l\":[\"x\",{\"dtype\":\"f32\",\"shape\":[],\"offset\":0},3],"
	                             "\"s\":{},\"x\":{\"offset\":1,\"y\":2}}",
	                             16);
	assert_true(o.ok);
	assert_true(!member(&o, "n")->binary && *(const double *)member(&o, "n")->data == 7);
	assert_true(member(&o, "t")->rank == 2 && ((const double *)member(&o, "t")->data)[3] == 4.5);
	assert_true(member(&o, "e")->n == 0 && !member(&o, "e")->binary);
	const struct api_array *a =
		api_document_array(&o.document, json_object_get(json_object_get(o.document.root, "o"), "a"));
	assert_true(a && a->binary && a->n == 2 && memcmp(a->data, "\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f", 8) == 0);
	json_t *list = json_object_get(o.document.root, "l");
	assert_true(json_is_string(json_array_get(list, 0)));
	const struct api_array *l1 = api_document_array(&o.document, json_array_get(list, 1));
	assert_true(l1 && l1->binary && l1->rank == 0);
	assert_true(*(const double *)api_document_array(&o.document, json_array_get(list, 2))->data == 3);
	assert_true(json_is_object(json_object_get(o.document.root, "s")));
	assert_true(json_is_object(json_object_get(o.document.root, "x")));
	forget(&o);
	o = read_text(&fence, "{\"dtype\":\"i64\",\"shape\":[2],\"offset\":0}", 16);
	assert_true(o.ok && api_document_array(&o.document, o.document.root)->n == 2);
	forget(&o);
	fence_free(&fence);
}

/* Wherever the body lies in memory, the arrays are aligned and have the same bits. */
static void copies_what_is_not_aligned(void **unused)
{
	(void)unused;
	_Alignas(64) char frame[512], moved[576];
	const double tail[3] = {1.5, -2, 1e300};
	const size_t n = build("{\"a\":{\"dtype\":\"f64\",\"shape\":[2],\"offset\":8}}", tail, sizeof(tail), frame);
	for (size_t shift = 0; shift < 16; shift++) {
		struct outcome o = {0};
		memcpy(moved + shift, frame, n);
		o.ok = api_frame_read(&(struct api_part){moved + shift, n}, 1, 4096, &o.arena, &o.document, &o.fault);
		assert_true(o.ok);
		const struct api_array *a = member(&o, "a");
		assert_int_equal((uintptr_t)a->data % 8, 0);
		assert_memory_equal(a->data, tail + 1, 16);
		assert_true((shift % 8 == 0) == ((const char *)a->data == moved + shift + n - 16));
		forget(&o);
	}
}

/* Many references, so that all lists grow. */
static void reads_many_references(void **unused)
{
	(void)unused;
	enum { N = 1000, UNIT = 64 };
	char *text = malloc(N * UNIT), *p = stpcpy(text, "["), *frame = malloc(N * (UNIT + 8) + 128);
	double tail[N];
	for (int k = 0; k < N; k++) {
		tail[k] = k;
		p += sprintf(p, "%s{\"dtype\":\"f64\",\"shape\":[1],\"offset\":%d}", k ? "," : "", 8 * ((k * 7) % N));
	}
	strcpy(p, "]");
	struct fence fence = fence_make(N * (UNIT + 8) + 128);
	struct outcome o = read_bytes(&fence, frame, build(text, tail, sizeof(tail), frame));
	assert_true(o.ok);
	for (size_t k = 0; k < N; k++) {
		const struct api_array *a = api_document_array(&o.document, json_array_get(o.document.root, k));
		assert_true(*(const double *)a->data == (double)((k * 7) % N));
	}
	forget(&o);
	fence_free(&fence);
	free(frame);
	free(text);
}

/* ---- refusing ---- */

/* In parts of 40 bytes, references that jump to and fro: arrays within one part stay there, others are copied. */
static void reads_parts(void **unused)
{
	enum { N = 203, STEP_OF = 5 };
	static char text[N * 80], body[N * 80 + 256];
	static double tail[N + 1];
	struct api_part parts[N / STEP_OF + 3] = {{0}};
	struct api_arena arena = {0};
	struct api_document document;
	struct api_fault fault;
	size_t at = 1, n_parts = 1, n_in_place = 0;
	(void)unused;
	strcpy(text, "[");
	for (int k = 0; k < N / 2; k++)
		at += (size_t)sprintf(text + at, "%s{\"dtype\":\"f64\",\"shape\":[2],\"offset\":%d}", k ? "," : "",
		                      16 * (k * 38 % (N / 2)));
	strcpy(text + at, "]");
	for (int k = 0; k < N; k++)
		tail[k] = k;
	parts[0] = (struct api_part){body, build(text, NULL, 0, body)};
	for (size_t k = 0; k < N; k += STEP_OF)
		parts[n_parts++] = (struct api_part){tail + k, (k + STEP_OF < N ? STEP_OF : N - k) * sizeof(double)};
	parts[n_parts++] = (struct api_part){NULL, 0};
	api_fault_clear(&fault);
	assert_true(api_frame_read(parts, n_parts, SIZE_MAX, &arena, &document, &fault));
	for (int k = 0; k < N / 2; k++) {
		const int first = 2 * (k * 38 % (N / 2));
		const double *numbers = document.arrays[json_integer_value(json_array_get(document.root, (size_t)k))].data;
		assert_true(numbers[0] == first && numbers[1] == first + 1);
		assert_true((numbers == tail + first) == (first % STEP_OF < STEP_OF - 1));
		n_in_place += numbers == tail + first;
	}
	assert_true(n_in_place > N / 4);
	api_document_free(&document);
	/* Beyond the last part, which is empty. */
	build("{\"dtype\":\"f64\",\"shape\":[1],\"offset\":1624}", NULL, 0, body);
	parts[0].n = 64;
	assert_false(api_frame_read(parts, n_parts, SIZE_MAX, &arena, &document, &fault));
	assert_string_equal(fault.errors[0].detail, "the array extends beyond the tail, which has 1624 bytes");
	api_arena_free(&arena);
}

static void refuses_references(void **unused)
{
	(void)unused;
	static const struct {
		const char *text, *pointer, *word; /* with a tail of 160 bytes */
	} cases[] = {
		/* members */
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1],\"offset\":0,\"x\":1}}", "/a", "not \"x\""},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1]}}", "/a", "all of"},
		{"{\"a\":{\"dtype\":\"f64\",\"offset\":0}}", "/a", "all of"},
		{"{\"a\":{\"shape\":[1],\"offset\":0}}", "/a", "all of"},
		{"{\"a\":{\"dtype\":\"f64\"}}", "/a", "all of"},
		{"{\"a\":{\"offset\":0}}", "/a", "all of"},
		{"{\"a\":{\"shape\":[1]}}", "/a", "all of"},
		{"{\"dtype\":\"f64\"}", "", "all of"},
		{"{\"a/b\":[0,[{},{\"c\":{\"dtype\":1}}]]}", "/a~1b/1/1/c", "all of"},
		/* dtype */
		{"{\"a\":{\"dtype\":\"f16\",\"shape\":[1],\"offset\":0}}", "/a", "dtype"},
		{"{\"a\":{\"dtype\":\"F64\",\"shape\":[1],\"offset\":0}}", "/a", "dtype"},
		{"{\"a\":{\"dtype\":\"f64 \",\"shape\":[1],\"offset\":0}}", "/a", "dtype"},
		{"{\"a\":{\"dtype\":\"u64\",\"shape\":[1],\"offset\":0}}", "/a", "dtype"},
		{"{\"a\":{\"dtype\":\"\",\"shape\":[1],\"offset\":0}}", "/a", "dtype"},
		{"{\"a\":{\"dtype\":64,\"shape\":[1],\"offset\":0}}", "/a", "dtype"},
		{"{\"a\":{\"dtype\":null,\"shape\":[1],\"offset\":0}}", "/a", "dtype"},
		{"{\"a\":{\"dtype\":[\"f64\"],\"shape\":[1],\"offset\":0}}", "/a", "dtype"},
		/* shape */
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":1,\"offset\":0}}", "/a", "shape"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[[1]],\"offset\":0}}", "/a", "shape"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[[]],\"offset\":0}}", "/a", "shape"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1,[1]],\"offset\":0}}", "/a", "shape"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[\"1\"],\"offset\":0}}", "/a", "shape"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[null],\"offset\":0}}", "/a", "shape"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":\"1\",\"offset\":0}}", "/a", "shape"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":null,\"offset\":0}}", "/a", "shape"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":{},\"offset\":0}}", "/a", "shape"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1.0],\"offset\":0}}", "/a", "shape"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1,1e0],\"offset\":0}}", "/a", "shape"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[-1],\"offset\":0}}", "/a", "count"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[-1,-1],\"offset\":0}}", "/a", "count"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[0,9007199254740994],\"offset\":0}}", "/a", "count"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[18446744073709551616],\"offset\":0}}", "/a", "count"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[{\"dtype\":\"f64\",\"shape\":[1],\"offset\":0}],\"offset\":0}}", "/a",
	     "shape"},
		/* offset */
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1],\"offset\":\"0\"}}", "/a", "offset"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1],\"offset\":[0]}}", "/a", "offset"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1],\"offset\":null}}", "/a", "offset"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1],\"offset\":0.0}}", "/a", "offset"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1],\"offset\":8e0}}", "/a", "offset"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1],\"offset\":-8}}", "/a", "offset"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[0],\"offset\":9007199254740993000}}", "/a", "offset"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1],\"offset\":1}}", "/a", "multiple of 8"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1],\"offset\":7}}", "/a", "multiple of 8"},
		{"{\"a\":{\"dtype\":\"f32\",\"shape\":[1],\"offset\":4}}", "/a", "multiple of 8"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[0],\"offset\":4}}", "/a", "multiple of 8"},
		/* the tail */
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[21],\"offset\":0}}", "/a", "160 bytes"},
		{"{\"a\":{\"dtype\":\"f32\",\"shape\":[41],\"offset\":0}}", "/a", "beyond the tail"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1],\"offset\":160}}", "/a", "beyond the tail"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[],\"offset\":160}}", "/a", "beyond the tail"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[0],\"offset\":168}}", "/a", "beyond the tail"},
		{"{\"a\":{\"dtype\":\"i32\",\"shape\":[3],\"offset\":152}}", "/a", "beyond the tail"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[1],\"offset\":9007199254740992}}", "/a", "beyond the tail"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[9007199254740992],\"offset\":0}}", "/a", "beyond the tail"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[2305843009213693952],\"offset\":0}}", "/a", "count"},
		/* products that are 0, 8 and 20 in 64 bits */
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[4294967296,4294967296],\"offset\":0}}", "/a", "beyond the tail"},
		{"{\"a\":{\"dtype\":\"f32\",\"shape\":[4503599627370496,4096,8],\"offset\":0}}", "/a", "beyond the tail"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[4294967296,4294967296,20],\"offset\":0}}", "/a", "beyond the tail"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[2147483648,1073741824],\"offset\":0}}", "/a", "beyond the tail"},
		/* overlaps: the later one in the document is named */
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[2],\"offset\":0},\"b\":{\"dtype\":\"f64\",\"shape\":[2],\"offset\":8}}",
	     "/b", "overlaps"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[2],\"offset\":8},\"b\":{\"dtype\":\"f64\",\"shape\":[2],\"offset\":0}}",
	     "/b", "overlaps"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[2],\"offset\":0},\"b\":{\"dtype\":\"f64\",\"shape\":[2],\"offset\":0}}",
	     "/b", "overlaps"},
		{"{\"a\":{\"dtype\":\"i32\",\"shape\":[3],\"offset\":0},\"b\":{\"dtype\":\"f64\",\"shape\":[],\"offset\":8}}",
	     "/b", "overlaps"},
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[20],\"offset\":0},\"b\":{\"dtype\":\"f64\",\"shape\":[0],\"offset\":8},"
	     "\"c\":{\"d\":[1,\"\",{\"dtype\":\"f64\",\"shape\":[1],\"offset\":80}]}}",
	     "/c/d/2", "overlaps"},
		/* a fault of one reference comes before one of two */
		{"{\"a\":{\"dtype\":\"f64\",\"shape\":[2],\"offset\":0},\"b\":{\"dtype\":\"f64\",\"shape\":[2],\"offset\":8},"
	     "\"c\":{\"dtype\":\"f64\",\"shape\":[2],\"offset\":4}}",
	     "/c", "multiple"},
	};
	struct fence fence = fence_make(4096);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct outcome o = read_text(&fence, cases[i].text, TAIL);
		if (o.ok || o.fault.status != 400)
			fail_msg("%s: read, or status %d", cases[i].text, o.fault.status);
		assert_int_equal(o.fault.n_errors, 1);
		if (strcmp(o.fault.errors[0].pointer, cases[i].pointer) || !strstr(o.fault.errors[0].detail, cases[i].word))
			fail_msg("%s: %s, %s", cases[i].text, o.fault.errors[0].pointer, o.fault.errors[0].detail);
		forget(&o);
	}
	fence_free(&fence);
}

static void neighbours_do_not_overlap(void **unused)
{
	(void)unused;
	struct fence fence = fence_make(4096);
	struct outcome o = read_text(&fence,
	                             "{\"b\":{\"dtype\":\"f64\",\"shape\":[2],\"offset\":8},"
	                             "\"a\":{\"dtype\":\"i32\",\"shape\":[2],\"offset\":0},"
	                             "\"c\":{\"dtype\":\"f32\",\"shape\":[3],\"offset\":24},"
	                             "\"z\":{\"dtype\":\"f64\",\"shape\":[0],\"offset\":16},"
	                             "\"y\":{\"dtype\":\"f64\",\"shape\":[0],\"offset\":16}}",
	                             36);
	assert_true(o.ok);
	forget(&o);
	fence_free(&fence);
}

static void refused(const struct fence *fence, const char *bytes, size_t n, int status, const char *word)
{
	struct outcome o = read_bytes(fence, bytes, n);
	if (o.ok || o.fault.status != status || (status == 400 && strcmp(o.fault.errors[0].pointer, "")))
		fail_msg("%zu bytes: ok %d, status %d", n, o.ok, o.fault.status);
	if (!strstr(status == 400 ? o.fault.errors[0].detail : o.fault.detail, word))
		fail_msg("%s", status == 400 ? o.fault.errors[0].detail : o.fault.detail);
	forget(&o);
}

static void refuses_containers(void **unused)
{
	(void)unused;
	struct fence fence = fence_make(2 << 20);
	char *frame = calloc(1, 2 << 20);
	const size_t n = build("{}", NULL, 0, frame);
	assert_int_equal(n, 64);
	for (uint64_t length = 0; length < 200; length++) {
		memcpy(frame, &length, 8);
		if (length != 56)
			refused(&fence, frame, n, 400, length > 56 ? "only 56 follow" : "multiple of 64");
	}
	const uint64_t huge[] = {UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 63, 1ull << 63, 1ull << 32};
	for (int i = 0; i < 5; i++) {
		memcpy(frame, &huge[i], 8);
		refused(&fence, frame, n, 400, "only 56 follow");
	}
	build("[1,2", NULL, 0, frame);
	refused(&fence, frame, n, 400, "line 1, column ");
	build("{\"a\":1,\"a\":2}", NULL, 0, frame);
	refused(&fence, frame, n, 400, "duplicate");
	build("", NULL, 0, frame);
	memset(frame + 8, ' ', 56);
	const uint64_t blank = 56;
	memcpy(frame, &blank, 8);
	refused(&fence, frame, n, 400, "empty");
	build("{}", NULL, 0, frame);
	frame[20] = '\0';
	refused(&fence, frame, n, 400, "NUL");
	/* One document above the ceiling of 1 MiB, one just below it. */
	const uint64_t long_document = (1 << 20) + 56;
	memset(frame, ' ', 2 << 20);
	memcpy(frame, &long_document, 8);
	frame[8] = '1';
	refused(&fence, frame, (1 << 20) + 64, 413, "longer than the limit of 1048576");
	const uint64_t longest = (1 << 20) - 8;
	memcpy(frame, &longest, 8);
	struct outcome o = read_bytes(&fence, frame, 1 << 20);
	assert_true(o.ok);
	forget(&o);
	free(frame);
	fence_free(&fence);
}

static const char whole[] = "{\"d\":3,\"a\":{\"dtype\":\"f64\",\"shape\":[2,2],\"offset\":0},"
							"\"b\":{\"dtype\":\"i32\",\"shape\":[3],\"offset\":32}}";

static void refuses_every_truncation(void **unused)
{
	(void)unused;
	char frame[512], tail[44] = {0};
	struct fence fence = fence_make(sizeof(frame));
	const size_t n = build(whole, tail, sizeof(tail), frame);
	for (size_t i = 0; i < n; i++) {
		struct outcome o = read_bytes(&fence, frame, i);
		assert_false(o.ok);
		assert_int_equal(o.fault.status, 400);
		forget(&o);
	}
	struct outcome o = read_bytes(&fence, frame, n);
	assert_true(o.ok);
	forget(&o);
	fence_free(&fence);
}

/* Any byte may have any value: the frame is read or refused, without reading beyond its end. */
static void survives_every_changed_byte(void **unused)
{
	(void)unused;
	static const char odd[] = "\0\1\7 \"0189-.,:[]{}eE\\\xff\x80";
	char frame[512], tail[44] = {0};
	struct fence fence = fence_make(sizeof(frame));
	const size_t n = build(whole, tail, sizeof(tail), frame);
	for (size_t i = 0; i < n - sizeof(tail); i++)
		for (size_t k = 0; k < sizeof(odd); k++) {
			const char before = frame[i];
			frame[i] = odd[k];
			struct outcome o = read_bytes(&fence, frame, n);
			assert_true(o.ok || o.fault.status == 400);
			forget(&o);
			frame[i] = before;
		}
	fence_free(&fence);
}

/* ---- writing ---- */

static struct api_render start(struct api_arena *arena)
{
	struct api_render render;
	assert_true(api_render_start(&render, arena));
	return render;
}

static void put(struct api_render *r, const char *name, enum api_dtype dtype, const void *data, size_t n, size_t inner)
{
	api_render_add(r, r->document.root, name, api_render_array(r, dtype, data, n, inner, 0));
}

static char *join(const struct api_frame *frame)
{
	char *all = malloc(frame->bytes), *p = all;
	for (size_t i = 0; i < frame->n_parts; p += frame->parts[i++].n) {
		assert_true(frame->parts[i].n > 0);
		memcpy(p, frame->parts[i].bytes, frame->parts[i].n);
	}
	assert_int_equal(p - all, frame->bytes);
	return all;
}

static void writes_what_it_reads(void **unused)
{
	(void)unused;
	double few[15], many[34];
	int64_t small[17], large[16];
	int32_t plain[16];
	for (int i = 0; i < 34; i++)
		many[i] = i / 7.0;
	memcpy(few, many, sizeof(few));
	for (int i = 0; i < 17; i++)
		small[i] = i % 2 ? INT32_MIN : INT32_MAX;
	for (int i = 0; i < 16; i++)
		large[i] = plain[i] = i;
	large[9] = INT32_MAX + 1LL;
	struct api_arena arena = {0};
	struct api_render r = start(&arena);
	struct api_frame frame;
	json_t *inside = json_object();
	api_render_number(&r, r.document.root, "number", 0.1);
	put(&r, "few", API_F64, few, 15, 0);
	put(&r, "many", API_F64, many, 17, 2);
	api_render_add(&r, r.document.root, "inside", inside);
	api_render_add(&r, inside, "small", api_render_array(&r, API_I64, small, 17, 0, 0));
	api_render_add(&r, inside, "word", json_string("1 [2]"));
	put(&r, "large", API_I64, large, 2, 8);
	put(&r, "plain", API_I32, plain, 16, 0);
	put(&r, "none", API_F64, few, 0, 16);
	assert_int_equal(api_frame_write(&r, SIZE_MAX, &frame), API_WRITTEN);
	char *bytes = join(&frame);
	uint64_t length;
	memcpy(&length, bytes, 8);
	assert_int_equal((8 + length) % 64, 0);
	const char text[] = "{\"number\":0.1,\"few\":[0.0,";
	assert_memory_equal(bytes + 8, text, sizeof(text) - 1);
	/* Padding is made of spaces, and no more than needed. */
	size_t end = 8 + length;
	while (bytes[end - 1] == ' ')
		end--;
	assert_true(bytes[end - 1] == '}' && 8 + length - end < 64);
	struct outcome o = {0};
	o.ok = api_frame_read(&(struct api_part){bytes, frame.bytes}, 1, SIZE_MAX, &o.arena, &o.document, &o.fault);
	assert_true(o.ok);
	assert_true(!member(&o, "few")->binary && memcmp(member(&o, "few")->data, few, sizeof(few)) == 0);
	assert_true(!member(&o, "number")->binary && !member(&o, "none")->binary && member(&o, "none")->n == 0);
	const struct api_array *a = member(&o, "many");
	assert_true(a->binary && a->dtype == API_F64 && a->rank == 2 && a->shape[0] == 17 && a->shape[1] == 2);
	assert_memory_equal(a->data, many, sizeof(many));
	assert_ptr_equal(a->data, bytes + 8 + length);
	a = api_document_array(&o.document, json_object_get(json_object_get(o.document.root, "inside"), "small"));
	assert_true(a->binary && a->dtype == API_I32 && a->n == 17);
	for (int i = 0; i < 17; i++)
		assert_int_equal(((const int32_t *)a->data)[i], small[i]);
	a = member(&o, "large");
	assert_true(a->dtype == API_I64 && a->rank == 2 && memcmp(a->data, large, sizeof(large)) == 0);
	assert_int_equal(((const char *)a->data - bytes) % 64, 0);
	a = member(&o, "plain");
	assert_true(a->dtype == API_I32 && memcmp(a->data, plain, sizeof(plain)) == 0);
	assert_true((const char *)a->data + sizeof(plain) == bytes + frame.bytes);
	forget(&o);
	free(bytes);
	api_frame_free(&r, &frame);
	api_render_abandon(&r);
	api_arena_free(&arena);
}

static void keeps_to_the_ceiling(void **unused)
{
	(void)unused;
	double many[100] = {0};
	size_t whole_bytes = 0;
	for (size_t max = SIZE_MAX, turn = 0; turn < 4; turn++) {
		struct api_arena arena = {0};
		struct api_render r = start(&arena);
		struct api_frame frame;
		put(&r, "many", API_F64, many, 100, 0);
		const enum api_written written = api_frame_write(&r, max, &frame);
		if (turn == 0)
			whole_bytes = frame.bytes;
		assert_int_equal(written, max >= whole_bytes ? API_WRITTEN : API_TOO_LONG);
		assert_int_equal(whole_bytes, 64 + 800);
		api_frame_free(&r, &frame);
		max = (size_t[]){whole_bytes, whole_bytes - 1, 10}[turn % 3];
		api_render_abandon(&r);
		api_arena_free(&arena);
	}
}

/* At every position, both in the tail and in the text. */
static void refuses_what_is_not_finite(void **unused)
{
	(void)unused;
	static double numbers[300000];
	static const double bad[] = {INFINITY, -INFINITY, NAN};
	static const size_t sizes[] = {1, 15, 16, 5000, 300000};
	for (size_t i = 0; i < 3; i++)
		for (size_t n = 0; n < sizeof(sizes) / sizeof(*sizes); n++)
			for (size_t at = 0; at < sizes[n]; at += sizes[n] - 1 ? sizes[n] - 1 : 1)
				for (int n_threads = 1; n_threads <= 2; n_threads++) {
					struct api_arena arena = {0};
					struct api_render r = start(&arena);
					struct api_frame frame;
					r.document.n_threads = n_threads;
					numbers[at] = bad[i];
					put(&r, "numbers", API_F64, numbers, sizes[n], 0);
					assert_int_equal(api_frame_write(&r, SIZE_MAX, &frame), API_NOT_FINITE);
					numbers[at] = 0;
					api_render_abandon(&r);
					api_arena_free(&arena);
				}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_dtype),
		cmocka_unit_test(reads_every_shape),
		cmocka_unit_test(reads_text_and_references_side_by_side),
		cmocka_unit_test(copies_what_is_not_aligned),
		cmocka_unit_test(reads_many_references),
		cmocka_unit_test(reads_parts),
		cmocka_unit_test(refuses_references),
		cmocka_unit_test(neighbours_do_not_overlap),
		cmocka_unit_test(refuses_containers),
		cmocka_unit_test(refuses_every_truncation),
		cmocka_unit_test(survives_every_changed_byte),
		cmocka_unit_test(writes_what_it_reads),
		cmocka_unit_test(keeps_to_the_ceiling),
		cmocka_unit_test(refuses_what_is_not_finite),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
