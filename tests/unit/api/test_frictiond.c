/* libfrictiond.so through its header alone: calls, pieces, sets, threads, forks, stopping, limits, hostile frames. */
#include "api/frictiond.h"

#include <fenv.h>
#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include <cmocka.h>

#include "tests/share.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FORKS 0 /* ThreadSanitizer supports no threads in a fork */
#endif
#endif
#ifndef FORKS
#define FORKS 1
#endif

enum { MOST_PIECES = 64 };

static const char frame_type[] = "application/vnd.frictiond.frame";

static struct frictiond *create(const struct frictiond_options *options)
{
	struct frictiond *service;
	assert_int_equal(frictiond_create(options, &service), FRICTIOND_OK);
	return service;
}

static struct frictiond_answer *call(struct frictiond *service, const struct frictiond_request *request)
{
	struct frictiond_answer *answer;
	assert_int_equal(frictiond_call(service, request, &answer), FRICTIOND_OK);
	assert_int_equal(answer->size, sizeof(*answer));
	return answer;
}

static struct frictiond_request request_of(const char *method, const char *target, const char *type,
                                           const struct frictiond_piece *pieces, size_t n_pieces)
{
	return (struct frictiond_request){.size = sizeof(struct frictiond_request),
	                                  .method = method,
	                                  .target = target,
	                                  .content_type = type,
	                                  .pieces = pieces,
	                                  .n_pieces = n_pieces};
}

/* A request with a JSON text, or without a body. */
static struct frictiond_answer *ask(struct frictiond *service, const char *method, const char *target, const char *text)
{
	const struct frictiond_piece piece = {text, text ? strlen(text) : 0};
	const struct frictiond_request request = request_of(method, target, NULL, &piece, text != NULL);
	return call(service, &request);
}

/* The whole body, NUL-terminated, malloc'd. */
static char *body_of(const struct frictiond_answer *answer)
{
	char *body = malloc(answer->body_bytes + 1), *end = body;
	assert_non_null(body);
	for (size_t i = 0; i < answer->n_pieces; end += answer->pieces[i++].n)
		memcpy(end, answer->pieces[i].bytes, answer->pieces[i].n);
	*end = '\0';
	return body;
}

static const char *header_of(const struct frictiond_answer *answer, const char *name)
{
	for (size_t i = 0; i < answer->n_headers; i++)
		if (!strcmp(answer->headers[i].name, name))
			return answer->headers[i].value;
	return NULL;
}

static void is_answered(struct frictiond_answer *answer, int status, const char *part)
{
	char *body = body_of(answer);
	if (answer->status != status || (part && !memmem(body, answer->body_bytes, part, strlen(part))))
		fail_msg("%d %s, not %d with %s", (int)answer->status, body, status, part ? part : "anything");
	free(body);
	frictiond_answer_free(answer);
}

/* Destroys a service that has nothing left in use but its sets. */
static void destroy(struct frictiond *service)
{
	is_answered(ask(service, "GET", "/v1/sets", NULL), 200, "\"sets\":[]");
	assert_int_equal(frictiond_memory(service), 0);
	frictiond_destroy(service);
}

/* ---- batches: n vertices on a floor ---- */

struct batch {
	size_t n;
	double *velocities, *forces;
	int32_t *vertices;
	char head[1024];
	size_t head_bytes;
	struct frictiond_piece pieces[MOST_PIECES];
	size_t n_pieces;
};

static void add_piece(struct batch *batch, const void *bytes, size_t n)
{
	batch->pieces[batch->n_pieces++] = (struct frictiond_piece){bytes, n};
}

static size_t print_head(char *head, size_t bytes, const char *document)
{
	const size_t length = (8 + strlen(document) + 63) / 64 * 64 - 8;
	assert_true(length + 8 <= bytes);
	memset(head, ' ', length + 8);
	memcpy(head, &(uint64_t){length}, 8);
	memcpy(head + 8, document, strlen(document));
	return length + 8;
}

/* Every array is a piece of its own, where it was allocated. n is even: arrays of i32 end at a multiple of 8. */
static void make_batch(struct batch *batch, size_t n, const char *members)
{
	char document[900];
	*batch = (struct batch){.n = n};
	batch->velocities = malloc(n * 24);
	batch->forces = malloc(n * 8);
	batch->vertices = malloc(n * 4);
	assert_true(batch->velocities && batch->forces && batch->vertices && n % 2 == 0);
	for (size_t i = 0; i < n; i++) {
		batch->velocities[3 * i] = 1e-3 * (double)(i % 17);
		batch->velocities[3 * i + 1] = -1e-4 * (double)(i % 5);
		batch->velocities[3 * i + 2] = 0.1;
		batch->forces[i] = 1 + (double)(i % 7);
		batch->vertices[i] = (int32_t)i;
	}
	snprintf(document, sizeof(document),
	         "{\"dim\":3,\"velocities\":{\"dtype\":\"f64\",\"shape\":[%zu,3],\"offset\":0},"
	         "\"collisions\":{\"plane_vertex\":{\"vertices\":{\"dtype\":\"i32\",\"shape\":[%zu],\"offset\":%zu},"
	         "\"plane_normal\":[0,0,1],\"normal_force\":{\"dtype\":\"f64\",\"shape\":[%zu],\"offset\":%zu}}},"
	         "\"friction\":{\"eps_v\":0.001,\"mu_s\":0.5,\"mu_k\":0.3}%s}",
	         n, n, n * 24, n, n * 28, members);
	batch->head_bytes = print_head(batch->head, sizeof(batch->head), document);
	add_piece(batch, batch->head, batch->head_bytes);
	add_piece(batch, batch->velocities, n * 24);
	add_piece(batch, batch->vertices, n * 4);
	add_piece(batch, batch->forces, n * 8);
}

