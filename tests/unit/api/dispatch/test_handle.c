/* Routes, admission, and whole requests without a socket. */
#include "api/api.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/sets/store.h"

static const struct api_service service = {
	.n_threads = 1, .max_json_bytes = 1000, .max_frame_bytes = 2000, .max_answer_bytes = 1 << 20};
static const char json[] = "application/json", frame[] = "application/vnd.frictiond.frame", evaluate[] = "/v1/evaluate";
static const char check[] = "/v1/check";
static const char smooth_mu[] = "/v1/functions/smooth_mu";

#define CONTACT \
	"{\"dim\":2,\"velocities\":[[0.5,0]],\"friction\":{\"mu\":1,\"eps_v\":1},\"outputs\":[\"gradient\"]," \
	"\"collisions\":{\"plane_vertex\":{\"vertices\":[0],\"normal_force\":1,\"plane_normal\":[0,1]}}}"

static const char *header_of(const struct api_response *response, const char *name)
{
	for (int i = 0; i < response->n_headers; i++)
		if (!strcmp(response->headers[i].name, name))
			return response->headers[i].value;
	return NULL;
}

static bool is_problem(const struct api_response *response)
{
	json_t *problem = json_loadb(response->body, response->body_bytes, 0, NULL);
	const bool ok = json_integer_value(json_object_get(problem, "status")) == response->status;
	json_decref(problem);
	return ok && !strcmp(response->content_type, "application/problem+json");
}

/* ---- admission ---- */

static struct api_admission admit(const struct api_request *request, long long announced, bool chunked,
                                  struct api_response *response)
{
	memset(response, 0xAB, sizeof(*response));
	return api_admit(&service, request, announced, chunked, response);
}

static void refused(const char *method, const char *target, long long announced, const char *content_type,
                    const char *accept, int status)
{
	struct api_response response;
	const struct api_request request = {
		.method = method, .target = target, .content_type = content_type, .accept = accept, .request_id = "id"};
	const struct api_admission a = admit(&request, announced, false, &response);
	if (a.accepted || response.status != status)
		fail_msg("%s %s: %d, not %d", method, target, a.accepted ? 200 : response.status, status);
	assert_true(is_problem(&response));
	assert_int_equal(header_of(&response, "Allow") != NULL, status == 405);
	api_response_free(&response);
}

static void accepted(const char *method, const char *target, long long announced, bool chunked,
                     const char *content_type, const char *accept)
{
	struct api_response response;
	const struct api_request request = {
		.method = method, .target = target, .content_type = content_type, .accept = accept};
	const struct api_admission a = admit(&request, announced, chunked, &response);
	if (!a.accepted)
		fail_msg("%s %s: %d", method, target, response.status);
	assert_int_equal(a.computes, !strcmp(method, "POST"));
	if (a.computes)
		assert_int_equal(a.max_body_bytes, service.max_json_bytes);
	assert_null(response.body);
}

static void admits(void **unused)
{
	(void)unused;
	accepted("POST", evaluate, 1000, false, json, NULL);
	accepted("POST", evaluate, 0, false, json, NULL);
	accepted("POST", evaluate, -1, true, json, NULL);
	accepted("POST", evaluate, 5, false, NULL, NULL);
	accepted("POST", evaluate, 5, false, "Application/JSON; charset=utf-8", "text/html, */*;q=0.1");
	accepted("POST", smooth_mu, 5, false, json, json);
	accepted("POST", "/v1/evaluate?", 5, false, json, json);
	accepted("GET", smooth_mu, -1, false, NULL, NULL);
	accepted("GET", "/v1/functions/smooth_mu?y=%zz", -1, false, "text/plain", NULL);
	accepted("HEAD", "/v1/functions", -1, false, NULL, "*/*");
	accepted("GET", "/v1/info", -1, false, NULL, json);
	accepted("GET", "/v1/%69nfo", -1, false, NULL, json);
	accepted("GET", "/healthz", -1, false, NULL, "text/plain");
	accepted("HEAD", "/readyz?x", -1, false, NULL, frame);
	accepted("GET", "/", -1, false, NULL, "text/html");
	accepted("HEAD", "/explorer/explorer.js?x", -1, false, NULL, "text/javascript");
}

