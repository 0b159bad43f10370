/* A request's cost is estimated in advance, from the set of the given name. By the time it is computed, that name may
 * refer to a larger set, and the caller may have more sets. So the cost is estimated again before anything is read.
 * A patch finds the contacts of a mesh anew only if they may differ. */
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
#include "api/sets/archive.h"
#include "api/sets/store.h"

enum { MANY_CONTACTS = 20000, MANY_SETS = 500 };

#define VELOCITIES "\"velocities\":[[0.25,0,0]]"

static struct api_service service;
static int n_reads, n_lists, n_searches;

bool __real_api_archive_read(const struct api_archive *rest, struct api_arena *arena, struct api_document *document,
                             struct api_fault *fault);
bool __wrap_api_archive_read(const struct api_archive *rest, struct api_arena *arena, struct api_document *document,
                             struct api_fault *fault);
bool __wrap_api_archive_read(const struct api_archive *rest, struct api_arena *arena, struct api_document *document,
                             struct api_fault *fault)
{
	n_reads++;
	return __real_api_archive_read(rest, arena, document, fault);
}

bool __real_api_sets_list(struct api_sets *sets, const char *caller, struct api_arena *arena,
                          struct api_listed **listed, size_t *n, size_t *bytes);
bool __wrap_api_sets_list(struct api_sets *sets, const char *caller, struct api_arena *arena,
                          struct api_listed **listed, size_t *n, size_t *bytes);
bool __wrap_api_sets_list(struct api_sets *sets, const char *caller, struct api_arena *arena,
                          struct api_listed **listed, size_t *n, size_t *bytes)
{
	n_lists++;
	return __real_api_sets_list(sets, caller, arena, listed, n, bytes);
}

enum fric_code __real_fric_find(const struct fric_context *context, const struct fric_mesh *mesh,
                                const double *positions, const struct fric_finding *finding, struct fric_found **found,
                                struct fric_error *error);
enum fric_code __wrap_fric_find(const struct fric_context *context, const struct fric_mesh *mesh,
                                const double *positions, const struct fric_finding *finding, struct fric_found **found,
                                struct fric_error *error);
enum fric_code __wrap_fric_find(const struct fric_context *context, const struct fric_mesh *mesh,
                                const double *positions, const struct fric_finding *finding, struct fric_found **found,
                                struct fric_error *error)
{
	n_searches++;
	return __real_fric_find(context, mesh, positions, finding, found, error);
}

static int64_t now_ms(void)
{
	return 0;
}

static int start(void **unused)
{
	(void)unused;
	const struct api_sets_limits limits = {.bytes = 1 << 28,
	                                       .bytes_per_caller = 1 << 28,
	                                       .n = 2 * MANY_SETS,
	                                       .n_per_caller = 2 * MANY_SETS,
	                                       .idle_seconds = 900};
	service = (struct api_service){.n_threads = 1,
	                               .max_json_bytes = 1 << 24,
	                               .max_frame_bytes = 1 << 24,
	                               .max_answer_bytes = 1 << 24,
	                               .sets = api_sets_create(&limits, now_ms)};
	return service.sets ? 0 : -1;
}

static int stop(void **unused)
{
	(void)unused;
	api_sets_free(service.sets);
	return 0;
}

static struct api_request request_of(const char *method, const char *target, const char *body)
{
	return (struct api_request){.method = method,
	                            .target = target,
	                            .content_type = *body ? "application/json" : NULL,
	                            .body = body,
	                            .body_bytes = strlen(body)};
}

/* @return the response, to be freed; status 0: deferred */
static struct api_response respond(bool defers, const char *method, const char *target, const char *body)
{
	struct api_request request = request_of(method, target, body);
	struct api_response response;
	struct api_service here = service;
	here.defers = defers;
	request.was_deferred = !defers;
	if (!api_handle(&here, &request, &response))
		response.status = 0;
	return response;
}

static int handle(bool defers, const char *method, const char *target, const char *body)
{
	struct api_response response = respond(defers, method, target, body);
	const int status = response.status;
	api_response_free(&response);
	return status;
}

