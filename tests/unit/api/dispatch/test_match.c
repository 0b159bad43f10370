/* Matching targets with rows. Uses a table and handlers of the test, which shows that a new route takes only one
 * row. */
#include "api/dispatch/match.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/contract/openapi.h"
#include "api/problem.h"
#include "api/routes/table.h"

static const char frame[] = "application/vnd.frictiond.frame";
/* clang-format off */
static const struct api_service service = {
	.n_threads = 1, .max_json_bytes = 1000, .max_frame_bytes = 2000, .max_answer_bytes = 1 << 20};

/* ---- the test's own table ---- */

enum { TEXT_BYTES = 5 * API_NAME_BYTES };

/* Returns its names, its query and its caller. */
static bool tell(const struct api_call *call)
{
	const struct api_request *request = call->request;
	const struct api_match *match = request->match;
	struct api_response *response = call->response;
	char *text = malloc(TEXT_BYTES);
	if (!strcmp(match->names[0], "faulty")) {
		free(text);
		return api_fault_set(call->fault, API_E_OUT_OF_RANGE, "faulty");
	}
	snprintf(text, TEXT_BYTES, "%s %s|%s|%s|%s|%d%d", request->method, match->names[0], match->names[1], match->url_query,
	         request->caller ? request->caller : "", request->formats->body, request->formats->answer);
	response->status = 200;
	response->content_type = "text/plain";
	response->body = text;
	response->body_bytes = response->body_capacity = strlen(text);
	return true;
}

static void fail_in_plain_text(const struct api_fault *fault, const char *request_id, struct api_response *response)
{
	(void)request_id;
	response->status = fault->status;
	response->content_type = "text/plain";
	response->body = strdup(fault->detail);
	response->body_bytes = response->body_capacity = strlen(fault->detail);
}

static bool is_large(const struct api_service *of, const struct api_request *request)
{
	(void)of;
	return request->body_bytes > 10;
}

static bool is_no_ghost(const struct api_match *match)
{
	return strcmp(match->names[0], "ghost") != 0;
}

#define TEXTS(of) .id = of, .tag = "service", .summary = "S", .description = "D"
static const struct api_object *const bodies[] = {&api_request, NULL}, *const health[] = {&api_health_answer, NULL};
static const struct api_example examples[] = {
	{"any", "No request", NULL, "{'status': 'ok'}", 200}, {"one", "By its name", "{'id': 'a'}", "{'status': 'ok'}", 200}, {0}};
static const struct api_operation
	get_set = {.handler = tell, .answers = health, .examples = examples, TEXTS("getSet")},
	put_set = {.handler = tell, .is_large = is_large, .requests = bodies, .answers = health, .status = 201, TEXTS("putSet")},
	patch_set = {.handler = tell, .is_large = is_large, .requests = bodies, .answers = health, TEXTS("patchSet")},
	delete_set = {.handler = tell, .status = 204, TEXTS("deleteSet")},
	post_part = {.handler = tell, .is_large = is_large, .requests = bodies, .answers = health, TEXTS("postPart")},
	get_plain = {.handler = tell, .content = "{'text/plain': {}}", TEXTS("getPlain")};

static const struct api_route rows[] = {
	{"/sets/{id}", .methods = {[API_GET] = &get_set, [API_PUT] = &put_set, [API_PATCH] = &patch_set, [API_DELETE] = &delete_set},
	 .negotiates = true, .exists = is_no_ghost},
	{"/sets/{id}/parts/{part}", .methods[API_POST] = &post_part},
	{"/plain", .methods[API_GET] = &get_plain, .is_open = true, .fail = fail_in_plain_text},
	{"/files/{file}", .methods[API_GET] = &get_plain, .is_folder = true},
};
/* clang-format on */
static const struct api_table table = {rows, sizeof(rows) / sizeof(rows[0])};

/* ---- targets ---- */

