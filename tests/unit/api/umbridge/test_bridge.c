/* Routes of UM-Bridge without a socket: the scene, large calls, and names of errors.
 * tests/integration/test_um_bridge.py tests the protocol as clients use it. */
#include "api/umbridge/bridge_ask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "api/base/account.h"
#include "api/sets/store.h"
#include "api/umbridge/bridge.h"
#include "tests/share.h"

static struct api_service service = {
	.n_threads = 1, .max_json_bytes = 1 << 20, .max_frame_bytes = 1 << 20, .max_answer_bytes = 1 << 20};

static struct api_request request_of(const char *method, const char *target, const char *body)
{
	return (struct api_request){
		.method = method, .target = target, .request_id = "id", .body = body, .body_bytes = body ? strlen(body) : 0};
}

/* ---- the scene ---- */

static void facts_are_those_of_the_scene(void **unused)
{
	(void)unused;
	struct api_document document;
	struct api_arena arena = {0};
	struct api_fault fault;
	struct api_lagged lagged;
	struct api_lagged_velocities velocities;
	struct api_set_facts facts;
	api_fault_clear(&fault);
	assert_true(api_scene_read(NULL, &document, &fault));
	struct api_check check = {.document = &document, .arena = &arena, .fault = &fault};
	assert_true(api_check_set(&check, &lagged, &velocities, &facts));
	assert_int_equal(facts.dim, api_scene_facts.dim);
	assert_int_equal(facts.n_vertices, api_scene_facts.n_vertices);
	assert_int_equal(facts.n_bodies, api_scene_facts.n_bodies);
	assert_int_equal(facts.has_bodies, api_scene_facts.has_bodies);
	assert_int_equal(facts.skip_degenerate, api_scene_facts.skip_degenerate);
	assert_int_equal(facts.lacks_positions, api_scene_facts.lacks_positions);
	for (int type = 0; type < FRIC_N_TYPES; type++)
		assert_true(lagged.batch.groups[type].n > 0);
	api_document_free(&document);
	api_arena_free(&arena);
}

/* ---- errors ---- */

static void tells(enum api_code code, int status, const char *body)
{
	struct api_fault fault;
	struct api_response response;
	api_fault_clear(&fault);
	api_fault_set(&fault, code, "it is \"so\"");
	api_response_clear(&response);
	api_bridge_fail(&fault, "id", &response);
	assert_int_equal(response.status, status);
	assert_string_equal(response.content_type, body ? "application/json" : "application/problem+json");
	if (body) {
		assert_int_equal(response.body_bytes, strlen(body));
		assert_memory_equal(response.body, body, strlen(body));
	}
	api_response_free(&response);
}

#define ERROR(type) "{\"error\":{\"type\":\"" type "\",\"message\":\"it is \\\"so\\\"\"}}"

/* Every code is either named by the protocol or a problem. */
static void errors_have_a_word_or_are_problems(void **unused)
{
	(void)unused;
	for (enum api_code code = API_NO_CODE + 1; code < API_N_CODES; code++) {
		const int status = api_code_status(code);
		if (code == API_E_RESULT_OVERFLOW)
			tells(code, 500, ERROR("InvalidOutput"));
		else if (status == 400 || status == 404 || status == 422)
			tells(code, 400, ERROR("InvalidInput"));
		else
			tells(code, status, NULL);
	}
}

/* A fault without a sentence of its own gets the sentence of its first culprit. */
static void errors_tell_the_first_culprit(void **unused)
{
	(void)unused;
	const struct api_path root = {0}, at = {&root, "mu", 0};
	struct api_fault fault;
	struct api_response response;
	api_fault_clear(&fault);
	api_fault_at(&fault, API_E_OUT_OF_RANGE, &at, "first");
	api_fault_at(&fault, API_E_OUT_OF_RANGE, &at, "second");
	api_response_clear(&response);
	api_bridge_fail(&fault, "id", &response);
	static const char expected[] = "{\"error\":{\"type\":\"InvalidInput\",\"message\":\"first\"}}";
	assert_int_equal(response.body_bytes, sizeof(expected) - 1);
	assert_memory_equal(response.body, expected, sizeof(expected) - 1);
	api_response_free(&response);
}

/* A stopped request, whatever else is wrong with it. */
static void stops_as_everywhere(void **unused)
{
	(void)unused;
	const atomic_bool stop = true;
	struct api_request request = request_of("POST", "/Evaluate", "{\"name\":\"nobody\"}");
	struct api_response response;
	request.stop = &stop;
	api_handle(&service, &request, &response);
	assert_int_equal(response.status, 503);
	assert_string_equal(response.content_type, "application/problem+json");
	api_response_free(&response);
}

/* ---- costs ---- */

static int64_t now_ms(void)
{
	return 0;
}

/* Puts a set of n contacts, each with its own vertex. */
static void put(const char *name, int n_vertices, int n)
{
	struct api_response response;
	char body[8192], target[64];
	int at =
		sprintf(body,
	            "{\"dim\":2,\"n_vertices\":%d,\"friction\":{\"mu\":1,\"eps_v\":1},\"collisions\":{\"plane_vertex\":"
	            "{\"plane_normal\":[0,1],\"normal_force\":1,\"vertices\":[0",
	            n_vertices);
	for (int i = 1; i < n; i++)
		at += sprintf(body + at, ",%d", i);
	sprintf(body + at, "]}}}");
	sprintf(target, "/v1/sets/%s", name);
	const struct api_request request = request_of("PUT", target, body);
	api_handle(&service, &request, &response);
	assert_int_equal(response.status, 201);
	api_response_free(&response);
}