static void put(const char *target, int n)
{
	char *body = malloc(256 + 2 * (size_t)n), *end = body;
	end += sprintf(end, "{\"dim\":3,\"n_vertices\":1,\"friction\":{\"eps_v\":0.5,\"mu\":0.5},\"collisions\":{"
	                    "\"plane_vertex\":{\"plane_normal\":[0,0,1],\"normal_force\":8,\"vertices\":[0");
	for (int i = 1; i < n; i++)
		end += sprintf(end, ",0");
	sprintf(end, "]}}}");
	const int status = handle(false, "PUT", target, body);
	assert_true(status == 200 || status == 201);
	free(body);
}

static const struct {
	const char *method, *target, *body;
} readers[] = {
	{"PATCH", "/v1/sets/a", "{\"friction\":{\"mu\":0.25}}"},
	{"POST", "/v1/sets/a/jvp", "{" VELOCITIES ",\"tangents\":{\"/velocities\":[1,0,0]}}"},
	{"POST", "/v1/sets/a/vjp", "{" VELOCITIES ",\"cotangents\":{\"potential\":1},\"wrt\":[\"/velocities\"]}"},
};

/* The document of a small set is read where connections are served, that of a large one elsewhere. */
static void documents_are_judged_once_they_are_held(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++) {
		put("/v1/sets/a", 1);
		n_reads = 0;
		assert_int_equal(handle(true, readers[i].method, readers[i].target, readers[i].body), 200);
		assert_int_equal(n_reads, 1);
		put("/v1/sets/a", MANY_CONTACTS);
		n_reads = 0;
		assert_int_equal(handle(true, readers[i].method, readers[i].target, readers[i].body), 0);
		assert_int_equal(n_reads, 0);
		assert_int_equal(handle(false, readers[i].method, readers[i].target, readers[i].body), 200);
		assert_int_equal(n_reads, 1);
	}
}

static void long_lists_are_large(void **state)
{
	(void)state;
	const struct api_request request = request_of("GET", "/v1/sets", "");
	char target[64];
	put("/v1/sets/a", 1);
	n_lists = 0;
	assert_false(api_is_large(&service, &request));
	assert_int_equal(handle(true, "GET", "/v1/sets", ""), 200);
	assert_int_equal(n_lists, 1);
	for (int i = 0; i < MANY_SETS; i++) {
		sprintf(target, "/v1/sets/set-%d", i);
		put(target, 1);
	}
	n_lists = 0;
	assert_true(api_is_large(&service, &request));
	assert_int_equal(handle(true, "GET", "/v1/sets", ""), 0);
	assert_int_equal(n_lists, 0);
	assert_int_equal(handle(false, "GET", "/v1/sets", ""), 200);
	assert_int_equal(n_lists, 1);
}

/* ---- the contacts of a mesh ---- */

#define POSITIONS "\"positions\":[[0,0,0],[1,0,0],[0,1,0],[0.25,0.25,0.25],[0.75,0.25,-0.125]]"
#define MESH "{\"faces\":[[0,1,2]],\"vertices\":[3,4]}"
#define PREVIOUS \
	"\"previous\":{" POSITIONS ",\"collisions\":{\"face_vertex\":{\"vertices\":[[3,0,1,2],[4,0,1,2]]," \
	"\"anchor\":[[0.125,0,0],[0,0.25,0]]}}}"
/* A set's document from the coefficient of friction on. */
#define SCENE(mu, barrier, margin) \
	"\"dim\":3," POSITIONS ",\"mesh\":" MESH ",\"friction\":{\"eps_v\":0.5,\"mu\":" mu "},\"barrier\":{" barrier \
	"},\"margin\":" margin ",\"anchors\":true"
#define BARRIER "\"dhat\":0.5,\"stiffness\":2,\"dmin\":0.0625"

static void is_the_same(const char *method, const char *one, const char *other, const char *body)
{
	struct api_response a = respond(false, method, one, body), b = respond(false, method, other, body);
	assert_int_equal(a.status, 200);
	assert_int_equal(b.status, 200);
	assert_int_equal(a.body_bytes, b.body_bytes);
	assert_memory_equal(a.body, b.body, a.body_bytes);
	api_response_free(&a);
	api_response_free(&b);
}

