/* Every allocation of a whole request fails in turn, alone or with all later ones. The response is then the right
 * one (if the allocation is optional) or a complete 503; nothing leaks, nothing crashes. Then every ceiling on
 * memory that is too low is tried, and the same holds. Afterwards nothing is counted as in use. The linker replaces
 * malloc and related functions in all calls from api and core with the functions below; jansson has a hook for that.
 * Allocations of the run-time libraries of OpenMP and C do not fail: OpenMP's would end the program. */
#include "api/api.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <jansson.h>

#include <cmocka.h>

#include "api/codec/media.h"
#include "api/base/json_memory.h"
#include "core/fric.h"
#include "tests/fuzz/json_frame.h"
#include "tests/share.h"

/* ---- scarce memory ---- */

static atomic_long allocations_left = LONG_MAX; /* until one fails */
static atomic_bool for_ever;                    /* all later ones fail as well */
static atomic_long n_live, live_bytes;          /* blocks; bytes of mappings */

static bool may_allocate(void)
{
	const long left = atomic_load(&allocations_left) == LONG_MAX ? 1 : atomic_fetch_sub(&allocations_left, 1);
	return for_ever ? left > 0 : left != 0;
}

static void *count(void *block)
{
	n_live += block != NULL;
	return block;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **block, size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t bytes);
void __real_free(void *block);
void *__real_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_munmap(void *address, size_t bytes);
void *__real_mremap(void *address, size_t bytes, size_t new_bytes, int flags, void *target);

void *__wrap_malloc(size_t bytes)
{
	return may_allocate() ? count(__real_malloc(bytes)) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return may_allocate() ? count(__real_calloc(n, size)) : NULL;
}

void *__wrap_realloc(void *block, size_t bytes)
{
	if (!may_allocate())
		return NULL;
	void *moved = __real_realloc(block, bytes);
	return block ? moved : count(moved);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return may_allocate() ? count(__real_aligned_alloc(alignment, bytes)) : NULL;
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t bytes)
{
	const int error = may_allocate() ? __real_posix_memalign(block, alignment, bytes) : ENOMEM;
	n_live += error == 0;
	return error;
}

char *__wrap_strdup(const char *text)
{
	return may_allocate() ? count(__real_strdup(text)) : NULL;
}

char *__wrap_strndup(const char *text, size_t bytes)
{
	return may_allocate() ? count(__real_strndup(text, bytes)) : NULL;
}

void __wrap_free(void *block)
{
	n_live -= block != NULL;
	__real_free(block);
}

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
	void *mapped = may_allocate() ? __real_mmap(address, bytes, protection, flags, file, offset) : MAP_FAILED;
	live_bytes += mapped != MAP_FAILED ? (long)bytes : 0;
	return mapped;
}

int __wrap_munmap(void *address, size_t bytes)
{
	live_bytes -= (long)bytes;
	return __real_munmap(address, bytes);
}

/* A move to a target that is already mapped, which then fails. The kernel unmaps the target before it detects the
 * error. */
void *__wrap_mremap(void *address, size_t bytes, size_t new_bytes, int flags, void *target)
{
	if (may_allocate()) {
		void *moved = __real_mremap(address, bytes, new_bytes, flags, target);
		live_bytes -= moved != MAP_FAILED ? (long)bytes : 0;
		return moved;
	}
	__wrap_munmap(target, new_bytes);
	return MAP_FAILED;
}

static long stride = 1;       /* step between failing allocations; a prime if a request makes thousands */
static bool trees_never_fail; /* for a request so large that failing each of its small nodes would take minutes */

/* Counts nodes as well, since their blocks are freed whether or not the nodes were. */
static void *allocate_tree(size_t bytes)
{
	return trees_never_fail || may_allocate() ? count(api_json_memory_take(bytes)) : NULL;
}

static void free_tree(void *node)
{
	n_live -= node != NULL;
	api_json_memory_give(node);
}

static struct api_budget budget;

/* ---- one request ---- */

static struct api_service service = {
	.n_threads = 1, .max_json_bytes = 64 << 20, .max_frame_bytes = 64 << 20, .max_answer_bytes = 256 << 20};

struct answer {
	struct api_response response;
	char *body; /* in one piece, in memory whose allocation does not fail */
};

/* Called when memory is plentiful again. */
static void take_body(struct answer *answer)
{
	const struct api_response *response = &answer->response;
	atomic_store(&allocations_left, LONG_MAX);
	answer->body = __real_malloc(response->body_bytes + 1);
	assert_true(answer->body && response->body && response->body_bytes);
	char *end = answer->body;
	for (int i = 0; response->parts && i < response->n_parts; i++)
		end = mempcpy(end, response->parts[i].bytes, response->parts[i].n);
	if (!response->parts)
		memcpy(answer->body, response->body, response->body_bytes);
	answer->body[response->body_bytes] = '\0';
}