/* The same contacts, for a set. */
static void make_lagged(struct batch *batch, size_t n)
{
	char document[900];
	make_batch(batch, n, "");
	snprintf(document, sizeof(document),
	         "{\"dim\":3,\"n_vertices\":%zu,\"friction\":{\"eps_v\":0.001,\"mu_s\":0.5,\"mu_k\":0.3},"
	         "\"collisions\":{\"plane_vertex\":{\"vertices\":{\"dtype\":\"i32\",\"shape\":[%zu],\"offset\":0},"
	         "\"plane_normal\":[0,0,1],\"normal_force\":{\"dtype\":\"f64\",\"shape\":[%zu],\"offset\":%zu}}}}",
	         n, n, n, n * 4);
	batch->head_bytes = print_head(batch->head, sizeof(batch->head), document);
	batch->n_pieces = 0;
	add_piece(batch, batch->head, batch->head_bytes);
	add_piece(batch, batch->vertices, n * 4);
	add_piece(batch, batch->forces, n * 8);
}

static void free_batch(struct batch *batch)
{
	free(batch->velocities);
	free(batch->forces);
	free(batch->vertices);
}

static char *join(const struct batch *batch, size_t *bytes)
{
	*bytes = 0;
	for (size_t i = 0; i < batch->n_pieces; i++)
		*bytes += batch->pieces[i].n;
	char *whole = malloc(*bytes), *end = whole;
	assert_non_null(whole);
	for (size_t i = 0; i < batch->n_pieces; end += batch->pieces[i++].n)
		memcpy(end, batch->pieces[i].bytes, batch->pieces[i].n);
	return whole;
}

static struct frictiond_answer *evaluate(struct frictiond *service, const struct batch *batch)
{
	const struct frictiond_request request =
		request_of("POST", "/v1/evaluate", frame_type, batch->pieces, batch->n_pieces);
	return call(service, &request);
}

static void are_same(const struct frictiond_answer *a, const struct frictiond_answer *b)
{
	char *one = body_of(a), *other = body_of(b);
	assert_int_equal(a->status, b->status);
	assert_int_equal(a->body_bytes, b->body_bytes);
	assert_memory_equal(one, other, a->body_bytes);
	free(one);
	free(other);
}

/* ---- calls ---- */

#define ONE \
	"{\"dim\":2,\"velocities\":[[0.5,0]],\"friction\":{\"mu\":1,\"eps_v\":1},\"outputs\":[\"gradient\"]," \
	"\"collisions\":{\"plane_vertex\":{\"vertices\":[0],\"normal_force\":1,\"plane_normal\":[0,1]}}}"

static void test_answers(void **state)
{
	struct frictiond *service = create(NULL);
	(void)state;
	is_answered(ask(service, "POST", "/v1/evaluate", ONE), 200,
	            "{\"n_vertices\":1,\"n_collisions\":1,\"gradient\":[0.75,0.0]}");
	is_answered(ask(service, "GET", "/v1/functions/smooth_mu?y=1&mu_s=1&mu_k=0.5&eps_v=1", NULL), 200, "0.5");
	is_answered(ask(service, "POST", "/v1/evaluate", ""), 400, "\"empty_body\"");
	is_answered(ask(service, "POST", "/v1/evaluate", NULL), 400, "\"empty_body\"");
	is_answered(ask(service, "POST", "/v1/evaluate?x=1", ONE), 422, "\"unexpected_query\"");
	is_answered(ask(service, "GET", "/v1/inf", NULL), 404, "did you mean \\\"/v1/info\\\"?");
	is_answered(ask(service, "GET", "/metrics", NULL), 404, "only the server has \\\"/metrics\\\"");
	is_answered(ask(service, "GET", "nothing", NULL), 404, NULL);
	is_answered(ask(service, "", "", NULL), 404, NULL);
	is_answered(ask(service, "TRACE", "/v1/info", NULL), 405, NULL);
	destroy(service);
}

static void test_headers(void **state)
{
	struct frictiond *service = create(NULL);
	struct frictiond_answer *answer = ask(service, "PUT", "/v1/evaluate", ONE);
	(void)state;
	assert_string_equal(header_of(answer, "Allow"), "POST");
	assert_string_equal(answer->content_type, "application/problem+json");
	is_answered(answer, 405, "\"method_not_allowed\"");
	struct frictiond_request request = request_of("GET", "/v1/info", NULL, NULL, 0);
	request.accept = "text/html";
	is_answered(call(service, &request), 406, "\"not_acceptable\"");
	request.accept = NULL;
	answer = call(service, &request);
	request.method = "HEAD";
	struct frictiond_answer *head = call(service, &request);
	assert_int_equal(head->body_bytes, answer->body_bytes);
	assert_int_equal(head->n_pieces, 0);
	assert_string_equal(head->content_type, answer->content_type);
	frictiond_answer_free(head);
	frictiond_answer_free(answer);
	const struct frictiond_piece piece = {ONE, strlen(ONE)};
	request = request_of("POST", "/v1/evaluate", "text/plain", &piece, 1);
	is_answered(call(service, &request), 415, "\"unsupported_media_type\"");
	destroy(service);
}

