/* The routes, and the story of a request: find its route, admit it, run it, answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/base/account.h"
#include "api/routes/compare.h"
#include "api/routes/evaluate.h"
#include "api/routes/functions.h"
#include "api/codec/media.h"
#include "api/contract/openapi.h"
#include "api/routes/format.h"
#include "api/routes/assets.h"
#include "api/base/trees.h"

enum { MAX_TARGET = 65536, MAX_IGNORED_BODY = 65536 };

/* A target taken apart. */
struct target {
	char *path;        /* decoded; owned; NULL when out of memory */
	const char *query; /* raw, "" if there is none; borrowed from the request */
	const struct api_function *function;
	const struct api_asset *asset;
};

typedef bool handler(const struct api_service *service, const struct api_request *request,
                     const struct target *target, struct api_fault *fault, struct api_response *response);

static handler get_info, get_health, get_functions, get_function, post_function, post_evaluate;
static handler get_openapi;
static handler post_check; /* some 10 us a contact */

/* One row a resource. HEAD goes wherever GET does. */
static const struct route {
	const char *path; /* the last one is a prefix of function names */
	handler *get, *post;
	const char *allow;
	bool negotiates; /* looks at Accept: probes of health never do */
} routes[] = {
	{"/v1/evaluate", NULL, post_evaluate, "POST", true},
	{"/v1/functions", get_functions, NULL, "GET, HEAD", true},
	{"/openapi.json", get_openapi, NULL, "GET, HEAD", false},
	{"/v1/info", get_info, NULL, "GET, HEAD", true},
	{"/healthz", get_health, NULL, "GET, HEAD", false},
	{"/readyz", get_health, NULL, "GET, HEAD", false},
	{"/v1/check", NULL, post_check, "POST", true},
	{"/v1/functions/", get_function, post_function, "GET, HEAD, POST", true},
};

/* The explorer page and its files, wherever api_asset_find says. */
static handler get_asset;
static const struct route page = {.get = get_asset, .allow = "GET, HEAD"};

enum { N_ROUTES = sizeof(routes) / sizeof(routes[0]) };

static bool parse_target(const char *raw, struct target *target)
{
	const size_t bytes = strcspn(raw, "?");
	target->query = raw[bytes] ? raw + bytes + 1 : "";
	target->path = strndup(raw, bytes);
	return target->path && api_percent_decode(target->path);
}

bool api_choose_kernels(struct api_service *service, const char *name)
{
	service->kernels = strcmp(name, "best") ? fric_kernels_find(name) : fric_kernels_best();
	return service->kernels;
}

static const struct route *find_route(struct target *target)
{
	const struct route *functions = &routes[N_ROUTES - 1];
	for (int i = 0; i < N_ROUTES - 1; i++)
		if (!strcmp(target->path, routes[i].path))
			return &routes[i];
	target->asset = api_asset_find(target->path);
	if (target->asset)
		return &page;
	if (strncmp(target->path, functions->path, strlen(functions->path)) != 0)
		return NULL;
	target->function = api_function_find(target->path + strlen(functions->path));
	return target->function ? functions : NULL;
}

bool api_has_path(const char *path)
{
	char copy[64];
	struct target target = {.path = strncpy(copy, path, sizeof(copy) - 1)};
	copy[sizeof(copy) - 1] = '\0';
	return find_route(&target);
}

static bool is_get(const char *method)
{
	return !strcmp(method, "GET") || !strcmp(method, "HEAD");
}

static handler *method_of(const struct route *route, const char *method)
{
	if (!route)
		return NULL;
	if (is_get(method))
		return route->get;
	return strcmp(method, "POST") ? NULL : route->post;
}

static bool check_length(size_t limit, long long announced, bool chunked, struct api_fault *fault)
{
	if (announced < 0 && !chunked)
		return api_fault_set(fault, 411, "a POST needs a Content-Length or Transfer-Encoding: chunked");
	if (announced >= 0 && (unsigned long long)announced > limit)
		return api_fault_set(fault, 413, "a body of %lld bytes is longer than the limit of %zu bytes", announced, limit);
	return true;
}

