/* Long requests, with the stop flag raised while they are read, validated, computed or printed: the response then
 * states that they were stopped. The duration of a request is measured first, and the flag is raised after part of
 * it. This is repeated, as the measured duration may be too long on a busy machine. FRIC_SHOW=1 prints how soon each
 * request ends. */
#include "api/api.h"
#include "api/base/pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "api/codec/media.h"
#include "tests/share.h"

/* Slow builds get shorter texts, and so does a run with a share of the cases. */
enum { SHORTER = API_POOL_EMULATED ? 4 : 1 };

static size_t shorter(size_t n)
{
	return n / (one_in() > 1 && SHORTER == 1 ? 4 : SHORTER);
}

/* For what takes long even in a share. */
static size_t still_shorter(size_t n)
{
	return n / (size_t)step_in_share(4, 4);
}

static struct api_service service = {
	.n_threads = 1, .max_json_bytes = 1 << 30, .max_frame_bytes = 1 << 30, .max_answer_bytes = 1 << 30};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct alarm_clock {
	double seconds, raised;
	atomic_bool *stop;
};

static void *ring(void *argument)
{
	struct alarm_clock *alarm_clock = argument;
	const double s = alarm_clock->seconds;
	const struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
	nanosleep(&t, NULL);
	alarm_clock->raised = now();
	atomic_store(alarm_clock->stop, true);
	return NULL;
}

/* Raises the flag after this many seconds; < 0: never.
 * @return the status; *took is the duration, or the time since the flag was raised */
static int ask(struct api_request request, double seconds, double *took)
{
	atomic_bool stop = false;
	struct alarm_clock alarm_clock = {seconds, 0, &stop};
	struct api_response response;
	pthread_t thread;
	request.stop = &stop;
	if (seconds >= 0)
		assert_int_equal(pthread_create(&thread, NULL, ring, &alarm_clock), 0);
	const double began = now();
	api_handle(&service, &request, &response);
	const double ended = now();
	if (seconds >= 0)
		pthread_join(thread, NULL);
	*took = ended - (seconds >= 0 ? alarm_clock.raised : began);
	const int status = response.status;
	if (status == 503)
		assert_non_null(strstr(response.body, "the evaluation was stopped"));
	api_response_free(&response);
	return status;
}

static void stops(const char *name, const struct api_request *request, int status, double part)
{
	enum { ATTEMPTS = 20, TIMED = 3 };
	double seconds = 0, late = 0;
	assert_int_equal(ask(*request, -1, &seconds), status); /* warms the memory */
	for (int i = 0; i < TIMED; i++) {                      /* the least counts: machines are busy at times */
		double once;
		assert_int_equal(ask(*request, -1, &once), status);
		seconds = i == 0 || once < seconds ? once : seconds;
	}
	int got = 0;
	for (int i = 0; i < ATTEMPTS && got != 503; i++, seconds *= 0.9)
		got = ask(*request, part * seconds, &late);
	if (getenv("FRIC_SHOW"))
		print_message("%-40s takes %4.0f ms, ends %5.1f ms after the flag\n", name, 1e3 * seconds, 1e3 * late);
	if (got != 503)
		fail_msg("%s, stopped after %g of its time: %d", name, part, got);
}

/* Allocates memory and fills it with copies of a unit. */
struct text {
	char *bytes;
	size_t n;
};

static void add(struct text *text, const char *unit, size_t times)
{
	const size_t n = strlen(unit);
	text->bytes = realloc(text->bytes, text->n + n * times + 1);
	assert_non_null(text->bytes);
	for (size_t i = 0; i < times; i++, text->n += n)
		memcpy(text->bytes + text->n, unit, n);
}

static void reads(const char *name, const char *first, const char *unit, size_t times, const char *last, int status)
{
	struct text text = {0};
	add(&text, first, 1);
	add(&text, unit, shorter(times));
	add(&text, last, 1);
	const struct api_request request = {.method = "POST",
	                                    .target = "/v1/evaluate",
	                                    .content_type = api_media_json,
	                                    .body = text.bytes,
	                                    .body_bytes = text.n};
	if (one_in() == 1)
		stops(name, &request, status, 0.25);
	stops(name, &request, status, 0.6);
	free(text.bytes);
}

static char *many(const char *unit, size_t times)
{
	struct text text = {0};
	add(&text, unit, times);
	text.bytes[text.n] = '\0';
	return text.bytes;
}