static void ask(const struct api_request *request, struct answer *answer)
{
	memset(&answer->response, 0xAB, sizeof(answer->response));
	api_handle(&service, request, &answer->response);
	take_body(answer);
}

static void forget(struct answer *answer)
{
	__real_free(answer->body);
	api_response_free(&answer->response);
}

static bool has_header(const struct api_response *response, const char *name)
{
	for (int i = 0; i < response->n_headers; i++)
		if (!strcmp(response->headers[i].name, name))
			return true;
	return false;
}

static bool is_complete_503(const struct answer *answer)
{
	json_t *problem = json_loadb(answer->body, answer->response.body_bytes, 0, NULL);
	const bool complete = json_integer_value(json_object_get(problem, "status")) == 503 &&
	                      json_string_length(json_object_get(problem, "title")) &&
	                      json_string_length(json_object_get(problem, "detail")) &&
	                      json_string_length(json_object_get(problem, "type")) &&
	                      json_is_array(json_object_get(problem, "errors"));
	json_decref(problem);
	return complete && answer->response.status == 503 && has_header(&answer->response, "Retry-After") &&
	       !strcmp(answer->response.content_type, "application/problem+json");
}

static bool same(const struct answer *a, const struct answer *b)
{
	return a->response.status == b->response.status && a->response.body_bytes == b->response.body_bytes &&
	       !memcmp(a->body, b->body, a->response.body_bytes) &&
	       !strcmp(a->response.content_type, b->response.content_type);
}

static const char *others(void)
{
	return for_ever ? " and all after it" : "";
}

/* @return whether the request completed without a failing allocation */
static bool try(const struct api_request *request, const struct answer *right, long n, const char *name)
{
	struct answer answer;
	const long blocks = n_live, bytes = live_bytes;
	const size_t counted = budget.used_bytes;
	atomic_store(&allocations_left, n);
	ask(request, &answer);
	if (!same(&answer, right) && !is_complete_503(&answer))
		fail_msg("%s, allocation %ld%s: status %d\n%s\nnot\n%.300s", name, n, others(), answer.response.status,
		         answer.body, right->body);
	const bool ok = same(&answer, right);
	forget(&answer);
	api_pool_trim(service.pool, 0);
	if (n_live != blocks || live_bytes != bytes)
		fail_msg("%s, allocation %ld%s: %ld blocks and %ld mapped bytes are lost", name, n, others(), n_live - blocks,
		         live_bytes - bytes);
	if (budget.used_bytes != counted)
		fail_msg("%s, allocation %ld%s: %zd bytes still count", name, n, others(),
		         (ssize_t)(budget.used_bytes - counted));
	return ok;
}

/* The number of allocations that the request makes if none fails. */
static long count_allocations(const struct api_request *request, struct answer *right)
{
	atomic_store(&allocations_left, LONG_MAX - 1);
	struct api_response *response = &right->response;
	memset(response, 0xAB, sizeof(*response));
	api_handle(&service, request, response);
	const long n = LONG_MAX - 1 - allocations_left;
	atomic_store(&allocations_left, LONG_MAX);
	api_response_free(response);
	api_pool_trim(service.pool, 0);
	return n;
}

/* The right response, or a problem stating that the request can never fit. */
static bool is_right_or_too_large(const struct answer *answer, const struct answer *right)
{
	return same(answer, right) || is_complete_503(answer) ||
	       (answer->response.status == 413 && strstr(answer->body, "more memory than the limit of"));
}

/* Tries ceilings from nothing to enough, alone and beside other requests that hold half of it. */
static void raise_the_ceiling(const struct api_request *request, const char *name, const struct answer *right)
{
	const size_t counted = budget.used_bytes; /* memory of the right response */
	bool enough = false;
	for (size_t most = 1; !enough; most += most / 4 + 1)
		for (size_t others = 0; others <= most / 2; others += most / 2 + 1) {
			struct answer answer;
			budget.most_bytes = most;
			budget.used_bytes = others;
			ask(request, &answer);
			if (!is_right_or_too_large(&answer, right))
				fail_msg("%s within %zu bytes, %zu taken: %d %s", name, most, others, answer.response.status,
				         answer.body);
			if (others == 0 && answer.response.status == 503)
				fail_msg("%s within %zu bytes: it will never pass, but is told to come again", name, most);
			enough = others == 0 ? same(&answer, right) : enough;
			forget(&answer);
			api_pool_trim(service.pool, 0);
			if (budget.used_bytes != others)
				fail_msg("%s within %zu bytes: %zd still count", name, most, (ssize_t)(budget.used_bytes - others));
		}
	budget.most_bytes = SIZE_MAX;
	budget.used_bytes = counted;
}