static const struct api_sets_limits limits = {
	.bytes = 1 << 30, .bytes_per_caller = 1 << 30, .n = 8, .n_per_caller = 8, .idle_seconds = 900};

#define OF(config) \
	"{\"name\":\"friction\",\"outWrt\":0,\"inWrt\":0,\"vec\":[1],\"sens\":[1],\"input\":[[1]]," config "}"
#define SET(name) "\"config\":{\"inputs\":[\"/friction/mu\"],\"set\":" name "}"

/* The cost of a call depends on the set, however its name is written, and whatever comes before it. */
static void large_sets_are_deferred(void **unused)
{
	(void)unused;
	static const struct {
		const char *body;
		bool is_deferred;
	} cases[] = {
		{OF(SET("\"few\"")), false},
		{OF(SET("\"many\"")), true},
		{OF(SET("\"man\\u0079\"")), true},
		{OF("\"config\":{\"inputs\":[\"/friction/mu\"],\"\\u0073et\":\"many\"}"), true},
		{OF("\"x\":{\"set\":\"none\"}," SET("\"many\"")), true},
		{OF("\"x\":{\"set\":\"many\"}," SET("\"few\"")), false},
		{OF(SET("\"sparse\"")), true},
	};
	static const char *const targets[] = {"/Evaluate", "/Gradient", "/ApplyJacobian"};
	struct api_service defers;
	service.sets = api_sets_create(&limits, now_ms);
	put("few", 5, 5);
	put("many", 1000, 1000);
	put("sparse", 50000000, 1);
	defers = service;
	defers.defers = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t j = 0; j < sizeof(targets) / sizeof(targets[0]); j++) {
			struct api_response response;
			const struct api_request request = request_of("POST", targets[j], cases[i].body);
			assert_false(api_is_large(&service, &request));
			const bool answered = api_handle(&defers, &request, &response);
			if (answered)
				assert_int_equal(response.status, 200);
			if (answered == cases[i].is_deferred)
				fail_msg("%s: %s", targets[j], cases[i].body);
			api_response_free(&response);
		}
	api_sets_free(service.sets);
	service.sets = NULL;
}

/* Deferring reads no part of the set's document, counts as one use, and leaks nothing. */
static void deferred_calls_count_once(void **unused)
{
	(void)unused;
	struct api_response response;
	struct api_request request = request_of("POST", "/Evaluate", OF(SET("\"many\"")));
	service.sets = api_sets_create(&limits, now_ms);
	put("many", 1000, 1000);
	struct api_service defers = service;
	defers.defers = true;
	assert_false(api_handle(&defers, &request, &response));
	request.was_deferred = true;
	assert_true(api_handle(&service, &request, &response));
	assert_int_equal(response.status, 200);
	api_response_free(&response);
	assert_int_equal(api_sets_counts(service.sets).n_hits, 1);
	api_sets_free(service.sets);
	service.sets = NULL;
}

/* ---- stop ---- */

/* Raised when that many bytes are to be zeroed, unless NULL. */
static atomic_bool *raised;
static size_t raised_at;

bool __real_api_account_zero(void *block, size_t bytes);
bool __wrap_api_account_zero(void *block, size_t bytes);
bool __wrap_api_account_zero(void *block, size_t bytes)
{
	if (raised && bytes == raised_at)
		atomic_store(raised, true);
	return __real_api_account_zero(block, bytes);
}

static long faults_of_process(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* @return number of pages that the request has touched for the first time */
static long ask_stoppable(atomic_bool *stop, int status)
{
	struct api_request request =
		request_of("POST", "/Evaluate", OF("\"config\":{\"inputs\":[\"/friction/mu\"],\"set\":\"sparse\"}"));
	struct api_response response;
	request.stop = stop;
	const long before = faults_of_process();
	api_handle(&service, &request, &response);
	const long touched = faults_of_process() - before;
	assert_int_equal(response.status, status);
	api_response_free(&response);
	return touched;
}

/* Velocities that are not inputs are zeros, one row per vertex of the set. Once the request is stopped, their
 * pages stay untouched. */
static void a_raised_flag_ends_zeros(void **unused)
{
	(void)unused;
	enum { N_VERTICES = 400000 };
	struct api_budget budget = {.most_bytes = (size_t)8 << 30};
	atomic_bool stop = false;
	service.pool = api_pool_create(0, &budget);
	service.sets = api_sets_create(&limits, now_ms);
	put("sparse", N_VERTICES, 1);
	const long all = ask_stoppable(&stop, 200);
	raised = &stop;
	raised_at = N_VERTICES * 2 * sizeof(double);
	const long touched = ask_stoppable(&stop, 503);
	raised = NULL;
	if (!IS_SANITIZED && touched > all / 2) /* a sanitizer touches pages of its own */
		fail_msg("%ld pages of %ld", touched, all);
	api_sets_free(service.sets);
	api_pool_free(service.pool);
	service.sets = NULL;
	service.pool = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_are_those_of_the_scene),  cmocka_unit_test(errors_have_a_word_or_are_problems),
		cmocka_unit_test(errors_tell_the_first_culprit), cmocka_unit_test(stops_as_everywhere),
		cmocka_unit_test(large_sets_are_deferred),       cmocka_unit_test(deferred_calls_count_once),
		cmocka_unit_test(a_raised_flag_ends_zeros),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
