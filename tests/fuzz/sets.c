/* Runs sequences of requests on collision sets, beside a model of the store that predicts every response. Input: a byte
 * for the limits, then operations until the input is used up. An operation has one byte each for its kind, the caller
 * and name of the set, the condition, and the media types. If it has a body, another byte selects either one of the
 * bodies below, each # of which is replaced by a digit from one more byte, or the following input up to a NUL.
 * 
 * The model merges by RFC 7396 on jansson's trees. A document or a patch must get the response of a fresh service to a
 * PUT of the whole document; a query, that of a fresh service to the whole request. The model records when each set was
 * used, and derives from that which sets may have expired, and which must have. */
#include <jansson.h>
#include <math.h>

#include "api/base/budget.h"
#include "api/base/pool.h"
#include "api/codec/media.h"
#include "api/sets/archive.h"
#include "api/sets/store.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/judge.h"

enum { N_CALLERS = 3, N_NAMES = 4, IDLE_SECONDS = 900, MOST_OPERATIONS = 24 };

static const char *const callers[N_CALLERS] = {NULL, "a", "b"}, *const names[N_NAMES] = {"s", "t-1", "u.2", "~"};

#define PLANE(n) \
	"\"plane_vertex\":{\"vertices\":[" n "],\"plane_normal\":[0,0,1],\"normal_force\":2,\"anchor\":[0,0,0]}"
#define LAW "\"friction\":{\"eps_v\":0.5,\"mu\":0.#}"

static const char *const documents[] = {
	"{\"dim\":3,\"n_vertices\":4," LAW ",\"collisions\":{" PLANE("0,1,#") "}}",
	"{\"dim\":3,\"positions\":[[-1,0,0],[1,0,0],[0,-1,0.#],[0,1,0.1],[0.2,0.1,0.05]]," LAW
	",\"barrier\":{\"dhat\":0.#,\"stiffness\":100},\"collisions\":{\"edge_edge\":{\"vertices\":[[0,1,2,3]]},"
	"\"plane_vertex\":{\"vertices\":[4],\"plane_normal\":[0,0,1],\"plane_origin\":[0,0,0]}}}",
	"{\"dim\":2,\"positions\":[[0,0],[2,0],[1,0.#],[0.#,1]]," LAW ",\"on_degenerate\":\"skip\",\"collisions\":{"
	"\"edge_vertex\":{\"vertices\":[[2,0,1],[3,0,1]],\"normal_force\":#},\"vertex_vertex\":{\"vertices\":[[0,#]],"
	"\"normal_force\":[1]}}}",
	"{\"dim\":3,\"n_vertices\":#," LAW ",\"collisions\":{}}",
	"{\"dim\":3,\"positions\":[[0,0,0],[1,0,0],[0,1,0],[0.2,0.2,0.#]]," LAW
	",\"lagged_velocities\":[[#,0,0],[0,#,0],[0,0,1],"
	"[1,1,1]],\"collisions\":{\"face_vertex\":{\"vertices\":[[3,0,1,2]],\"normal_force\":1}}}",
	"{\"dim\":3,\"n_vertices\":64," LAW ",\"collisions\":{" PLANE(
		"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30") "}}",
	"{\"dim\":3,\"n_vertices\":4," LAW
	",\"lagged_velocities\":[1e308,-1e308,0,0,#,0,0,0,0,0,0,0],\"collisions\":{" PLANE("0,1") "}}",
	"{\"dim\":3," LAW "}",
	"{\"dim\":3,\"velocities\":[[1,0,0]]}",
};
static const char *const patches[] = {
	"{}",
	"{\"friction\":{\"mu\":0.#}}",
	"{\"friction\":null}",
	"{\"collisions\":{\"plane_vertex\":{\"normal_force\":#}}}",
	"{\"collisions\":{\"plane_vertex\":null}}",
	"{\"collisions\":null}",
	"{\"positions\":[[-1,0,0],[1,0,0],[0,-1,0.#],[0,1,0.2],[0.#,0.1,0.05]]}",
	"{\"positions\":null,\"n_vertices\":#}",
	"{\"barrier\":{\"dhat\":0.#}}",
	"{\"dim\":2}",
	"null",
	"[#]",
	"{\"lagged_velocities\":[[#,0,0],[0,1,0],[0,0,#],[1,0,1]]}",
	"{\"lagged_velocities\":null,\"on_degenerate\":\"skip\"}",
	"{\"collisions\":{\"vertex_vertex\":{\"vertices\":[[0,#]],\"normal_force\":1}}}",
	"{\"friction\":{\"mu\":null,\"mu_s\":0.5,\"mu_k\":0.#}}",
	"{\"positions\":{\"dtype\":\"f64\",\"shape\":[1,3],\"offset\":0}}",
	"{\"unknown\":#}",
	"{\"closest_features\":\"search\",\"collisions\":{\"edge_edge\":{\"mollifier\":#}}}",
};
/* Ends of time steps. */
static const char *const steps[] = {
	"{\"velocities\":[[0.1,0.#,0],[1,0,0],[0,0,0],[0.5,#,0]],\"positions\":[[0,0,0],[1,0,0],[0,1,0],[0.2,0.2,0.#]]}",
	"{\"velocities\":[[0,#,0],[0,0.#,0],[0,0,0],[0.5,#,0],[1,1,1]],\"positions\":"
	"[[-1,0,0],[1,0,0],[0,-1,0.#],[0,1,0.2],[0.#,0.1,0.05]]}",
	"{\"velocities\":[1,0,0,0,0.#,0,0,0,0,0,0,0],\"positions\":[0,0,0,1,0,0,0,1,0,0,0,#],"
	"\"lagged_velocities\":[0,#,0,0,1,0,1,0,0,0,0,0],\"collisions\":{\"plane_vertex\":{\"surface_velocity\":[#,0,0]}}}",
	"{\"velocities\":[[1,0],[0,1],[0,0],[0.5,#]],\"positions\":[[0,0],[2,0],[1,0.#],[0.#,1]]}",
	"{\"velocities\":[[0,0,0],[0,0,0],[0,0,0],[0,0,0]]}",
	"{\"velocities\":[1,0,0,0,0,0,0,0,0,0,0,0],\"positions\":[0,0,0,1,0,0,0,1,0,0,0,1],\"friction\":{\"mu\":#}}",
	"{}",
	"[#]",
};
static const char *const queries[] = {
	"{\"velocities\":[[#,0,0],[0,1,0],[0,0,0],[0.5,#,0]]}",
	"{\"velocities\":[[#,0,0],[0,1,0],[0,0,0],[0.5,#,0],[1,1,1]],\"outputs\":[\"potential\",\"gradient\"]}",
	"{\"velocities\":[[#,0],[0,1],[0,0],[0.5,#]],\"outputs\":[\"gradient\",\"hessian\"],\"hessian\":{\"format\":\"csr\"}}",
	"{\"velocities\":[],\"outputs\":[\"potential\"]}",
	"{\"velocities\":[[1,0,0],[0,1,0],[0,0,0],[0.5,#,0]],\"lagged_velocities\":[[0,#,0],[0,1,0],[1,0,0],[0,0,0]]}",
	"{\"velocities\":[#,0,0,0,1,0,0,0,0,0,0,0],\"outputs\":[\"hessian\"],\"hessian\":{\"projection\":\"clamp\"}}",
	"{\"velocities\":[[1,0,0],[0,1,0],[0,0,0],[0.5,1,0]],\"outputs\":[\"mu_s\",\"distance\",\"status\"]}",
	"{\"velocities\":[1,0,0,0,1,0,0,0,0,0,#,0],\"outputs\":[\"line\"],\"line\":{\"direction\":[#,0,0,1,0,0,0,0,0,0,0,0],\"steps\":[0,-1,#]}}",
	"{\"velocities\":[1,0,0,0,1,0,0,0,0,0,#,0],\"outputs\":[\"hessian_products\"],\"vectors\":[[#,0,0,1,0,0,0,0,0,0,0,0]]}",
	"{\"velocities\":[1,0,0,0,1,0,0,0,0,0,#,0],\"outputs\":[\"hessian\"],\"hessian\":{\"format\":\"bsr\",\"pattern\":false}}",
	"{\"terms\":[\"barrier\"],\"current_positions\":[[-1,0,0.#],[1,0,0],[0,-1,0.1],[0,1,0.1],[0.2,0.1,0.0#]]}",
	("{\"terms\":[\"friction\",\"barrier\"],\"time_step\":0.#,\"outputs\":[\"gradient\",\"hessian\"],\"velocities\":"
     "[[#,0,0],[0,1,0],[0,0,0],[0.5,#,0],[1,1,1]]}"),
	"{\"velocities\":[[1e308,1e308,0],[0,1,0],[0,0,0],[0,0,0]]}",
	"{}",
	"{\"velocities\":[[#,0,0]],\"dim\":3}",
};
static const char *const patterns[] = {"?format=csr&triangle=full",      "?format=csr&triangle=lower",
                                       "?format=triplets&triangle=full", "?format=bsr&triangle=full",
                                       "?format=bsr&triangle=upper",     "?format=triplets&triangle=upper"};

