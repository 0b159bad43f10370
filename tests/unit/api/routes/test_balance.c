/* Each kind of request returns everything that it takes from the pool and from the budget, and the longest possible
 * response is exactly as long as the limit. */
#include "api/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/base/pool.h"

#define JSON "application/json"
#define FRAME "application/vnd.frictiond.frame"
#define EVALUATE "/v1/evaluate"
#define FUNCTION "/v1/functions/smooth_friction_f1"

enum { N = 20000, ROOM = 4 << 20 }; /* contacts: enough to make every array a separate block of the pool */

struct body {
	char *bytes;
	size_t n;
};

static struct body empty;

static void put(struct body *body, const char *text)
{
	assert_true(body->n + strlen(text) < ROOM);
	memcpy(body->bytes + body->n, text, strlen(text));
	body->n += strlen(text);
}

static struct body make_body(void)
{
	struct body body = {malloc(ROOM), 0};
	assert_non_null(body.bytes);
	return body;
}

/* N vertices on a plane; `force` is a member of the group, `rest` is inserted before the end. */
static struct body pressed(const char *force, const char *rest)
{
	struct body body = make_body();
	char number[16];
	put(&body, "{\"dim\":2,\"friction\":{\"mu\":0.3,\"eps_v\":0.1},\"velocities\":[[0.5,0.25]");
	for (int i = 1; i < N; i++)
		put(&body, ",[0.5,0.25]");
	put(&body, "],\"collisions\":{\"plane_vertex\":{\"plane_normal\":[0,1],");
	put(&body, force);
	put(&body, ",\"vertices\":[0");
	for (int i = 1; i < N; i++) {
		snprintf(number, sizeof number, ",%d", i);
		put(&body, number);
	}
	put(&body, "]}}");
	put(&body, rest);
	put(&body, "}");
	return body;
}

static struct body evaluation(const char *rest)
{
	return pressed("\"normal_force\":1", rest);
}

/* As above, with positions. */
static struct body placed(const char *force, const char *rest)
{
	struct body positions = make_body();
	put(&positions, rest);
	put(&positions, ",\"positions\":[[0,1]");
	for (int i = 1; i < N; i++)
		put(&positions, ",[0,1]");
	put(&positions, "]");
	positions.bytes[positions.n] = '\0';
	const struct body body = pressed(force, positions.bytes);
	free(positions.bytes);
	return body;
}

static struct body with_positions(const char *rest)
{
	return placed("\"normal_force\":1", rest);
}

static struct body with_barrier(const char *rest)
{
	char all[512];
	snprintf(all, sizeof all, ",\"barrier\":{\"dhat\":2,\"stiffness\":1}%s", rest);
	return placed("\"plane_origin\":[0,0]", all);
}

/* A contact with an ellipse. */
static struct body matchstick(void)
{
	struct body body = make_body();
	put(&body,
	    "{\"dim\":3,\"friction\":{\"mu\":0.3,\"eps_v\":0.1},\"velocities\":[[0.5,0.25,0]],\"collisions\":"
	    "{\"plane_vertex\":{\"plane_normal\":[0,0,1],\"normal_force\":1,\"vertices\":[0],\"mu_s_aniso\":[1,2]}}}");
	return body;
}

/* {"y": N numbers of the tail, "eps_v": 1} */
static struct body frame(void)
{
	struct body body = make_body();
	char document[120];
	const int n =
		snprintf(document, sizeof document, "{\"y\":{\"dtype\":\"f64\",\"shape\":[%d],\"offset\":0},\"eps_v\":1}", N);
	const uint64_t length = sizeof document;
	memset(document + n, ' ', sizeof document - (size_t)n);
	memcpy(body.bytes, &length, sizeof length);
	memcpy(body.bytes + sizeof length, document, sizeof document);
	memset(body.bytes + sizeof length + sizeof document, 0, N * sizeof(double));
	body.n = sizeof length + sizeof document + N * sizeof(double);
	return body;
}

static struct api_response handle(const struct api_service *service, struct api_request request, struct body body)
{
	struct api_response response;
	request.body = body.bytes;
	request.body_bytes = body.n;
	memset(&response, 0xAB, sizeof response);
	api_handle(service, &request, &response);
	return response;
}

/* ---- returned memory ---- */

static struct api_budget budget = {.most_bytes = 256 << 20};
static struct api_service service = {
	.n_threads = 1, .max_json_bytes = ROOM, .max_frame_bytes = ROOM, .max_answer_bytes = 64 << 20};