static void test_arguments(void **state)
{
	struct frictiond *service = create(NULL);
	struct frictiond_answer *answer = (void *)&service;
	struct frictiond_request request = request_of("GET", "/v1/info", NULL, NULL, 0);
	(void)state;
	assert_int_equal(frictiond_call(service, &request, NULL), FRICTIOND_E_ARGUMENT);
	assert_int_equal(frictiond_call(NULL, &request, &answer), FRICTIOND_E_ARGUMENT);
	assert_null(answer);
	assert_int_equal(frictiond_call(service, NULL, &answer), FRICTIOND_E_ARGUMENT);
	request.method = NULL;
	assert_int_equal(frictiond_call(service, &request, &answer), FRICTIOND_E_ARGUMENT);
	request = request_of("GET", NULL, NULL, NULL, 0);
	assert_int_equal(frictiond_call(service, &request, &answer), FRICTIOND_E_ARGUMENT);
	request = request_of("GET", "/v1/info", NULL, NULL, 1);
	assert_int_equal(frictiond_call(service, &request, &answer), FRICTIOND_E_ARGUMENT);
	char caller[129];
	memset(caller, 'a', 128);
	caller[128] = '\0';
	request = request_of("GET", "/v1/info", NULL, NULL, 0);
	request.caller = caller;
	assert_int_equal(frictiond_call(service, &request, &answer), FRICTIOND_E_ARGUMENT);
	frictiond_answer_free(NULL);
	frictiond_destroy(NULL);
	assert_int_equal(frictiond_trim(NULL) + frictiond_memory(NULL), 0);
	assert_string_equal(frictiond_version(), FRICTIOND_VERSION);
	for (int code = FRICTIOND_OK; code <= FRICTIOND_E_FORKED + 1; code++)
		assert_true(strlen(frictiond_reason((enum frictiond_code)code)) > 5);
	destroy(service);
}

/* Structs of earlier versions are shorter, those of later ones longer. */
static void test_versions(void **state)
{
	struct {
		struct frictiond_options options;
		uint64_t later[2];
	} options = {.options = {.size = sizeof(options), .threads = 1}};
	struct {
		struct frictiond_request request;
		void *later;
	} request = {.request = request_of("GET", "/v1/info", NULL, NULL, 0)};
	struct frictiond *service = create(&options.options);
	struct frictiond_answer *answer;
	(void)state;
	request.request.size = sizeof(request);
	is_answered(call(service, &request.request), 200, "\"threads\":1,");
	request.later = service;
	assert_int_equal(frictiond_call(service, &request.request, &answer), FRICTIOND_E_ARGUMENT);
	request.request.size = offsetof(struct frictiond_request, content_type);
	is_answered(call(service, &request.request), 200, NULL);
	request.request.size = sizeof(size_t) - 1;
	assert_int_equal(frictiond_call(service, &request.request, &answer), FRICTIOND_E_ARGUMENT);
	destroy(service);
	options.later[1] = 1;
	assert_int_equal(frictiond_create(&options.options, &service), FRICTIOND_E_ARGUMENT);
	assert_null(service);
	options.options = (struct frictiond_options){.size = sizeof(size_t)};
	destroy(create(&options.options));
	options.options.size = 0;
	assert_int_equal(frictiond_create(&options.options, &service), FRICTIOND_E_ARGUMENT);
	assert_int_equal(frictiond_create(NULL, NULL), FRICTIOND_E_ARGUMENT);
}

static void refuses(struct frictiond_options options, enum frictiond_code code)
{
	struct frictiond *service;
	options.size = sizeof(options);
	assert_int_equal(frictiond_create(&options, &service), code);
	assert_null(service);
}

static void test_options(void **state)
{
	const struct frictiond_options options = {.size = sizeof(options),
	                                          .threads = 3,
	                                          .max_json_bytes = 1000,
	                                          .max_frame_bytes = 2000,
	                                          .max_answer_bytes = 300000,
	                                          .max_contacts = 4,
	                                          .max_vertices = 5,
	                                          .memory_bytes = 32 << 20,
	                                          .sets = 7,
	                                          .sets_per_caller = 6,
	                                          .set_bytes = 9 << 20,
	                                          .set_bytes_per_caller = 8 << 20,
	                                          .set_idle_seconds = 10,
	                                          .kernels = "scalar"};
	struct frictiond *service = create(&options);
	(void)state;
	is_answered(ask(service, "GET", "/v1/info", NULL), 200,
	            "\"threads\":3,\"instruction_set\":\"scalar\",\"formats\":[\"application/json\","
	            "\"application/vnd.frictiond.frame\"],\"limits\":{\"json_body_bytes\":1000,\"frame_body_bytes\":2000,"
	            "\"answer_bytes\":300000,\"contacts\":4,\"vertices\":5,\"sets\":7,\"sets_per_caller\":6,"
	            "\"set_bytes\":9437184,\"set_bytes_per_caller\":8388608,\"set_idle_seconds\":10}}");
	char text[1002];
	memset(text, ' ', sizeof(text));
	text[1001] = '\0';
	is_answered(ask(service, "POST", "/v1/evaluate", text), 413, "\"body_too_long\"");
	text[1000] = '\0';
	is_answered(ask(service, "POST", "/v1/evaluate", text), 400, "\"empty_body\"");
	destroy(service);
	refuses((struct frictiond_options){.kernels = "fastest"}, FRICTIOND_E_KERNELS);
	refuses((struct frictiond_options){.threads = 1025}, FRICTIOND_E_ARGUMENT);
	refuses((struct frictiond_options){.memory_bytes = (16 << 20) - 1}, FRICTIOND_E_ARGUMENT);
	refuses((struct frictiond_options){.memory_bytes = 16 << 20, .set_bytes = 17 << 20}, FRICTIOND_E_ARGUMENT);
	refuses((struct frictiond_options){.set_bytes = 1 << 20, .set_bytes_per_caller = 2 << 20}, FRICTIOND_E_ARGUMENT);
	refuses((struct frictiond_options){.sets = 1, .sets_per_caller = 2}, FRICTIOND_E_ARGUMENT);
	refuses((struct frictiond_options){.max_contacts = 1000000001}, FRICTIOND_E_ARGUMENT);
}

