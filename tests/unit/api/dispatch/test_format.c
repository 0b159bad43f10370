/* Formats of requests and responses; both formats contain the same numbers. */
#include "api/dispatch/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/codec/array.h"
#include "api/codec/frame.h"
#include "api/codec/frame_write.h"

#define JSON "application/json"
#define FRAME "application/vnd.frictiond.frame"

static const struct api_service service = {
	.n_threads = 1, .max_json_bytes = 1 << 20, .max_frame_bytes = 2 << 20, .max_answer_bytes = 64 << 20};

static void negotiates(void **unused)
{
	(void)unused;
	static const struct {
		const char *content_type, *accept;
		int status; /* from admission; 0: accepted */
		const char *answer;
	} cases[] = {
		{NULL, NULL, 0, JSON},
		{JSON, NULL, 0, JSON},
		{FRAME, NULL, 0, FRAME},
		{FRAME "; x=1", NULL, 0, FRAME},
		{"Application/VND.Frictiond.Frame", NULL, 0, FRAME},
		{"application/octet-stream", NULL, 415, NULL},
		{FRAME "s", NULL, 415, NULL},
		{"", NULL, 415, NULL},
		{"application/vnd.frictiond", NULL, 415, NULL},
		/* equally acceptable: the format of the request */
		{JSON, "*/*", 0, JSON},
		{FRAME, "*/*", 0, FRAME},
		{FRAME, "application/*", 0, FRAME},
		{JSON, "application/*", 0, JSON},
		{JSON, JSON ", " FRAME, 0, JSON},
		{FRAME, JSON ", " FRAME, 0, FRAME},
		{FRAME, "*/*;q=0.1", 0, FRAME},
		/* a choice */
		{JSON, FRAME, 0, FRAME},
		{FRAME, JSON, 0, JSON},
		{NULL, FRAME, 0, FRAME},
		{JSON, "text/html, " FRAME, 0, FRAME},
		{JSON, JSON ";q=0.5, " FRAME, 0, FRAME},
		{FRAME, JSON ", " FRAME ";q=0.9", 0, JSON},
		{JSON, JSON ";q=0.2, " FRAME ";q=0.3", 0, FRAME},
		{JSON, FRAME ";q=0.3," JSON ";q=0.2", 0, FRAME},
		/* the more specific range wins, at any position */
		{JSON, "*/*, " JSON ";q=0.5", 0, FRAME},
		{JSON, JSON ";q=0.5, */*", 0, FRAME},
		{FRAME, "application/*, " FRAME ";q=0", 0, JSON},
		{FRAME, "*/*;q=1, application/*;q=0.5, " JSON ";q=0.6", 0, JSON},
		{JSON, JSON ";q=0, */*", 0, FRAME},
		{JSON, JSON ";q=0, application/*;q=0.001", 0, FRAME},
		{FRAME, FRAME ";q=0, */*;q=0", 406, NULL},
		{FRAME, "text/html", 406, NULL},
		{JSON, FRAME ";q=0", 406, NULL},
		{JSON, "application/*;q=0", 406, NULL},
		{JSON, FRAME ";q=0.0, " JSON ";q=0.000", 406, NULL},
		{JSON, JSON ";q=nan, " FRAME ";q=0.1", 0, FRAME},
		{JSON, JSON ";q=-1", 406, NULL},
		{JSON, JSON ";q=7, " FRAME, 0, JSON},
		/* more than 1 counts as 1 */
		{JSON, JSON ", " FRAME ";q=5", 0, JSON},
		{FRAME, JSON ";q=5, " FRAME ";q=1", 0, FRAME},
		{JSON, "", 406, NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct api_request request = {.method = "POST",
		                                    .target = "/v1/evaluate",
		                                    .content_type = cases[i].content_type,
		                                    .accept = cases[i].accept};
		struct api_response response;
		const struct api_admission a = api_admit(&service, &request, 10, false, &response);
		if (a.accepted != !cases[i].status || (!a.accepted && response.status != cases[i].status))
			fail_msg("%zu: status %d", i, response.status);
		if (!a.accepted)
			assert_string_equal(response.content_type, "application/problem+json");
		else if (strcmp(api_format_type(a.formats.answer), cases[i].answer))
			fail_msg("%zu: %s", i, api_format_type(a.formats.answer));
		api_response_free(&response);
	}
}

/* The limit of the body depends on the request's type; a request without a body has none. */
static void limits_by_type(void **unused)
{
	(void)unused;
	struct api_request request = {.method = "POST", .target = "/v1/evaluate"};
	struct api_response response;
	const struct {
		const char *type;
		size_t limit;
	} cases[] = {{NULL, 1 << 20}, {JSON, 1 << 20}, {FRAME, 2 << 20}};
	for (int i = 0; i < 3; i++) {
		request.content_type = cases[i].type;
		const long long limit = (long long)cases[i].limit;
		assert_int_equal(api_admit(&service, &request, limit, false, &response).max_body_bytes, limit);
		assert_int_equal(api_admit(&service, &request, -1, true, &response).max_body_bytes, limit);
		assert_false(api_admit(&service, &request, limit + 1, false, &response).accepted);
		assert_int_equal(response.status, 413);
		api_response_free(&response);
	}
	request.method = "GET";
	request.target = "/v1/info";
	request.content_type = "nonsense";
	assert_true(api_admit(&service, &request, -1, false, &response).accepted);
}

static struct api_response handle(const char *method, const char *target, const char *type, const char *accept,
                                  const char *body, size_t bytes)
{
	const struct api_request request = {
		.method = method, .target = target, .content_type = type, .accept = accept, .body = body, .body_bytes = bytes};
	struct api_response response;
	api_handle(&service, &request, &response);
	return response;
}

static char *join(const struct api_response *response)
{
	char *all = malloc(response->body_bytes + 1), *p = all;
	for (int i = 0; i < response->n_parts; p += response->parts[i++].n)
		memcpy(p, response->parts[i].bytes, response->parts[i].n);
	if (!response->n_parts)
		memcpy(all, response->body, response->body_bytes);
	else
		assert_int_equal(p - all, response->body_bytes);
	return all;
}

/* Two arrays, one of them read from text, have the same numbers in the same shape. */
static void same_array(const struct api_array *text, const struct api_array *frame)
{
	double *values = malloc((frame->n + 1) * sizeof(double));
	assert_true(text && frame && text->n == frame->n && (text->n == 0 || text->rank == frame->rank));
	for (int i = 0; i < text->rank && text->n; i++)
		assert_int_equal(text->shape[i], frame->shape[i]);
	assert_int_equal(frame->binary, frame->n >= API_LEAST_BINARY && frame->rank > 0);
	api_array_to_reals(frame, values);
	assert_memory_equal(values, text->data, text->n * sizeof(double));
	free(values);
}

static void same_tree(const struct api_document *text, const json_t *a, const struct api_document *frame,
                      const json_t *b)
{
	const char *key;
	json_t *value;
	assert_int_equal(json_typeof(a), json_typeof(b));
	if (json_is_integer(a)) {
		same_array(api_document_array(text, a), api_document_array(frame, b));
	} else if (json_is_object(a)) {
		assert_int_equal(json_object_size(a), json_object_size(b));
		json_object_foreach((json_t *)(uintptr_t)a, key, value)
			same_tree(text, value, frame, json_object_get(b, key));
	} else if (json_is_array(a)) {
		assert_int_equal(json_array_size(a), json_array_size(b));
		for (size_t i = 0; i < json_array_size(a); i++)
			same_tree(text, json_array_get(a, i), frame, json_array_get(b, i));
	} else {
		assert_true(json_equal(a, b));
	}
}

/* Both formats must get 200 with the same bits. @return whether the frame was sent in parts */
static bool same_answer(const char *method, const char *target, const char *type, const char *body, size_t bytes)
{
	struct api_response json = handle(method, target, type, JSON, body, bytes),
						frame = handle(method, target, type, FRAME, body, bytes);
	struct api_document a, b;
	struct api_text_fault text;
	struct api_fault fault = {0};
	struct api_arena arena = {0};
	if (json.status != 200 || frame.status != 200)
		fail_msg("%s: %d %d %.300s", target, json.status, frame.status, json.body);
	assert_string_equal(json.content_type, JSON);
	assert_string_equal(frame.content_type, FRAME);
	char *all = join(&frame);
	assert_true(api_document_read_pooled(NULL, json.body, json.body_bytes, &a, &text));
	assert_true(api_frame_read(&(struct api_part){all, frame.body_bytes}, 1, SIZE_MAX, &arena, &b, &fault));
	same_tree(&a, a.root, &b, b.root);
	const bool parts = frame.parts;
	api_document_free(&a);
	api_document_free(&b);
	api_arena_free(&arena);
	free(all);
	api_response_free(&json);
	api_response_free(&frame);
	return parts;
}

static void functions_answer_alike(void **unused)
{
	(void)unused;
	char body[1024];
	assert_false(same_answer("GET", "/v1/functions", NULL, NULL, 0));
	assert_false(same_answer("GET", "/v1/info", NULL, NULL, 0));
	assert_false(same_answer("GET", "/v1/functions/smooth_friction_f1?y=1,2&eps_v=3", NULL, NULL, 0));
	const char text[] = "{\"tau_aniso\":[[0,0],[1,2],[3,4],[-1,2],[5,6],[7,8],[1,0],[0,1],[9,1e-20]]}";
	same_answer("POST", "/v1/functions/anisotropic_x_from_tau_aniso", JSON, text, strlen(text));
	/* 40 points as f32, one eps_v as i32 of shape [] */
	const char header[] = "{\"y\":{\"dtype\":\"f32\",\"shape\":[40],\"offset\":8},\"mu_s\":1,\"mu_k\":0.5,"
						  "\"eps_v\":{\"dtype\":\"i32\",\"shape\":[],\"offset\":0}}     ";
	const uint64_t length = 184;
	memset(body, ' ', 192);
	memcpy(body, &length, 8);
	memcpy(body + 8, header, strlen(header));
	memcpy(body + 192, &(int64_t){20}, 8);
	for (int i = 0; i < 40; i++)
		memcpy(body + 200 + 4 * i, &(float){(float)i * 0.7f}, 4);
	same_answer("POST", "/v1/functions/smooth_mu_f1", FRAME, body, 200 + 160);
}

/* n pairs of vertices in a row, all sliding, as text. */
static char *pairs(int n, const char *hessian)
{
	char *text = malloc((size_t)n * 200 + 1000), *p = text;
	p += sprintf(
		p,
		"{\"dim\":2,\"friction\":{\"eps_v\":0.1,\"mu\":0.5},\"hessian\":{\"format\":\"%s\"},"
		"\"outputs\":[\"potential\",\"gradient\",\"hessian\",\"collisions\"],\"on_degenerate\":\"skip\",\"velocities\":[",
		hessian);
	for (int i = 0; i < 2 * n; i++)
		p += sprintf(p, "%s%.17g,%.17g", i ? "," : "", i / 3.0, -i / 7.0);
	p = stpcpy(p, "],\"positions\":[");
	for (int i = 0; i < 2 * n; i++)
		p += sprintf(p, "%s%d,%d", i ? "," : "", i / 2, i % 10 == 9 ? 0 : i % 2);
	p = stpcpy(p, "],\"collisions\":{\"vertex_vertex\":{\"normal_force\":2,\"vertices\":[");
	for (int i = 0; i < n; i++)
		p += sprintf(p, "%s[%d,%d]", i ? "," : "", 2 * i, 2 * i + 1);
	strcpy(p, "]},\"edge_vertex\":{\"vertices\":[]}}}");
	return text;
}

static void evaluations_answer_alike(void **unused)
{
	(void)unused;
	static const char *const formats[] = {"triplets", "csr", "factors"};
	static const int sizes[] = {0, 1, 4, 16, 3000};
	for (int f = 0; f < 3; f++)
		for (int s = 0; s < 5; s++) {
			char *text = pairs(sizes[s], formats[f]);
			assert_true(same_answer("POST", "/v1/evaluate", JSON, text, strlen(text)) == (sizes[s] == 3000));
			free(text);
		}
}

/* Memory that parts point to lives as long as the response, and everything else is freed. */
static void parts_outlive_the_request(void **unused)
{
	(void)unused;
	char *text = pairs(3000, "csr");
	struct api_response once = handle("POST", "/v1/evaluate", JSON, FRAME, text, strlen(text));
	struct api_response again = handle("POST", "/v1/evaluate", JSON, FRAME, text, strlen(text));
	memset(text, 'x', strlen(text));
	free(text);
	assert_true(once.n_parts > 4 && once.n_parts <= API_MAX_PARTS && once.release);
	size_t total = 0;
	for (int i = 0; i < once.n_parts; i++)
		total += once.parts[i].n;
	assert_int_equal(total, once.body_bytes);
	char *a = join(&once), *b = join(&again);
	assert_memory_equal(a, b, once.body_bytes);
	free(a);
	free(b);
	api_response_free(&once);
	api_response_free(&once);
	api_response_free(&again);
}

static void keeps_to_the_longest_answer(void **unused)
{
	(void)unused;
	struct api_service tight = service;
	char *text = pairs(3000, "factors");
	const struct api_request request = {.method = "POST",
	                                    .target = "/v1/evaluate",
	                                    .content_type = JSON,
	                                    .accept = FRAME,
	                                    .body = text,
	                                    .body_bytes = strlen(text)};
	struct api_response response;
	api_handle(&tight, &request, &response);
	assert_int_equal(response.status, 200);
	tight.max_answer_bytes = response.body_bytes;
	api_response_free(&response);
	api_handle(&tight, &request, &response);
	assert_int_equal(response.status, 200);
	api_response_free(&response);
	tight.max_answer_bytes--;
	api_handle(&tight, &request, &response);
	assert_int_equal(response.status, 413);
	assert_true(!response.parts && !response.release);
	assert_string_equal(response.content_type, "application/problem+json");
	api_response_free(&response);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(negotiates),
		cmocka_unit_test(limits_by_type),
		cmocka_unit_test(functions_answer_alike),
		cmocka_unit_test(evaluations_answer_alike),
		cmocka_unit_test(parts_outlive_the_request),
		cmocka_unit_test(keeps_to_the_longest_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