/* The request is refused as soon as it is read, so the flag can only take effect during reading. */
static void while_reading(void **unused)
{
	(void)unused;
	char *escapes = many("\\\\", 500000), *letters = many("letters ", 125000);
	reads("numbers", "[", "1.25,", 4000000, "1]", 422);
	reads("rows", "[", "[],", 20000000, "[]]", 422);
	reads("numbers that stand alone", "[\"\",", "7,", 1900000, "1]", 422);
	reads("blanks", "{", "          ", still_shorter(10000000), "}", 422);
	reads("blanks after the text", "{}", "          ", still_shorter(10000000), "", 422);
	reads("blanks before numbers", "[", "          ", still_shorter(10000000), "1]", 422);
	reads("nothing but blanks", "", "          ", still_shorter(10000000), "", 400);
	reads("a line that is missing", "{", "\n\n\n\n\n\n\n\n\n\n", still_shorter(10000000), "", 400);
	reads("objects", "[", "{},", 1900000, "{}]", 422);
	reads("words", "[", "true,", 1900000, "null]", 422);
	char *unit = malloc(1100000);
	sprintf(unit, "\"%s\",", escapes);
	reads("strings of backslashes", "[", unit, still_shorter(40), "0]", 422);
	sprintf(unit, "\"%s\",", letters);
	reads("strings of letters", "[", unit, 100, "0]", 422);
	sprintf(unit, "\"%s\xC3\xA9\",", letters);
	reads("strings of letters, one of them with a dot", "[", unit, still_shorter(40), "0]", 422);
	free(unit);
	free(letters);
	free(escapes);
}

/* ---- frames ---- */

static struct text frame_of(const char *document, size_t tail_bytes)
{
	struct text text = {0};
	const size_t head = (8 + strlen(document) + 63) / 64 * 64;
	const uint64_t length = head - 8;
	text.n = head + tail_bytes;
	text.bytes = calloc(text.n, 1);
	assert_non_null(text.bytes);
	memset(text.bytes, ' ', head);
	memcpy(text.bytes, &length, 8);
	memcpy(text.bytes + 8, document, strlen(document));
	return text;
}

static void posts(const char *name, const char *target, const char *accept, const char *document, size_t tail_bytes,
                  int status, double part)
{
	struct text frame = frame_of(document, tail_bytes);
	const struct api_request request = {.method = "POST",
	                                    .target = target,
	                                    .content_type = api_media_frame,
	                                    .accept = accept,
	                                    .body = frame.bytes,
	                                    .body_bytes = frame.n};
	stops(name, &request, status, part);
	free(frame.bytes);
}

static void while_references_are_resolved(void **unused)
{
	(void)unused;
	char *unit = many("{\"dtype\":\"f64\",\"shape\":[0],\"offset\":0},", still_shorter(200000));
	char *document = malloc(strlen(unit) + 4);
	sprintf(document, "[%s0]", unit);
	posts("references", "/v1/evaluate", NULL, document, 0, 422, 0.25);
	free(document);
	free(unit);
}

static void while_checking(void **unused)
{
	(void)unused;
	const int N = (int)shorter(20000000);
	char document[400];
	/* The last index is wrong. */
	snprintf(document, sizeof(document),
	         "{\"dim\":2,\"velocities\":[[1,2],[3,4]],\"friction\":{\"eps_v\":1,\"mu\":1},"
	         "\"collisions\":{\"vertex_vertex\":{\"vertices\":{\"dtype\":\"i64\",\"shape\":[%d,2],\"offset\":0}}}}",
	         N / 2);
	posts("indices", "/v1/evaluate", NULL, document, 8 * (size_t)N, 422, 0.5);
	snprintf(document, sizeof(document), "{\"y\":{\"dtype\":\"f32\",\"shape\":[%d],\"offset\":0}}", N);
	posts("single precision", "/v1/functions/smooth_friction_f0", NULL, document, 4 * (size_t)N, 422, 0.5);
}