static bool check_route(const struct route *route, const struct target *target, const char *method,
                        struct api_fault *fault, struct api_response *response)
{
	if (!target->path)
		return api_fault_no_memory(fault);
	if (!route)
		return api_fault_set(fault, 404, "there is nothing at \"%.200s\"", target->path);
	if (method_of(route, method))
		return true;
	api_response_add_header(response, "Allow", route->allow);
	return api_fault_set(fault, 405, "%.40s is not a method of \"%.200s\"; it takes %s", method, target->path,
	                     route->allow);
}

struct api_admission api_admit(const struct api_service *service, const struct api_request *request,
                               long long announced_bytes, bool chunked, struct api_response *response)
{
	struct target target = {0};
	struct api_fault fault;
	api_fault_clear(&fault);
	api_response_clear(response);
	const bool readable = parse_target(request->target, &target);
	const struct route *route = readable ? find_route(&target) : NULL;
	const bool post = route && route->post && !strcmp(request->method, "POST");
	enum api_format format = API_JSON, answer;
	bool ok = check_route(route, &target, request->method, &fault, response) && route;
	ok = ok && (!route->negotiates || api_format_of_request(request, &format, &fault));
	ok = ok && (!route->negotiates || api_format_of_answer(request, &answer, &fault));
	const size_t limit = api_format_limit(service, format);
	ok = ok && (!post || check_length(limit, announced_bytes, chunked, &fault));
	free(target.path);
	if (!ok)
		api_fault_response(&fault, request->request_id, response);
	return (struct api_admission){ok, ok && post, post ? limit : MAX_IGNORED_BODY};
}

/* Which of three words stand between quotes. Only what follows a quote is looked at: most of a body is numbers. */
struct mentioned {
	bool factors, outputs, hessian;
};

static struct mentioned mentioned_in(const char *at, const char *end)
{
	struct mentioned found = {0};
	enum { BYTES = sizeof("hessian\"") - 1 };
	while ((at = memchr(at, '"', (size_t)(end - at))) && end - ++at >= BYTES) {
		found.factors |= !memcmp(at, "factors\"", BYTES);
		found.outputs |= !memcmp(at, "outputs\"", BYTES);
		found.hessian |= !memcmp(at, "hessian\"", BYTES);
	}
	return found;
}

/* Text of ten bytes may be a contact whose triplets are four kilobytes of text, and eight microseconds. In a frame they
 * cost a tenth. The Hessian is among the default outputs; a word in the wrong place makes an estimate wrong, no more. */
static bool may_ask_for_blocks(const struct api_request *request)
{
	const struct mentioned found = mentioned_in(request->body, request->body + request->body_bytes);
	return !found.factors && (!found.outputs || found.hessian);
}

static bool is_dear(const struct api_request *request)
{
	struct target target = {0};
	const struct route *route = parse_target(request->target, &target) ? find_route(&target) : NULL;
	free(target.path);
	return route && route->post == post_check;
}

bool api_is_large(const struct api_request *request)
{
	enum { SURELY_SMALL = 2 << 10, SMALL_TEXT = 24 << 10, LARGE = 64 << 10 };
	const bool text = !api_media_is(request->content_type, api_media_frame);
	if (is_dear(request))
		return true;
	if (request->body_bytes <= SURELY_SMALL)
		return false;
	if (request->body_bytes >= (text ? SMALL_TEXT : LARGE))
		return true;
	return request->body_bytes > SURELY_SMALL * (text ? 1 : 8) && may_ask_for_blocks(request);
}

static bool run(const struct api_service *service, const struct api_request *request, struct api_fault *fault,
                struct api_response *response)
{
	struct target target = {0};
	const bool readable = parse_target(request->target, &target);
	const struct route *route = readable ? find_route(&target) : NULL;
	const bool ok = check_route(route, &target, request->method, fault, response) &&
	                method_of(route, request->method)(service, request, &target, fault, response);
	free(target.path);
	return ok;
}

/* Lack of memory may be what a raised flag looks like, or one that no patience cures. */
static void explain(const struct api_account *account, struct api_fault *fault)
{
	if (fault->status && fault->status != 503)
		return;
	if (api_account_is_stopped())
		api_fault_stopped(fault);
	else if (account->never_fits)
		api_fault_set(fault, 413, "the request takes more memory than the limit of %zu bytes for all requests together"
		              " (--memory-bytes)", account->budget->most_bytes);
	else if (!fault->status)
		api_fault_no_memory(fault);
}