static void sweep(const struct api_request *request, const char *name, int status)
{
	struct answer right;
	service.pool = NULL;
	/* Large requests only run with the pool, as in the server. The emulated pool is malloc. */
	for (int with_pool = trees_never_fail && !API_POOL_EMULATED; with_pool < 2 - API_POOL_EMULATED; with_pool++) {
		struct api_pool *pool = with_pool ? api_pool_create(1 << 30, &budget) : NULL;
		budget.most_bytes = SIZE_MAX;
		service.pool = pool;
		ask(request, &right); /* sets up what is only set up once */
		if (right.response.status != status)
			fail_msg("%s: %d %s", name, right.response.status, right.body);
		forget(&right);
		api_pool_trim(pool, 0);
		const long n = count_allocations(request, &right);
		ask(request, &right);
		api_pool_trim(pool, 0);
		assert_true(n > 0);
		for (long i = 0; i < n; i += stride * one_in()) {
			for_ever = false;
			try(request, &right, i, name);
			for_ever = true;
			try(request, &right, i, name);
		}
		assert_true(try(request, &right, n, name));
		if (with_pool)
			raise_the_ceiling(request, name, &right);
		forget(&right);
		assert_int_equal(budget.used_bytes, 0);
		api_pool_free(pool);
		service.pool = NULL;
	}
}

static void post(const char *target, const char *type, const char *accept, const void *body, size_t bytes, int status,
                 const char *name)
{
	/* A copy, so that the sanitizer sees reads beyond it; not aligned, so that arrays are copied. */
	char *space = malloc(bytes + 4), *copy = memcpy(space + 4, body, bytes);
	const struct api_request request = {.method = "POST",
	                                    .target = target,
	                                    .content_type = type,
	                                    .accept = accept,
	                                    .request_id = "id",
	                                    .body = copy,
	                                    .body_bytes = bytes};
	sweep(&request, name, status);
	free(space);
}

static void get(const char *target, int status)
{
	const struct api_request request = {.method = "GET", .target = target, .request_id = "id"};
	sweep(&request, target, status);
}

/* ---- requests ---- */

enum { N_VERTICES = 7, NONE = 0 };
static size_t n_contacts; /* in each group */
static double values[1 << 16];

static void put_rows(struct fuzz_json_frame *d, const char *key, enum api_dtype dtype, size_t n, size_t inner,
                     size_t innermost, const double *row)
{
	const size_t size = (inner ? inner : 1) * (innermost ? innermost : 1), shape[] = {n, inner, innermost};
	for (size_t i = 0; i < n * size; i++)
		values[i] = row[i % size];
	fuzz_put_array(d, key, true, dtype, dtype > API_F32, 1 + (inner > 0) + (innermost > 0), shape, values);
}

#define ROW(...) ((const double[]){__VA_ARGS__})

static void put_group(struct fuzz_json_frame *d, enum fric_type type, const double *stencil)
{
	const size_t k = (size_t)fric_stencil_size(type);
	fuzz_open(d, fric_type_name(type));
	put_rows(d, "vertices", API_I64, n_contacts, k == 1 ? 0 : k, NONE, stencil);
	if (type != FRIC_EDGE_VERTEX)
		put_rows(d, "normal_force", API_F32, n_contacts, NONE, NONE, ROW(2));
	if (type == FRIC_FACE_VERTEX) {
		put_rows(d, "mu_s_aniso", API_F64, n_contacts, 2, NONE, ROW(0.5, 0.25));
		put_rows(d, "mu_k_aniso", API_F32, n_contacts, 2, NONE, ROW(0.25, 0.125));
		put_rows(d, "mu", API_I32, n_contacts, NONE, NONE, ROW(1));
	}
	if (type == FRIC_EDGE_EDGE) {
		put_rows(d, "closest_point", API_F64, n_contacts, 2, NONE, ROW(0.5, 0.25));
		put_rows(d, "tangent_basis", API_F64, n_contacts, 3, 2, ROW(1, 0, 0, 1, 0, 0));
		put_rows(d, "weight", API_F64, n_contacts, NONE, NONE, ROW(0.5));
	}
	if (type == FRIC_PLANE_VERTEX) {
		fuzz_put(d, "plane_normal", "[0,0,1]");
		fuzz_put(d, "plane_origin", "[0,0,-1]");
		put_rows(d, "eps_v", API_F64, n_contacts, NONE, NONE, ROW(0.5));
		put_rows(d, "mu_aniso", API_F64, n_contacts, 2, NONE, ROW(1, 0.5));
	}
	fuzz_close(d);
}

