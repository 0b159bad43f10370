/* Compares the service's accounting with this program's own: every block and every page that api and core take goes
 * through functions of the test. The pool's gauges, the store's counts and GET /v1/sets must agree with it, and
 * after all sets are deleted as much memory is in use as before. */
#include "api/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <jansson.h>

#include <cmocka.h>

#include "api/base/pool.h"
#include "api/sets/store.h"

/* ---- live memory ---- */

enum { PLACES = 1 << 20, SHIFT = 64 /* overhead of a small block of the pool within malloc's */ };

static struct {
	void *block;
	size_t bytes;
	bool of_pool;
} places[PLACES];
static size_t n_blocks, block_bytes, page_bytes, n_of_pool, bytes_of_pool;
static bool in_pool;

void *__real_api_pool_take(struct api_pool *pool, size_t bytes);
void *__wrap_api_pool_take(struct api_pool *pool, size_t bytes)
{
	in_pool = true;
	void *block = __real_api_pool_take(pool, bytes);
	in_pool = false;
	return block;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **block, size_t alignment, size_t bytes);
void __real_free(void *block);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t bytes);
void *__real_mremap(void *at, size_t bytes, size_t new_bytes, int flags, void *target);

/* The block's place, or a free one for it. Places are never emptied, only reused by the same address. */
static size_t place_of(const void *block)
{
	size_t i = (uintptr_t)block / 16 * 2654435761u % PLACES;
	while (places[i].block && places[i].block != block)
		i = (i + 1) % PLACES;
	return i;
}

static void *born(void *block, size_t bytes)
{
	if (!block)
		return NULL;
	const size_t i = place_of(block);
	places[i].block = block;
	places[i].bytes = bytes + 1; /* 0: dead */
	places[i].of_pool = in_pool;
	n_blocks++;
	block_bytes += bytes;
	n_of_pool += in_pool;
	bytes_of_pool += in_pool ? bytes : 0;
	return block;
}

static void dies(const void *block)
{
	const size_t i = place_of(block);
	if (!block || !places[i].block || !places[i].bytes)
		return; /* allocated by a library */
	n_blocks--;
	block_bytes -= places[i].bytes - 1;
	n_of_pool -= places[i].of_pool;
	bytes_of_pool -= places[i].of_pool ? places[i].bytes - 1 : 0;
	places[i].bytes = 0;
}

void *__wrap_malloc(size_t bytes)
{
	return born(__real_malloc(bytes), bytes);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return born(__real_calloc(n, size), n * size);
}

