/* Inputs that end at an unreadable page: every body and query of tests/cases, as JSON and as a frame, and every
 * prefix of the shorter ones. Reading one byte too many ends this program. */
#include "api/api.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jansson.h>

#include <cmocka.h>

#include "api/codec/document.h"
#include "api/codec/media.h"
#include "api/base/json_memory.h"
#include "tests/share.h"

enum { MOST_BYTES = 256 << 10, MOST_CUT = 700, EVERY = 8, STEP = 64 };

static char *fence; /* the first byte that must not be read */
static const struct api_service service = {
	.n_threads = 1, .max_json_bytes = 1 << 20, .max_frame_bytes = 1 << 20, .max_answer_bytes = 64 << 20};

static int set_up_fence(void **unused)
{
	(void)unused;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, MOST_BYTES + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory + MOST_BYTES, page, PROT_NONE) != 0)
		return -1;
	fence = memory + MOST_BYTES;
	return 0;
}

static const char *fenced(const void *bytes, size_t n)
{
	return memcpy(fence - n, bytes, n);
}

/* ---- requests ---- */

static int handle(const struct api_request *request)
{
	struct api_response response;
	api_handle(&service, request, &response);
	const int status = response.status;
	api_response_free(&response);
	assert_in_range(status, 200, 499);
	return status;
}

static int post(const char *target, const char *type, const void *body, size_t bytes)
{
	const struct api_request request = {
		.method = "POST", .target = target, .content_type = type, .body = fenced(body, bytes), .body_bytes = bytes};
	api_is_large(&service, &request);
	return handle(&request);
}

static int get(const char *target)
{
	return handle(&(struct api_request){.method = "GET", .target = fenced(target, strlen(target) + 1)});
}

static void read_text(const char *text, size_t bytes)
{
	struct api_document document;
	struct api_text_fault fault;
	if (api_document_read_pooled(NULL, fenced(text, bytes), bytes, &document, &fault))
		api_document_free(&document);
}

/* ---- frames: every array that was lifted from a text goes into the tail ---- */

struct frame {
	char bytes[MOST_BYTES], tail[MOST_BYTES];
	size_t n, n_tail;
};

static json_t *list_of(const size_t *shape, int rank)
{
	json_t *list = json_array();
	for (int i = 0; i < rank; i++)
		json_array_append_new(list, json_integer((json_int_t)shape[i]));
	return list;
}

/* Indices as i32, reals as they are. */
static json_t *refer(struct frame *frame, const struct api_array *array)
{
	const bool integers = array->first_non_integer >= array->n;
	const double *data = array->data;
	frame->n_tail = (frame->n_tail + 7) / 8 * 8;
	const size_t offset = frame->n_tail;
	for (size_t i = 0; i < array->n; i++) {
		const int32_t index = integers && data[i] > -1e9 && data[i] < 1e9 ? (int32_t)data[i] : 0;
		memcpy(frame->tail + frame->n_tail, integers ? (const void *)&index : &data[i], integers ? 4 : 8);
		frame->n_tail += integers ? 4 : 8;
	}
	return json_pack("{s:s, s:i, s:o}", "dtype", integers ? "i32" : "f64", "offset", (int)offset, "shape",
	                 list_of(array->shape, array->rank));
}

static json_t *to_frame(struct frame *frame, const struct api_document *document, const json_t *node)
{
	const struct api_array *array = api_document_array(document, node);
	const char *key;
	json_t *value;
	if (array)
		return array->ragged ? json_array() : refer(frame, array);
	if (!json_is_object(node))
		return json_deep_copy(node);
	json_t *object = json_object();
	json_object_foreach((json_t *)(uintptr_t)node, key, value)
		json_object_set_new(object, key, to_frame(frame, document, value));
	return object;
}

/* @return false for text that is not a document */
static bool make_frame(const char *text, size_t bytes, struct frame *frame)
{
	struct api_document document;
	struct api_text_fault fault;
	frame->n_tail = 0;
	if (!api_document_read_pooled(NULL, text, bytes, &document, &fault))
		return false;
	json_t *root = to_frame(frame, &document, document.root);
	char *printed = json_dumps(root, JSON_COMPACT | JSON_ENCODE_ANY);
	assert_non_null(printed);
	const size_t head = (8 + strlen(printed) + STEP - 1) / STEP * STEP;
	const uint64_t length = head - 8;
	frame->n = head + frame->n_tail;
	assert_true(frame->n <= MOST_BYTES);
	memset(frame->bytes, ' ', head);
	memcpy(frame->bytes, &length, 8);
	memcpy(frame->bytes + 8, printed, strlen(printed));
	memcpy(frame->bytes + head, frame->tail, frame->n_tail);
	api_json_memory_give(printed);
	json_decref(root);
	api_document_free(&document);
	return true;
}