#define N_OF(list) (sizeof(list) / sizeof((list)[0]))

/* ---- the model ---- */

/* Expected state of a set. */
struct known {
	bool exists;
	bool may_be_gone; /* it may have been evicted, because it was idle long enough when memory or names were short */
	char version[API_VERSION_BYTES], before[API_VERSION_BYTES];
	json_t *document;                 /* NULL: jansson cannot read it */
	int64_t used_ms, perhaps_used_ms; /* last use for certain; latest possible use, by a failed request */
};

struct world {
	struct known known[N_CALLERS][N_NAMES];
	struct api_service service, fresh;
	struct api_budget budget;
	bool is_roomy;
	bool limits_names_alone; /* bytes are never short */
	char tailed[API_VERSION_BYTES + 1];
	struct fuzz_input *input;
};

static int64_t now_ms;

static int64_t tell_time(void)
{
	return now_ms;
}

/* ---- RFC 7396, 2, making a new tree ---- */

static json_t *merged(const json_t *target, const json_t *patch)
{
	const char *key;
	json_t *value;
	if (!json_is_object(patch))
		return json_deep_copy(patch);
	json_t *result = json_is_object(target) ? json_deep_copy(target) : json_object();
	json_object_foreach((json_t *)(uintptr_t)patch, key, value) {
		if (json_is_null(value))
			json_object_del(result, key);
		else
			json_object_set_new(result, key, merged(json_object_get(result, key), value));
	}
	return result;
}

/* ---- requests ---- */

