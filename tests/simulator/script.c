#include "tests/simulator/script.h"

#include "api/api.h"
#include "api/sets/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct maker {
	struct script *script;
	struct asked *asked;
	const struct script_world *world;
	struct chance *chance;
	bool no_token, no_host;
};

/* ---- known responses ---- */

enum { N_BATCHES = 3 };

/* clang-format off */
static struct {
	const char *target, *method, *type, *body;
	struct api_response answer;
} known[] = {
	{"/v1/evaluate", "POST", "application/json",
	 "{\"dim\":3,\"velocities\":[[0.02,0.01,0]],\"friction\":{\"eps_v\":1e-3,\"mu_s\":0.5,\"mu_k\":0.3},\"collisions\":"
	 "{\"plane_vertex\":{\"vertices\":[0],\"plane_normal\":[0,0,1],\"normal_force\":9.81}}}", {0}},
	{"/v1/evaluate", "POST", "application/json",
	 "{\"dim\":2,\"velocities\":[[1,0],[0,1]],\"friction\":{\"eps_v\":1e-3,\"mu\":0.5},\"outputs\":[\"potential\"],"
	 "\"collisions\":{\"plane_vertex\":{\"vertices\":[0],\"plane_normal\":[0,1],\"normal_force\":9.81}}}", {0}},
	{"/v1/evaluate", "POST", "application/json", "{\"dim\":3,", {0}},
	{"/healthz", "GET", NULL, "", {0}},
	{"/readyz", "GET", NULL, "", {0}},
	{"/nowhere", "GET", NULL, "", {0}},
	{"/v1/functions/smooth_mu?y=1&mu_s=1&mu_k=0.5&eps_v=0.1", "GET", NULL, "", {0}},
	{"/healthz", "DELETE", NULL, "", {0}},
	{"/v1/evaluate", "POST", "text/plain", "x", {0}},
};
/* clang-format on */
enum {
	KNOWN_EVALUATE,
	KNOWN_POTENTIAL,
	KNOWN_BAD,
	KNOWN_HEALTHZ,
	KNOWN_READYZ,
	KNOWN_NOWHERE,
	KNOWN_FUNCTION,
	KNOWN_DELETE,
	KNOWN_TYPE,
	N_KNOWN
};

/* ---- known sets ---- */

/* Clients put two documents and apply one patch to each, so a set has one of four versions, whatever the order. */
enum { N_DOCUMENTS = 2, N_VERSIONS = 3 * N_DOCUMENTS };

/* clang-format off */
#define SET_BEGIN "{\"dim\":3,\"n_vertices\":2,\"friction\":{\"eps_v\":1e-3,\"mu\":0.5},\"collisions\":{\"plane_vertex\":{\"vertices\":"
#define SET_END ",\"plane_normal\":[0,0,1],\"normal_force\":2,\"anchor\":[0,0,0]}}}"
/* clang-format on */
static const char *const set_documents[N_DOCUMENTS] = {SET_BEGIN "[0]" SET_END, SET_BEGIN "[1,0]" SET_END};
static const char set_patch[] = "{\"friction\":{\"mu\":0.25}}";
static const char set_step[] = "{\"velocities\":[[3e-4,0,0],[0,5e-3,0]],\"positions\":[[0,0,0],[1,0,0]]}";
static const char *const set_queries[SCRIPT_N_ASKS] = {
	[SCRIPT_EVALUATION] = "{\"velocities\":[[0.02,0.01,0],[1,0,0]],\"outputs\":[\"potential\",\"gradient\"]}"};
static const char *const set_routes[SCRIPT_N_ASKS] = {"", "/evaluate", "/pattern"};

static struct {
	const char *version; /* as in the responses */
	struct api_response answers[SCRIPT_N_ASKS];
} set_versions[N_VERSIONS];

static int64_t no_time(void)
{
	return 0;
}

static void ask_of_set(const struct api_service *service, const char *method, const char *more, const char *body,
                       struct api_response *answer)
{
	char target[64];
	snprintf(target, sizeof target, "/v1/sets/a%s", more);
	const struct api_request request = {.method = method,
	                                    .target = target,
	                                    .content_type = body ? "application/json" : NULL,
	                                    .request_id = "-",
	                                    .body = body ? body : "",
	                                    .body_bytes = body ? strlen(body) : 0};
	api_handle(service, &request, answer);
}