/* The problem is made when the account is closed: there is memory for it even if the request was stopped or too large. */
void api_handle(const struct api_service *service, const struct api_request *request, struct api_response *response)
{
	struct api_account account;
	struct api_trees trees;
	struct api_fault fault;
	api_fault_clear(&fault);
	api_response_clear(response);
	api_account_open(&account, api_pool_budget(service->pool), request->stop, request->body_held);
	api_trees_open(&trees, service->pool);
	const bool ok = run(service, request, &fault, response);
	if (!ok)
		explain(&account, &fault);
	api_trees_close(&trees);
	api_account_close(&account);
	if (!ok)
		api_fault_response(&fault, request->request_id, response);
}

/* The end of an answer: ok tells whether the tree is complete. */
static bool finish(const struct api_service *service, const struct api_request *request, struct api_render *render,
                   bool ok, struct api_fault *fault, struct api_response *response)
{
	enum api_format format;
	if (ok && api_format_of_answer(request, &format, fault))
		return api_render_finish(render, format, service->max_answer_bytes, fault, response);
	api_render_abandon(render);
	return false;
}

static bool get_health(const struct api_service *service, const struct api_request *request,
                       const struct target *target, struct api_fault *fault, struct api_response *response)
{
	struct api_arena arena = {.pool = service->pool};
	struct api_render render;
	(void)request;
	(void)target;
	if (api_render_start(&render, &arena))
		api_render_add(&render, render.document.root, "status", json_string("ok"));
	return api_render_finish(&render, API_JSON, service->max_answer_bytes, fault, response);
}

/* The page may do nothing but ask this service; nobody may put it in a frame. */
static void add_asset_headers(const char *tag, struct api_response *response)
{
	static const struct {
		const char *name, *value;
	} headers[] = {
		{"Cache-Control", "no-cache"},
		{"Content-Security-Policy",
		 "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
		 "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Referrer-Policy", "no-referrer"},
		{"X-Content-Type-Options", "nosniff"},
	};
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
		api_response_add_header(response, headers[i].name, headers[i].value);
	api_response_add_header(response, "ETag", tag);
}

static bool get_asset(const struct api_service *service, const struct api_request *request,
                      const struct target *target, struct api_fault *fault, struct api_response *response)
{
	const struct api_asset *asset = target->asset;
	char tag[API_ETAG];
	(void)service;
	(void)fault;
	api_asset_tag(asset, tag);
	add_asset_headers(tag, response);
	response->parts = malloc(sizeof *response->parts);
	if (!response->parts)
		return false;
	response->status = api_asset_is_known(request->if_none_match, tag) ? 304 : 200;
	response->content_type = response->status == 200 ? asset->type : NULL;
	response->parts[0] = (struct api_part){asset->bytes, (size_t)(asset->end - asset->bytes)};
	response->n_parts = 1;
	response->body_bytes = response->parts[0].n;
	return true;
}

static bool get_info(const struct api_service *service, const struct api_request *request, const struct target *target,
                     struct api_fault *fault, struct api_response *response)
{
	struct api_arena arena = {.pool = service->pool};
	struct api_render render;
	bool ok = api_render_start(&render, &arena);
	json_t *root = render.document.root;
	(void)target;
	api_render_add(&render, root, "name", json_string("frictiond"));
	api_render_add(&render, root, "version", json_string(FRIC_VERSION));
	api_render_integer(&render, root, "threads", service->n_threads);
	api_render_add(&render, root, "instruction_set", json_string(fric_kernels_name(service->kernels ? service->kernels : fric_kernels_best())));
	json_t *formats = api_render_add(&render, root, "formats", json_array());
	api_render_append(&render, formats, json_string(api_format_type(API_JSON)));
	api_render_append(&render, formats, json_string(api_format_type(API_FRAME)));
	json_t *limits = api_render_add(&render, root, "limits", json_object());
	api_render_integer(&render, limits, "json_body_bytes", (int64_t)service->max_json_bytes);
	api_render_integer(&render, limits, "frame_body_bytes", (int64_t)service->max_frame_bytes);
	api_render_integer(&render, limits, "answer_bytes", (int64_t)service->max_answer_bytes);
	if (service->max_contacts)
		api_render_integer(&render, limits, "contacts", (int64_t)service->max_contacts);
	if (service->max_vertices)
		api_render_integer(&render, limits, "vertices", (int64_t)service->max_vertices);
	ok = finish(service, request, &render, ok, fault, response);
	api_arena_free(&arena);
	return ok;
}