/* A request with everything allocated for it, and its response. */
struct call {
	struct api_request request;
	char target[128];
	char *text, *body; /* the body as NUL-terminated JSON, and as sent */
	json_t *tree;      /* the parsed text; NULL: jansson cannot read it */
	enum api_format format;
	struct api_response response;
	char *answer;
	bool is_scarce; /* the request gets little memory */
	struct known *known;
	const char *name;
};

static const char *header_of(const struct api_response *response, const char *name)
{
	for (int i = 0; i < response->n_headers; i++)
		if (!strcmp(response->headers[i].name, name))
			return response->headers[i].value;
	return NULL;
}

static json_t *parse(const char *text, size_t bytes)
{
	return json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
}

static json_t *answer_of(const struct call *call)
{
	json_t *tree = parse(call->answer, call->response.body_bytes);
	FUZZ_CHECK(tree, "%s", call->answer);
	return tree;
}

static bool has_code(const struct call *call, const char *code)
{
	json_t *problem = answer_of(call);
	const char *is = json_string_value(json_object_get(problem, "code"));
	const bool has = is && !strcmp(is, code);
	json_decref(problem);
	return has;
}

static void handle(const struct api_service *service, struct call *call)
{
	memset(&call->response, 0xAB, sizeof(call->response));
	api_handle(service, &call->request, &call->response);
	call->answer = fuzz_body(&call->response);
}

static void end(struct call *call)
{
	free(call->answer);
	free(call->text);
	free(call->body);
	json_decref(call->tree);
	api_response_free(&call->response);
}

/* Sends the request to a service with no other state. The caller ends the call. */
static struct call ask_fresh(const struct world *w, const char *method, const char *target, const char *accept,
                             char *text)
{
	struct call call = {.text = text};
	call.request = (struct api_request){.method = method,
	                                    .target = target,
	                                    .content_type = api_media_json,
	                                    .accept = accept,
	                                    .request_id = "id",
	                                    .body = text,
	                                    .body_bytes = strlen(text)};
	handle(&w->fresh, &call);
	return call;
}

static char *dump(const json_t *tree)
{
	const size_t flags = JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY, n = json_dumpb(tree, NULL, 0, flags);
	char *text = calloc(n + 1, 1);
	FUZZ_CHECK(n && text && json_dumpb(tree, text, n, flags) == n, "cannot be dumped");
	return text;
}

/* ---- bodies ---- */

static char *read_raw(struct fuzz_input *input)
{
	const uint8_t *nul = fuzz_left(input) ? memchr(input->at, 0, fuzz_left(input)) : NULL,
				  *last = nul ? nul : input->end;
	char *text = strndup((const char *)input->at, (size_t)(last - input->at));
	input->at = nul ? nul + 1 : input->end;
	return text;
}

static char *read_text(struct fuzz_input *input, const char *const *list, size_t n)
{
	const uint8_t which = fuzz_byte(input);
	if (which >= 0xF0)
		return read_raw(input);
	char *text = strdup(list[which % n]);
	for (char *at = text; (at = strchr(at, '#')); at++)
		*at = (char)('0' + fuzz_byte(input) % 10);
	return text;
}

/* Archiving turns 2.0 into an index, and 2147483648 into a real, so such arrays would change their type. */
static bool keeps_type(const struct api_array *array)
{
	bool integral = true, small = true;
	for (size_t i = 0; i < array->n; i++) {
		integral = integral && fuzz_value(array, i) == rint(fuzz_value(array, i));
		small = small && fabs(fuzz_value(array, i)) < 0x1p31;
	}
	return !integral || (small && array->first_non_integer == array->n);
}

/* Whether the document survives conversion to a frame: no member could be mistaken for a reference, and no array is
 * ragged, empty or of ambiguous type. */
static bool suits_frame(const struct api_document *document, const char *text)
{
	for (size_t k = 0; k < document->n_arrays; k++)
		if (document->arrays[k].ragged || !document->arrays[k].n || !keeps_type(&document->arrays[k]))
			return false;
	return json_is_object(document->root) && !strstr(text, "dtype") && !strstr(text, "shape") &&
	       !strstr(text, "offset") && !strchr(text, '\\');
}

/* Converts the text to a frame; NULL if there is no equivalent one. */
static char *frame_of(const char *text, size_t *bytes)
{
	struct api_document document;
	struct api_text_fault fault;
	struct api_fault problem = {0};
	struct api_arena arena = {0};
	struct api_archive rest = {0};
	char *frame = NULL;
	if (!api_document_read_pooled(NULL, text, strlen(text), &document, &fault))
		return NULL;
	if (suits_frame(&document, text)) {
		FUZZ_CHECK(api_archive_write(&document, &arena, &rest, &problem), "%s", problem.detail);
		frame = fuzz_copy(rest.bytes, *bytes = rest.n);
	}
	api_document_free(&document);
	api_arena_free(&arena);
	api_archive_free(&rest);
	return frame;
}

static void add_body(struct call *call, struct fuzz_input *input, uint8_t types, const char *const *list, size_t n)
{
	call->text = read_text(input, list, n);
	FUZZ_CHECK(call->text, "out of memory");
	call->tree = parse(call->text, strlen(call->text));
	if (types & 1)
		call->body = frame_of(call->text, &call->request.body_bytes);
	call->format = call->body ? API_FRAME : API_JSON;
	if (!call->body)
		call->body = fuzz_copy(call->text, call->request.body_bytes = strlen(call->text));
	call->request.body = call->body;
	call->request.content_type = call->format == API_FRAME ? api_media_frame : api_media_json;
}