static const char *version_in(const struct api_response *answer)
{
	for (int i = 0; i < answer->n_headers; i++)
		if (strcmp(answer->headers[i].name, "Collision-Set-Version") == 0)
			return answer->headers[i].value;
	return NULL;
}

/* The description contains the name "a", so it is not compared as a whole. */
static bool know_version(const struct api_service *service, size_t i)
{
	bool ok = true;
	for (enum script_asks asks = 0; asks < SCRIPT_N_ASKS; asks++) {
		struct api_response *answer = &set_versions[i].answers[asks];
		ask_of_set(service, set_queries[asks] ? "POST" : "GET", set_routes[asks], set_queries[asks], answer);
		set_versions[i].version = version_in(answer);
		ok = ok && set_versions[i].version && answer->status == 200 && answer->body;
	}
	return ok;
}

/* Makes the version that a change of the i-th document leads to. */
static bool know_changed(const struct api_service *service, size_t i, const char *method, const char *more,
                         const char *change, size_t version)
{
	struct api_response made;
	ask_of_set(service, "PUT", "", set_documents[i], &made);
	api_response_free(&made);
	if (change) {
		ask_of_set(service, method, more, change, &made);
		api_response_free(&made);
	}
	return know_version(service, version);
}

/* Version 3i is the i-th document, version 3i + 1 the patched one, version 3i + 2 the one whose time step has ended. */
static bool know_sets(struct api_service *service)
{
	const struct api_sets_limits limits = {1 << 20, 1 << 20, 8, 8, 900, NULL};
	bool ok = (service->sets = api_sets_create(&limits, no_time));
	for (size_t i = 0; ok && i < N_DOCUMENTS; i++)
		ok = know_changed(service, i, NULL, NULL, NULL, 3 * i) &&
		     know_changed(service, i, "PATCH", "", set_patch, 3 * i + 1) &&
		     know_changed(service, i, "POST", "/advance", set_step, 3 * i + 2);
	api_sets_free(service->sets);
	service->sets = NULL;
	return ok;
}

const char *script_answer_of(enum script_asks asks, const char *version, size_t version_bytes, size_t *n)
{
	for (size_t i = 0; i < N_VERSIONS; i++)
		if (strlen(set_versions[i].version) == version_bytes &&
		    memcmp(set_versions[i].version, version, version_bytes) == 0) {
			*n = set_versions[i].answers[asks].body_bytes;
			return set_versions[i].answers[asks].body;
		}
	return NULL;
}

bool scripts_start(void)
{
	struct api_service service = {.n_threads = 1,
	                              .max_json_bytes = 1 << 20,
	                              .max_frame_bytes = 1 << 20,
	                              .max_answer_bytes = 1 << 20,
	                              .max_contacts = 1000,
	                              .max_vertices = 1000};
	if (!api_choose_kernels(&service, "scalar"))
		return false;
	for (int i = 0; i < N_KNOWN; i++) {
		const struct api_request request = {.method = known[i].method,
		                                    .target = known[i].target,
		                                    .content_type = known[i].type,
		                                    .request_id = "-",
		                                    .body = known[i].body,
		                                    .body_bytes = strlen(known[i].body)};
		if (!api_admit(&service, &request, (long long)request.body_bytes, false, &known[i].answer).accepted)
			continue;
		api_handle(&service, &request, &known[i].answer);
	}
	return known[KNOWN_EVALUATE].answer.status == 200 && know_sets(&service);
}

/* ---- bytes ---- */

static void say(struct maker *maker, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct maker *maker, const char *format, ...)
{
	struct script *script = maker->script;
	va_list arguments;
	va_start(arguments, format);
	const int n = vsnprintf(script->bytes + script->n, SCRIPT_BYTES - script->n, format, arguments);
	va_end(arguments);
	if (n > 0 && (size_t)n < SCRIPT_BYTES - script->n)
		script->n += (size_t)n;
}

static void say_bytes(struct maker *maker, char byte, size_t n)
{
	struct script *script = maker->script;
	const size_t left = SCRIPT_BYTES - script->n - 1;
	n = n < left ? n : left;
	memset(script->bytes + script->n, byte, n);
	script->n += n;
}