static void test_answers_outlive_services(void **state)
{
	struct frictiond *service = create(NULL);
	struct batch batch;
	(void)state;
	make_batch(&batch, 20000, "");
	struct frictiond_answer *answer = evaluate(service, &batch);
	frictiond_destroy(service);
	char *body = body_of(answer);
	assert_non_null(strstr(body + 8, "gradient"));
	free(body);
	frictiond_answer_free(answer);
	free_batch(&batch);
}

/* ---- sets ---- */

#define LAGGED \
	"{\"dim\":2,\"n_vertices\":1,\"friction\":{\"mu\":1,\"eps_v\":1}," \
	"\"collisions\":{\"plane_vertex\":{\"vertices\":[0],\"normal_force\":1,\"plane_normal\":[0,1]}}}"
#define QUERY "{\"velocities\":[[0.5,0]],\"outputs\":[\"gradient\"]}"

static void test_sets(void **state)
{
	struct frictiond *service = create(NULL);
	const struct frictiond_piece query = {QUERY, strlen(QUERY)};
	char version[64];
	(void)state;
	struct frictiond_answer *answer = ask(service, "PUT", "/v1/sets/a", LAGGED);
	assert_string_equal(header_of(answer, "Location"), "/v1/sets/a");
	snprintf(version, sizeof(version), "%s", header_of(answer, "Collision-Set-Version"));
	assert_int_equal(strlen(version), 32);
	is_answered(answer, 201, "\"n_collisions\":1");
	is_answered(ask(service, "POST", "/v1/sets/a/evaluate", QUERY), 200, "\"gradient\":[0.75,0.0]");
	struct frictiond_request request = request_of("POST", "/v1/sets/a/evaluate", NULL, &query, 1);
	request.if_collision_set_version = version;
	is_answered(call(service, &request), 200, "\"gradient\":[0.75,0.0]");
	is_answered(ask(service, "PATCH", "/v1/sets/a", "{\"friction\":{\"mu\":2}}"), 200, NULL);
	is_answered(call(service, &request), 412, "\"set_changed\"");
	request.if_collision_set_version = NULL;
	is_answered(call(service, &request), 200, "\"gradient\":[1.5,0.0]");
	request.caller = "somebody";
	is_answered(call(service, &request), 404, "\"unknown_set\"");
	request = request_of("GET", "/v1/sets/a/pattern", NULL, NULL, 0);
	answer = call(service, &request);
	char tag[80];
	snprintf(tag, sizeof(tag), "%s", header_of(answer, "ETag"));
	frictiond_answer_free(answer);
	request.if_none_match = tag;
	answer = call(service, &request);
	assert_int_equal(answer->status, 304);
	assert_int_equal(answer->n_pieces, 0);
	frictiond_answer_free(answer);
	request = request_of("PUT", "/v1/sets/a", NULL, &query, 1);
	request.if_none_match = "*";
	is_answered(call(service, &request), 412, "\"set_exists\"");
	request.if_none_match = NULL;
	request.if_match = tag;
	is_answered(call(service, &request), 422, "\"without_effect\"");
	assert_true(frictiond_memory(service) > 0);
	answer = ask(service, "DELETE", "/v1/sets/a", NULL);
	assert_int_equal(answer->status, 204);
	assert_int_equal(answer->n_pieces + answer->body_bytes, 0);
	assert_null(answer->content_type);
	frictiond_answer_free(answer);
	is_answered(ask(service, "GET", "/v1/sets/a", NULL), 404, "\"unknown_set\"");
	destroy(service);
	/* Destroying a service frees everything left in it. */
	service = create(NULL);
	is_answered(ask(service, "PUT", "/v1/sets/b", LAGGED), 201, NULL);
	frictiond_destroy(service);
}

/* A set that was put in pieces has the version of the same bytes in one piece. */
static void test_versions_of_pieces(void **state)
{
	struct frictiond *service = create(NULL);
	const struct frictiond_piece halves[3] = {{LAGGED, 40}, {NULL, 0}, {&LAGGED[40], strlen(LAGGED) - 40}};
	const struct frictiond_request request = request_of("PUT", "/v1/sets/a", NULL, halves, 3);
	struct frictiond_answer *whole = ask(service, "PUT", "/v1/sets/a", LAGGED), *answer = call(service, &request);
	(void)state;
	assert_int_equal(answer->status, 200);
	assert_int_equal(answer->copied_bytes, strlen(LAGGED));
	assert_string_equal(header_of(whole, "Collision-Set-Version"), header_of(answer, "Collision-Set-Version"));
	frictiond_answer_free(whole);
	frictiond_answer_free(answer);
	/* The pieces of a frame are not joined. */
	struct batch lagged;
	size_t bytes;
	make_lagged(&lagged, 100);
	char *frame = join(&lagged, &bytes);
	const struct frictiond_piece one = {frame, bytes};
	struct frictiond_request put = request_of("PUT", "/v1/sets/a", frame_type, &one, 1);
	whole = call(service, &put);
	put.pieces = lagged.pieces;
	put.n_pieces = lagged.n_pieces;
	put.target = "/v1/sets/b";
	answer = call(service, &put);
	assert_int_equal(answer->status, 201);
	assert_int_equal(answer->copied_bytes, 0);
	assert_string_equal(header_of(whole, "Collision-Set-Version"), header_of(answer, "Collision-Set-Version"));
	frictiond_answer_free(whole);
	frictiond_answer_free(answer);
	free(frame);
	free_batch(&lagged);
	frictiond_answer_free(ask(service, "DELETE", "/v1/sets/a", NULL));
	frictiond_answer_free(ask(service, "DELETE", "/v1/sets/b", NULL));
	destroy(service);
}