/* ---- invariants of every response about a set ---- */

static bool is_excused(const struct world *w, const struct call *call)
{
	const int status = call->response.status;
	if (status == 503)
		return call->is_scarce || (!w->is_roomy && has_code(call, "sets_full"));
	return status == 413 &&
	       ((call->is_scarce && has_code(call, "exceeds_memory")) || (!w->is_roomy && has_code(call, "set_too_large")));
}

static void expect_status(const struct call *call, int status)
{
	FUZZ_CHECK(call->response.status == status, "%s %s: %d instead of %d: %s\n%s", call->request.method,
	           call->request.target, call->response.status, status, call->answer, call->text ? call->text : "");
}

static void expect_version(const struct call *call, const char *version)
{
	const char *is = header_of(&call->response, "Collision-Set-Version");
	FUZZ_CHECK(is && !strcmp(is, version), "%s %s: version %s instead of %s", call->request.method,
	           call->request.target, is ? is : "missing", version);
}

static bool must_be_gone(const struct known *known)
{
	return now_ms - known->perhaps_used_ms > IDLE_SECONDS * 1000;
}

static bool may_be_gone(const struct known *known)
{
	return known->may_be_gone || now_ms - known->used_ms > IDLE_SECONDS * 1000;
}

static void forget(struct known *known)
{
	json_decref(known->document);
	*known = (struct known){0};
}

static void use(struct known *known)
{
	known->used_ms = known->perhaps_used_ms = now_ms;
	known->may_be_gone = false;
}

static size_t most_names(const struct world *w, int caller)
{
	size_t n = 0;
	for (int i = 0; i < N_NAMES; i++)
		n += w->known[caller][i].exists;
	return n;
}

/* Whether a caller may exceed an equal share, in which case others may evict its sets at once. */
static bool may_be_above(const struct world *w, int caller)
{
	return !w->limits_names_alone || most_names(w, caller) > api_sets_limits(w->service.sets)->n / N_CALLERS;
}

/* Called when the store grew: marks the sets that may have been evicted, because they were idle long enough or their
 * caller exceeds its share. */
static void note_pressure(struct world *w, const struct call *call)
{
	for (int c = 0; c < N_CALLERS && !w->is_roomy; c++) {
		const bool own = call->known >= w->known[c] && call->known < w->known[c] + N_NAMES;
		const int64_t spared_ms = own ? 10000 : may_be_above(w, c) ? 0 : 60000;
		for (int n = 0; n < N_NAMES; n++)
			if (now_ms - w->known[c][n].used_ms >= spared_ms)
				w->known[c][n].may_be_gone = true;
	}
}

/* Whether the set exists, according to the model and the response; forgets it if it is gone. */
static bool settle(struct call *call)
{
	struct known *known = call->known;
	if (known->exists && must_be_gone(known))
		forget(known);
	if (!known->exists)
		return false;
	if (call->response.status != 404)
		return true;
	FUZZ_CHECK(may_be_gone(known), "%s %s: forgotten too soon", call->request.method, call->request.target);
	forget(known);
	return false;
}

static bool is_wanted(const struct call *call)
{
	return !call->request.if_version || !strcmp(call->request.if_version, call->known->version);
}

static void expect_unknown(const struct call *call)
{
	expect_status(call, 404);
	FUZZ_CHECK(has_code(call, "unknown_set"), "%s", call->answer);
}

/* Whether the body itself was refused. */
static bool is_refused(const struct call *call)
{
	const int status = call->response.status;
	return status == 400 || status == 413 || status == 422;
}

static void expect_refused(const struct call *call)
{
	FUZZ_CHECK(is_refused(call), "%d: %s", call->response.status, call->answer);
}

static void expect_changed(const struct call *call)
{
	expect_status(call, 412);
	FUZZ_CHECK(has_code(call, "set_changed"), "%s", call->answer);
}

/* Expects a request that needs the set and leaves it unchanged to succeed. @return whether the response should be
 * judged further */
static bool expect_set(const struct world *w, struct call *call)
{
	if (!settle(call)) {
		expect_unknown(call);
		return false;
	}
	if (is_excused(w, call))
		return false;
	expect_version(call, call->known->version);
	if (!is_wanted(call))
		expect_changed(call);
	return is_wanted(call);
}

/* ---- equal responses ---- */

static json_t *pointers_of(const struct call *call)
{
	json_t *problem = answer_of(call), *errors = json_object_get(problem, "errors"), *pointers = json_array();
	for (size_t i = 0; i < json_array_size(errors); i++)
		json_array_append(pointers, json_object_get(json_array_get(errors, i), "pointer"));
	json_decref(problem);
	return pointers;
}

static void same_culprits(const struct call *a, const struct call *b)
{
	json_t *pa = pointers_of(a), *pb = pointers_of(b);
	FUZZ_CHECK(json_equal(pa, pb), "\n%s\n%s", a->answer, b->answer);
	json_decref(pa);
	json_decref(pb);
}

/* Both must describe the same set, except for the version. */
static void same_descriptions(const struct call *a, const struct call *b, const char *version)
{
	json_t *ta = answer_of(a), *tb = answer_of(b);
	FUZZ_CHECK(!strcmp(json_string_value(json_object_get(ta, "version")), version), "%s", a->answer);
	json_object_del(ta, "version");
	json_object_del(tb, "version");
	FUZZ_CHECK(json_equal(ta, tb), "\n%s\n%s", a->answer, b->answer);
	json_decref(ta);
	json_decref(tb);
}