static void say_again(struct maker *maker, const char *text, size_t times)
{
	const size_t n = strlen(text);
	for (; times > 0 && maker->script->n + n < SCRIPT_BYTES; times--) {
		memcpy(maker->script->bytes + maker->script->n, text, n);
		maker->script->n += n;
	}
}

static void expect(struct maker *maker, int status, unsigned traits)
{
	maker->asked->status = status;
	maker->asked->traits |= traits;
}

static void expect_known(struct maker *maker, int i, unsigned traits)
{
	expect(maker, known[i].answer.status, traits);
	if (known[i].answer.body) {
		maker->asked->body = known[i].answer.body;
		maker->asked->body_bytes = known[i].answer.body_bytes;
	}
}

/* Writes the head up to the lines that frame the body. */
static void begin(struct maker *maker, const char *method, const char *target)
{
	say(maker, "%s %s HTTP/1.1\r\n", method, target);
	if (!maker->no_host)
		say(maker, "Host: localhost:8080\r\n");
	say(maker, "X-Request-Id: %s\r\n", maker->asked->id);
	if (maker->world->asks_tokens && !maker->no_token)
		say(maker, "Authorization: Bearer 0123456789abcdef\r\n");
	if (chance_one_in(maker->chance, 8)) {
		say(maker, "Origin: https://a.example\r\n");
		maker->asked->traits |= HAS_ORIGIN;
	}
	if (chance_one_in(maker->chance, 8)) {
		say(maker, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
		maker->asked->traits |= HAS_TRACE;
	}
	if (chance_one_in(maker->chance, 16))
		say(maker, "Cookie: a=b; c=d\r\n");
}

static void end_head(struct maker *maker)
{
	say(maker, "\r\n");
	maker->asked->head_end = maker->script->n;
}

/* Writes the usual lines of a head composed by hand. */
static void say_who(struct maker *maker)
{
	say(maker, "Host: localhost\r\nX-Request-Id: %s\r\n", maker->asked->id);
}

/* ---- bodies ---- */

static void chunk(struct maker *maker, const char *bytes, size_t n)
{
	say(maker, chance_one_in(maker->chance, 8) ? "%zx;a=\"b\"\r\n" : "%zX\r\n", n);
	memcpy(maker->script->bytes + maker->script->n, bytes, n);
	maker->script->n += n;
	say(maker, "\r\n");
}

static void in_chunks(struct maker *maker, const char *body, size_t n)
{
	say(maker, "Transfer-Encoding: chunked\r\n");
	end_head(maker);
	while (n > 0) {
		const size_t some = 1 + chance_below(maker->chance, n);
		chunk(maker, body, some);
		body += some;
		n -= some;
	}
	say(maker, "0\r\n%s\r\n", chance_one_in(maker->chance, 4) ? "Trailer-Of: ours\r\n" : "");
}

static void in_one(struct maker *maker, const char *body, size_t n)
{
	say(maker, "Content-Length: %zu\r\n", n);
	if (n > 0 && chance_one_in(maker->chance, 6)) {
		say(maker, "Expect: 100-continue\r\n");
		maker->asked->waits = true;
	}
	end_head(maker);
	memcpy(maker->script->bytes + maker->script->n, body, n);
	maker->script->n += n;
}

static void send_body(struct maker *maker, const char *body, size_t n)
{
	if (chance_one_in(maker->chance, 3))
		in_chunks(maker, body, n);
	else
		in_one(maker, body, n);
}

/* A body that the route does not read. */
static void perhaps_send_body(struct maker *maker)
{
	if (chance_one_in(maker->chance, 2))
		send_body(maker, "drop me", 7);
	else
		end_head(maker);
}

/* ---- requests ---- */

static void get_known(struct maker *maker, int i, unsigned traits)
{
	begin(maker, known[i].method, known[i].target);
	end_head(maker);
	expect_known(maker, i, traits);
}

static void get_health(struct maker *maker)
{
	get_known(maker, KNOWN_HEALTHZ, 0);
}

static void get_ready(struct maker *maker)
{
	get_known(maker, KNOWN_READYZ, NOT_DRAINING);
}

static void get_nowhere(struct maker *maker)
{
	get_known(maker, KNOWN_NOWHERE, 0);
}

static void get_function(struct maker *maker)
{
	get_known(maker, KNOWN_FUNCTION, 0);
}

static void get_openapi(struct maker *maker)
{
	begin(maker, "GET", "/openapi.json");
	end_head(maker);
	expect(maker, 200, 0);
}

static void get_absolute(struct maker *maker)
{
	begin(maker, "GET", "http://localhost:8080/healthz");
	end_head(maker);
	expect_known(maker, KNOWN_HEALTHZ, 0);
}

static void get_metrics(struct maker *maker)
{
	begin(maker, "GET", "/metrics");
	end_head(maker);
	expect(maker, 200, 0);
}

static void get_and_close(struct maker *maker)
{
	begin(maker, "GET", "/healthz");
	say(maker, "Connection: close\r\n");
	end_head(maker);
	expect_known(maker, KNOWN_HEALTHZ, CLOSES | LAST);
}

static void get_old(struct maker *maker)
{
	say(maker, "GET /healthz HTTP/1.0\r\n");
	say_who(maker);
	end_head(maker);
	expect_known(maker, KNOWN_HEALTHZ, CLOSES | LAST);
}

static void get_with_body(struct maker *maker)
{
	begin(maker, "GET", "/healthz");
	send_body(maker, "ignored", 7);
	expect_known(maker, KNOWN_HEALTHZ, 0);
}

static void head_health(struct maker *maker)
{
	begin(maker, "HEAD", "/healthz");
	end_head(maker);
	expect_known(maker, KNOWN_HEALTHZ, BARE);
}

static void head_metrics(struct maker *maker)
{
	begin(maker, "HEAD", "/metrics");
	perhaps_send_body(maker);
	expect(maker, 200, BARE | (maker->asked->waits ? MAY_CLOSE : 0));
}

static void delete_health(struct maker *maker)
{
	get_known(maker, KNOWN_DELETE, 0);
}

static void post_known(struct maker *maker, int i)
{
	begin(maker, "POST", known[i].target);
	say(maker, "Content-Type: %s\r\n", known[i].type);
	send_body(maker, known[i].body, strlen(known[i].body));
	expect_known(maker, i, 0);
}

static void post_batch(struct maker *maker)
{
	post_known(maker, (int)chance_below(maker->chance, N_BATCHES));
}

/* The head is refused. The body is still read, unless the client waits for 100 Continue. */
static void post_type(struct maker *maker)
{
	post_known(maker, KNOWN_TYPE);
	maker->asked->traits |= maker->asked->waits ? CLOSES : 0u;
}

static void post_nowhere(struct maker *maker)
{
	begin(maker, "POST", "/nowhere");
	send_body(maker, "0123456789", 10);
	expect_known(maker, KNOWN_NOWHERE, maker->asked->waits ? CLOSES : 0);
}

static void post_no_length(struct maker *maker)
{
	begin(maker, "POST", "/v1/evaluate");
	say(maker, "Content-Type: application/json\r\n");
	end_head(maker);
	expect(maker, 411, 0);
}

static void post_announcing(struct maker *maker, const char *target, size_t announced, size_t sent)
{
	begin(maker, "POST", target);
	say(maker, "Content-Type: application/json\r\nContent-Length: %zu\r\n", announced);
	end_head(maker);
	say_bytes(maker, ' ', sent);
}

static void post_too_long(struct maker *maker)
{
	post_announcing(maker, "/v1/evaluate", maker->world->max_json_bytes + 1, chance_below(maker->chance, 2000));
	expect(maker, 413, CLOSES | UNFINISHED);
}

/* Length sent of a body that never completes. */
static size_t some_sent(const struct maker *maker)
{
	return 1 + chance_below(maker->chance, 2) * (99 + chance_below(maker->chance, 50));
}

static void post_unsent(struct maker *maker)
{
	post_announcing(maker, "/v1/evaluate", maker->world->max_json_bytes, some_sent(maker));
	expect(maker, 408, CLOSES | UNFINISHED);
}

static void begin_preflight(struct maker *maker)
{
	say(maker, "OPTIONS /v1/evaluate HTTP/1.1\r\n");
	say_who(maker);
	say(maker, "Origin: https://a.example\r\nAccess-Control-Request-Method: POST\r\n");
}

static void begin_unsent_chunks(struct maker *maker)
{
	say(maker, "Transfer-Encoding: chunked\r\n");
	end_head(maker);
	say(maker, "100\r\n");
	say_bytes(maker, 'x', some_sent(maker));
}

static void begin_unsent(struct maker *maker)
{
	if (chance_one_in(maker->chance, 2)) {
		begin_unsent_chunks(maker);
		return;
	}
	say(maker, "Content-Length: 1000\r\n");
	end_head(maker);
	say_bytes(maker, ' ', some_sent(maker));
}

static void unsent_nowhere(struct maker *maker)
{
	const bool head = chance_one_in(maker->chance, 2);
	begin(maker, head ? "HEAD" : "POST", "/nowhere");
	begin_unsent(maker);
	expect(maker, 404, CLOSES | UNFINISHED | (head ? BARE : 0));
}

static void unsent_preflight(struct maker *maker)
{
	begin_preflight(maker);
	begin_unsent(maker);
	expect(maker, 204, HAS_ORIGIN | CLOSES | UNFINISHED);
}

static void long_in_chunks(struct maker *maker)
{
	static const char block[4096];
	const size_t limit = maker->world->max_json_bytes;
	if (limit > 20000) {
		get_health(maker);
		return;
	}
	begin(maker, "POST", "/v1/evaluate");
	say(maker, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n");
	end_head(maker);
	for (size_t n = 0; n <= limit; n += sizeof block)
		chunk(maker, block, sizeof block);
	say(maker, "0\r\n\r\n");
	expect(maker, 413, MAY_CLOSE);
}

/* Nested objects, whose parsed form takes many times the memory of the text. */
static void post_trees(struct maker *maker)
{
	const size_t most = maker->world->max_json_bytes < 40000 ? maker->world->max_json_bytes : 40000;
	const size_t n = (chance_below(maker->chance, most) + most) / 2 / 3 - 2;
	begin(maker, "POST", "/v1/evaluate");
	say(maker, "Content-Type: application/json\r\nContent-Length: %zu\r\n", 3 * n + 4);
	end_head(maker);
	say(maker, "[");
	say_again(maker, "{},", n);
	say(maker, "{}]");
	expect(maker, 422, ANY_STATUS);
}

static void preflight(struct maker *maker)
{
	begin_preflight(maker);
	perhaps_send_body(maker);
	expect(maker, 204, HAS_ORIGIN | (maker->asked->waits ? CLOSES : 0));
}

static void from_elsewhere(struct maker *maker)
{
	say(maker, "GET /v1/info HTTP/1.1\r\n");
	say_who(maker);
	say(maker, "Origin: https://b.example\r\n");
	end_head(maker);
	expect(maker, 403, 0);
}

static void by_another_name(struct maker *maker)
{
	say(maker, "GET /v1/info HTTP/1.1\r\nHost: evil.example\r\nX-Request-Id: %s\r\n", maker->asked->id);
	end_head(maker);
	expect(maker, maker->world->asks_tokens ? 401 : 421, 0);
}

static void without_token(struct maker *maker)
{
	maker->no_token = true;
	begin(maker, "POST", "/v1/evaluate");
	say(maker, "Content-Type: application/json\r\n");
	send_body(maker, known[KNOWN_EVALUATE].body, strlen(known[KNOWN_EVALUATE].body));
	if (maker->world->asks_tokens)
		expect(maker, 401, maker->asked->waits ? CLOSES : 0);
	else
		expect_known(maker, KNOWN_EVALUATE, 0);
}

/* ---- sets ---- */

/* One of two names, shared by all clients. */
static void begin_of_set(struct maker *maker, const char *method, const char *more)
{
	char target[64];
	snprintf(target, sizeof target, "/v1/sets/%s%s", chance_one_in(maker->chance, 6) ? "b" : "a", more);
	begin(maker, method, target);
}

static void expect_of_set(struct maker *maker, int status, int also, int also_that, enum script_asks asks,
                          unsigned traits)
{
	expect(maker, status, traits);
	maker->asked->also[0] = also;
	maker->asked->also[1] = also_that;
	maker->asked->asks = asks;
}

/* Names the version of one of the two documents, which may not be the current one. */
static void say_condition(struct maker *maker)
{
	const size_t i = chance_one_in(maker->chance, 4) ? 3 : 0;
	say(maker, "If-Collision-Set-Version: %s\r\n", set_versions[i].version);
}

static void put_set(struct maker *maker)
{
	const char *document = set_documents[chance_one_in(maker->chance, 4)];
	begin_of_set(maker, "PUT", "");
	say(maker, "Content-Type: application/json\r\n");
	if (chance_one_in(maker->chance, 8))
		say(maker, "If-None-Match: *\r\n");
	send_body(maker, document, strlen(document));
	expect_of_set(maker, 200, 201, 412, SCRIPT_DESCRIPTION, TELLS_VERSION);
}

static void patch_set(struct maker *maker)
{
	begin_of_set(maker, "PATCH", "");
	say(maker, "Content-Type: application/merge-patch+json\r\n");
	say_condition(maker);
	send_body(maker, set_patch, strlen(set_patch));
	expect_of_set(maker, 200, 404, 412, SCRIPT_DESCRIPTION, TELLS_VERSION);
}

static void advance_set(struct maker *maker)
{
	begin_of_set(maker, "POST", "/advance");
	say(maker, "Content-Type: application/json\r\n");
	say_condition(maker);
	send_body(maker, set_step, strlen(set_step));
	expect_of_set(maker, 200, 404, 412, SCRIPT_DESCRIPTION, TELLS_VERSION);
}

static void ask_set(struct maker *maker)
{
	const char *query = set_queries[SCRIPT_EVALUATION];
	begin_of_set(maker, "POST", set_routes[SCRIPT_EVALUATION]);
	say(maker, "Content-Type: application/json\r\n");
	if (chance_one_in(maker->chance, 4))
		say_condition(maker);
	send_body(maker, query, strlen(query));
	expect_of_set(maker, 200, 404, 412, SCRIPT_EVALUATION, TELLS_VERSION);
}

static void get_pattern(struct maker *maker)
{
	begin_of_set(maker, "GET", set_routes[SCRIPT_PATTERN]);
	end_head(maker);
	expect_of_set(maker, 200, 404, 404, SCRIPT_PATTERN, TELLS_VERSION | NOT_DRAINING);
}

static void get_set(struct maker *maker)
{
	const bool head = chance_one_in(maker->chance, 3);
	begin_of_set(maker, head ? "HEAD" : "GET", "");
	end_head(maker);
	expect_of_set(maker, 200, 404, 404, SCRIPT_DESCRIPTION, TELLS_VERSION | (head ? BARE : 0));
}

static void delete_set(struct maker *maker)
{
	begin_of_set(maker, "DELETE", "");
	end_head(maker);
	expect_of_set(maker, 204, 404, 404, SCRIPT_DESCRIPTION, 0);
}

static void list_sets(struct maker *maker)
{
	begin(maker, "GET", "/v1/sets");
	end_head(maker);
	expect(maker, 200, 0);
}

/* ---- faults of HTTP ---- */

static void faulty_line(struct maker *maker)
{
	static const struct {
		const char *line;
		int status;
	} lines[] = {
		{"Content-Length: 1\r\nContent-Length: 1\r\n", 400},
		{"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", 400},
		{"Content-Length: 1x\r\n", 400},
		{"Content-Length: -1\r\n", 400},
		{"Host: localhost\r\n", 400},
		{"Name : value\r\n", 400},
		{"no colon\r\n", 400},
		{"A: b\n", 400},
		{" folded\r\n", 400},
		{"A: b\x01\r\n", 400},
		{"Transfer-Encoding: gzip\r\n", 400},
		{"Transfer-Encoding: chunked, chunked\r\n", 400},
	};
	const size_t i = chance_below(maker->chance, sizeof lines / sizeof lines[0]);
	begin(maker, "POST", "/v1/evaluate");
	say(maker, "%s", lines[i].line);
	end_head(maker);
	expect(maker, lines[i].status, CLOSES | NAMELESS);
}

static void no_host(struct maker *maker)
{
	maker->no_host = true;
	begin(maker, "GET", "/healthz");
	end_head(maker);
	expect(maker, 400, CLOSES | NAMELESS);
}

static void no_request(struct maker *maker)
{
	static const char *const lines[] = {"GET /healthz\r\n",           "GET  /healthz HTTP/1.1\r\n",
	                                    "GET /healthz HTTP/1.1 \r\n", "G\x7fT / HTTP/1.1\r\n",
	                                    "\x16\x03\x01\x02",           "GET / HTTP/1.1\n"};
	const char *line = lines[chance_below(maker->chance, sizeof lines / sizeof lines[0])];
	say(maker, "%sHost: localhost\r\n", line);
	end_head(maker);
	expect(maker, 400, CLOSES | NAMELESS);
}

/* The library keeps a record of each argument in the connection's memory. */
static void many_arguments(struct maker *maker)
{
	say(maker, "GET /healthz?");
	say_again(maker, "a&", 65 + chance_below(maker->chance, 900));
	say(maker, "a HTTP/1.1\r\n");
	say_who(maker);
	end_head(maker);
	expect(maker, 414, CLOSES | NAMELESS);
}

static void long_target(struct maker *maker)
{
	say(maker, "GET /");
	say_bytes(maker, 'x', 8200 + chance_below(maker->chance, 20000));
	say(maker, " HTTP/1.1\r\n");
	say_who(maker);
	end_head(maker);
	expect(maker, 414, CLOSES | NAMELESS);
}

static void long_line(struct maker *maker)
{
	const bool cookie = chance_one_in(maker->chance, 2);
	begin(maker, "GET", "/healthz");
	say(maker, "%s: ", cookie ? "Cookie" : "X-Long");
	say_again(maker, "a=b;", ((cookie ? 8200 : 20500) + chance_below(maker->chance, 8000)) / 4);
	say(maker, "a=b\r\n");
	end_head(maker);
	expect(maker, 431, CLOSES | NAMELESS);
}

static void many_lines(struct maker *maker)
{
	begin(maker, "GET", "/healthz");
	say_again(maker, "A: b\r\n", 281);
	end_head(maker);
	expect(maker, 431, CLOSES | NAMELESS);
}

static void faulty_chunk(struct maker *maker)
{
	static const struct {
		const char *bytes;
		int status;
	} chunks[] = {
		{"zz\r\n", 400},
		{"3\r\nabcd\r\n", 400},
		{"-1\r\n", 400},
		{"1\nx", 400},
		{"ffffffffffffffffff\r\n", 413},
		{"\r\n", 400},
		{"1\r\nx\r\n0\r\nno colon\r\n\r\n", 400},
	};
	const size_t i = chance_below(maker->chance, sizeof chunks / sizeof chunks[0]);
	begin(maker, "POST", "/v1/evaluate");
	say(maker, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n");
	end_head(maker);
	say(maker, "%s", chunks[i].bytes);
	expect(maker, chunks[i].status, CLOSES);
}

static const struct {
	const char *name;
	void (*make)(struct maker *maker);
	unsigned weight;
	enum script_end end;
	unsigned weight_of_sets; /* for scripts that use sets only */
} kinds[] = {
	{"health", get_health, 16, SCRIPT_ANY, 0},
	{"ready", get_ready, 4, SCRIPT_ANY, 0},
	{"nowhere", get_nowhere, 6, SCRIPT_ANY, 0},
	{"function", get_function, 4, SCRIPT_ANY, 0},
	{"openapi", get_openapi, 1, SCRIPT_LONG, 0},
	{"absolute", get_absolute, 2, SCRIPT_ANY, 0},
	{"metrics", get_metrics, 1, SCRIPT_LONG, 0},
	{"close", get_and_close, 3, SCRIPT_ANY, 0},
	{"old", get_old, 3, SCRIPT_ANY, 0},
	{"get with body", get_with_body, 3, SCRIPT_ANY, 0},
	{"head", head_health, 6, SCRIPT_ANY, 0},
	{"head of metrics", head_metrics, 1, SCRIPT_ANY, 0},
	{"delete", delete_health, 2, SCRIPT_ANY, 0},
	{"batch", post_batch, 24, SCRIPT_ANY, 0},
	{"put set", put_set, 3, SCRIPT_ANY, 5},
	{"patch set", patch_set, 2, SCRIPT_ANY, 4},
	{"advance set", advance_set, 2, SCRIPT_ANY, 4},
	{"ask set", ask_set, 4, SCRIPT_ANY, 8},
	{"pattern of set", get_pattern, 1, SCRIPT_ANY, 2},
	{"get set", get_set, 1, SCRIPT_ANY, 2},
	{"delete set", delete_set, 1, SCRIPT_ANY, 2},
	{"list sets", list_sets, 1, SCRIPT_ANY, 1},
	{"wrong type", post_type, 4, SCRIPT_ANY, 0},
	{"post nowhere", post_nowhere, 6, SCRIPT_ANY, 0},
	{"no length", post_no_length, 2, SCRIPT_ANY, 0},
	{"too long", post_too_long, 3, SCRIPT_ANY, 0},
	{"unsent", post_unsent, 3, SCRIPT_UNSENT, 0},
	{"unsent, refused", unsent_nowhere, 4, SCRIPT_UNSENT, 0},
	{"unsent preflight", unsent_preflight, 1, SCRIPT_UNSENT, 0},
	{"long in chunks", long_in_chunks, 1, SCRIPT_ANY, 0},
	{"trees", post_trees, 1, SCRIPT_ANY, 0},
	{"preflight", preflight, 4, SCRIPT_ANY, 0},
	{"from elsewhere", from_elsewhere, 2, SCRIPT_ANY, 0},
	{"by another name", by_another_name, 2, SCRIPT_ANY, 0},
	{"without token", without_token, 3, SCRIPT_ANY, 0},
	{"faulty line", faulty_line, 6, SCRIPT_ANY, 0},
	{"no host", no_host, 2, SCRIPT_ANY, 0},
	{"no request", no_request, 2, SCRIPT_ANY, 0},
	{"many arguments", many_arguments, 2, SCRIPT_ANY, 0},
	{"long target", long_target, 1, SCRIPT_ANY, 0},
	{"long line", long_line, 1, SCRIPT_ANY, 0},
	{"many lines", many_lines, 1, SCRIPT_ANY, 0},
	{"faulty chunk", faulty_chunk, 4, SCRIPT_ANY, 0},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static unsigned weight_of(size_t kind, enum script_end end, bool of_sets)
{
	if (of_sets && end == SCRIPT_ANY)
		return kinds[kind].weight_of_sets;
	return end == SCRIPT_ANY || kinds[kind].end == end ? kinds[kind].weight : 0;
}

static size_t choose_kind(enum script_end end, bool of_sets, struct chance *chance)
{
	unsigned total = 0;
	for (size_t i = 0; i < N_KINDS; i++)
		total += weight_of(i, end, of_sets);
	size_t at = chance_below(chance, total), i = 0;
	for (; at >= weight_of(i, end, of_sets); i++)
		at -= weight_of(i, end, of_sets);
	return i;
}

static size_t kind_of(void (*make)(struct maker *))
{
	size_t i = 0;
	while (kinds[i].make != make)
		i++;
	return i;
}

/* @return whether another request may follow */
static bool add_request(struct script *script, const struct script_world *world, enum script_end end, bool of_sets,
                        size_t client, struct chance *chance)
{
	struct asked *asked = &script->asked[script->n_asked];
	const bool is_first = of_sets && end == SCRIPT_ANY && script->n_asked == 0;
	const size_t kind = is_first ? kind_of(put_set) : choose_kind(end, of_sets, chance);
	*asked = (struct asked){.name = kinds[kind].name, .at = script->n};
	snprintf(asked->id, sizeof asked->id, "c%zu-r%zu", client, script->n_asked);
	struct maker maker = {script, asked, world, chance, false, false};
	kinds[kind].make(&maker);
	asked->end = script->n;
	script->n_asked++;
	return !(asked->traits & (UNFINISHED | LAST)) && script->n < SCRIPT_BYTES - (44 << 10);
}

void script_make(struct script *script, const struct script_world *world, enum script_end end, size_t client,
                 struct chance *chance)
{
	const bool of_sets = chance_one_in(chance, 5);
	const bool is_long = end == SCRIPT_ANY && (of_sets || chance_one_in(chance, 4));
	size_t n = 1 + chance_below(chance, is_long ? SCRIPT_REQUESTS : 2);
	script->n = script->n_asked = 0;
	while (n-- > 0 && add_request(script, world, n ? SCRIPT_ANY : end, of_sets, client, chance))
		;
}
