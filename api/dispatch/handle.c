/* Handles a request: finds its row, admits it, runs its handler, and responds. */
#include <string.h>

#include "api/base/account.h"
#include "api/base/json_memory.h"
#include "api/dispatch/format.h"
#include "api/dispatch/suggest_path.h"
#include "api/problem.h"
#include "api/validate/url_query.h"
#include "core/fric.h"

enum { MAX_IGNORED_BODY = 65536 };

bool api_choose_kernels(struct api_service *service, const char *name)
{
	service->kernels = strcmp(name, "best") ? fric_kernels_find(name) : fric_kernels_best();
	return service->kernels;
}

/* ---- match, formats and operation ---- */

/* Storage for members of the request that the caller has left NULL. */
struct missing {
	struct api_request request;
	struct api_match match;
	struct api_formats formats;
};

static const struct api_request *with_match(const struct api_request *request, struct missing *missing)
{
	if (request->match)
		return request;
	api_match(request->target, &missing->match);
	missing->request = *request;
	missing->request.match = &missing->match;
	return &missing->request;
}

static bool judge_formats(const struct api_request *request, const struct api_operation *operation,
                          struct api_formats *formats, struct api_fault *fault)
{
	*formats = (struct api_formats){API_JSON, API_JSON};
	return !request->match->route->negotiates || api_formats_judge(request, operation, formats, fault);
}

/* @return NULL after a fault */
static const struct api_request *with_formats(const struct api_request *request, const struct api_operation *operation,
                                              struct missing *missing, struct api_fault *fault)
{
	if (request->formats)
		return request;
	if (!judge_formats(request, operation, &missing->formats, fault))
		return NULL;
	missing->request = *request;
	missing->request.formats = &missing->formats;
	return &missing->request;
}

static bool is_there(const struct api_match *match)
{
	const struct api_route *route = match->route;
	return route && !match->is_broken && !route->is_servers && (!route->exists || route->exists(match));
}

static const struct api_operation *refuse_method(const struct api_request *request, struct api_fault *fault,
                                                 struct api_response *response)
{
	char allow[API_ALLOW_BYTES];
	api_route_allow(request->match->route, allow);
	api_response_add_header(response, "Allow", allow);
	api_fault_set(fault, API_E_METHOD_NOT_ALLOWED, "%.40s is not a method of \"%.200s\"; it supports %s",
	              request->method, request->match->path, allow);
	return NULL;
}

/* The conditions of RFC 9110 compare ETags and times, which sets do not have. Ignoring them would overwrite what the
 * client wants to protect. */
static const struct api_operation *refuse_condition(const char *header, struct api_fault *fault)
{
	api_fault_set(fault, API_E_WITHOUT_EFFECT,
	              "%s has no effect on a set: send If-Collision-Set-Version, with the version that the set must have",
	              header);
	return NULL;
}

/* @return NULL after a fault */
static const struct api_operation *find_operation(const struct api_request *request, struct api_fault *fault,
                                                  struct api_response *response)
{
	const struct api_match *match = request->match;
	if (!is_there(match)) {
		api_suggest_path(match, fault);
		return NULL;
	}
	const struct api_operation *operation = api_operation_of(match->route, request->method);
	if (!operation)
		return refuse_method(request, fault, response);
	if (match->route->is_conditional && request->if_match)
		return refuse_condition("If-Match", fault);
	if (match->route->is_conditional && request->if_unmodified_since)
		return refuse_condition("If-Unmodified-Since", fault);
	return operation;
}

static void fail(const struct api_request *request, const struct api_fault *fault, struct api_response *response)
{
	const struct api_route *route = request->match->route;
	api_fail *tell = route && route->fail ? route->fail : api_fault_response;
	tell(fault, request->request_id, response);
}

/* ---- admission, before the body is read ---- */

static bool check_length(const char *method, size_t limit, long long announced, bool chunked, struct api_fault *fault)
{
	if (announced < 0 && !chunked)
		return api_fault_set(fault, API_E_LENGTH_REQUIRED,
		                     "a %.40s needs a Content-Length or Transfer-Encoding: chunked", method);
	if (announced >= 0 && (unsigned long long)announced > limit)
		return api_fault_set(fault, API_E_BODY_TOO_LONG, "a body of %lld bytes is longer than the limit of %zu bytes",
		                     announced, limit);
	return true;
}