/* ---- PUT and PATCH ---- */

static void expect_kept(struct call *call, const char *version)
{
	expect_status(call, 200);
	expect_version(call, version);
	use(call->known);
}

/* Records the new document if the response reports success. @param document  ownership is taken */
static void expect_made(struct world *w, struct call *call, const char *version, json_t *document)
{
	struct known *known = call->known;
	char target[128];
	snprintf(target, sizeof(target), "/v1/sets/%s", call->name);
	struct call plain = ask_fresh(w, "PUT", target, NULL, document ? dump(document) : strdup("0"));
	const int status = call->response.status;
	note_pressure(w, call);
	if (is_excused(w, call)) {
		json_decref(document);
	} else if (document && plain.response.status != 201) {
		expect_status(call, plain.response.status);
		if (call->format == API_JSON) /* frames have further faults of their own */
			same_culprits(call, &plain);
		json_decref(document);
	} else if (!document && status >= 400) {
		expect_refused(call);
	} else {
		expect_status(call, known->exists ? 200 : 201);
		if (document)
			same_descriptions(call, &plain, version);
		FUZZ_CHECK((header_of(&call->response, "Location") != NULL) == !known->exists, "Location");
		expect_version(call, version);
		const struct known made = {.exists = true, .document = document};
		char before[API_VERSION_BYTES];
		memcpy(before, known->version, sizeof(before));
		forget(known);
		*known = made;
		memcpy(known->before, before, sizeof(before));
		memcpy(known->version, version, sizeof(known->version));
		use(known);
	}
	end(&plain);
	struct call gone = ask_fresh(w, "DELETE", target, NULL, strdup(""));
	end(&gone);
}

static bool was_put(const struct call *call, const char *version)
{
	const struct known *known = call->known;
	return known->exists && !strcmp(known->version, version) &&
	       (is_wanted(call) || (*known->before && !strcmp(known->before, call->request.if_version)));
}

/* A 201 is a PUT's only sign that the set was gone. */
static void settle_put(struct call *call)
{
	struct known *known = call->known;
	if (known->exists && must_be_gone(known))
		forget(known);
	const bool gone = call->response.status == 201 ||
	                  (call->response.status >= 400 && !header_of(&call->response, "Collision-Set-Version"));
	if (known->exists && gone && may_be_gone(known))
		forget(known);
}

static void expect_put(struct world *w, struct call *call)
{
	struct known *known = call->known;
	char version[API_VERSION_BYTES];
	api_version_of_body(call->format, &(struct api_part){call->body, call->request.body_bytes}, 1, version);
	settle_put(call);
	if (is_excused(w, call)) {
		note_pressure(w, call);
	} else if (known->exists && call->request.if_none_match) {
		expect_status(call, 412);
		FUZZ_CHECK(has_code(call, "set_exists"), "%s", call->answer);
		expect_version(call, known->version);
	} else if (was_put(call, version)) {
		expect_kept(call, version);
	} else if (call->request.if_version && (!known->exists || !is_wanted(call))) {
		expect_changed(call);
	} else {
		expect_made(w, call, version, json_incref(call->tree));
	}
}

static json_t *patch_of_step(const struct world *w, const struct call *call);

static void expect_change(struct world *w, struct call *call, bool ends_step)
{
	struct known *known = call->known;
	const char *wanted = call->request.if_version;
	char version[API_VERSION_BYTES];
	if (!settle(call)) {
		expect_unknown(call);
		return;
	}
	known->perhaps_used_ms = now_ms;
	api_version_of_patch(wanted ? wanted : known->version, call->format,
	                     &(struct api_part){call->body, call->request.body_bytes}, 1, version);
	if (is_excused(w, call))
		note_pressure(w, call);
	else if (wanted && strlen(wanted) == API_VERSION_BYTES - 1 && !strcmp(version, known->version))
		expect_kept(call, version);
	else if (!is_wanted(call))
		expect_changed(call);
	else if ((ends_step || !call->tree) && call->response.status >= 400)
		expect_refused(call);
	else {
		json_t *patch = ends_step ? patch_of_step(w, call) : json_incref(call->tree);
		expect_made(w, call, version, known->document && patch ? merged(known->document, patch) : NULL);
		json_decref(patch);
	}
}

static void expect_patch(struct world *w, struct call *call)
{
	expect_change(w, call, false);
}

/* A step that is refused must only be refused; one that is taken must lead to the set that evaluate and PATCH lead to. */
static void expect_advanced(struct world *w, struct call *call)
{
	expect_change(w, call, true);
}

/* ---- GET and DELETE ---- */

static void expect_description(struct world *w, struct call *call)
{
	if (!expect_set(w, call))
		return;
	expect_status(call, 200);
	json_t *answer = answer_of(call);
	FUZZ_CHECK(!strcmp(json_string_value(json_object_get(answer, "version")), call->known->version), "%s",
	           call->answer);
	FUZZ_CHECK(!strcmp(json_string_value(json_object_get(answer, "name")), call->name), "%s", call->answer);
	json_decref(answer);
}

static void expect_deleted(struct world *w, struct call *call)
{
	if (!expect_set(w, call))
		return;
	expect_status(call, 204);
	forget(call->known);
}

/* ---- the list ---- */