void *__wrap_realloc(void *block, size_t bytes)
{
	void *moved = __real_realloc(block, bytes);
	if (!moved)
		return NULL;
	dies(block);
	return born(moved, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return born(__real_aligned_alloc(alignment, bytes), bytes);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t bytes)
{
	const int failure = __real_posix_memalign(block, alignment, bytes);
	if (!failure)
		born(*block, bytes);
	return failure;
}

void __wrap_free(void *block)
{
	dies(block);
	__real_free(block);
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void *mapped = __real_mmap(at, bytes, protection, flags, fd, offset);
	page_bytes += mapped != MAP_FAILED ? bytes : 0;
	return mapped;
}

int __wrap_munmap(void *at, size_t bytes)
{
	const int failure = __real_munmap(at, bytes);
	page_bytes -= failure ? 0 : bytes;
	return failure;
}

/* The target is mapped already. */
void *__wrap_mremap(void *at, size_t bytes, size_t new_bytes, int flags, void *target)
{
	void *moved = __real_mremap(at, bytes, new_bytes, flags, target);
	page_bytes -= moved != MAP_FAILED ? bytes : 0;
	return moved;
}

struct live {
	size_t n, bytes, pages, n_of_pool, bytes_of_pool;
};

static struct live live(void)
{
	return (struct live){n_blocks, block_bytes, page_bytes, n_of_pool, bytes_of_pool};
}

/* Memory taken from the pool since `before`; blocks count with their requested sizes. */
static size_t more_than(struct live before)
{
	return bytes_of_pool - before.bytes_of_pool - SHIFT * (n_of_pool - before.n_of_pool) + page_bytes - before.pages;
}

static void is_as(struct live before)
{
	assert_int_equal(n_blocks, before.n);
	assert_int_equal(block_bytes, before.bytes);
	assert_int_equal(page_bytes, before.pages);
}

/* ---- the pool ---- */

static void is_counted(struct api_pool *pool, const struct api_budget *budget, struct live empty)
{
	const struct api_pool_counts counts = api_pool_counts(pool);
	if (API_POOL_EMULATED)
		return;
	assert_int_equal(counts.used_bytes + counts.idle_bytes, page_bytes - empty.pages);
	/* for each small block the budget also counts 16 bytes that malloc itself may use */
	assert_int_equal(budget->used_bytes, block_bytes - empty.bytes + 16 * (n_blocks - empty.n) + counts.used_bytes);
}

static void the_pools_gauges(void **unused)
{
	enum { N = 24, STEPS = 4000, CEILING = 3 << 20 };
	(void)unused;
	struct api_budget budget = {.most_bytes = 64 << 20};
	struct api_pool *pool = api_pool_create(CEILING, &budget);
	const struct live empty = live();
	void *blocks[N] = {NULL};
	size_t sizes[N] = {0};
	uint64_t seed = 1;
	for (int step = 0; step < STEPS; step++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		const size_t k = (seed >> 33) % N, least = (size_t)1 << (seed >> 40) % 22, n = least + (seed >> 45) % least;
		if ((seed >> 60) % 4 == 0) {
			api_pool_give(pool, blocks[k], sizes[k]);
			blocks[k] = NULL;
			sizes[k] = 0;
		} else {
			void *resized = api_pool_resize(pool, blocks[k], sizes[k], n);
			if (resized) {
				blocks[k] = resized;
				sizes[k] = n;
				memset(resized, 1, n);
			}
		}
		if (step % 500 == 0)
			api_pool_trim(pool, 0);
		is_counted(pool, &budget, empty);
		if (!API_POOL_EMULATED)
			assert_in_range(api_pool_counts(pool).idle_bytes, 0, CEILING);
	}
	for (int k = 0; k < N; k++)
		api_pool_give(pool, blocks[k], sizes[k]);
	assert_int_equal(budget.used_bytes, 0);
	api_pool_trim(pool, 0);
	is_counted(pool, &budget, empty);
	is_as(empty);
	api_pool_free(pool);
}

/* Requests more than the address space, although the budget would allow it. */
static void what_there_is_no_memory_for(void **unused)
{
	(void)unused;
	const size_t more = sizeof(size_t) > 4 ? (size_t)1 << 50 : (size_t)3 << 30;
	struct api_budget all = {.most_bytes = SIZE_MAX};
	struct api_pool *pool = api_pool_create(0, &all);
	if (API_POOL_EMULATED) { /* the sanitizer's malloc may end the program */
		api_pool_free(pool);
		return;
	}
	for (size_t bytes = 100; bytes <= 1 << 20; bytes *= 100) {
		void *block = api_pool_take(pool, bytes);
		const size_t used = all.used_bytes;
		assert_null(api_pool_take(pool, more));
		assert_null(api_pool_resize(pool, block, bytes, more));
		assert_null(api_pool_resize(pool, NULL, 0, more));
		assert_int_equal(all.used_bytes, used);
		api_pool_give(pool, block, bytes);
		assert_int_equal(all.used_bytes, 0);
	}
	assert_int_equal(api_pool_counts(pool).used_bytes, 0);
	api_pool_free(pool);
}

/* ---- a service with sets ---- */

static struct api_budget budget;
static struct api_service service;

static int64_t now_ms(void)
{
	return 0;
}

static int start(void **unused)
{
	(void)unused;
	budget = (struct api_budget){.most_bytes = (size_t)1 << 30};
	struct api_pool *pool = api_pool_create(0, &budget);
	const struct api_sets_limits limits = {
		.bytes = 1 << 28, .bytes_per_caller = 1 << 27, .n = 16, .n_per_caller = 16, .idle_seconds = 900, .pool = pool};
	service = (struct api_service){.n_threads = 1,
	                               .max_json_bytes = 1 << 26,
	                               .max_frame_bytes = 1 << 26,
	                               .max_answer_bytes = 1 << 28,
	                               .pool = pool,
	                               .sets = api_sets_create(&limits, now_ms)};
	return pool && service.sets ? 0 : -1;
}

static int stop(void **unused)
{
	(void)unused;
	api_sets_free(service.sets);
	api_pool_free(service.pool);
	return 0;
}

static int send_to(const char *method, const char *target, const char *body, json_t **answer)
{
	const struct api_request request = {.method = method,
	                                    .target = target,
	                                    .content_type = *body ? "application/json" : NULL,
	                                    .accept = answer ? "application/json"
	                                                     : "application/vnd.frictiond.frame, application/json;q=0.5",
	                                    .body = body,
	                                    .body_bytes = strlen(body)};
	struct api_response response;
	api_is_large(&service, &request);
	api_handle(&service, &request, &response);
	const int status = response.status;
	if (answer)
		*answer = json_loadb(response.body, response.body_bytes, 0, NULL);
	api_response_free(&response);
	return status;
}

static void sends(const char *method, const char *target, const char *body, int status)
{
	const int got = send_to(method, target, body, NULL);
	if (got != status)
		fail_msg("%s %s %.300s: %d, not %d", method, target, body, got, status);
}

/* The bytes that GET /v1/sets states for a set; without a name, for all of them. */
static size_t told(const char *name)
{
	json_t *list = NULL;
	size_t bytes = 0, sum = 0, i;
	json_t *one;
	assert_int_equal(send_to("GET", "/v1/sets", "", &list), 200);
	json_array_foreach(json_object_get(list, "sets"), i, one) {
		const size_t n = (size_t)json_integer_value(json_object_get(one, "bytes"));
		sum += n;
		if (name && !strcmp(json_string_value(json_object_get(one, "name")), name))
			bytes = n;
	}
	assert_int_equal(json_integer_value(json_object_get(list, "bytes")), sum);
	assert_int_equal(json_integer_value(json_object_get(list, "limit_bytes")), 1 << 27);
	assert_int_equal(api_sets_counts(service.sets).bytes, sum);
	json_decref(list);
	return name ? bytes : sum;
}

/* Core's records (struct fric_contacts, fric_pattern ...) are malloc'd, of bounded size, and not counted. */
static void takes_what_is_told(const char *name, struct live empty)
{
	enum { RECORDS = 5120 };
	if (API_POOL_EMULATED)
		return;
	assert_int_equal(told(name), more_than(empty));
	assert_in_range(block_bytes - empty.bytes - (bytes_of_pool - empty.bytes_of_pool), 0, RECORDS);
}

/* ---- documents ---- */

#define FRICTION "\"friction\":{\"eps_v\":0.5,\"mu_s\":0.6,\"mu_k\":0.4}"
#define GROUND \
	"\"plane_vertex\":{\"vertices\":[0,1],\"plane_normal\":[0,0,1],\"normal_force\":[1,2]," \
	"\"mu_s_aniso\":[1,0.5],\"mu_k_aniso\":[0.5,0.25]}"
#define EDGES "\"edge_edge\":{\"vertices\":[[0,1,2,3]],\"normal_force\":3}"
#define WORLD \
	"\"body_world\":{\"bodies\":[0],\"point\":[[0,0,0]],\"normal\":[0,0,1],\"normal_force\":2," \
	"\"mu_s_aniso\":[1,0.5],\"mu_k_aniso\":[0.5,0.25]}"
#define POSITIONS "\"positions\":[[-1,0,0],[1,0,0],[0,-1,0.1],[0,1,0.2]]"
#define LAGGED "\"lagged_velocities\":[[1,0,0],[0,1,0],[1,1,0],[0,0,1]]"
#define TWIST "[[0.1,0.2,0.3,0.4,0.5,0.6]]"
#define VELOCITIES "\"velocities\":[[0.1,0,0],[0,0.2,0],[0.3,0,0],[0.4,0.5,0]]"

#define MESH \
	"\"barrier\":{\"dhat\":0.5,\"stiffness\":2},\"margin\":0.25,\"anchors\":true,\"mesh\":{\"edges\":[[0,1],[2,3]]," \
	"\"body\":[0,0,1,1],\"planes\":{\"normal\":[[0,0,1]],\"origin\":[[0,0,-0.25]]}}"

static const struct document {
	const char *text, *query;
	bool has_positions, has_bodies;
} documents[] = {
	{"{\"dim\":3,\"n_vertices\":4," FRICTION ",\"collisions\":{" GROUND "}}", VELOCITIES, false, false},
	{"{\"dim\":3," POSITIONS "," FRICTION "," LAGGED ",\"collisions\":{" EDGES "," GROUND "}}", VELOCITIES, true,
     false},
	{"{\"dim\":3," POSITIONS "," FRICTION "," LAGGED ",\"body_positions\":[[0,0,1]],\"lagged_body_velocities\":" TWIST
     ",\"collisions\":{" EDGES "," GROUND "," WORLD "}}",
     VELOCITIES ",\"body_velocities\":" TWIST, true, true},
	{"{\"dim\":3," POSITIONS "," FRICTION ",\"body_positions\":[[0,0,1]],\"lagged_body_velocities\":" TWIST
     ",\"on_degenerate\":\"skip\",\"collisions\":{" EDGES
     ",\"face_vertex\":{\"vertices\":[[0,1,2,3],[3,0,0.0e0,1]],\"normal_force\":1}," WORLD "}}",
     NULL, true, true}, /* refused: indices that are repeated and reals */
	{"{\"dim\":3,\"n_vertices\":1,\"body_positions\":[[0,0,1]]," FRICTION ",\"lagged_body_velocities\":" TWIST
     ",\"collisions\":{" WORLD "}}",
     "\"velocities\":[[1,0,0]],\"body_velocities\":" TWIST, false, true},
	{"{\"dim\":3," POSITIONS "," FRICTION "," MESH "}", VELOCITIES, true, false},
};
enum { N_DOCUMENTS = sizeof(documents) / sizeof(documents[0]) };

static char *text_of(const char *format, ...)
{
	char *text;
	va_list arguments;
	va_start(arguments, format);
	assert_true(vasprintf(&text, format, arguments) > 0);
	va_end(arguments);
	return text;
}

static void asks(const char *target, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void asks(const char *target, int status, const char *format, ...)
{
	char *body;
	va_list arguments;
	va_start(arguments, format);
	assert_true(vasprintf(&body, format, arguments) > 0);
	va_end(arguments);
	sends("POST", target, body, status);
	free(body);
}

static const char *const hessians[] = {"\"format\":\"csr\"",
                                       "\"format\":\"csr\",\"triangle\":\"upper\"",
                                       "\"format\":\"csr\",\"triangle\":\"lower\"",
                                       "\"format\":\"triplets\"",
                                       "\"format\":\"factors\"",
                                       "\"format\":\"csr\",\"pattern\":false"};

static void uses(const struct document *d)
{
	const char *q = d->query;
	for (size_t i = 0; i < sizeof(hessians) / sizeof(hessians[0]); i++)
		asks("/v1/sets/used/evaluate", 200, "{%s,\"hessian\":{%s}}", q, hessians[i]);
	asks("/v1/sets/used/evaluate", d->has_bodies ? 422 : 200, "{%s,\"hessian\":{\"format\":\"bsr\"}}", q);
	asks("/v1/sets/used/evaluate", d->has_positions ? 200 : 422, "{%s,\"outputs\":[\"position_jacobian\"]}", q);
	asks("/v1/sets/used/evaluate", 422, "{%s,\"outputs\":[\"nothing\"]}", q);
	asks("/v1/sets/used/check?derivatives=true", 200, "{%s}", q);
	asks("/v1/sets/used/jvp", 200, "{%s,\"tangents\":{\"/friction/mu_s\":1}}", q);
	asks("/v1/sets/used/vjp", 200, "{%s,\"cotangents\":{\"potential\":1},\"wrt\":[\"/friction/mu_k\"]}", q);
	asks("/v1/sets/used/vjp", 422, "{%s,\"cotangents\":{\"potential\":1},\"wrt\":[\"/friction/nu\"]}", q);
	sends("GET", "/v1/sets/used/pattern", "", 200);
	sends("GET", "/v1/sets/used/pattern?format=triplets&triangle=lower", "", 200);
	sends("GET", "/v1/sets/used", "", 200);
	sends("GET", "/v1/sets/used/contacts", "", strstr(d->text, "mesh") ? 200 : 422);
	sends("GET", "/v1/sets/used/contacts?merge=false", "", strstr(d->text, "mesh") ? 200 : 422);
	asks("/InputSizes", 200, "{\"name\":\"friction\",\"config\":{\"set\":\"used\"}}");
	asks("/OutputSizes", 200, "{\"name\":\"friction_gradient\",\"config\":{\"set\":\"used\"}}");
	asks("/Evaluate", 200,
	     "{\"name\":\"friction\",\"input\":[[0.5]],\"config\":{\"set\":\"used\",\"inputs\":[\"/friction/mu_s\"]}}");
	asks("/Evaluate", 400,
	     "{\"name\":\"friction\",\"input\":[[-1]],\"config\":{\"set\":\"used\",\"inputs\":[\"/friction/mu_s\"]}}");
	asks("/Gradient", 200,
	     "{\"name\":\"friction\",\"input\":[[0.5]],\"outWrt\":0,\"inWrt\":0,\"sens\":[2],"
	     "\"config\":{\"set\":\"used\",\"inputs\":[\"/friction/mu_s\"]}}");
}

static void goes_through(const struct document *d)
{
	const struct live empty = live();
	if (!d->query) {
		sends("PUT", "/v1/sets/used", d->text, 422);
		is_as(empty);
		return;
	}
	sends("PUT", "/v1/sets/used", d->text, 201);
	takes_what_is_told("used", empty);
	const size_t fresh = told("used");
	uses(d);
	takes_what_is_told("used", empty); /* with its patterns and its schedule */
	sends("PATCH", "/v1/sets/used", "{\"friction\":{\"eps_v\":0.25}}", 200);
	takes_what_is_told("used", empty);
	assert_true(told("used") > fresh + 512); /* includes the previous set's patterns */
	sends("PATCH", "/v1/sets/used", "{\"friction\":{\"eps_v\":-1}}", 422);
	if (strstr(d->text, "mesh")) {
		sends("POST", "/v1/sets/used/advance", "{" VELOCITIES "," POSITIONS "}", 200);
		takes_what_is_told("used", empty);
		sends("PATCH", "/v1/sets/used", "{\"positions\":[[0,0,0],[1,0,0],[0,-1,0],[0,1,0]]}", 422); /* they cross */
	}
	sends("PATCH", "/v1/sets/used", "{\"n_vertices\":17}", d->has_positions ? 422 : 200);
	sends("PUT", "/v1/sets/used", d->text, 200);
	sends("PUT", "/v1/sets/used", d->text, 200); /* identical to the current set */
	takes_what_is_told("used", empty);
	sends("DELETE", "/v1/sets/used", "", 204);
	is_as(empty);
}

static void what_sets_take(void **unused)
{
	(void)unused;
	sends("PUT", "/v1/sets/another", documents[0].text, 201); /* the caller's record lives as long as it has sets */
	told(NULL);
	for (int round = 0; round < 2; round++) /* the second round includes what libraries keep after first use */
		for (int i = 0; i < N_DOCUMENTS; i++) {
			const struct live before = live();
			const size_t used = budget.used_bytes;
			goes_through(&documents[i]);
			is_as(before);
			assert_int_equal(budget.used_bytes, used);
		}
	sends("DELETE", "/v1/sets/another", "", 204);
	assert_int_equal(budget.used_bytes, 0);
	assert_int_equal(api_pool_counts(service.pool).used_bytes, 0);
}

/* Blocks of whole pages, which count with all the memory that they can take. */
static void what_large_sets_take(void **unused)
{
	enum { N = 12000 };
	(void)unused;
	char *numbers = malloc(16 * N), *positions = malloc(16 * N), *end = numbers, *stop_at = positions;
	for (int i = 0; i < N; i++) {
		end += sprintf(end, "%s%d", i ? "," : "", i);
		stop_at += sprintf(stop_at, "%s0,%d,0.5", i ? "," : "", i % 10);
	}
	char *text = text_of("{\"dim\":3,\"positions\":[%s]," FRICTION
	                     ",\"barrier\":{\"dhat\":1,\"stiffness\":1},\"collisions\":{"
	                     "\"plane_vertex\":{\"vertices\":[%s],\"plane_normal\":[0,0,1],\"plane_origin\":[0,0,0]}}}",
	                     positions, numbers);
	char *query = text_of("{\"velocities\":[%s],\"hessian\":{\"format\":\"csr\"}}", positions);
	sends("PUT", "/v1/sets/another", documents[0].text, 201);
	const struct live empty = live();
	sends("PUT", "/v1/sets/large", text, 201);
	takes_what_is_told("large", empty);
	sends("POST", "/v1/sets/large/evaluate", query, 200);
	takes_what_is_told("large", empty);
	sends("DELETE", "/v1/sets/large", "", 204);
	is_as(empty);
	sends("DELETE", "/v1/sets/another", "", 204);
	assert_int_equal(budget.used_bytes, 0);
	free(query);
	free(text);
	free(numbers);
	free(positions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pools_gauges),
		cmocka_unit_test(what_there_is_no_memory_for),
		cmocka_unit_test(what_sets_take),
		cmocka_unit_test(what_large_sets_take),
	};
	return cmocka_run_group_tests(tests, start, stop);
}