static bool admit(const struct api_service *service, const struct api_request *request, long long announced,
                  bool chunked, struct api_admission *admission, struct api_fault *fault, struct api_response *response)
{
	const struct api_operation *operation = find_operation(request, fault, response);
	if (!operation)
		return false;
	if (!judge_formats(request, operation, &admission->formats, fault)) {
		if (operation->merges && fault->status == 415)
			api_response_add_header(response, "Accept-Patch", api_patch_types);
		return false;
	}
	admission->computes = operation->is_large;
	if (!operation->requests)
		return true;
	admission->max_body_bytes = api_format_limit(service, admission->formats.body);
	return check_length(request->method, admission->max_body_bytes, announced, chunked, fault);
}

struct api_admission api_admit(const struct api_service *service, const struct api_request *request,
                               long long announced_bytes, bool chunked, struct api_response *response)
{
	struct api_admission admission = {.max_body_bytes = MAX_IGNORED_BODY};
	struct missing missing;
	struct api_fault fault;
	api_fault_clear(&fault);
	api_response_clear(response);
	request = with_match(request, &missing);
	admission.accepted = admit(service, request, announced_bytes, chunked, &admission, &fault, response);
	admission.computes &= admission.accepted;
	if (!admission.accepted)
		fail(request, &fault, response);
	return admission;
}

/* ---- handling, with the body ---- */

bool api_is_large(const struct api_service *service, const struct api_request *request)
{
	struct missing missing;
	struct api_fault fault;
	request = with_match(request, &missing);
	const struct api_operation *operation =
		is_there(request->match) ? api_operation_of(request->match->route, request->method) : NULL;
	if (!operation || !operation->is_large)
		return false;
	request = with_formats(request, operation, &missing, &fault);
	return request && operation->is_large(service, request);
}

static bool run_handler(const struct api_service *service, const struct api_request *request,
                        const struct api_operation *operation, struct api_fault *fault, struct api_response *response)
{
	const struct api_call call = {service, request, operation, fault, response};
	return operation->handler(&call);
}

static bool join(const struct api_request *request, char *whole)
{
	for (size_t i = 0; i < request->n_parts; whole += request->parts[i++].n)
		if (!api_account_copy_body(whole, request->parts[i].bytes, request->parts[i].n))
			return false;
	return true;
}

/* Handlers receive a body in parts only if it is a frame that can be read as it is. */
static bool run_joined(const struct api_service *service, const struct api_request *request,
                       const struct api_operation *operation, struct api_fault *fault, struct api_response *response)
{
	struct api_request joined = *request;
	char *whole = api_pool_take(service->pool, request->body_bytes);
	joined.body = whole;
	joined.parts = NULL;
	const bool ok = whole && join(request, whole) && run_handler(service, &joined, operation, fault, response);
	api_pool_give(service->pool, whole, request->body_bytes);
	return ok;
}

static bool run(const struct api_service *service, const struct api_request *request, struct api_fault *fault,
                struct api_response *response)
{
	struct missing missing;
	const struct api_operation *operation = find_operation(request, fault, response);
	request = operation ? with_formats(request, operation, &missing, fault) : NULL;
	if (!request || (operation->refuses_url_query && !api_url_query_refuse(request->match->url_query, fault)))
		return false;
	const bool joins = operation->requests && api_format_needs_whole(request);
	return (joins ? run_joined : run_handler)(service, request, operation, fault, response);
}

/* Explains a failed allocation: the stop flag was raised, or the request can never fit. */
static void explain(const struct api_account *account, struct api_fault *fault)
{
	if (fault->deferred || (fault->status && fault->status != 503))
		return;
	if (api_account_is_stopped())
		api_fault_stopped(fault);
	else if (account->never_fits)
		api_fault_set(fault, API_E_EXCEEDS_MEMORY,
		              "the request takes more memory than the limit of %zu bytes for all requests together"
		              " (--memory-bytes)",
		              account->budget->most_bytes);
	else if (!fault->status)
		api_fault_no_memory(fault);
}

/* The problem is printed after the account is closed, so that there is memory for it even if the request was stopped
 * or too large. */
bool api_handle(const struct api_service *service, const struct api_request *request, struct api_response *response)
{
	struct api_account account;
	struct api_json_memory trees;
	struct api_fault fault;
	struct missing missing;
	api_fault_clear(&fault);
	api_response_clear(response);
	request = with_match(request, &missing);
	api_account_open(&account, api_pool_budget(service->pool), request->stop, request->body_held);
	api_json_memory_open(&trees, service->pool);
	const bool ok = run(service, request, &fault, response);
	if (!ok)
		explain(&account, &fault);
	api_json_memory_close(&trees);
	api_account_close(&account);
	if (fault.deferred)
		api_response_clear(response);
	else if (!ok)
		fail(request, &fault, response);
	response->copied_bytes = account.copied_bytes;
	return !fault.deferred;
}