static const json_t *find_listed(const json_t *list, const char *name)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!strcmp(json_string_value(json_object_get(json_array_get(list, i), "name")), name))
			return json_array_get(list, i);
	return NULL;
}

static void check_listed(const json_t *listed, struct known *known)
{
	if (known->exists && must_be_gone(known))
		forget(known);
	FUZZ_CHECK(!listed || known->exists, "there is a set of a name that nothing was put under");
	if (listed) {
		FUZZ_CHECK(!strcmp(json_string_value(json_object_get(listed, "version")), known->version), "another version");
	} else if (known->exists) {
		FUZZ_CHECK(may_be_gone(known), "forgotten too soon");
		forget(known);
	}
}

static void expect_list(struct world *w, struct call *call)
{
	if (is_excused(w, call))
		return;
	expect_status(call, 200);
	json_t *answer = answer_of(call), *list = json_object_get(answer, "sets");
	json_int_t bytes = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *listed = json_array_get(list, i);
		bytes += json_integer_value(json_object_get(listed, "bytes"));
		FUZZ_CHECK(i == 0 || strcmp(json_string_value(json_object_get(json_array_get(list, i - 1), "name")),
		                            json_string_value(json_object_get(listed, "name"))) < 0,
		           "%s", call->answer);
	}
	FUZZ_CHECK(json_integer_value(json_object_get(answer, "bytes")) == bytes, "%s", call->answer);
	FUZZ_CHECK(bytes <= json_integer_value(json_object_get(answer, "limit_bytes")), "%s", call->answer);
	for (int n = 0; n < N_NAMES; n++)
		check_listed(find_listed(list, names[n]), &call->known[n]);
	json_decref(answer);
}

/* ---- queries ---- */

static bool is_query(const json_t *tree)
{
	static const char *const known[] = {
		"velocities", "lagged_velocities", "outputs",   "hessian",     "collision_outputs", "line", "vectors",
		"terms",      "current_positions", "time_step", "longest_step"};
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)tree, key, value) {
		bool is_known = false;
		for (size_t i = 0; i < N_OF(known); i++)
			is_known |= !strcmp(key, known[i]);
		if (!is_known)
			return false;
	}
	return json_is_object(tree);
}

/* The stateless request equivalent to set and query. */
static char *whole_of(const json_t *document, const json_t *query)
{
	const char *key;
	json_t *value, *whole = json_copy((json_t *)(uintptr_t)document);
	json_object_del(whole, "n_vertices");
	json_object_foreach((json_t *)(uintptr_t)query, key, value)
		json_object_set(whole, key, value);
	char *text = dump(whole);
	json_decref(whole);
	return text;
}

/* Without positions, a whole request derives the number of vertices from the velocities or the current positions,
 * regardless of the set's own number; without these it is 0. */
static void same_as_whole(const struct world *w, const struct call *call, const char *target)
{
	const char *accept = call->format == API_FRAME
	                         ? api_media_frame
	                         : call->request.accept; /* a frame is answered with a frame by default */
	struct call whole = ask_fresh(w, "POST", target, accept, whole_of(call->known->document, call->tree));
	const bool positions = json_object_get(call->known->document, "positions");
	if (call->response.status == 200 || whole.response.status == 200) {
		const bool counts = json_object_get(call->tree, "velocities") ||
		                    json_object_get(call->tree, "current_positions");
		const bool is_other_number = !positions && (call->response.status == 422 || !counts);
		if (!is_other_number)
			fuzz_same_answers(&call->response, call->answer, &whole.response, whole.answer);
	} else if (positions) {
		expect_status(call, whole.response.status); /* the pointers may differ: positions here, velocities there */
	}
	end(&whole);
}

/* A patch that leads to the same set as the end of a step: with the anchors that the whole request gives. NULL if the
 * document is unknown. */
static json_t *patch_of_step(const struct world *w, const struct call *call)
{
	static const char wanted[] = "{\"outputs\":[\"collisions\"],\"collision_outputs\":[\"anchor\"]}";
	const char *group;
	json_t *values;
	if (!call->known->document || !call->tree)
		return NULL;
	json_t *asked = parse(wanted, strlen(wanted)), *patch = json_deep_copy(call->tree);
	json_object_set(asked, "velocities", json_object_get(patch, "velocities"));
	json_object_del(patch, "velocities");
	struct call whole = ask_fresh(w, "POST", "/v1/evaluate", NULL, whole_of(call->known->document, asked));
	json_t *answer = answer_of(&whole), *collisions = json_object_get(patch, "collisions");
	if (!collisions) {
		collisions = json_object();
		json_object_set_new(patch, "collisions", collisions);
	}
	expect_status(&whole, 200);
	json_object_foreach(json_object_get(answer, "collisions"), group, values) {
		if (json_array_size(json_object_get(values, "anchor")) == 0)
			continue;
		if (!json_object_get(collisions, group))
			json_object_set_new(collisions, group, json_object());
		json_object_set(json_object_get(collisions, group), "anchor", json_object_get(values, "anchor"));
	}
	json_decref(answer);
	json_decref(asked);
	end(&whole);
	return patch;
}

static void expect_answer(struct world *w, struct call *call, const char *target)
{
	const bool goes_on = expect_set(w, call);
	if (!call->known->exists)
		return;
	call->known->perhaps_used_ms = now_ms;
	if (!goes_on)
		return;
	use(call->known);
	note_pressure(w, call);
	if (!call->tree || !call->known->document)
		FUZZ_CHECK(call->response.status == 200 || is_refused(call), "%d", call->response.status);
	else if (!is_query(call->tree))
		expect_refused(call);
	else
		same_as_whole(w, call, target);
}