static void refuses(void **unused)
{
	(void)unused;
	static const char *const nowhere[] = {"/explorer",
	                                      "/explorer/",
	                                      "/explorer/index.html",
	                                      "//",
	                                      "",
	                                      "*",
	                                      "?",
	                                      "/v1",
	                                      "/v1/evaluate/",
	                                      "/v1/Evaluate",
	                                      "/v1/functions/",
	                                      "/v1/functions/none",
	                                      "/v1/functions/smooth_mu/",
	                                      "//healthz",
	                                      "/healthz%00",
	                                      "/healthz%",
	                                      "/%FF"};
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
		refused("GET", nowhere[i], -1, NULL, NULL, 404);
	refused("POST", "/nowhere", -1, "text/plain", "text/plain", 404);
	refused("GET", evaluate, -1, NULL, NULL, 405);
	refused("HEAD", evaluate, -1, NULL, NULL, 405);
	refused("PUT", smooth_mu, 5, json, NULL, 405);
	refused("post", evaluate, 5, json, NULL, 405);
	refused("OPTIONS", "/healthz", -1, NULL, NULL, 405);
	refused("", "/healthz", -1, NULL, NULL, 405);
	refused("POST", "/v1/info", 5, json, "text/html", 405);
	refused("POST", "/", 5, json, NULL, 405);
	refused("DELETE", "/explorer/icon.svg", -1, NULL, "image/*", 405);
	refused("POST", evaluate, 5, "text/plain", NULL, 415);
	refused("POST", evaluate, 5, "application/octet-stream", frame, 415);
	refused("POST", evaluate, 5, "", NULL, 415);
	refused("POST", smooth_mu, 5, "application/x-www-form-urlencoded", NULL, 415);
	refused("POST", evaluate, 5, json, "text/html", 406);
	refused("POST", evaluate, 5, frame, "text/html", 406);
	refused("GET", "/v1/info", -1, NULL, "application/json;q=0", 406);
	refused("HEAD", "/v1/functions", -1, NULL, "text/*", 406);
	refused("POST", evaluate, -1, json, NULL, 411);
	refused("POST", smooth_mu, -1, NULL, NULL, 411);
	refused("POST", evaluate, 1001, json, NULL, 413);
	refused("POST", evaluate, INT64_MAX, json, NULL, 413);
}

