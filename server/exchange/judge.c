#include "server/http/http_internal.h"

#include "api/contract/route.h"

#include <string.h>

static void ask_api(struct request *request)
{
	const struct api_request view = srv_api_view(request);
	const bool chunked = srv_head_chunked(&request->head);
	struct api_response response;
	request->admitted = api_admit(&request->http->large, &view, request->announced, chunked, &response);
	if (request->admitted.accepted)
		srv_refuse_if_full(request);
	else if (srv_make_answer(request))
		*request->response = response;
	else
		api_response_free(&response);
}

/* ---- the one resource that the api knows nothing of ---- */

static struct srv_gauges read_gauges(const struct srv_http *http)
{
	const struct srv_admission_counts queue = srv_admission_counts(http->admission);
	const struct api_pool_counts pool = api_pool_counts(http->pool), bodies = api_pool_counts(http->body_pool);
	return (struct srv_gauges){
		.queue_requests = queue.n_waiting,
		.queue_bytes = queue.held_bytes,
		.connections = atomic_load(&http->n_connections),
		.threads = (uint64_t)http->large.n_threads,
		.memory_requests_bytes = atomic_load(&http->budget.used_bytes),
		.memory_pool_bytes = pool.idle_bytes + bodies.idle_bytes,
		.memory_limit_bytes = http->budget.most_bytes,
		.draining = atomic_load(&http->draining),
		.instruction_set = fric_kernels_name(http->large.kernels),
	};
}

static void tell_metrics(struct request *request)
{
	const struct srv_gauges gauges = read_gauges(request->http);
	if (!srv_make_answer(request))
		return;
	struct api_response *response = request->response;
	api_response_clear(response);
	response->status = 200;
	response->content_type = srv_metrics_type;
	response->body = srv_metrics_print(&gauges, &response->body_bytes);
	if (!response->body)
		api_problem(503, "There is no memory for the metrics.", response);
}

static void ask_metrics(struct request *request)
{
	const char *method = request->head.method;
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0) {
		tell_metrics(request);
		return;
	}
	srv_refuse(request, 405, "The metrics are there to be read; they take GET, HEAD.");
	if (request->response)
		api_response_add_header(request->response, "Allow", "GET, HEAD");
}

/* ---- who may ask, and when ---- */

static void ask(struct request *request)
{
	const struct api_match *match = &request->match;
	if (match->is_plain && match->route->is_servers)
		ask_metrics(request);
	else
		ask_api(request);
}

/* @return false if the gate has answered */
static bool passes_gate(struct request *request)
{
	struct srv_entry *entry = &request->entry;
	srv_gate_judge(request->http->gate, &request->head, request->target, &request->match, entry);
	if (entry->status == 0)
		return true;
	if (entry->status != 204) {
		char detail[SRV_GATE_TEXT];
		srv_gate_explain(entry, detail);
		srv_reject(request, entry->rejection, entry->status, detail);
	} else if (srv_make_answer(request)) {
		api_response_clear(request->response);
		request->response->status = entry->status;
	}
	return false;
}

/* A POST, wherever it leads, or any other method but GET that its route has. */
static bool begins_something(const struct request *request)
{
	const char *method = request->head.method;
	const struct api_route *route = request->match.route;
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
		return false;
	return strcmp(method, "POST") == 0 || (route && api_operation_of(route, method));
}

/* While the server drains, nothing new is begun, and readiness probes are told. */
static bool comes_too_late(const struct request *request)
{
	const struct api_match *match = &request->match;
	return atomic_load(&request->http->draining) &&
	       (begins_something(request) || (match->is_plain && match->route->is_readiness));
}

void srv_judge(struct request *request)
{
	const char *detail;
	int status = srv_head_fault(&request->head, &detail);
	if (status != 400 && !passes_gate(request))
		return;
	if (status) {
		request->closes = status == 400;
		srv_refuse(request, status, detail);
	} else if (comes_too_late(request)) {
		request->closes = true;
		srv_reject(request, SRV_REJECTED_DRAINING, 503,
		           "The server is draining: it finishes what is under way and stops.");
	} else {
		ask(request);
	}
}