/* ---- pieces ---- */

static void test_no_copies(void **state)
{
	struct frictiond *service = create(NULL);
	struct batch batch;
	size_t bytes;
	(void)state;
	make_batch(&batch, 5000, "");
	char *whole = join(&batch, &bytes);
	const struct frictiond_piece piece = {whole, bytes};
	const struct frictiond_request request = request_of("POST", "/v1/evaluate", frame_type, &piece, 1);
	struct frictiond_answer *expected = call(service, &request), *answer = evaluate(service, &batch);
	assert_int_equal(answer->status, 200);
	assert_true(answer->n_pieces > 1);
	assert_int_equal(expected->copied_bytes + answer->copied_bytes, 0);
	are_same(expected, answer);
	frictiond_answer_free(expected);
	frictiond_answer_free(answer);
	free(whole);
	free_batch(&batch);
	destroy(service);
}

/* Moves a piece by `shift` bytes, out of its alignment. */
static char *moved(struct frictiond_piece *piece, size_t shift)
{
	char *copy = malloc(piece->n + shift);
	assert_non_null(copy);
	memcpy(copy + shift, piece->bytes, piece->n);
	piece->bytes = copy + shift;
	return copy;
}

/* Splits a piece in two. */
static void split(struct batch *batch, size_t k, size_t at)
{
	struct frictiond_piece *piece = &batch->pieces[k];
	memmove(piece + 1, piece, (batch->n_pieces++ - k) * sizeof(*piece));
	piece[0].n = at;
	piece[1].bytes = (const char *)piece[1].bytes + at;
	piece[1].n -= at;
}

static void test_what_is_copied(void **state)
{
	struct frictiond *service = create(NULL);
	struct batch batch, plain;
	(void)state;
	make_batch(&plain, 1000, "");
	struct frictiond_answer *expected = evaluate(service, &plain), *answer;
	/* Unaligned: one array is copied. */
	batch = plain;
	char *copy = moved(&batch.pieces[1], 4);
	answer = evaluate(service, &batch);
	assert_int_equal(answer->copied_bytes, 24000);
	are_same(expected, answer);
	frictiond_answer_free(answer);
	free(copy);
	/* Across pieces: the array is copied, in as many parts as it has. */
	batch = plain;
	split(&batch, 3, 8);
	split(&batch, 3, 7);
	split(&batch, 4, 0);
	answer = evaluate(service, &batch);
	assert_int_equal(answer->copied_bytes, 8000);
	are_same(expected, answer);
	frictiond_answer_free(answer);
	/* Empty pieces, without an address, anywhere. */
	batch = plain;
	for (size_t k = 1; k < 7; k += 2)
		split(&batch, k, k == 1 ? 24000 : k == 3 ? 4000 : 0);
	add_piece(&batch, NULL, 0);
	answer = evaluate(service, &batch);
	are_same(expected, answer);
	assert_int_equal(answer->copied_bytes, 0);
	frictiond_answer_free(answer);
	/* Head and document are torn apart: everything is joined. */
	batch = plain;
	split(&batch, 0, batch.head_bytes - 1);
	answer = evaluate(service, &batch);
	assert_int_equal(answer->copied_bytes, batch.head_bytes + 36000);
	are_same(expected, answer);
	frictiond_answer_free(answer);
	split(&batch, 0, 3);
	answer = evaluate(service, &batch);
	are_same(expected, answer);
	frictiond_answer_free(answer);
	/* The first piece may contain the beginning of the tail. */
	size_t bytes;
	batch = plain;
	char *whole = join(&batch, &bytes);
	batch.pieces[0] = (struct frictiond_piece){whole, batch.head_bytes + 24000};
	batch.pieces[1] = (struct frictiond_piece){NULL, 0};
	answer = evaluate(service, &batch);
	are_same(expected, answer);
	assert_int_equal(answer->copied_bytes, (uintptr_t)whole % 8 ? 24000 : 0);
	frictiond_answer_free(answer);
	free(whole);
	frictiond_answer_free(expected);
	free_batch(&plain);
	destroy(service);
}

static void test_garbage_pieces(void **state)
{
	struct frictiond *service = create(NULL);
	const struct frictiond_piece nothing[2] = {{NULL, 0}, {NULL, 0}};
	const struct frictiond_piece missing = {NULL, 1};
	const struct frictiond_piece huge[2] = {{ONE, SIZE_MAX}, {ONE, 2}};
	struct frictiond_answer *answer;
	struct frictiond_request request = request_of("POST", "/v1/evaluate", frame_type, nothing, 0);
	(void)state;
	for (request.n_pieces = 0; request.n_pieces < 3; request.n_pieces++)
		is_answered(call(service, &request), 400, "8 bytes that state the length");
	request.content_type = NULL;
	request.n_pieces = 2;
	is_answered(call(service, &request), 400, "\"empty_body\"");
	request.pieces = &missing;
	request.n_pieces = 1;
	assert_int_equal(frictiond_call(service, &request, &answer), FRICTIOND_E_ARGUMENT);
	request.pieces = huge;
	request.n_pieces = 2;
	assert_int_equal(frictiond_call(service, &request, &answer), FRICTIOND_E_ARGUMENT);
	request.n_pieces = 1;
	is_answered(call(service, &request), 413, "\"body_too_long\"");
	destroy(service);
}