static void put_friction(struct fuzz_json_frame *d, bool materials)
{
	fuzz_open(d, "friction");
	fuzz_put(d, "eps_v", "0.1");
	if (materials) {
		fuzz_open(d, "materials");
		put_rows(d, "vertex_material", API_U32, N_VERTICES, NONE, NONE, ROW(1));
		fuzz_put(d, "mu", "[[0.1,0.2],[0.2,0.3]]");
		fuzz_put(d, "plane_material", "0");
		fuzz_close(d);
	} else {
		put_rows(d, "vertex_mu_s", API_F64, N_VERTICES, NONE, NONE, ROW(0.5));
		put_rows(d, "vertex_mu_k", API_F32, N_VERTICES, NONE, NONE, ROW(0.25));
		fuzz_put(d, "blend", "\"geometric_mean\"");
	}
	fuzz_close(d);
}

static void put_groups(struct fuzz_json_frame *d)
{
	/* Vertex 6 coincides with vertex 0: the last contact of the first group is skipped. */
	static const double vertex_vertex[] = {0, 3, 1, 4, 0, 6}, edge_vertex[] = {3, 0, 1}, edge_edge[] = {0, 1, 3, 4},
						face_vertex[] = {3, 0, 1, 2}, plane_vertex[] = {5};
	const size_t shape[] = {3, 2};
	fuzz_open(d, "collisions");
	fuzz_open(d, "vertex_vertex");
	fuzz_put_array(d, "vertices", true, API_I32, true, 2, shape, vertex_vertex);
	fuzz_put(d, "normal_force", "1");
	fuzz_close(d);
	put_group(d, FRIC_EDGE_VERTEX, edge_vertex);
	put_group(d, FRIC_EDGE_EDGE, edge_edge);
	put_group(d, FRIC_FACE_VERTEX, face_vertex);
	put_group(d, FRIC_PLANE_VERTEX, plane_vertex);
	fuzz_close(d);
}

static void put_line(struct fuzz_json_frame *d)
{
	static const double direction[N_VERTICES * 3] = {0.1, -0.2, 0.3}, steps[] = {0, 0.5, 1};
	fuzz_open(d, "line");
	fuzz_put_array(d, "direction", true, API_F64, false, 2, (const size_t[]){N_VERTICES, 3}, direction);
	fuzz_put_array(d, "steps", true, API_F64, false, 1, (const size_t[]){3}, steps);
	fuzz_close(d);
}

static void put_vectors(struct fuzz_json_frame *d)
{
	static const double vectors[2 * N_VERTICES * 3] = {1, 2, 3};
	fuzz_put_array(d, "vectors", true, API_F64, false, 2, (const size_t[]){2, N_VERTICES * 3}, vectors);
}

/* The fields that results are computed from. */
static void put_computed(struct fuzz_json_frame *d, bool materials)
{
	static const double positions[] = {0,   0,   0,    1,   0,   0,   0,   1, 0, 0.3, 0.3,
	                                   0.5, 0.2, -0.4, 0.6, 0.9, 0.8, 0.7, 0, 0, 0};
	static const double velocities[] = {0.1, 0.2,  0, 0, 0.3, 0.1, 1, 0,   0,   0,  0,
	                                    0.2, 0.05, 0, 0, 0,   2,   0, 0.5, 0.5, 0.1};
	const size_t shape[] = {N_VERTICES, 3};
	fuzz_json_frame_start(d);
	fuzz_put(d, "dim", "3");
	fuzz_put_array(d, "velocities", true, API_F64, false, 2, shape, velocities);
	fuzz_put_array(d, "positions", true, API_F64, false, 2, shape, positions);
	fuzz_put_array(d, "lagged_velocities", true, API_F64, false, 2, shape, velocities);
	put_friction(d, materials);
	fuzz_put(d, "barrier", "{\"dhat\":10,\"stiffness\":1,\"dmin\":0.001}");
	put_groups(d);
	fuzz_put(d, "on_degenerate", "\"skip\"");
}