/* ---- the cases ---- */

static size_t n_bodies, n_frames, n_queries, n_answers; /* answers: those with 200 */

static char *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return NULL;
	char *text = calloc(MOST_BYTES, 1);
	*bytes = text ? fread(text, 1, MOST_BYTES - 1, file) : 0;
	fclose(file);
	return text;
}

/* Sends a body whole, and every prefix of some short ones. */
static void try_body(const char *target, const char *type, const char *body, size_t bytes)
{
	n_answers += post(target, type, body, bytes) == 200;
	if (n_bodies % (EVERY * (size_t)step_sanitized(4)) == 0 && bytes <= MOST_CUT)
		for (size_t n = 0; n < bytes; n++)
			post(target, type, body, n);
}

static void try_text(const char *target, const char *text, size_t bytes)
{
	static struct frame frame; /* large */
	n_bodies++;
	read_text(text, bytes);
	try_body(target, api_media_json, text, bytes);
	if (!make_frame(text, bytes, &frame))
		return;
	n_frames++;
	try_body(target, api_media_frame, frame.bytes, frame.n);
}

static void try_url_query(const char *path)
{
	char target[4096];
	const size_t bytes = strnlen(path, sizeof(target) - 1);
	n_queries++;
	for (size_t n = 1; n <= bytes; n++) {
		memcpy(target, path, n);
		target[n] = '\0';
		get(target);
	}
}

/* Reads meta.json, or applies the defaults of a case without it. */
static char *path_of(const char *folder)
{
	char file[4200];
	snprintf(file, sizeof(file), "%s/meta.json", folder);
	json_t *meta = json_load_file(file, 0, NULL);
	const char *path = json_string_value(json_object_get(meta, "path"));
	char *copy = strdup(path ? path : "/v1/evaluate");
	json_decref(meta);
	return copy;
}

static int try_case(const char *file, const struct stat *status, int type, struct FTW *place)
{
	static const char *const names[] = {"request.json", "request.raw"};
	char folder[4096], path[4200];
	(void)status;
	if (type != FTW_F || strcmp(file + place->base, "expect.json") != 0)
		return 0;
	snprintf(folder, sizeof(folder), "%.*s", place->base - 1, file);
	char *target = path_of(folder);
	for (int i = 0; i < 2; i++) {
		size_t bytes;
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		char *text = read_file(path, &bytes);
		if (text)
			try_text(target, text, bytes);
		free(text);
	}
	if (strchr(target, '?'))
		try_url_query(target);
	free(target);
	return 0;
}

static void reads_no_further_than_the_end(void **unused)
{
	(void)unused;
	assert_int_equal(nftw("tests/cases", try_case, 16, FTW_PHYS), 0);
	/* meaningful only with many of each */
	assert_true(n_bodies > 500 && n_frames > 300 && n_queries > 20 && n_answers > 100);
}

/* Headers are not read beyond their terminator. */
static void reads_headers_no_further(void **unused)
{
	(void)unused;
	static const char *const values[] = {"",
	                                     "a",
	                                     "application/json",
	                                     "application/json;",
	                                     "application/json; charset=\"",
	                                     "*/*;q=",
	                                     "*/*;q=0.",
	                                     "application/vnd.frictiond.frame ;q=0.3 , ",
	                                     ",,,",
	                                     "/",
	                                     ";q"};
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const char *value = fenced(values[i], strlen(values[i]) + 1);
		struct api_response response;
		for (int accepts = 0; accepts < 2; accepts++) {
			const struct api_request request = {.method = "POST",
			                                    .target = "/v1/evaluate",
			                                    .body = "{}",
			                                    .body_bytes = 2,
			                                    .content_type = accepts ? NULL : value,
			                                    .accept = accepts ? value : NULL};
			handle(&request);
			api_admit(&service, &request, 2, false, &response);
			api_response_free(&response);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_no_further_than_the_end),
		cmocka_unit_test(reads_headers_no_further),
	};
	return cmocka_run_group_tests(tests, set_up_fence, NULL);
}