static void leads_to_rows(void **unused)
{
	(void)unused;
	static const struct {
		const char *target;
		int row; /* -1: no route */
		const char *names[2], *url_query;
	} cases[] = {
		{"/sets/a", 0, {"a"}, ""},
		{"/sets/a?x=1?y", 0, {"a"}, "x=1?y"},
		{"/sets/%61%20b", 0, {"a b"}, ""},
		{"/sets/{id}", 0, {"{id}"}, ""},
		{"/sets/", -1, {""}, ""},
		{"/sets", -1, {""}, ""},
		{"/sets/a/", -1, {""}, ""},
		{"/sets/a%2Fb", -1, {""}, ""},
		{"/sets/a/parts/b", 1, {"a", "b"}, ""},
		{"/sets/a/parts/", -1, {""}, ""},
		{"/sets//parts/b", -1, {""}, ""},
		{"/sets/a/parts", -1, {""}, ""},
		{"/sets/parts/parts/parts", 1, {"parts", "parts"}, ""},
		{"/sets/a/parts/b/c", -1, {""}, ""},
		{"/plain?", 2, {NULL}, ""},
		{"/plainer", -1, {""}, ""},
		{"/plai", -1, {""}, ""},
		{"/files/", 3, {""}, ""},
		{"/files/a/b", 3, {"a/b"}, ""},
		{"/files", -1, {""}, ""},
		{"", -1, {""}, ""},
		{"*", -1, {""}, ""},
		{"?", -1, {""}, ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_match match;
		memset(&match, 0xAB, sizeof(match));
		api_match_in(&table, cases[i].target, &match);
		if (match.route != (cases[i].row < 0 ? NULL : &rows[cases[i].row]))
			fail_msg("%s leads to %s", cases[i].target, match.route ? match.route->path : "nothing");
		for (int n = 0; match.route && n < 2 && cases[i].names[n]; n++)
			assert_string_equal(match.names[n], cases[i].names[n]);
		if (match.route)
			assert_string_equal(match.url_query, cases[i].url_query);
	}
}

static void tells_plain_from_escaped(void **unused)
{
	(void)unused;
	static const struct {
		const char *target;
		bool is_plain, is_broken;
	} cases[] = {
		{"/plain", true, false},    {"/plain?%zz", true, false},  {"/%70lain", false, false},
		{"/sets/%61", true, false}, {"/%73ets/a", false, false},  {"/files/%zz", true, true},
		{"/nowhere", false, false}, {"/plain%", false, true},     {"/sets/%c3%bc", true, false},
		{"/sets/%ff", true, true},  {"/files/a/%c3", true, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_match match;
		api_match_in(&table, cases[i].target, &match);
		if (match.is_plain != cases[i].is_plain || match.is_broken != cases[i].is_broken)
			fail_msg("%s", cases[i].target);
	}
}

/* A truncated name would be the name of something else. */
static void names_that_are_too_long_lead_nowhere(void **unused)
{
	(void)unused;
	char target[] = "/sets/", path[sizeof(target) + API_NAME_BYTES];
	for (int n = API_NAME_BYTES - 1; n <= API_NAME_BYTES; n++) {
		struct api_match match;
		snprintf(path, sizeof(path), "%s%0*d", target, n, 0);
		api_match_in(&table, path, &match);
		assert_int_equal(match.is_broken, n == API_NAME_BYTES);
	}
}

static void long_paths_are_cut(void **unused)
{
	(void)unused;
	char target[3000] = "/sets/";
	struct api_match match;
	memset(target + 6, 'a', sizeof(target) - 7);
	api_match_in(&table, target, &match);
	assert_ptr_equal(match.route, &rows[0]);
	assert_int_equal(strlen(match.names[0]), API_NAME_BYTES - 1);
	assert_int_equal(strlen(match.path), API_PATH_BYTES - 1);
	memcpy(target + 1000, "/parts/b", 9);
	api_match_in(&table, target, &match);
	assert_ptr_equal(match.route, &rows[0]); /* the part that was cut off is not compared: no name is that long */
}

/* ---- whole requests ---- */

static struct api_admission admit(const char *method, const char *target, long long announced, const char *type,
                                  struct api_response *response)
{
	struct api_match match;
	api_match_in(&table, target, &match);
	const struct api_request request = {.method = method, .target = target, .content_type = type, .match = &match};
	return api_admit(&service, &request, announced, false, response);
}

static void admits_by_row(void **unused)
{
	(void)unused;
	static const struct {
		const char *method, *target;
		long long announced;
		const char *type;
		int status; /* 0: accepted */
		const char *allow;
	} cases[] = {
		{"PUT", "/sets/a", 5, NULL, 0, NULL},
		{"PUT", "/sets/a", 2000, frame, 0, NULL},
		{"PUT", "/sets/a", -1, NULL, 411, NULL},
		{"PUT", "/sets/a", 1001, NULL, 413, NULL},
		{"PATCH", "/sets/a", 5, "text/plain", 415, NULL},
		{"DELETE", "/sets/a", -1, "text/plain", 0, NULL},
		{"HEAD", "/sets/a", -1, NULL, 0, NULL},
		{"POST", "/sets/a", 5, NULL, 405, "GET, HEAD, PUT, PATCH, DELETE"},
		{"PUT", "/sets/ghost", 5, NULL, 404, NULL},
		{"put", "/sets/a", 5, NULL, 405, "GET, HEAD, PUT, PATCH, DELETE"},
		{"GET", "/sets/a/parts/b", -1, NULL, 405, "POST"},
		{"POST", "/sets/a/parts/b", 5, "text/plain", 0, NULL},
		{"GET", "/nowhere", -1, NULL, 404, NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_response response;
		const struct api_admission a =
			admit(cases[i].method, cases[i].target, cases[i].announced, cases[i].type, &response);
		if (a.accepted != !cases[i].status || (!a.accepted && response.status != cases[i].status))
			fail_msg("%s %s: %d", cases[i].method, cases[i].target, response.status);
		if (cases[i].allow)
			assert_string_equal(response.headers[0].value, cases[i].allow);
		if (a.accepted && cases[i].announced >= 0)
			assert_true(a.computes && a.max_body_bytes == (cases[i].type == frame ? 2000 : 1000));
		api_response_free(&response);
	}
}

static struct api_response handle(const char *method, const char *target, const char *accept)
{
	struct api_match match;
	struct api_response response;
	api_match_in(&table, target, &match);
	const struct api_request request = {.method = method,
	                                    .target = target,
	                                    .accept = accept,
	                                    .caller = "ann",
	                                    .match = &match,
	                                    .body = "",
	                                    .body_bytes = 0};
	api_handle(&service, &request, &response);
	return response;
}

static void handlers_see_what_was_matched(void **unused)
{
	(void)unused;
	static const struct {
		const char *method, *target, *accept, *text;
	} cases[] = {
		{"PUT", "/sets/a?b", NULL, "PUT a||b|ann|00"},
		{"DELETE", "/sets/%7E", frame, "DELETE ~|||ann|01"},
		{"PATCH", "/sets/a", frame, "PATCH a|||ann|01"},
		{"POST", "/sets/a/parts/b", frame, "POST a|b||ann|00"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct api_response response = handle(cases[i].method, cases[i].target, cases[i].accept);
		assert_int_equal(response.status, 200);
		assert_string_equal(response.body, cases[i].text);
		api_response_free(&response);
	}
}

static void faults_are_told_as_the_row_says(void **unused)
{
	(void)unused;
	struct api_response plain = handle("PUT", "/plain", NULL), problem = handle("PUT", "/sets/faulty", NULL);
	assert_int_equal(plain.status, 405);
	assert_string_equal(plain.content_type, "text/plain");
	assert_int_equal(problem.status, 422);
	assert_string_equal(problem.content_type, "application/problem+json");
	api_response_free(&plain);
	api_response_free(&problem);
}

static void costs_are_the_rows(void **unused)
{
	(void)unused;
	struct api_match match;
	struct api_request request = {
		.method = "PUT", .target = "/sets/a", .match = &match, .body = "12345678901", .body_bytes = 10};
	api_match_in(&table, request.target, &match);
	assert_false(api_is_large(&service, &request));
	request.body_bytes = 11;
	assert_true(api_is_large(&service, &request));
	request.method = "DELETE";
	assert_false(api_is_large(&service, &request));
}

/* ---- the OpenAPI description ---- */

static const json_t *at(const json_t *root, const char *first, const char *second, const char *third)
{
	const json_t *node = json_object_get(json_object_get(json_object_get(root, "paths"), first), second);
	return third ? json_object_get(node, third) : node;
}

static void describes_the_table_it_is_given(void **unused)
{
	(void)unused;
	size_t bytes;
	char *text = api_openapi_print(&service, &table, &bytes), allow[API_ALLOW_BYTES];
	json_t *root = json_loadb(text, bytes, 0, NULL);
	assert_non_null(root);
	assert_int_equal(json_object_size(json_object_get(root, "paths")), table.n);
	assert_non_null(at(root, "/sets/{id}", "put", "requestBody"));
	assert_non_null(at(root, "/sets/{id}", "head", NULL));
	assert_null(at(root, "/sets/{id}", "delete", "requestBody"));
	assert_non_null(json_object_get(at(root, "/sets/{id}", "put", "responses"), "201"));
	assert_non_null(json_object_get(at(root, "/sets/{id}", "put", "responses"), "411"));
	assert_null(json_object_get(json_object_get(at(root, "/sets/{id}", "delete", "responses"), "204"), "content"));
	assert_int_equal(
		json_object_size(json_object_get(json_array_get(at(root, "/sets/{id}", "get", "parameters"), 2), "examples")),
		1);
	assert_int_equal(json_array_size(at(root, "/sets/{id}/parts/{part}", "post", "parameters")), 4);
	assert_null(at(root, "/sets/{id}", "get", "security"));
	assert_non_null(at(root, "/plain", "get", "security"));
	api_table_allow(&table, allow);
	assert_string_equal(allow, "GET, HEAD, POST, PUT, PATCH, DELETE");
	json_decref(root);
	free(text);
}

/* ---- the table of the service ---- */

static void rows_are_whole(void **unused)
{
	(void)unused;
	char allow[API_ALLOW_BYTES];
	for (int i = 0; i < api_routes.n; i++) {
		const struct api_route *route = &api_routes.rows[i];
		int names = 0;
		for (const char *c = route->path; *c; c++)
			names += *c == '{';
		assert_true(*route->path == '/' && names <= API_MAX_NAMES);
		api_route_allow(route, allow);
		assert_true(*allow);
		for (int m = 0; m < API_N_METHODS; m++) {
			const struct api_operation *o = route->methods[m];
			if (o && (!o->id || !o->tag || !o->summary || !o->description ||
			          (!o->answers && !o->content && o->status != 204 && o->status != 308) ||
			          !o->handler != route->is_servers || (o->requests && !o->is_large)))
				fail_msg("%s", route->path);
		}
		for (int other = 0; other < i; other++)
			assert_string_not_equal(route->path, api_routes.rows[other].path);
	}
	api_table_allow(&api_routes, allow);
	assert_string_equal(allow, "GET, HEAD, POST, PUT, PATCH, DELETE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leads_to_rows),
		cmocka_unit_test(tells_plain_from_escaped),
		cmocka_unit_test(long_paths_are_cut),
		cmocka_unit_test(names_that_are_too_long_lead_nowhere),
		cmocka_unit_test(admits_by_row),
		cmocka_unit_test(handlers_see_what_was_matched),
		cmocka_unit_test(faults_are_told_as_the_row_says),
		cmocka_unit_test(costs_are_the_rows),
		cmocka_unit_test(describes_the_table_it_is_given),
		cmocka_unit_test(rows_are_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