/* ---- hostile frames ---- */

static uint64_t seed = 1;

static size_t random_below(size_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)((seed >> 33) % n);
}

static void damage(char *bytes, size_t n, size_t head_bytes)
{
	static const char words[][24] = {"-1", "9", "[", "]", "}", "null", "\"f32\"", "\"i64\"", "\"shape\"", "1e300"};
	for (size_t i = random_below(4) + 1; i > 0; i--) {
		const size_t at = random_below(random_below(3) ? head_bytes : n);
		const char *word = words[random_below(sizeof(words) / sizeof(*words))];
		if (random_below(2) && at + strlen(word) <= n)
			memcpy(bytes + at, word, strlen(word));
		else
			bytes[at] = (char)(bytes[at] ^ (1 << random_below(8)));
	}
}

/* Cuts the body into pieces, each in a block of exactly its size, so that sanitizers see every overrun. */
static size_t cut(const char *body, size_t n, struct frictiond_piece pieces[MOST_PIECES])
{
	size_t n_pieces = 0;
	for (size_t at = 0, rest = n; rest > 0 && n_pieces < MOST_PIECES; n_pieces++) {
		size_t part = n_pieces == MOST_PIECES - 1 ? rest : random_below(random_below(2) ? rest + 1 : 65);
		part = part > rest ? rest : part;
		char *copy = part ? malloc(part) : NULL;
		if (part)
			memcpy(copy, body + at, part);
		pieces[n_pieces] = (struct frictiond_piece){copy, part};
		at += part;
		rest -= part;
	}
	return n_pieces;
}

/* A damaged frame gets the same answer however it is cut, which is an error or the result for other numbers. */
static void try_hostile(struct frictiond *service, const char *good, size_t n, size_t head_bytes, bool is_set)
{
	struct frictiond_piece pieces[MOST_PIECES];
	size_t bytes = random_below(4) ? n : random_below(n + 1);
	char *body = malloc(bytes ? bytes : 1);
	memcpy(body, good, bytes);
	if (bytes)
		damage(body, bytes, head_bytes < bytes ? head_bytes : bytes);
	const struct frictiond_piece whole = {body, bytes};
	struct frictiond_request request =
		request_of(is_set ? "PUT" : "POST", is_set ? "/v1/sets/hostile" : "/v1/evaluate", frame_type, &whole, 1);
	struct frictiond_answer *expected = call(service, &request);
	request.n_pieces = cut(body, bytes, pieces);
	request.pieces = pieces;
	struct frictiond_answer *answer = call(service, &request);
	assert_true(answer->status == 200 || answer->status == 201 || (answer->status >= 400 && answer->status < 500));
	if (expected->status < 300) /* the first one may have created the set */
		assert_true(answer->status < 300);
	else
		are_same(expected, answer);
	for (size_t i = 0; i < request.n_pieces; i++)
		free((void *)(uintptr_t)pieces[i].bytes);
	frictiond_answer_free(expected);
	frictiond_answer_free(answer);
	free(body);
}

static void test_hostile(void **state)
{
	struct frictiond *service = create(NULL);
	struct batch batch, lagged;
	size_t bytes, lagged_bytes;
	(void)state;
	make_batch(&batch, 6, "");
	make_lagged(&lagged, 6);
	char *good = join(&batch, &bytes), *good_set = join(&lagged, &lagged_bytes);
	for (int i = 0; i < 1000; i++)
		try_hostile(service, good, bytes, batch.head_bytes, false);
	for (int i = 0; i < 1000; i++)
		try_hostile(service, good_set, lagged_bytes, lagged.head_bytes, true);
	frictiond_answer_free(ask(service, "DELETE", "/v1/sets/hostile", NULL));
	free(good);
	free(good_set);
	free_batch(&batch);
	free_batch(&lagged);
	destroy(service);
}

/* ---- memory ---- */

/* 24 MB of velocities do not count in a budget of 16 MiB: they are the caller's, and nothing copies them. */
static void test_own_memory(void **state)
{
	enum { N = 1000000 };
	const struct frictiond_options options = {.size = sizeof(options), .memory_bytes = 16 << 20};
	struct frictiond *service = create(&options);
	double *velocities = calloc(N, 24);
	char head[1024];
	(void)state;
	const size_t head_bytes = print_head(
		head, sizeof(head),
		"{\"dim\":3,\"velocities\":{\"dtype\":\"f64\",\"shape\":[1000000,3],\"offset\":0},\"outputs\":[\"potential\"],"
		"\"friction\":{\"mu\":1,\"eps_v\":1},\"collisions\":{\"plane_vertex\":{\"vertices\":[7],\"normal_force\":1,"
		"\"plane_normal\":[0,0,1]}}}");
	const struct frictiond_piece pieces[2] = {{head, head_bytes}, {velocities, N * 24}};
	const struct frictiond_request request = request_of("POST", "/v1/evaluate", frame_type, pieces, 2);
	struct frictiond_answer *answer = call(service, &request);
	assert_int_equal(answer->copied_bytes, 0);
	is_answered(answer, 200, "\"n_vertices\":1000000");
	/* A copy does count. */
	const struct frictiond_piece torn[3] = {{head, head_bytes}, {velocities, 4}, {(char *)velocities + 4, N * 24 - 4}};
	const struct frictiond_request other = request_of("POST", "/v1/evaluate", frame_type, torn, 3);
	is_answered(call(service, &other), 413, "\"exceeds_memory\"");
	/* So do results. */
	struct batch batch;
	make_batch(&batch, N, "");
	is_answered(evaluate(service, &batch), 413, "\"exceeds_memory\"");
	free_batch(&batch);
	free(velocities);
	destroy(service);
}