static void names_what_is_allowed(void **unused)
{
	(void)unused;
	static const struct {
		const char *target, *allow;
	} cases[] = {{evaluate, "POST"},
	             {check, "POST"},
	             {smooth_mu, "GET, HEAD, POST"},
	             {"/v1/functions", "GET, HEAD, POST"},
	             {"/v1/info", "GET, HEAD"},
	             {"/healthz", "GET, HEAD"},
	             {"/readyz", "GET, HEAD"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_response response;
		admit(&(struct api_request){.method = "DELETE", .target = cases[i].target}, -1, false, &response);
		assert_int_equal(response.status, 405);
		assert_string_equal(header_of(&response, "Allow"), cases[i].allow);
		api_response_free(&response);
	}
}

static void names_the_limit(void **unused)
{
	(void)unused;
	struct api_response response;
	admit(&(struct api_request){.method = "POST", .target = evaluate}, 1001, false, &response);
	assert_int_equal(response.status, 413);
	assert_non_null(strstr(response.body, "1000"));
	api_response_free(&response);
}

/* ---- whole requests ---- */

static struct api_response handle_by(const struct api_service *by, const char *method, const char *target,
                                     const char *body, size_t bytes)
{
	/* a copy of exactly that length, so that sanitizers detect reads beyond it */
	char *copy = malloc(bytes ? bytes : 1);
	struct api_response response;
	memcpy(copy, body, bytes);
	memset(&response, 0xAB, sizeof(response));
	const struct api_request request = {.method = method, .target = target, .body = copy, .body_bytes = bytes};
	api_handle(by, &request, &response);
	free(copy);
	return response;
}

static struct api_response handle(const char *method, const char *target, const char *body)
{
	return handle_by(&service, method, target, body, strlen(body));
}

static void answers(const char *method, const char *target, const char *body, const char *expected)
{
	struct api_response response = handle(method, target, body);
	if (response.status != 200 || strncmp(response.body, expected, strlen(expected)) != 0)
		fail_msg("%s: %d %.*s", target, response.status, (int)response.body_bytes, response.body);
	assert_string_equal(response.content_type, json);
	api_response_free(&response);
}

static void answers_all_routes(void **unused)
{
	(void)unused;
	answers("POST", evaluate, CONTACT, "{\"n_vertices\":1,\"n_collisions\":1,\"gradient\":[0.75,0.0]}");
	answers("POST", "/v1/%65valuate?", CONTACT, "{\"n_vertices\":1,\"n_collisions\":1,\"gradient\":[0.75,0.0]}");
	answers("POST", check, CONTACT, "{\"n_vertices\":1,\"n_collisions\":1,\"agrees\":true,\"tolerance\":1e-08,");
	answers("POST", "/v1/contacts",
	        "{\"dim\":2,\"positions\":[[0,0],[0,1]],\"distance\":2,\"mesh\":{\"vertices\":[0,1]}}",
	        "{\"n_vertices\":2,\"n_collisions\":1,\"min_distance\":1.0,\"collisions\":{\"vertex_vertex\":"
	        "{\"vertices\":[[0,1]],\"weight\":[1.0]},");
	answers("GET", "/v1/functions/smooth_mu?y=0,9&mu_s=1&mu_k=2&eps_v=1", "",
	        "{\"function\":\"smooth_mu\",\"values\":[1.0,2.0]}");
	answers("POST", smooth_mu, "{\"y\":[0,9],\"mu_s\":1,\"mu_k\":2,\"eps_v\":1}",
	        "{\"function\":\"smooth_mu\",\"values\":[1.0,2.0]}");
	answers("POST", "/v1/functions", "{\"functions\":{\"smooth_mu\":{\"y\":[0,9],\"mu_s\":1,\"mu_k\":2,\"eps_v\":1}}}",
	        "{\"functions\":{\"smooth_mu\":{\"values\":[1.0,2.0]}}}");
	answers("GET", "/v1/functions", "", "{\"functions\":[{\"name\":\"smooth_friction_f0\"");
	answers("GET", "/v1/info", "", "{\"name\":\"frictiond\"");
	answers("GET", "/healthz", "", "{");
	answers("GET", "/readyz", "", "{");
}

static int64_t stopped_clock(void)
{
	return 0;
}

/* A service without sets states no limits for them. */
static void info_tells_the_limits_of_sets(void **unused)
{
	(void)unused;
	const struct api_sets_limits limits = {
		.bytes = 5000, .bytes_per_caller = 4000, .n = 3, .n_per_caller = 2, .idle_seconds = 7};
	struct api_service keeping = service;
	keeping.sets = api_sets_create(&limits, stopped_clock);
	struct api_response with = handle_by(&keeping, "GET", "/v1/info", "", 0), without = handle("GET", "/v1/info", "");
	const char expected[] =
		"\"sets\":3,\"sets_per_caller\":2,\"set_bytes\":5000,\"set_bytes_per_caller\":4000,\"set_idle_seconds\":7}";
	assert_non_null(memmem(with.body, with.body_bytes, expected, strlen(expected)));
	assert_null(memmem(without.body, without.body_bytes, "\"set", 4));
	api_response_free(&with);
	api_response_free(&without);
	api_sets_free(keeping.sets);
}

/* A check has times, but does not count as an evaluation. */
static void a_check_is_not_counted(void **unused)
{
	(void)unused;
	struct api_response response = handle("POST", check, CONTACT);
	assert_non_null(header_of(&response, "Server-Timing"));
	assert_int_equal(response.measure.n_phases, 0);
	assert_int_equal(response.measure.n_contacts, 0);
	api_response_free(&response);
}

static void head_has_the_body_of_get(void **unused)
{
	(void)unused;
	static const char *const targets[] = {"/v1/info", "/v1/functions", "/healthz",
	                                      "/v1/functions/smooth_friction_f1?y=0.5&eps_v=1",
	                                      "/v1/functions/smooth_mu?y=1"};
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		struct api_response get = handle("GET", targets[i], ""), head = handle("HEAD", targets[i], "");
		assert_int_equal(get.status, head.status);
		assert_int_equal(get.body_bytes, head.body_bytes);
		assert_memory_equal(get.body, head.body, get.body_bytes);
		api_response_free(&get);
		api_response_free(&head);
	}
}