static void put_request(struct fuzz_json_frame *d, const char *hessian, bool materials)
{
	put_computed(d, materials);
	fuzz_put(d, "outputs",
	         "[\"potential\",\"gradient\",\"hessian\",\"collisions\",\"line\",\"hessian_products\","
	         "\"position_jacobian\"]");
	if (materials)
		fuzz_put(d, "position_jacobian", "{\"format\":\"triplets\"}");
	put_line(d);
	put_vectors(d);
	fuzz_put(d, "hessian", hessian);
	fuzz_put(d, "collision_outputs",
	         "[\"potential\",\"tangential_velocity\",\"mu_s\",\"mu_k\",\"normal_force\","
	         "\"distance\",\"closest_point\",\"tangent_basis\",\"status\",\"slip_ratio\"]");
	fuzz_close(d);
}

enum formats { JSON_TO_JSON, FRAME_TO_FRAME, JSON_TO_FRAME, FRAME_TO_JSON };

static void post_generated(const char *target, struct fuzz_json_frame *d, enum formats formats, const char *name)
{
	size_t bytes;
	char *frame = fuzz_frame(d, &bytes);
	const char *accept = formats == JSON_TO_JSON || formats == FRAME_TO_JSON ? api_media_json : api_media_frame;
	if (formats == FRAME_TO_FRAME || formats == FRAME_TO_JSON)
		post(target, api_media_frame, accept, frame, bytes, 200, name);
	else
		post(target, api_media_json, accept, d->json.data, d->json.bytes, 200, name);
	free(frame);
	fuzz_json_frame_free(d);
}

static void ask_for(const char *target, const char *hessian, bool materials, enum formats formats)
{
	struct fuzz_json_frame d;
	put_request(&d, hessian, materials);
	post_generated(target, &d, formats, hessian);
}

/* Derivatives with respect to fields of every kind. */
static void differentiate(const char *target, bool materials, enum formats formats)
{
	static const double tangents[N_VERTICES * 3] = {0.5, 0.25}, gradient[N_VERTICES * 3] = {1, 2, 3};
	const size_t shape[] = {N_VERTICES, 3}, flat[] = {N_VERTICES * 3};
	struct fuzz_json_frame d;
	put_computed(&d, materials);
	if (!strcmp(target, "/v1/jvp")) {
		fuzz_open(&d, "tangents");
		fuzz_put_array(&d, "/positions", true, API_F64, false, 2, shape, tangents);
		fuzz_put_array(&d, "/velocities", true, API_F64, false, 2, shape, tangents);
		fuzz_put(&d, "/friction/eps_v", "1");
		fuzz_close(&d);
	} else {
		fuzz_open(&d, "cotangents");
		fuzz_put_array(&d, "gradient", true, API_F64, false, 1, flat, gradient);
		fuzz_close(&d);
		fuzz_put(&d, "wrt",
		         materials ? "[\"/positions\",\"/lagged_velocities\",\"/friction/materials/mu\",\"/barrier/dhat\"]"
		                   : "[\"/velocities\",\"/friction/vertex_mu_k\",\"/collisions/plane_vertex/mu_aniso\","
		                     "\"/collisions/vertex_vertex/normal_force\"]");
	}
	fuzz_close(&d);
	post_generated(target, &d, formats, target);
}

static void evaluate(const char *hessian, bool materials, enum formats formats)
{
	ask_for("/v1/evaluate", hessian, materials, formats);
}

/* ---- failing allocations, one by one ---- */

static void answers_evaluations(void **unused)
{
	(void)unused;
	service.n_threads = 1;
	n_contacts = 6;
	for (enum formats formats = JSON_TO_JSON; formats <= JSON_TO_FRAME; formats++) {
		evaluate("{\"format\":\"triplets\",\"triangle\":\"upper\"}", false, formats);
		evaluate("{\"format\":\"csr\",\"projection\":\"clamp\"}", true, formats);
		evaluate("{\"format\":\"factors\",\"projection\":\"abs\"}", false, formats);
	}
}

/* Enough contacts to make each array an allocation of its own. */
static void answers_rows_of_blocks(void **unused)
{
	enum { N = 200 };
	static char text[8192];
	char *end = stpcpy(text, "{\"dim\":3,\"friction\":{\"eps_v\":1,\"mu\":1},\"outputs\":[\"hessian\"],"
	                         "\"hessian\":{\"format\":\"bsr\"},\"velocities\":[0");
	(void)unused;
	service.n_threads = 1;
	for (int i = 1; i < 3 * N; i++)
		end = stpcpy(end, ",1");
	end =
		stpcpy(end, "],\"collisions\":{\"plane_vertex\":{\"plane_normal\":[0,0,1],\"normal_force\":1,\"vertices\":[0");
	for (int i = 1; i < N; i++)
		end += sprintf(end, ",%d", i);
	strcpy(end, "]}}}");
	post("/v1/evaluate", api_media_json, api_media_json, text, strlen(text), 200, "bsr");
	post("/v1/evaluate", api_media_json, api_media_frame, text, strlen(text), 200, "bsr");
}