static void patches_that_search(void **state)
{
	static const struct {
		const char *patch;
		int n_searches;
	} patches[] = {
		{"{\"friction\":{\"mu\":0.25}}", 0},
		{"{\"friction\":{\"mu\":null,\"mu_s\":0.5,\"mu_k\":0.25}}", 0},
		{"{\"friction\":{\"mu_s\":null,\"mu_k\":null,\"mu\":0.25}}", 0},
		{"{\"barrier\":{\"stiffness\":3}}", 0},
		{"{\"margin\":0.25}", 0}, /* as before */
		{"{\"lagged_velocities\":[[1,0,0],[0,0,0],[0,0,0],[0,0,0],[0,0,0]]}", 0},
		{"{\"lagged_velocities\":null}", 0},
		{"{\"margin\":0.125}", 1},
		{"{\"barrier\":{\"dhat\":0.375}}", 1},
		{"{\"barrier\":{\"dmin\":0.03125}}", 1},
		{"{" POSITIONS "}", 1},
		{"{\"mesh\":{\"vertices\":[3]}}", 1},
		{"{" PREVIOUS "}", 1},
		{"{\"anchors\":false}", 1},
		{"{\"anchors\":null}", 0},
	};
	(void)state;
	assert_int_equal(handle(false, "PUT", "/v1/sets/a", "{" SCENE("0.5", BARRIER, "0.25") "," PREVIOUS "}"), 201);
	for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
		n_searches = 0;
		if (handle(false, "PATCH", "/v1/sets/a", patches[i].patch) != 200 || n_searches != patches[i].n_searches)
			fail_msg("%s: %d searches", patches[i].patch, n_searches);
	}
}

/* The set has the same contacts with the same anchors as one that was put as a whole, also once the version before is
 * gone. */
static void a_patch_of_friction_keeps_contacts(void **state)
{
	static const char *const questions[] = {
		"{\"velocities\":[[0,0,0],[0,0,0],[0,0,0],[1,0,0],[0,0.125,0]]}",
		"{\"velocities\":[[0,0,0],[0,0,0],[0,0,0],[1,0,0],[0,0.125,0]],\"hessian\":{\"format\":\"csr\"}}",
		"{\"velocities\":[[0,0,0],[0,0,0],[0,0,0],[1,0,0],[0,0.125,0]],\"outputs\":[\"collisions\"],\"collision_outputs\":[\"anchor\"]}",
	};
	(void)state;
	assert_int_equal(handle(false, "PUT", "/v1/sets/a", "{" SCENE("0.5", BARRIER, "0.25") "," PREVIOUS "}"), 201);
	assert_int_equal(handle(false, "PUT", "/v1/sets/b", "{" SCENE("0.25", BARRIER, "0.25") "," PREVIOUS "}"), 201);
	n_searches = 0;
	assert_int_equal(handle(false, "PATCH", "/v1/sets/a", "{\"friction\":{\"mu\":0.375}}"), 200);
	assert_int_equal(handle(false, "PATCH", "/v1/sets/a", "{\"friction\":{\"mu\":0.25}}"), 200);
	assert_int_equal(n_searches, 0);
	is_the_same("GET", "/v1/sets/a/contacts?merge=false", "/v1/sets/b/contacts?merge=false", "");
	is_the_same("GET", "/v1/sets/a/contacts", "/v1/sets/b/contacts", "");
	is_the_same("GET", "/v1/sets/a/pattern", "/v1/sets/b/pattern", "");
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		is_the_same("POST", "/v1/sets/a/evaluate", "/v1/sets/b/evaluate", questions[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(documents_are_judged_once_they_are_held, start, stop),
		cmocka_unit_test_setup_teardown(long_lists_are_large, start, stop),
		cmocka_unit_test_setup_teardown(patches_that_search, start, stop),
		cmocka_unit_test_setup_teardown(a_patch_of_friction_keeps_contacts, start, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