static void refuses_bodies(void **unused)
{
	(void)unused;
	static const struct {
		const char *target, *body;
		int status;
		const char *pointer;
	} cases[] = {
		{evaluate, "", 400, ""},
		{evaluate, " ", 400, ""},
		{evaluate, "{", 400, ""},
		{evaluate, "[1e999]", 400, ""},
		{evaluate, "\xff", 400, ""},
		{evaluate, CONTACT "x", 400, ""},
		{evaluate, "[]", 422, ""},
		{evaluate, "{}", 422, "/dim"},
		{evaluate, "{\"dim\":2,\"colour\":1}", 422, "/colour"},
		{evaluate, "{\"dim\":2,\"dim\":2}", 400, ""},
		{"/v1/evaluate?dim=2", CONTACT, 422, "/dim"},
		{check, "", 400, ""},
		{check, "{", 400, ""},
		{check, "[]", 422, ""},
		{check, "{}", 422, "/dim"},
		{check, "{\"dim\":2,\"colour\":1}", 422, "/colour"},
		{"/v1/check?dim=2", CONTACT, 422, "/dim"},
		{"/v1/contacts", "[]", 422, ""},
		{"/v1/contacts", "{}", 422, "/dim"},
		{"/v1/contacts?dim=2", "{}", 422, "/dim"},
		{smooth_mu, "{}", 422, "/y"},
		{smooth_mu, "", 400, ""},
		{"/v1/functions/smooth_mu?y=1", "{\"y\":1}", 422, "/y"},
		{"/v1/functions", "{\"functions\":{}}", 422, "/functions"},
		{"/v1/functions", "", 400, ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_response response = handle("POST", cases[i].target, cases[i].body);
		if (response.status != cases[i].status)
			fail_msg("%s %s: %d", cases[i].target, cases[i].body, response.status);
		assert_true(is_problem(&response));
		json_t *problem = json_loadb(response.body, response.body_bytes, 0, NULL),
			   *errors = json_object_get(problem, "errors");
		assert_string_equal(json_string_value(json_object_get(json_array_get(errors, 0), "pointer")), cases[i].pointer);
		json_decref(problem);
		api_response_free(&response);
	}
}

/* api_admit comes first, but requests that it refuses must be harmless here. */
static void handles_what_was_not_admitted(void **unused)
{
	(void)unused;
	static const struct {
		const char *method, *target;
		int status;
	} cases[] = {{"GET", "/nowhere", 404}, {"GET", "/%zz", 404},    {"GET", "/%FF", 404},     {"GET", evaluate, 405},
	             {"GET", check, 405},      {"PUT", smooth_mu, 405}, {"POST", "/healthz", 405}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_response response = handle(cases[i].method, cases[i].target, "");
		assert_int_equal(response.status, cases[i].status);
		assert_true(is_problem(&response));
		api_response_free(&response);
	}
}

static void reads_no_byte_beyond_the_body(void **unused)
{
	(void)unused;
	for (size_t n = 0; n < strlen(CONTACT); n++) {
		struct api_response response = handle_by(&service, "POST", evaluate, CONTACT, n);
		assert_int_equal(response.status, 400);
		assert_true(is_problem(&response));
		api_response_free(&response);
	}
}

static void a_long_url_query_is_refused(void **unused)
{
	(void)unused;
	enum { BYTES = 70000 };
	char *target = malloc(BYTES);
	memset(target, '1', BYTES);
	memcpy(target, "/v1/functions/smooth_mu?y=", 26);
	target[BYTES - 1] = '\0';
	struct api_response response = handle("GET", target, "");
	assert_int_equal(response.status, 414);
	assert_true(is_problem(&response));
	api_response_free(&response);
	free(target);
}

static void a_long_answer_is_refused(void **unused)
{
	(void)unused;
	for (size_t max_bytes = 0; max_bytes < 70; max_bytes += 5) {
		const struct api_service narrow = {.n_threads = 1, .max_json_bytes = 1000, .max_answer_bytes = max_bytes};
		struct api_response response = handle_by(&narrow, "POST", evaluate, CONTACT, strlen(CONTACT));
		const bool fits = max_bytes >= strlen("{\"n_vertices\":1,\"n_collisions\":1,\"gradient\":[0.75,0.0]}");
		char limit[32];
		snprintf(limit, sizeof(limit), "limit of %zu bytes", max_bytes);
		assert_int_equal(response.status, fits ? 200 : 413);
		assert_true(fits || strstr(response.body, limit));
		api_response_free(&response);
	}
}

static void a_raised_flag_stops(void **unused)
{
	(void)unused;
	atomic_bool stop;
	atomic_init(&stop, true);
	struct api_response response;
	const struct api_request request = {
		.method = "POST", .target = evaluate, .body = CONTACT, .body_bytes = strlen(CONTACT), .stop = &stop};
	api_handle(&service, &request, &response);
	assert_int_equal(response.status, 503);
	assert_non_null(header_of(&response, "Retry-After"));
	api_response_free(&response);
}

/* Four steps, three decimals each, with an answer and with a fault. */
static void tells_its_times(void **unused)
{
	(void)unused;
	static const char *const bodies[] = {CONTACT, "{", "{}"};
	for (size_t i = 0; i < 3; i++) {
		struct api_response response = handle("POST", evaluate, bodies[i]);
		const char *timing = header_of(&response, "Server-Timing");
		double d = -1, p = -1, e = -1, c = -1;
		int end = 0;
		assert_non_null(timing);
		sscanf(timing, "decode;dur=%lf, prepare;dur=%lf, evaluate;dur=%lf, encode;dur=%lf%n", &d, &p, &e, &c, &end);
		assert_true(end > 0);
		assert_int_equal(timing[end], '\0');
		for (const char *point = strchr(timing, '.'); point; point = strchr(point + 1, '.'))
			assert_int_equal(strspn(point + 1, "0123456789"), 3);
		assert_true(d >= 0 && p >= 0 && e >= 0 && c >= 0);
		api_response_free(&response);
	}
	struct api_response other = handle("GET", "/v1/info", "");
	assert_null(header_of(&other, "Server-Timing"));
	api_response_free(&other);
}

static double total_of(const struct api_measure *measure)
{
	double nanoseconds = 0;
	for (int phase = 0; phase < API_N_PHASES; phase++)
		nanoseconds += (double)measure->phase_nanoseconds[phase];
	return nanoseconds;
}

/* The times of Server-Timing as numbers, the last phase, and the number of contacts evaluated. */
static void measures(void **unused)
{
	(void)unused;
	static const struct {
		const char *method, *target, *body;
		int n_phases;
		size_t n_contacts;
	} cases[] = {
		{"POST", "/v1/evaluate", CONTACT, API_N_PHASES, 1},
		{"POST", "/v1/evaluate", "{}", 1, 0},
		{"GET", "/v1/info", "", 0, 0},
		{"GET", "/nowhere", "", 0, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_response response = handle(cases[i].method, cases[i].target, cases[i].body);
		double total = 0, ms;
		const char *timing = header_of(&response, "Server-Timing");
		for (const char *at = timing ? strchr(timing, '=') : NULL; at; at = strchr(at + 1, '='))
			total += sscanf(at + 1, "%lf", &ms) == 1 ? ms : NAN;
		assert_int_equal(response.measure.n_phases, cases[i].n_phases);
		assert_int_equal(response.measure.n_contacts, cases[i].n_contacts);
		assert_true(fabs(1e6 * total - total_of(&response.measure)) <= API_N_PHASES * 501.0);
		assert_int_equal(total_of(&response.measure) > 0, cases[i].n_phases > 0);
		api_response_free(&response);
	}
}

/* 3000 plane contacts at odd velocities. */
static char *large_request(size_t *bytes)
{
	enum { N = 3000 };
	char *text = malloc(64 * N), *at = text;
	at += sprintf(at, "{\"dim\":3,\"friction\":{\"mu_s\":0.7,\"mu_k\":0.3,\"eps_v\":0.1},"
	                  "\"hessian\":{\"format\":\"csr\"},\"velocities\":[");
	for (int i = 0; i < N; i++)
		at += sprintf(at, "%s[%d.1e-3,%d.7e-4,1]", i ? "," : "", i % 97, (i * i) % 89);
	at += sprintf(
		at, "],\"collisions\":{\"plane_vertex\":{\"normal_force\":3.3,\"plane_normal\":[0.1,0.2,0.9],\"vertices\":[");
	for (int i = 0; i < N; i++)
		at += sprintf(at, "%s%d", i ? "," : "", (i * 7) % N);
	at += sprintf(at, "]}}}");
	*bytes = (size_t)(at - text);
	return text;
}

static void the_same_bytes_at_any_number_of_threads(void **unused)
{
	(void)unused;
	size_t bytes;
	char *text = large_request(&bytes);
	const struct api_service one = {.n_threads = 1, .max_json_bytes = SIZE_MAX, .max_answer_bytes = SIZE_MAX},
							 three = {.n_threads = 3, .max_json_bytes = SIZE_MAX, .max_answer_bytes = SIZE_MAX};
	struct api_response a = handle_by(&one, "POST", evaluate, text, bytes);
	assert_int_equal(a.status, 200);
	for (int i = 0; i < 3; i++) {
		struct api_response b = handle_by(&three, "POST", evaluate, text, bytes);
		assert_int_equal(a.body_bytes, b.body_bytes);
		assert_memory_equal(a.body, b.body, a.body_bytes);
		api_response_free(&b);
	}
	api_response_free(&a);
	free(text);
}

/* ---- costs ---- */

static bool is_large(const char *type, const char *target, size_t bytes)
{
	char *body = malloc(bytes);
	memset(body, ' ', bytes);
	const struct api_request request = {
		.method = "POST", .target = target, .content_type = type, .body = body, .body_bytes = bytes};
	const bool large = api_is_large(&service, &request);
	free(body);
	return large;
}

static void long_bodies_are_large(void **unused)
{
	(void)unused;
	assert_false(is_large(json, evaluate, (24 << 10) - 1));
	assert_true(is_large(json, evaluate, 24 << 10));
	assert_true(is_large(NULL, evaluate, 24 << 10));
	assert_false(is_large(frame, evaluate, (64 << 10) - 1));
	assert_true(is_large(frame, evaluate, 64 << 10));
	assert_false(is_large(json, "/v1/functions/smooth_mu", 2 << 10));
	assert_true(is_large(json, "/v1/functions/smooth_mu", (2 << 10) + 1));
	assert_false(is_large(json, "/v1/functions", 2 << 10));
	assert_true(is_large(json, "/v1/functions", (2 << 10) + 1));
	assert_true(is_large(json, "/v1/%63heck?", 100));
}

enum { LONGEST = 16 << 10 };

/* n contacts, all with the same vertex. */
static const char *batch_of(int n, const char *more)
{
	static char body[LONGEST];
	int at = sprintf(body, "{\"dim\":3,\"velocities\":[[1,0,0]],\"friction\":{\"eps_v\":1,\"mu\":1},\"collisions\":"
	                       "{\"plane_vertex\":{\"plane_normal\":[0,0,1],\"normal_force\":1,\"vertices\":[0");
	for (int i = 1; i < n; i++)
		at += sprintf(body + at, ",0");
	sprintf(body + at, "]}}%s}", more);
	return body;
}

/* n contacts of one vertex with a plane, within reach of a barrier. */
static const char *near_a_plane(int n, const char *more)
{
	static char body[LONGEST];
	int at = sprintf(body, "{\"dim\":3,\"velocities\":[[1,0,0]],\"positions\":[[0,0,0.5]],\"friction\":{\"eps_v\":1,"
	                       "\"mu\":1},\"barrier\":{\"dhat\":1,\"stiffness\":1},\"collisions\":{\"plane_vertex\":"
	                       "{\"plane_normal\":[0,0,1],\"plane_origin\":[0,0,0],\"vertices\":[0");
	for (int i = 1; i < n; i++)
		at += sprintf(body + at, ",0");
	sprintf(body + at, "]}}%s}", more);
	return body;
}

/* A deferred request has an empty response, and succeeds the second time. */
static bool is_deferred(const char *target, const char *body)
{
	struct api_service defers = service;
	struct api_request request = {.method = "POST", .target = target, .body = body, .body_bytes = strlen(body)};
	struct api_response response;
	defers.defers = true;
	assert_false(api_is_large(&service, &request));
	const bool deferred = !api_handle(&defers, &request, &response);
	if (!deferred) {
		assert_int_equal(response.status, 200);
		api_response_free(&response);
	}
	assert_true(!deferred || (!response.status && !response.body && !response.n_headers));
	request.was_deferred = true;
	assert_true(api_handle(&service, &request, &response));
	assert_int_equal(response.status, 200);
	api_response_free(&response);
	return deferred;
}

/* Depends on the work, not on the characters of the body. */
static void long_requests_are_deferred(void **unused)
{
	(void)unused;
	static const char sums[] = ",\"outputs\":[\"gradient\"]";
	assert_false(is_deferred(evaluate, batch_of(20, "")));
	assert_true(is_deferred(evaluate, batch_of(300, "")));
	assert_false(is_deferred(evaluate, batch_of(300, sums)));
	assert_true(is_deferred(evaluate, batch_of(1000, sums)));
	assert_true(is_deferred(evaluate, batch_of(300, ",\"o\\u0075tputs\":[\"h\\u0065ssian\"]")));
	assert_true(is_deferred(evaluate, batch_of(300, ",\"outputs\":[\"gradient\",\"position_jacobian\"],"
	                                                "\"positions\":[[0,0,0]]")));
	assert_true(is_deferred(evaluate, batch_of(300, ",\"outputs\":[\"line\"],\"line\":{\"direction\":[[1,0,0]],"
	                                                "\"steps\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]}")));
	assert_true(is_deferred(evaluate, batch_of(300, ",\"outputs\":[\"hessian_products\"],\"vectors\":"
	                                                "[[1,0,0],[0,1,0],[1,1,0],[0,0,1],[1,0,1],[0,1,1]]")));
	assert_true(is_deferred(evaluate, batch_of(400, ",\"outputs\":[\"collisions\"],\"collision_outputs\":"
	                                                "[\"potential\",\"tangential_velocity\",\"mu_s\",\"mu_k\"]")));
	static const char barrier[] = ",\"outputs\":[\"gradient\"],\"terms\":[\"barrier\"]";
	assert_false(is_deferred(evaluate, near_a_plane(500, sums)));
	assert_true(is_deferred(evaluate, near_a_plane(500, barrier)));
	assert_false(is_deferred(evaluate, near_a_plane(300, barrier)));
	assert_true(is_deferred(evaluate, near_a_plane(300, ",\"outputs\":[\"hessian_products\"],\"vectors\":[],"
	                                                    "\"terms\":[\"barrier\"]")));
	static const char tangents[] = ",\"tangents\":{\"/friction/mu\":1}";
	assert_false(is_deferred("/v1/jvp", batch_of(8, tangents)));
	assert_true(is_deferred("/v1/jvp", batch_of(100, tangents)));
	static const char cotangents[] = ",\"cotangents\":{\"potential\":1},\"wrt\":[\"/friction/mu\"]";
	assert_false(is_deferred("/v1/vjp", batch_of(8, cotangents)));
	assert_true(is_deferred("/v1/vjp", batch_of(100, cotangents)));
}

enum { N_BODIES = 310, N_VECTORS = 4 };

static int print_rows(char *at, int n_rows, const char *row)
{
	int n = sprintf(at, "[%s", row);
	for (int i = 1; i < n_rows; i++)
		n += sprintf(at + n, ",%s", row);
	return n + sprintf(at + n, "]");
}

/* One contact among many bodies. @param vectors  whether products with vectors are wanted, which have a row for each
 * body */
static const char *many_bodies(bool vectors)
{
	static char body[2 * LONGEST], vector[LONGEST];
	int at = sprintf(body, "{\"dim\":3,\"friction\":{\"eps_v\":1,\"mu\":1},\"collisions\":{\"body_world\":{\"bodies\":"
	                       "[0],\"point\":[0,0,0],\"normal\":[0,0,1],\"normal_force\":1}},\"body_positions\":");
	at += print_rows(body + at, N_BODIES, "[0,0,0]");
	at += sprintf(body + at, ",\"body_velocities\":");
	at += print_rows(body + at, N_BODIES, "[0,0,0,0,0,0]");
	at += sprintf(body + at, ",\"outputs\":[\"%s\"]", vectors ? "hessian_products" : "potential");
	print_rows(vector, 6 * N_BODIES, "0");
	at += vectors ? sprintf(body + at, ",\"vectors\":") : 0;
	at += vectors ? print_rows(body + at, N_VECTORS, vector) : 0;
	sprintf(body + at, "}");
	return body;
}

/* A product has as many numbers as there are DOFs, however few contacts there are. */
static void answers_with_many_numbers_are_deferred(void **unused)
{
	(void)unused;
	assert_false(is_deferred(evaluate, many_bodies(false)));
	assert_true(is_deferred(evaluate, many_bodies(true)));
}

/* A contact of bodies takes longer, and so does printing text. */
static void bodies_and_texts_take_longer(void **unused)
{
	(void)unused;
	char body[LONGEST];
	int at = sprintf(body, "{\"dim\":3,\"body_positions\":[[0,0,0]],\"body_velocities\":[[1,0,0,0,0,0]],\"outputs\":"
	                       "[\"gradient\"],\"friction\":{\"eps_v\":1,\"mu\":1},\"collisions\":{\"body_world\":"
	                       "{\"point\":[0,0,0],\"normal\":[0,0,1],\"normal_force\":1,\"bodies\":[0");
	for (int i = 1; i < 120; i++)
		at += sprintf(body + at, ",0");
	sprintf(body + at, "]}}}");
	assert_true(is_deferred(evaluate, body));
	const char *batch = batch_of(200, "");
	struct api_service defers = service;
	struct api_response response;
	defers.defers = true;
	struct api_request request = {
		.method = "POST", .target = evaluate, .accept = frame, .body = batch, .body_bytes = strlen(batch)};
	assert_true(api_handle(&defers, &request, &response));
	api_response_free(&response);
	request.accept = json;
	assert_false(api_handle(&defers, &request, &response));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(admits),
		cmocka_unit_test(refuses),
		cmocka_unit_test(names_what_is_allowed),
		cmocka_unit_test(names_the_limit),
		cmocka_unit_test(answers_all_routes),
		cmocka_unit_test(a_check_is_not_counted),
		cmocka_unit_test(info_tells_the_limits_of_sets),
		cmocka_unit_test(head_has_the_body_of_get),
		cmocka_unit_test(refuses_bodies),
		cmocka_unit_test(handles_what_was_not_admitted),
		cmocka_unit_test(reads_no_byte_beyond_the_body),
		cmocka_unit_test(a_long_url_query_is_refused),
		cmocka_unit_test(a_long_answer_is_refused),
		cmocka_unit_test(long_bodies_are_large),
		cmocka_unit_test(long_requests_are_deferred),
		cmocka_unit_test(answers_with_many_numbers_are_deferred),
		cmocka_unit_test(bodies_and_texts_take_longer),
		cmocka_unit_test(a_raised_flag_stops),
		cmocka_unit_test(tells_its_times),
		cmocka_unit_test(measures),
		cmocka_unit_test(the_same_bytes_at_any_number_of_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