static void holds_nothing(const char *what)
{
	if (atomic_load(&budget.used_bytes) || api_pool_counts(service.pool).used_bytes)
		fail_msg("%s: %zu bytes count, %zu are out", what, atomic_load(&budget.used_bytes),
		         api_pool_counts(service.pool).used_bytes);
}

static void gives_back(const char *what, int status, struct api_request request, struct body body)
{
	for (int i = 0; i < 2; i++) { /* from fresh memory, then from warm */
		struct api_response response = handle(&service, request, body);
		if (response.status != status)
			fail_msg("%s: %d, not %d: %.*s", what, response.status, status, (int)response.body_bytes, response.body);
		api_response_free(&response);
		holds_nothing(what);
	}
	free(body.bytes);
}

static void get(const char *target, int status)
{
	gives_back(target, status, (struct api_request){.method = "GET", .target = target}, empty);
}

static void post(const char *what, int status, const char *target, const char *accept, struct body body)
{
	gives_back(what, status, (struct api_request){.method = "POST", .target = target, .accept = accept}, body);
}

static void evaluations(void **unused)
{
	(void)unused;
	static const char *const formats[] = {"triplets", "csr", "factors"}, *const accepts[] = {JSON, FRAME};
	for (int f = 0; f < 3; f++)
		for (int a = 0; a < 2; a++) {
			char rest[256];
			snprintf(rest, sizeof rest,
			         ",\"hessian\":{\"format\":\"%s\"},\"outputs\":[\"potential\",\"gradient\",\"hessian\","
			         "\"collisions\"]",
			         formats[f]);
			post(formats[f], 200, EVALUATE, accepts[a], evaluation(rest));
		}
	post("matchstick", 200, EVALUATE, JSON, matchstick());
	for (int a = 0; a < 2; a++) {
		post("jvp", 200, "/v1/jvp", accepts[a], evaluation(",\"tangents\":{\"/friction/mu\":1}"));
		post("vjp", 200, "/v1/vjp", accepts[a],
		     evaluation(",\"cotangents\":{\"potential\":1},\"wrt\":[\"/velocities\",\"/friction/eps_v\"]"));
		post("Jacobian", 200, EVALUATE, accepts[a], with_positions(",\"outputs\":[\"position_jacobian\"]"));
	}
	for (int a = 0; a < 2; a++) {
		post("barrier", 200, EVALUATE, accepts[a], with_barrier(",\"terms\":[\"barrier\"]"));
		post("both", 200, EVALUATE, accepts[a],
		     with_barrier(",\"terms\":[\"friction\",\"barrier\"],\"hessian\":{\"format\":\"bsr\"}"));
	}
	static const char contacts[] =
		"{\"dim\":3,\"positions\":[[0,0,0],[1,0,0],[0,1,0],[0.25,0.25,0.125]],\"distance\":0.25,"
		"\"mesh\":{\"faces\":[[0,1,2]],\"vertices\":[3]},\"outputs\":[\"collisions\",\"distances\"],"
		"\"previous\":{\"collisions\":{}}}";
	for (int a = 0; a < 2; a++)
		post("contacts", 200, "/v1/contacts", accepts[a], (struct body){strdup(contacts), sizeof(contacts) - 1});
	post("check", 200, "/v1/check", JSON, evaluation(""));
	post("check", 200, "/v1/check", FRAME, evaluation(""));
}

static void functions_and_the_rest(void **unused)
{
	(void)unused;
	static const char *const targets[] = {"/v1/functions",
	                                      "/v1/info",
	                                      "/healthz",
	                                      "/readyz",
	                                      "/openapi.json",
	                                      "/",
	                                      "/explorer/explorer.js",
	                                      FUNCTION "?y=0,0.5&eps_v=1"};
	const struct api_request framed = {.method = "POST", .target = FUNCTION, .content_type = FRAME};
	for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
		get(targets[i], 200);
	static const char bundle[] = "{\"functions\":{\"smooth_friction_f1\":{\"y\":[0,0.5],\"eps_v\":1},"
								 "\"anisotropic_x_from_tau_aniso\":{\"tau_aniso\":[1,2]}}}",
					  wrong[] = "{\"functions\":{\"smooth_friction_f1\":{\"y\":[0,0.5],\"eps_v\":1},"
								"\"smooth_friction_f2_x_minus_f1_over_x3\":{\"y\":[0],\"eps_v\":1}}}";
	gives_back("a function of a frame", 200, framed, frame());
	post("a bundle", 200, "/v1/functions", JSON, (struct body){strdup(bundle), sizeof(bundle) - 1});
	post("a bundle with a pole", 422, "/v1/functions", JSON, (struct body){strdup(wrong), sizeof(wrong) - 1});
	post("not a frame's text", 400, FUNCTION, NULL, frame());
}