static void test_trim(void **state)
{
	struct frictiond *service = create(NULL);
	struct batch batch;
	(void)state;
	make_batch(&batch, 20000, "");
	frictiond_answer_free(evaluate(service, &batch));
	const size_t returned = frictiond_trim(service);
#ifndef __SANITIZE_ADDRESS__
	assert_true(returned >= 20000 * 24);
#endif
	(void)returned;
	assert_int_equal(frictiond_trim(service), 0);
	free_batch(&batch);
	destroy(service);
}

/* Sets that were not used go with a later call, without a thread that watches them. */
static void test_idle(void **state)
{
	const struct frictiond_options options = {.size = sizeof(options), .idle_seconds = 1, .set_idle_seconds = 1};
	struct frictiond *service = create(&options);
	(void)state;
	is_answered(ask(service, "PUT", "/v1/sets/a", LAGGED), 201, NULL);
	for (int i = 0; i < 600 && frictiond_memory(service) > 0; i++) {
		usleep(100000);
		is_answered(ask(service, "GET", "/healthz", NULL), 200, NULL);
	}
	assert_int_equal(frictiond_memory(service), 0);
	destroy(service);
}

/* ---- stopping ---- */

static void *raise_later(void *flag)
{
	usleep(20000);
	atomic_store((frictiond_flag *)flag, true);
	return NULL;
}

static void test_stop(void **state)
{
	struct frictiond *service = create(NULL);
	frictiond_flag stop = true;
	struct batch batch;
	pthread_t thread;
	(void)state;
	make_batch(&batch, 20000, ",\"collision_outputs\":[\"status\"]");
	struct frictiond_request request = request_of("POST", "/v1/check", frame_type, batch.pieces, batch.n_pieces);
	request.stop = &stop;
	is_answered(call(service, &request), 503, "\"stopped\"");
	free_batch(&batch);
	/* Compared with differences, this many contacts take minutes. */
	make_batch(&batch, 2000000, "");
	request.pieces = batch.pieces;
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&thread, NULL, raise_later, &stop), 0);
	is_answered(call(service, &request), 503, "\"stopped\"");
	pthread_join(thread, NULL);
	free_batch(&batch);
	destroy(service);
}

/* ---- the host's state ---- */

static void *counted_malloc(size_t bytes)
{
	fail_msg("the host's jansson was asked for %zu bytes", bytes);
	return NULL;
}

static void test_host(void **state)
{
	json_malloc_t take;
	json_free_t give;
	(void)state;
	json_get_alloc_funcs(&take, &give);
	assert_ptr_equal(take, malloc);
	assert_ptr_equal(give, free);
	json_set_alloc_funcs(counted_malloc, free);
	struct frictiond *service = create(NULL);
	is_answered(ask(service, "POST", "/v1/evaluate", ONE), 200, NULL);
	destroy(service);
	json_get_alloc_funcs(&take, &give);
	assert_ptr_equal(take, counted_malloc);
	json_set_alloc_funcs(malloc, free);
}

/* A host that traps faulty operations, or flushes small numbers to zero, gets the same numbers, and keeps its settings. */
static void test_floating_point(void **state)
{
	static const char tiny[] =
		"{\"dim\":2,\"velocities\":[[1e-310,0]],\"friction\":{\"mu\":1,\"eps_v\":1},\"outputs\":[\"gradient\"],"
		"\"collisions\":{\"plane_vertex\":{\"vertices\":[0],\"normal_force\":1,\"plane_normal\":[0,1]}}}";
	static const char huge[] =
		"{\"dim\":2,\"velocities\":[[1e300,0]],\"friction\":{\"mu\":1,\"eps_v\":1},\"outputs\":[\"potential\"],"
		"\"collisions\":{\"plane_vertex\":{\"vertices\":[0],\"normal_force\":1e300,\"plane_normal\":[0,1]}}}";
	struct frictiond *service = create(NULL);
	struct frictiond_answer *expected = ask(service, "POST", "/v1/evaluate", tiny), *answer;
	(void)state;
	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO);
	is_answered(ask(service, "POST", "/v1/evaluate", huge), 422, NULL);
	assert_int_equal(fegetexcept(), FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO);
	assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
	fedisableexcept(FE_ALL_EXCEPT);
#ifdef __SSE2__
	const unsigned settings = _mm_getcsr();
	_mm_setcsr(settings | 0x8040); /* flush to zero, denormals are zero */
	answer = ask(service, "POST", "/v1/evaluate", tiny);
	assert_int_equal(_mm_getcsr() & 0x8040, 0x8040);
	_mm_setcsr(settings);
#else
	fesetround(FE_UPWARD);
	answer = ask(service, "POST", "/v1/evaluate", tiny);
	fesetround(FE_TONEAREST);
#endif
	are_same(expected, answer);
	frictiond_answer_free(expected);
	frictiond_answer_free(answer);
	destroy(service);
}

/* ---- threads ---- */

struct worker {
	struct frictiond *service;
	const struct batch *batch;
	const struct frictiond_answer *expected;
	int number;
	pthread_t thread;
};