static void while_a_function_is_computed_and_printed(void **unused)
{
	(void)unused;
	const int N = (int)shorter(4000000);
	char document[200];
	snprintf(document, sizeof(document), "{\"y\":{\"dtype\":\"f64\",\"shape\":[%d],\"offset\":0},\"eps_v\":1}", N);
	static const char function[] = "/v1/functions/smooth_friction_f0";
	posts("a function", function, api_media_frame, document, 8 * (size_t)N, 200, 0.5);
	for (service.n_threads = 1; service.n_threads <= 2; service.n_threads++)
		posts("its answer", function, api_media_json, document, 8 * (size_t)N, 200, 0.85);
	service.n_threads = 1;
}

/* Contacts of one vertex, whose Hessian is multiplied by many vectors. */
static void while_products_are_formed(void **unused)
{
	(void)unused;
	const int N = (int)shorter(400000);
	const int n_vectors = (int)still_shorter(256);
	enum { N_VERTICES = 1000, NDOF = 2 * N_VERTICES };
	const size_t vectors = 8 * (size_t)NDOF, vertices = vectors + 8 * (size_t)n_vectors * NDOF;
	char document[600];
	snprintf(document, sizeof(document),
	         "{\"dim\":2,\"velocities\":{\"dtype\":\"f64\",\"shape\":[%d,2],\"offset\":0},"
	         "\"friction\":{\"eps_v\":1,\"mu\":1},\"outputs\":[\"hessian_products\"],"
	         "\"vectors\":{\"dtype\":\"f64\",\"shape\":[%d,%d],\"offset\":%zu},"
	         "\"collisions\":{\"plane_vertex\":{\"plane_normal\":[0,1],\"normal_force\":1,"
	         "\"vertices\":{\"dtype\":\"i32\",\"shape\":[%d],\"offset\":%zu}}}}",
	         N_VERTICES, n_vectors, NDOF, vectors, N, vertices);
	posts("products", "/v1/evaluate", api_media_frame, document, vertices + 4 * (size_t)N, 200, 0.5);
}

/* A sheet of triangles under another one. Text of its positions and faces. */
static char *sheets(int n)
{
	struct text text = {0};
	char row[200];
	add(&text, "\"positions\":[", 1);
	for (int v = 0; v < 2 * n * n; v++) {
		snprintf(row, sizeof(row), "%s[%d,%d,%g]", v ? "," : "", v % n, v / n % n, v < n * n ? 0 : 0.5);
		add(&text, row, 1);
	}
	add(&text, "],\"mesh\":{\"faces\":[", 1);
	for (int v = 0, first = 1; v < 2 * n * n; v++) {
		if (v % n == n - 1 || v / n % n == n - 1)
			continue;
		snprintf(row, sizeof(row), "%s[%d,%d,%d],[%d,%d,%d]", first ? "" : ",", v, v + 1, v + n + 1, v, v + n + 1,
		         v + n);
		add(&text, row, 1);
		first = 0;
	}
	add(&text, "]}", 1);
	text.bytes[text.n] = '\0';
	return text.bytes;
}

/* Most of the time is spent on finding, merging and printing. */
static void while_contacts_are_found(void **unused)
{
	(void)unused;
	char *mesh = sheets(one_in() > 1 ? 28 : SHORTER == 1 ? 100 : 40);
	struct text body = {0};
	add(&body, "{\"dim\":3,\"distance\":0.75,\"outputs\":[\"distances\"],", 1);
	add(&body, mesh, 1);
	add(&body, "}", 1);
	const struct api_request request = {.method = "POST",
	                                    .target = "/v1/contacts",
	                                    .content_type = api_media_json,
	                                    .accept = api_media_frame,
	                                    .body = body.bytes,
	                                    .body_bytes = body.n};
	for (service.n_threads = 1; service.n_threads <= 2; service.n_threads++) {
		stops("finding contacts", &request, 200, 0.3);
		stops("merging them", &request, 200, 0.85);
	}
	service.n_threads = 1;
	free(body.bytes);
	free(mesh);
}

static int start(void **unused)
{
	(void)unused;
	service.pool = api_pool_create((size_t)4 << 30, NULL);
	return service.pool ? 0 : -1;
}

static int end(void **unused)
{
	(void)unused;
	api_pool_free(service.pool);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(while_reading),
		cmocka_unit_test(while_references_are_resolved),
		cmocka_unit_test(while_checking),
		cmocka_unit_test(while_a_function_is_computed_and_printed),
		cmocka_unit_test(while_products_are_formed),
		cmocka_unit_test(while_contacts_are_found),
	};
	return cmocka_run_group_tests(tests, start, end);
}