static void answers_derivatives(void **unused)
{
	(void)unused;
	service.n_threads = 1;
	n_contacts = 6;
	for (enum formats formats = JSON_TO_JSON; formats <= FRAME_TO_FRAME; formats++) {
		differentiate("/v1/jvp", formats, formats);
		differentiate("/v1/vjp", !formats, formats);
		differentiate("/v1/vjp", formats, formats);
	}
	service.n_threads = 2;
	trees_never_fail = true;
	n_contacts = 100;
	differentiate("/v1/jvp", true, FRAME_TO_FRAME);
	differentiate("/v1/vjp", true, FRAME_TO_FRAME);
	trees_never_fail = false;
	service.n_threads = 1;
}

static void answers_checks(void **unused)
{
	(void)unused;
	n_contacts = 6;
	ask_for("/v1/check", "{}", false, JSON_TO_JSON);
	ask_for("/v1/check", "{}", true, FRAME_TO_FRAME);
	service.n_threads = 2;
	trees_never_fail = true;
	n_contacts = 100;
	ask_for("/v1/check", "{}", false, FRAME_TO_FRAME);
	trees_never_fail = false;
	service.n_threads = 1;
}

#define CLAIM(claims) \
	post("/v1/check", api_media_json, NULL, SLIDING claims "}}", sizeof(SLIDING claims "}}") - 1, 200, claims)
#define SLIDING \
	"{\"dim\":3,\"velocities\":[[3,4,0],[1,0,0]],\"friction\":{\"eps_v\":0.5,\"mu\":0.5},\"collisions\":{\"plane_vertex\":" \
	"{\"vertices\":[0,1],\"plane_normal\":[0,0,1],\"normal_force\":[2,1]}},\"claims\":{"

/* Right ones, and wrong ones, for which mistakes are tried. */
static void answers_claims(void **unused)
{
	(void)unused;
	service.n_threads = 1;
	CLAIM("\"gradient\":[0.6,0.8,0,0.5,0,0]");
	CLAIM("\"gradient\":[-0.6,-0.8,0,-0.5,0,0],\"potential\":1");
	CLAIM("\"gradient\":[0.6,0.8,0,0.5,0,0],\"hessian\":{\"format\":\"triplets\",\"shape\":[6,6],\"rows\":[0,3],"
	      "\"cols\":[0,3],\"values\":[1,1]}");
}

/* Enough contacts for two threads to evaluate and print, for blocks of the pool, huge pages and a response in parts. */
static void answers_large_evaluations_on_two_threads(void **unused)
{
	(void)unused;
	service.n_threads = 2;
	trees_never_fail = true;
	n_contacts = 350;
	stride = step_sanitized(3);
	evaluate("{\"format\":\"csr\"}", false, FRAME_TO_FRAME);
	evaluate("{\"format\":\"factors\"}", true, JSON_TO_JSON);
	evaluate("{\"format\":\"triplets\"}", false, FRAME_TO_FRAME);
	evaluate("{\"format\":\"triplets\"}", true, FRAME_TO_JSON);
	stride = 1;
	trees_never_fail = false;
	service.n_threads = 1;
}

#define POST_FUNCTION(name, body, status) \
	post("/v1/functions/" name, api_media_json, NULL, body, sizeof(body) - 1, status, name)

static void answers_functions(void **unused)
{
	(void)unused;
	get("/v1/functions", 200);
	get("/v1/functions/smooth_mu?y=1,2,3&mu_s=1&mu_k=0.5&eps_v=1&mu_transition=quadratic", 200);
	get("/v1/functions/anisotropic_mu_eff_from_tau_aniso?tau_aniso=1,2&no_mu=true", 200);
	get("/v1/functions/smooth_mu?y=1&mu_s=1&mu_k=0.5&eps_v=0", 422);
	get("/v1/functions/smooth_mu?y=1&y=2", 422);
	POST_FUNCTION("smooth_mu", "{\"y\":[1,2,3],\"mu_s\":1,\"mu_k\":[0.5,1,2],\"eps_v\":1}", 200);
	POST_FUNCTION("anisotropic_mu_eff_f",
	              "{\"tau_dir\":[[1,0],[0,1]],\"mu_s_aniso\":[1,2],\"mu_k_aniso\":[[1,2],[3,4]]}", 200);
	post("/v1/functions/smooth_mu?y=1", api_media_json, NULL, "{}", 2, 422, "a query with a body");
}

