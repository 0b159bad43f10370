#include "server/exchange/phases.h"

#include "api/contract/route.h"
#include "server/exchange/answer.h"

#include <stdio.h>
#include <string.h>

static void ask_api(struct srv_exchange *exchange)
{
	const struct api_request view = srv_api_view(exchange);
	const bool chunked = srv_head_chunked(&exchange->head);
	struct api_response response;
	exchange->admitted = api_admit(&exchange->server->large, &view, exchange->announced, chunked, &response);
	if (exchange->admitted.accepted)
		srv_refuse_if_full(exchange);
	else if (srv_decide(exchange))
		*exchange->response = response;
	else
		api_response_free(&response);
}

/* ---- server description, the one resource outside the api ---- */

static void tell_metrics(struct srv_exchange *exchange)
{
	const struct srv_gauges gauges = srv_server_gauges(exchange->server);
	if (!srv_decide(exchange))
		return;
	struct api_response *response = exchange->response;
	api_response_clear(response);
	response->status = 200;
	response->content_type = srv_metrics_type;
	response->body = srv_metrics_print(&gauges, &response->body_bytes);
	if (!response->body)
		api_problem(API_E_OUT_OF_MEMORY, "There is no memory for the metrics.", response);
}

static void ask_metrics(struct srv_exchange *exchange)
{
	const struct api_route *route = exchange->match.route;
	char allow[API_ALLOW_BYTES], detail[64 + API_ALLOW_BYTES];
	if (api_operation_of(route, exchange->head.method)) {
		tell_metrics(exchange);
		return;
	}
	api_route_allow(route, allow);
	snprintf(detail, sizeof detail, "The metrics are read-only: %s.", allow);
	srv_refuse(exchange, API_E_METHOD_NOT_ALLOWED, detail);
	if (exchange->response)
		api_response_add_header(exchange->response, "Allow", allow);
}

/* ---- access and draining ---- */

static void ask(struct srv_exchange *exchange)
{
	const struct api_match *match = &exchange->match;
	if (match->is_plain && match->route->is_servers)
		ask_metrics(exchange);
	else
		ask_api(exchange);
}

static enum api_code code_of(const struct srv_entry *entry)
{
	return entry->tried ? API_E_UNKNOWN_TOKEN : api_code_of_status(entry->status);
}

/* @return false if the gate has decided the response */
static bool passes_gate(struct srv_exchange *exchange)
{
	struct srv_entry *entry = &exchange->entry;
	srv_gate_judge(exchange->server->gate, exchange->client, &exchange->head, exchange->target, &exchange->match,
	               entry);
	if (entry->status == 0)
		return true;
	if (entry->status != 204) {
		char detail[SRV_GATE_TEXT];
		srv_gate_explain(entry, detail);
		srv_exchange_reject(exchange, entry->rejection, code_of(entry), detail);
	} else if (srv_decide(exchange)) {
		api_response_clear(exchange->response);
		exchange->response->status = entry->status;
	}
	return false;
}

/* True for POST on any path, and for every method of a route except GET, HEAD and DELETE. */
static bool begins_something(const struct srv_exchange *exchange)
{
	const char *method = exchange->head.method;
	const struct api_route *route = exchange->match.route;
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "DELETE") == 0)
		return false;
	return strcmp(method, "POST") == 0 || (route && api_operation_of(route, method));
}

/* A draining server starts no new work and fails its readiness probe. */
static bool comes_too_late(const struct srv_exchange *exchange)
{
	const struct api_match *match = &exchange->match;
	return atomic_load(&exchange->server->draining) &&
	       (begins_something(exchange) || (match->is_plain && match->route->is_readiness));
}

void srv_judge(struct srv_exchange *exchange)
{
	const char *detail;
	const enum api_code code = srv_head_fault(&exchange->head, &detail);
	if (code != API_E_MALFORMED_HTTP && !passes_gate(exchange))
		return;
	if (code) {
		exchange->closes = code == API_E_MALFORMED_HTTP;
		srv_refuse(exchange, code, detail);
	} else if (comes_too_late(exchange)) {
		exchange->closes = true;
		srv_exchange_reject(exchange, SRV_REJECTED_DRAINING, API_E_DRAINING,
		                    "The server is draining: it finishes what is under way and stops.");
	} else {
		ask(exchange);
	}
}