static void expect_evaluation(struct world *w, struct call *call)
{
	expect_answer(w, call, "/v1/evaluate");
}

static void expect_check(struct world *w, struct call *call)
{
	expect_answer(w, call, "/v1/check");
}

/* ---- patterns ---- */

/* The Hessian of the whole request, archived, without its numbers. NULL: not available. */
static json_t *pattern_of(const struct world *w, const struct call *call)
{
	struct call described = {.request = call->request};
	char target[128], format[16], triangle[16], query[128];
	FUZZ_CHECK(sscanf(strchr(call->request.target, '?'), "?format=%15[a-z]&triangle=%15s", format, triangle) == 2,
	           "query");
	snprintf(target, sizeof(target), "/v1/sets/%s", call->name);
	described.request.target = target;
	handle(&w->service, &described);
	json_t *description = answer_of(&described), *rows = json_array();
	const json_int_t dim = json_integer_value(json_object_get(call->known->document, "dim")),
					 n = json_integer_value(json_object_get(description, "n_vertices")) * dim;
	for (json_int_t i = 0; i < n; i++)
		json_array_append_new(rows, json_integer(0));
	snprintf(query, sizeof(query), "{\"outputs\":[\"hessian\"],\"hessian\":{\"format\":\"%s\",\"triangle\":\"%s\"}}",
	         format, triangle);
	json_t *asked = parse(query, strlen(query));
	json_object_set_new(asked, "velocities", rows);
	struct call whole = ask_fresh(w, "POST", "/v1/evaluate", NULL, whole_of(call->known->document, asked));
	json_t *answer = answer_of(&whole), *hessian = json_incref(json_object_get(answer, "hessian"));
	if (hessian) {
		json_object_del(hessian, "data");
		json_object_del(hessian, "values");
	}
	json_decref(answer);
	json_decref(asked);
	json_decref(description);
	end(&whole);
	end(&described);
	return hessian;
}

/* Blocks per vertex do not exist where there are bodies. */
static void expect_no_blocks(const struct call *call)
{
	const json_t *document = call->known->document;
	expect_status(call, 422);
	FUZZ_CHECK(has_code(call, "conflicting_fields"), "%s", call->answer);
	FUZZ_CHECK(!document || json_object_get(document, "body_positions"), "no bodies: %s", call->answer);
}

static void expect_pattern(struct world *w, struct call *call)
{
	const bool goes_on = expect_set(w, call);
	if (!call->known->exists)
		return;
	call->known->perhaps_used_ms = now_ms;
	if (!goes_on)
		return;
	use(call->known);
	note_pressure(w, call);
	if (call->response.status == 422 && strstr(call->request.target, "format=bsr")) {
		expect_no_blocks(call);
		return;
	}
	FUZZ_CHECK(header_of(&call->response, "ETag"), "no ETag");
	if (call->request.if_none_match) {
		expect_status(call, 304);
		return;
	}
	expect_status(call, 200);
	json_t *expected = call->is_scarce || !call->known->document ? NULL : pattern_of(w, call);
	if (expected) {
		json_t *answer = answer_of(call);
		FUZZ_CHECK(json_equal(answer, expected), "%s: %s", call->request.target, call->answer);
		json_decref(answer);
		json_decref(expected);
	}
}

/* ---- operations ---- */

static const struct operation {
	const char *method, *more; /* more: rest of the target */
	void (*expect)(struct world *w, struct call *call);
	const char *const *bodies;
	size_t n_bodies;
} operations[] = {
	{"PUT", "", expect_put, documents, N_OF(documents)},
	{"PATCH", "", expect_patch, patches, N_OF(patches)},
	{"POST", "/evaluate", expect_evaluation, queries, N_OF(queries)},
	{"GET", "", expect_description, NULL, 0},
	{"DELETE", "", expect_deleted, NULL, 0},
	{"POST", "/check", expect_check, queries, N_OF(queries)},
	{"GET", "/pattern", expect_pattern, NULL, 0},
	{"GET", NULL, expect_list, NULL, 0},
};
/* In place of some patches, so that the numbers in inputs that were found keep their meaning. */
static const struct operation advance = {"POST", "/advance", expect_advanced, steps, N_OF(steps)};

/* Milliseconds that pass before an operation; several entries are chosen so as to cross a limit. */
static const int64_t waits[] = {0, 0, 1000, 9999, 10000, 59999, 60000, 900000, 900001};

/* Absent, current, wrong, previous, another set's, any, or the previous one with a suffix. */
static const char *condition(struct world *w, const struct known *known, uint8_t which)
{
	static const char wrong[] = "00000000000000000000000000000000";
	const char *const choice[] = {NULL, NULL,     known->version, wrong, known->before, w->known[0][0].version,
	                              "*",  w->tailed};
	snprintf(w->tailed, sizeof(w->tailed), "%s0", known->before);
	const char *chosen = choice[which % N_OF(choice)];
	return chosen && *chosen ? chosen : NULL;
}