#define FIND(body, status) \
	post("/v1/contacts", api_media_json, NULL, body, sizeof(body) - 1, status, body); \
	post("/v1/contacts", api_media_json, api_media_frame, body, sizeof(body) - 1, status, body)
#define SPACE "\"dim\":3,\"positions\":[[0,0,0],[1,0,0],[0,1,0],[0.25,0.25,0.125],[1,1,0.25]],\"distance\":0.5"
#define WANTED \
	"\"outputs\":[\"collisions\",\"distances\",\"longest_step\"],\"longest_step\":{\"direction\":" \
	"[[0,0,0],[0,0,0],[0,0,0],[0,0,-1],[0,0,0]]}"
#define OLD "\"previous\":{\"collisions\":{\"face_vertex\":{\"vertices\":[[3,0,1,2]],\"anchor\":[[1,2,3]]}}}"

static void finds_contacts(void **unused)
{
	(void)unused;
	FIND("{" SPACE "," WANTED "," OLD ",\"mesh\":{\"faces\":[[0,1,2]],\"edges\":[[3,4]],\"body\":[0,0,0,1,1],"
	     "\"ignore\":[[1,1]],\"fixed\":[0],\"planes\":{\"normal\":[[0,0,1]],\"origin\":[[0,0,-0.25]]}}}",
	     200);
	FIND("{" SPACE "," WANTED ",\"candidates\":{\"face_vertex\":{\"vertices\":[[3,0,1,2]]},\"plane_vertex\":"
	     "{\"vertices\":[3],\"plane_normal\":[0,0,1],\"plane_origin\":[0,0,-0.25]}}}",
	     200);
	FIND("{" SPACE ",\"weighting\":\"area\",\"mesh\":{\"faces\":[[0,1,2]],\"edges\":[[0,1],[3,4]]}}", 422);
	FIND("{" SPACE ",\"mesh\":{\"faces\":[[0,1,1]],\"vertices\":[0,4]}}", 422);
}

#define ASK_MODEL(call, body, status) post("/" call, NULL, NULL, body, sizeof(body) - 1, status, call " " body)
#define COEFFICIENTS "\"config\":{\"inputs\":[\"/velocities\",\"/friction/mu_s\"]}"
#define OF_MU "\"config\":{\"inputs\":[\"/friction/mu_s\",\"/friction/mu_k\"]},\"input\":[[0.5],[0.25]]"

/* Errors have the protocol's form, except for a lack of memory. */
static void answers_um_bridge(void **unused)
{
	(void)unused;
	get("/Info", 200);
	ASK_MODEL("ModelInfo", "{\"name\":\"friction\"}", 200);
	ASK_MODEL("InputSizes", "{\"name\":\"friction\"," COEFFICIENTS "}", 200);
	ASK_MODEL("OutputSizes", "{\"name\":\"friction_gradient\"}", 200);
	ASK_MODEL("Evaluate", "{\"name\":\"friction_gradient\"," OF_MU "}", 200);
	ASK_MODEL("Gradient", "{\"name\":\"friction\"," OF_MU ",\"inWrt\":1,\"outWrt\":0,\"sens\":[1]}", 200);
	ASK_MODEL("ApplyJacobian", "{\"name\":\"friction_gradient\"," OF_MU ",\"inWrt\":0,\"outWrt\":0,\"vec\":[1]}", 200);
	ASK_MODEL("ApplyHessian",
	          "{\"name\":\"friction\"," OF_MU ",\"inWrt1\":0,\"inWrt2\":1,\"outWrt\":0,\"sens\":[1],\"vec\":[1]}", 200);
	ASK_MODEL("Evaluate", "{\"name\":\"nobody\"}", 400);
	ASK_MODEL("ApplyHessian", "{\"name\":\"friction_gradient\"}", 400);
	ASK_MODEL("Evaluate", "{\"name\":\"friction\"," COEFFICIENTS ",\"input\":[[1,2],[-1]]}", 400);
	ASK_MODEL("Evaluate", "{\"name\":\"friction\",\"config\":{\"inputs\":[\"/friction/mu_k\"]},\"input\":[[-1]]}", 400);
	ASK_MODEL("InputSizes", "{\"name\":\"friction\",\"config\":{\"set\":\"a\"}}", 400);
	ASK_MODEL("InputSizes", "{", 400);
}

static void answers_what_needs_no_computing(void **unused)
{
	(void)unused;
	get("/v1/info", 200);
	get("/healthz", 200);
	get("/readyz", 200);
	stride = 997;
	get("/openapi.json", 200);
	stride = 1;
	get("/nowhere", 404);
	get("/v1/functions/none", 404);
	get("/v1/evaluate", 405);
}