/* From memory that outlives the answer, or made for it. */
static bool hand_out_description(const struct api_service *service, struct api_response *response)
{
	if (!service->description) {
		response->body = api_openapi_print(service, &response->body_bytes);
		return response->body;
	}
	response->parts = malloc(sizeof(*response->parts));
	if (!response->parts)
		return false;
	*response->parts = (struct api_part){service->description, service->description_bytes};
	response->n_parts = 1;
	response->body_bytes = service->description_bytes;
	return true;
}

static bool get_openapi(const struct api_service *service, const struct api_request *request,
                        const struct target *target, struct api_fault *fault, struct api_response *response)
{
	(void)request;
	(void)target;
	if (!hand_out_description(service, response))
		return false;
	if (response->body_bytes > service->max_answer_bytes) {
		api_response_free(response);
		return api_fault_set(fault, 413, "the answer would be longer than the limit of %zu bytes",
		                     service->max_answer_bytes);
	}
	response->content_type = api_media_json;
	response->status = 200;
	return true;
}

static bool get_functions(const struct api_service *service, const struct api_request *request,
                          const struct target *target, struct api_fault *fault, struct api_response *response)
{
	struct api_arena arena = {.pool = service->pool};
	struct api_render render;
	const bool ok = api_render_start(&render, &arena);
	(void)target;
	api_function_list(&render);
	return finish(service, request, &render, ok, fault, response);
}

static bool evaluate_function(const struct api_service *service, const struct api_request *request,
                              const struct api_function *function, const struct api_document *document,
                              struct api_arena *arena, struct api_fault *fault, struct api_response *response)
{
	struct api_render render;
	bool ok = api_render_start(&render, arena);
	render.document.n_threads = service->n_threads;
	ok = ok && api_function_evaluate(function, document, arena, &render, fault);
	return finish(service, request, &render, ok, fault, response);
}

static bool get_function(const struct api_service *service, const struct api_request *request,
                         const struct target *target, struct api_fault *fault, struct api_response *response)
{
	struct api_arena arena = {.pool = service->pool};
	struct api_document document = {0};
	bool ok = strlen(target->query) < MAX_TARGET || api_fault_set(fault, 414, "the query is too long; use POST");
	const struct api_object *rules = api_function_parameters(target->function);
	ok = ok && api_query_document(target->query, rules, &arena, &document, fault);
	ok = ok && evaluate_function(service, request, target->function, &document, &arena, fault, response);
	json_decref(document.root);
	api_arena_free(&arena);
	return ok;
}

/* A body and a query at once would be two sources of parameters. */
static bool refuse_query(const struct target *target, struct api_fault *fault)
{
	if (!*target->query)
		return true;
	char *name = strndup(target->query, strcspn(target->query, "=&"));
	if (!name)
		return api_fault_no_memory(fault);
	const struct api_path root = {0}, parameter = {&root, api_percent_decode(name) ? name : "", 0};
	api_fault_at(fault, 422, *parameter.key ? &parameter : &root,
	             "a POST takes its parameters from the body, not from the query");
	free(name);
	return false;
}

static bool post_function(const struct api_service *service, const struct api_request *request,
                          const struct target *target, struct api_fault *fault, struct api_response *response)
{
	struct api_arena arena = {.pool = service->pool};
	struct api_document document = {0};
	const bool ok = refuse_query(target, fault) && api_format_read(service, request, &arena, &document, fault) &&
	                evaluate_function(service, request, target->function, &document, &arena, fault, response);
	api_document_free(&document);
	api_arena_free(&arena);
	return ok;
}

static bool post_evaluate(const struct api_service *service, const struct api_request *request,
                          const struct target *target, struct api_fault *fault, struct api_response *response)
{
	return refuse_query(target, fault) && api_evaluate(service, request, fault, response);
}

static bool post_check(const struct api_service *service, const struct api_request *request,
                       const struct target *target, struct api_fault *fault, struct api_response *response)
{
	return refuse_query(target, fault) && api_compare(service, request, fault, response, NULL);
}