static void address(struct world *w, const struct operation *operation, uint8_t whose, uint8_t types, struct call *call)
{
	struct known *own = w->known[whose % N_CALLERS];
	const size_t n = whose / N_CALLERS % N_NAMES;
	const bool asks_pattern = operation->expect == expect_pattern;
	call->request.caller = callers[whose % N_CALLERS];
	call->known = operation->more ? &own[n] : own;
	call->name = names[n];
	snprintf(call->target, sizeof(call->target), "/v1/sets%s%s%s%s", operation->more ? "/" : "",
	         operation->more ? names[n] : "", operation->more ? operation->more : "",
	         asks_pattern ? patterns[types % N_OF(patterns)] : "");
	call->request.target = call->target;
}

/* Limits memory for this request alone. */
static void handle_scarcely(struct world *w, struct call *call, uint8_t how)
{
	const size_t most = w->budget.most_bytes;
	call->is_scarce = how;
	if (how)
		w->budget.most_bytes = atomic_load(&w->budget.used_bytes) + ((size_t)how << 10);
	handle(&w->service, call);
	w->budget.most_bytes = most;
}

static void check_limits(const struct world *w)
{
	const struct api_sets_counts counts = api_sets_counts(w->service.sets);
	const struct api_sets_limits *limits = api_sets_limits(w->service.sets);
	FUZZ_CHECK(counts.n <= limits->n && counts.bytes <= limits->bytes, "%zu sets, %zu bytes", counts.n, counts.bytes);
}

static void operate(struct world *w)
{
	const uint8_t what = fuzz_byte(w->input), whose = fuzz_byte(w->input), which = fuzz_byte(w->input),
				  types = fuzz_byte(w->input);
	const struct operation *operation = &operations[what % N_OF(operations)];
	if (operation->expect == expect_patch && which >= 0x80)
		operation = &advance;
	struct call call = {.request = {.method = operation->method, .request_id = "id"}};
	now_ms += waits[what / N_OF(operations) % N_OF(waits)];
	if (what >= 0xE0)
		api_sets_expire(w->service.sets);
	address(w, operation, whose, types, &call);
	if (operation->more)
		call.request.if_version = condition(w, call.known, which);
	if (which >= 0xC0 && (operation->expect == expect_put || operation->expect == expect_pattern))
		call.request.if_none_match = "*";
	if (operation->bodies)
		add_body(&call, w->input, types, operation->bodies, operation->n_bodies);
	call.request.accept = types & 2 && operation->expect == expect_evaluation ? api_media_frame : NULL;
	handle_scarcely(w, &call, types >= 0xE0 ? (uint8_t)(1 + fuzz_byte(w->input)) : 0);
	FUZZ_CHECK(call.response.status != 500, "%s", call.answer);
	operation->expect(w, &call);
	check_limits(w);
	end(&call);
}

/* ---- harness ---- */

static struct api_service service_of(struct api_pool *pool, const struct api_sets_limits *limits)
{
	struct api_service service = {.n_threads = 1,
	                              .max_json_bytes = 1 << 20,
	                              .max_frame_bytes = 1 << 20,
	                              .max_answer_bytes = 16 << 20,
	                              .max_contacts = 1000,
	                              .max_vertices = 1000,
	                              .pool = pool};
	FUZZ_CHECK(api_choose_kernels(&service, "baseline"), "no kernels");
	service.sets = api_sets_create(limits, tell_time);
	FUZZ_CHECK(service.sets, "out of memory");
	return service;
}

static void forget_all(struct world *w)
{
	for (int i = 0; i < N_CALLERS * N_NAMES; i++) {
		struct call call = {.request = {.method = "DELETE", .request_id = "id", .caller = callers[i % N_CALLERS]}};
		call.known = &w->known[i % N_CALLERS][i / N_CALLERS];
		snprintf(call.target, sizeof(call.target), "/v1/sets/%s", names[i / N_CALLERS]);
		call.request.target = call.target;
		handle(&w->service, &call);
		expect_deleted(w, &call);
		end(&call);
	}
	const struct api_sets_counts counts = api_sets_counts(w->service.sets);
	FUZZ_CHECK(counts.n == 0 && counts.bytes == 0, "%zu sets, %zu bytes are left", counts.n, counts.bytes);
	FUZZ_CHECK(atomic_load(&w->budget.used_bytes) == 0, "%zu bytes are left", atomic_load(&w->budget.used_bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t n_bytes[] = {1 << 20, 1 << 20, 12 << 10, 30 << 10};
	static const struct api_sets_limits roomy = {1 << 20, 1 << 20, 64, 64, IDLE_SECONDS, NULL};
	struct fuzz_input input = {data, data + size};
	const uint8_t settings = fuzz_byte(&input);
	const size_t bytes = n_bytes[settings & 3];
	struct world w = {.budget = {.most_bytes = 64 << 20}, .input = &input};
	struct api_pool *pool = api_pool_create(1 << 20, &w.budget);
	FUZZ_CHECK(pool, "out of memory");
	const struct api_sets_limits limits = {
		bytes, settings & 4 ? bytes / 2 : bytes, settings & 8 ? 3 : 64, 64, IDLE_SECONDS, pool};
	now_ms = 0;
	w.is_roomy = !(settings & 14);
	w.limits_names_alone = !(settings & 6);
	w.service = service_of(pool, &limits);
	w.fresh = service_of(NULL, &roomy);
	for (int i = 0; i < MOST_OPERATIONS && fuzz_left(&input) > 0; i++)
		operate(&w);
	forget_all(&w);
	api_sets_free(w.fresh.sets);
	api_sets_free(w.service.sets);
	api_pool_free(pool);
	return 0;
}