/* Indices of a frame, the last of which is invalid. The culprit is searched for in a copy, for which the arena needs
 * a block. */
static void post_bad_indices(void)
{
	enum { N = 4096 };
	struct fuzz_json_frame d;
	size_t bytes;
	n_contacts = N;
	fuzz_json_frame_start(&d);
	fuzz_put(&d, "dim", "2");
	fuzz_put(&d, "velocities", "[[0,0]]");
	fuzz_put(&d, "friction", "{\"mu\":1,\"eps_v\":1}");
	fuzz_open(&d, "collisions");
	fuzz_open(&d, "plane_vertex");
	put_rows(&d, "vertices", API_I32, N, NONE, NONE, ROW(7));
	fuzz_put(&d, "normal_force", "1");
	fuzz_put(&d, "plane_normal", "[0,1]");
	fuzz_close(&d);
	fuzz_close(&d);
	fuzz_close(&d);
	char *frame = fuzz_frame(&d, &bytes);
	post("/v1/evaluate", api_media_frame, NULL, frame, bytes, 422, "indices");
	free(frame);
	fuzz_json_frame_free(&d);
}

static void reports_faults(void **unused)
{
	(void)unused;
	static const char *const bodies[] = {
		"{\"dim\":3,\"velocities\":[[1,2,3],[4,5]]}", "{\"dim\":3,\"velosities\":[]}",
		"{\"dim\":[1,\"x\",{\"a\":\"\\u00e9\"}]}",
		"{\"dim\":2,\"velocities\":[[1,2]],\"friction\":{\"mu\":1,\"vertex_mu\":[1]},\"collisions\":{}}"};
	static const char *const malformed[] = {"{\"dim\":3", "[1,2", "{\"a\":1,\"a\":2}", "{\"a\":\"\xff\"}", "nul", ""};
	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++)
		post("/v1/evaluate", NULL, NULL, bodies[i], strlen(bodies[i]), 422, bodies[i]);
	for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++)
		post("/v1/evaluate", NULL, NULL, malformed[i], strlen(malformed[i]), 400, malformed[i]);
	post("/v1/evaluate", api_media_frame, NULL, "no frame", 8, 400, "no frame");
	post_bad_indices();
}

/* Admission, before there is a body: accepted, or the right problem, or a 503. */
static void look(const char *method, const char *target, const char *type, long long announced, int status)
{
	const struct api_request request = {.method = method, .target = target, .content_type = type, .request_id = "id"};
	bool done = false;
	for (long n = 0; !done; n++) {
		struct answer answer;
		const long blocks = n_live;
		for_ever = n % 2;
		atomic_store(&allocations_left, n / 2);
		const struct api_admission admission = api_admit(&service, &request, announced, false, &answer.response);
		done = allocations_left > 0;
		atomic_store(&allocations_left, LONG_MAX);
		if (admission.accepted) {
			assert_int_equal(status, 200);
			continue;
		}
		take_body(&answer);
		if (answer.response.status != status && !is_complete_503(&answer))
			fail_msg("%s %s, allocation %ld: %d %s", method, target, n / 2, answer.response.status, answer.body);
		forget(&answer);
		assert_int_equal(n_live, blocks);
	}
}

static void admits(void **unused)
{
	(void)unused;
	look("POST", "/v1/evaluate", api_media_json, 10, 200);
	look("POST", "/v1/evaluate", "text/plain", 10, 415);
	look("POST", "/v1/evaluate", api_media_json, -1, 411);
	look("POST", "/v1/evaluate", api_media_json, LLONG_MAX, 413);
	look("DELETE", "/v1/evaluate", NULL, 10, 405);
	look("GET", "/v1/functions/smooth_mu?y=1", NULL, -1, 200);
	look("GET", "/nowhere", NULL, -1, 404);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_evaluations), cmocka_unit_test(answers_rows_of_blocks),
		cmocka_unit_test(answers_derivatives), cmocka_unit_test(answers_checks),
		cmocka_unit_test(answers_claims),      cmocka_unit_test(answers_large_evaluations_on_two_threads),
		cmocka_unit_test(answers_um_bridge),   cmocka_unit_test(answers_functions),
		cmocka_unit_test(finds_contacts),      cmocka_unit_test(answers_what_needs_no_computing),
		cmocka_unit_test(reports_faults),      cmocka_unit_test(admits),
	};
	json_set_alloc_funcs(allocate_tree, free_tree);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