static void *work(void *argument)
{
	struct worker *worker = argument;
	char path[64];
	snprintf(path, sizeof(path), "/v1/sets/w%d/evaluate", worker->number);
	for (int i = 0; i < 6; i++) {
		struct frictiond_answer *answer = evaluate(worker->service, worker->batch);
		are_same(worker->expected, answer);
		frictiond_answer_free(answer);
		path[strlen("/v1/sets/w0")] = '\0';
		answer = ask(worker->service, "PUT", path, LAGGED);
		frictiond_answer_free(answer);
		path[strlen("/v1/sets/w0")] = '/';
		is_answered(ask(worker->service, "POST", path, QUERY), 200, "\"gradient\":[0.75,0.0]");
	}
	path[strlen("/v1/sets/w0")] = '\0';
	frictiond_answer_free(ask(worker->service, "DELETE", path, NULL));
	return NULL;
}

static void test_threads(void **state)
{
	enum { N = 6 };
	const struct frictiond_options options = {.size = sizeof(options), .threads = 2};
	struct frictiond *services[2] = {create(&options), create(NULL)};
	struct worker workers[N];
	struct batch batch;
	(void)state;
	make_batch(&batch, 8000, "");
	struct frictiond_answer *expected = evaluate(services[0], &batch);
	for (int i = 0; i < N; i++) {
		workers[i] = (struct worker){services[i % 2], &batch, expected, i, 0};
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (int i = 0; i < N; i++)
		pthread_join(workers[i].thread, NULL);
	frictiond_answer_free(expected);
	free_batch(&batch);
	destroy(services[0]);
	destroy(services[1]);
}

/* In a parallel region of the host. */
static void test_within_region(void **state)
{
	struct frictiond *service = create(NULL);
	struct batch batch;
	int same = 0;
	(void)state;
	make_batch(&batch, 8000, "");
	struct frictiond_answer *expected = evaluate(service, &batch);
#if FORKS /* ThreadSanitizer does not know the barriers of a region that gcc has compiled */
#pragma omp parallel num_threads(3) reduction(+ : same)
#endif
	{
		struct frictiond_answer *answer = evaluate(service, &batch);
		same += answer->body_bytes == expected->body_bytes;
		frictiond_answer_free(answer);
	}
	assert_true(same >= 1);
	frictiond_answer_free(expected);
	free_batch(&batch);
	destroy(service);
}

/* ---- forks ---- */

#if FORKS
/* @return 0 if everything is as it should be in the child */
static int be_child(struct frictiond *parents, struct frictiond_answer *answer, const struct batch *batch)
{
	const struct frictiond_options options = {.size = sizeof(options), .threads = 4};
	const struct frictiond_request request =
		request_of("POST", "/v1/evaluate", frame_type, batch->pieces, batch->n_pieces);
	struct frictiond_answer *refused;
	struct worker worker;
	if (frictiond_call(parents, &request, &refused) != FRICTIOND_E_FORKED || refused)
		return 1;
	struct frictiond *service = create(&options);
	struct frictiond_answer *own = evaluate(service, batch);
	are_same(answer, own);
	/* A new thread of the child has a team of its own. */
	worker = (struct worker){service, batch, answer, 0, 0};
	if (pthread_create(&worker.thread, NULL, work, &worker) != 0)
		return 2;
	pthread_join(worker.thread, NULL);
	frictiond_answer_free(own);
	frictiond_answer_free(answer);
	frictiond_trim(parents);
	frictiond_destroy(parents);
	/* A fork of the fork. */
	const pid_t grandchild = fork();
	if (grandchild == 0)
		_exit(frictiond_call(service, &request, &refused) == FRICTIOND_E_FORKED ? 0 : 3);
	int status;
	if (waitpid(grandchild, &status, 0) != grandchild || status != 0)
		return 4;
	destroy(service);
	return 0;
}

/* Forks while other threads are in the midst of calls. */
static void test_fork_beside_calls(void **state)
{
	enum { N = 3 };
	struct frictiond *service = create(NULL);
	struct worker workers[N];
	struct batch batch;
	int status;
	(void)state;
	make_batch(&batch, 8000, "");
	struct frictiond_answer *expected = evaluate(service, &batch);
	for (int i = 0; i < N; i++) {
		workers[i] = (struct worker){service, &batch, expected, i, 0};
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (int i = 0; i < 10; i += step_sanitized(3)) {
		const pid_t child = fork();
		if (child == 0)
			_exit(be_child(service, expected, &batch));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	for (int i = 0; i < N; i++)
		pthread_join(workers[i].thread, NULL);
	frictiond_answer_free(expected);
	free_batch(&batch);
	destroy(service);
}

static void test_fork(void **state)
{
	const struct frictiond_options options = {.size = sizeof(options), .threads = 4};
	struct frictiond *service = create(&options);
	struct batch batch;
	int status;
	(void)state;
	make_batch(&batch, 20000, "");
	struct frictiond_answer *answer = evaluate(service, &batch);
	const pid_t child = fork();
	if (child == 0)
		_exit(be_child(service, answer, &batch));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	struct frictiond_answer *again = evaluate(service, &batch);
	are_same(answer, again);
	frictiond_answer_free(answer);
	frictiond_answer_free(again);
	free_batch(&batch);
	destroy(service);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host), /* first: as the library finds jansson when it is loaded */
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_answers_outlive_services),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_versions_of_pieces),
		cmocka_unit_test(test_no_copies),
		cmocka_unit_test(test_what_is_copied),
		cmocka_unit_test(test_garbage_pieces),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_own_memory),
		cmocka_unit_test(test_trim),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_floating_point),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_within_region),
#if FORKS
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_fork_beside_calls),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
