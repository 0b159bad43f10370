/* Requests that count as use of a collision set: they count as hits or misses and postpone the set's expiry. */
#include "api/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/base/pool.h"
#include "api/sets/store.h"

enum { SECOND = 1000, IDLE_SECONDS = 900 };

#define DOCUMENT \
	"{\"dim\":3,\"n_vertices\":1,\"friction\":{\"eps_v\":0.5,\"mu\":0.5},\"collisions\":{\"plane_vertex\":{" \
	"\"vertices\":[0],\"plane_normal\":[0,0,1],\"normal_force\":8}}}"
#define VELOCITIES "\"velocities\":[[0.25,0,0]]"

static int64_t clock_ms;
static struct api_service service;

static int64_t now_ms(void)
{
	return clock_ms;
}

static int start(void **unused)
{
	(void)unused;
	const struct api_sets_limits limits = {
		.bytes = 1 << 24, .bytes_per_caller = 1 << 24, .n = 8, .n_per_caller = 8, .idle_seconds = IDLE_SECONDS};
	service = (struct api_service){.n_threads = 1,
	                               .max_json_bytes = 1 << 20,
	                               .max_frame_bytes = 1 << 20,
	                               .max_answer_bytes = 1 << 20,
	                               .sets = api_sets_create(&limits, now_ms)};
	return service.sets ? 0 : -1;
}

static int stop(void **unused)
{
	(void)unused;
	api_sets_free(service.sets);
	return 0;
}

static struct api_measure measure; /* measured for the last request */

static int send_to(const char *method, const char *target, const char *body)
{
	const struct api_request request = {.method = method,
	                                    .target = target,
	                                    .content_type = *body ? "application/json" : NULL,
	                                    .body = body,
	                                    .body_bytes = strlen(body)};
	struct api_response response;
	api_is_large(&service, &request);
	api_handle(&service, &request, &response);
	const int status = response.status;
	measure = response.measure;
	api_response_free(&response);
	return status;
}

static const struct {
	const char *method, *target, *body;
	bool is_use;
	int missing; /* status without the set */
} requests[] = {
	{"POST", "/v1/sets/a/evaluate", "{" VELOCITIES "}", true, 404},
	{"POST", "/v1/sets/a/check", "{" VELOCITIES "}", true, 404},
	{"POST", "/v1/sets/a/jvp", "{" VELOCITIES ",\"tangents\":{\"/velocities\":[1,0,0]}}", true, 404},
	{"POST", "/v1/sets/a/vjp", "{" VELOCITIES ",\"cotangents\":{\"potential\":1},\"wrt\":[\"/velocities\"]}", true,
     404},
	{"GET", "/v1/sets/a/pattern", "", true, 404},
	{"POST", "/Evaluate", "{\"name\":\"friction\",\"input\":[[1,0,0],[0.5]],\"config\":{\"set\":\"a\"}}", true, 400},
	{"POST", "/InputSizes", "{\"name\":\"friction\",\"config\":{\"set\":\"a\"}}", true, 400},
	{"PATCH", "/v1/sets/a", "{\"dim\":3}", true, 404},
	{"GET", "/v1/sets/a", "", false, 404},
	{"HEAD", "/v1/sets/a", "", false, 404},
	{"GET", "/v1/sets", "", false, 200},
	{"GET", "/v1/info", "", false, 200},
};

static bool is_there(void)
{
	struct api_kept *kept = api_sets_hold(service.sets, NULL, "a", false);
	api_kept_release(kept);
	return kept;
}

/* Half of the idle time passes before the request, and a little more than the other half afterwards. */
static bool outlasts(const char *method, const char *target, const char *body)
{
	clock_ms += IDLE_SECONDS * SECOND / 2;
	const struct api_sets_counts before = api_sets_counts(service.sets);
	assert_int_equal(send_to(method, target, body), 200);
	const struct api_sets_counts after = api_sets_counts(service.sets);
	assert_int_equal(after.n_misses, before.n_misses);
	clock_ms += IDLE_SECONDS * SECOND / 2 + 1;
	const bool stays = is_there();
	assert_int_equal(after.n_hits - before.n_hits, stays);
	return stays;
}

static void what_is_use(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		assert_in_range(send_to("PUT", "/v1/sets/a", DOCUMENT), 200, 201);
		if (outlasts(requests[i].method, requests[i].target, requests[i].body) != requests[i].is_use)
			fail_msg("%s %s", requests[i].method, requests[i].target);
		clock_ms += 2 * IDLE_SECONDS * SECOND;
	}
}

static void putting_it_again_is_use(void **unused)
{
	(void)unused;
	assert_int_equal(send_to("PUT", "/v1/sets/a", DOCUMENT), 201);
	assert_true(outlasts("PUT", "/v1/sets/a", DOCUMENT));
	clock_ms += 2 * IDLE_SECONDS * SECOND;
}

static void requests_for_missing_sets_count_as_misses(void **unused)
{
	(void)unused;
	assert_false(is_there());
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		const struct api_sets_counts before = api_sets_counts(service.sets);
		assert_int_equal(send_to(requests[i].method, requests[i].target, requests[i].body), requests[i].missing);
		const struct api_sets_counts after = api_sets_counts(service.sets);
		assert_int_equal(after.n_misses - before.n_misses, requests[i].is_use);
		assert_int_equal(after.n_hits, before.n_hits);
	}
}

/* A request releases its hold on a set: then DELETE frees the set, and nothing of it counts any more. */
static void nobody_holds_it_afterwards(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		assert_int_equal(send_to("PUT", "/v1/sets/a", DOCUMENT), 201);
		assert_int_equal(send_to(requests[i].method, requests[i].target, requests[i].body), 200);
		assert_int_equal(send_to("DELETE", "/v1/sets/a", ""), 204);
		assert_int_equal(api_sets_counts(service.sets).bytes, 0);
	}
}

/* Evaluations and derivatives are measured, with the contacts that they evaluated. */
static void what_is_measured(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		const char *target = requests[i].target;
		const bool is = strstr(target, "aluate") || strstr(target, "jvp") || strstr(target, "vjp");
		assert_in_range(send_to("PUT", "/v1/sets/a", DOCUMENT), 200, 201);
		assert_int_equal(measure.n_phases, 0);
		assert_int_equal(measure.n_contacts, 0);
		assert_int_equal(send_to(requests[i].method, target, requests[i].body), 200);
		assert_int_equal(measure.n_phases, is ? API_N_PHASES : 0);
		assert_true(!is || measure.n_contacts > 0);
	}
	assert_int_equal(send_to("DELETE", "/v1/sets/a", ""), 204);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_use),
		cmocka_unit_test(putting_it_again_is_use),
		cmocka_unit_test(requests_for_missing_sets_count_as_misses),
		cmocka_unit_test(what_is_measured),
		cmocka_unit_test(nobody_holds_it_afterwards),
	};
	return cmocka_run_group_tests(tests, start, stop);
}