/* Requests that end early, at various points. */
static void refusals(void **unused)
{
	(void)unused;
	static const atomic_bool stopped = true;
	const struct api_request given_up = {.method = "POST", .target = EVALUATE, .stop = &stopped};
	struct body cut = evaluation("");
	cut.n -= 2;
	get("/nowhere", 404);
	get(EVALUATE, 405);
	get(FUNCTION "?y=x&eps_v=1", 422);
	post("cut off", 400, EVALUATE, NULL, cut);
	post("an unknown field", 422, EVALUATE, NULL, evaluation(",\"unknown\":1"));
	post("a wrong shape", 422, EVALUATE, NULL, evaluation(",\"positions\":[1,2,3]"));
	post("no output of that name", 422, EVALUATE, NULL, evaluation(",\"outputs\":[\"gradient\",\"none\"]"));
	post("no media type of that name", 406, EVALUATE, "text/plain", evaluation(""));
	gives_back("given up", 503, given_up, evaluation(""));
	service.max_answer_bytes = 1 << 18;
	post("too long a Hessian", 413, EVALUATE, JSON, evaluation(""));
	post("too long an answer", 413, EVALUATE, JSON, evaluation(",\"outputs\":[\"collisions\"]"));
	service.max_answer_bytes = 64 << 20;
	budget.most_bytes = 2 << 20;
	post("too much for all", 413, EVALUATE, JSON, evaluation(""));
	budget.most_bytes = 256 << 20;
}

/* ---- responses as long as the limit ---- */

static void is_bounded(struct api_request request, const char *text)
{
	struct api_service bounded = {
		.n_threads = 1, .max_json_bytes = 1000, .max_frame_bytes = 1000, .max_answer_bytes = 64 << 20};
	const struct body body = {(char *)(uintptr_t)text, strlen(text)};
	struct api_response response;
	size_t bytes, limit;
	do { /* some answers state the limit */
		limit = bounded.max_answer_bytes;
		response = handle(&bounded, request, body);
		if (response.status != 200)
			fail_msg("%s: %d", request.target, response.status);
		bounded.max_answer_bytes = bytes = response.body_bytes;
		api_response_free(&response);
	} while (bytes != limit);
	for (size_t off = 0; off < 2; off++) {
		bounded.max_answer_bytes = bytes - off;
		response = handle(&bounded, request, body);
		if (response.status != (off ? 413 : 200))
			fail_msg("%s of %zu bytes, limit %zu: %d", request.target, bytes, bytes - off, response.status);
		api_response_free(&response);
	}
}

static void an_answer_of_exactly_the_limit_is_given(void **unused)
{
	(void)unused;
	static const char *const targets[] = {"/v1/functions", "/v1/info", "/openapi.json", FUNCTION "?y=0,0.5&eps_v=1"};
	static const char batch[] =
		"{\"dim\":2,\"velocities\":[[0.5,0]],\"friction\":{\"mu\":1,\"eps_v\":1},\"outputs\":[\"gradient\"],"
		"\"collisions\":{\"plane_vertex\":{\"vertices\":[0],\"normal_force\":1,\"plane_normal\":[0,1]}}}";
	for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
		is_bounded((struct api_request){.method = "GET", .target = targets[i]}, "");
	is_bounded((struct api_request){.method = "POST", .target = EVALUATE, .accept = JSON}, batch);
	is_bounded((struct api_request){.method = "POST", .target = EVALUATE, .accept = FRAME}, batch);
	is_bounded((struct api_request){.method = "POST", .target = "/v1/check", .accept = JSON}, batch);
}

static int start(void **state)
{
	(void)state;
	service.pool = api_pool_create(64 << 20, &budget);
	return service.pool ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	api_pool_free(service.pool);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evaluations),
		cmocka_unit_test(functions_and_the_rest),
		cmocka_unit_test(refusals),
		cmocka_unit_test(an_answer_of_exactly_the_limit_is_given),
	};
	return cmocka_run_group_tests(tests, start, stop);
}
