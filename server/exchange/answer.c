#include "server/exchange/answer.h"

#include <stdlib.h>
#include <string.h>

void srv_drop_answer(struct srv_exchange *exchange)
{
	if (exchange->response)
		api_response_free(exchange->response);
	free(exchange->response);
	exchange->response = NULL;
}

bool srv_make_answer(struct srv_exchange *exchange)
{
	srv_drop_answer(exchange);
	exchange->response = malloc(sizeof *exchange->response);
	if (!exchange->response)
		srv_exchange_move(exchange, SRV_ABORTED);
	return exchange->response;
}

bool srv_decide(struct srv_exchange *exchange)
{
	const bool made = srv_make_answer(exchange);
	if (made)
		srv_exchange_move(exchange, SRV_DECIDED);
	return made;
}

void srv_refuse(struct srv_exchange *exchange, enum api_code code, const char *detail)
{
	if (srv_decide(exchange))
		api_problem(code, detail, exchange->response);
}

void srv_exchange_reject(struct srv_exchange *exchange, enum srv_rejection why, enum api_code code, const char *detail)
{
	exchange->rejection = why;
	srv_refuse(exchange, code, detail);
}

void srv_exchange_reject_late(struct srv_exchange *exchange)
{
	srv_exchange_reject(exchange, SRV_REJECTED_SLOW, API_E_REQUEST_TIMEOUT, "The request did not arrive in time.");
}

/* ---- headers ---- */

static void add(struct srv_answer_headers *headers, const char *name, const char *value)
{
	headers->list[headers->n++] = (struct srv_gate_header){name, value};
}

void srv_exchange_headers(const struct srv_exchange *exchange, const struct api_response *response,
                          struct srv_answer_headers *headers)
{
	const struct srv_server *server = exchange->server;
	headers->n = 0;
	add(headers, "X-Request-Id", exchange->id);
	headers->n += srv_gate_headers(server->gate, &exchange->head, &exchange->entry, headers->list + headers->n);
	if (response->content_type)
		add(headers, "Content-Type", response->content_type);
	for (int i = 0; i < response->n_headers; i++)
		add(headers, response->headers[i].name, response->headers[i].value);
	if (exchange->closes || atomic_load(&server->draining))
		add(headers, "Connection", "close");
	if (*exchange->trace.span_id) {
		srv_trace_write(&exchange->trace, headers->traceresponse);
		add(headers, "traceresponse", headers->traceresponse);
	}
}

/* ---- handing over ---- */

/* Derives the reason of a 503 without one: the api ran out of memory, or was stopped because the server stops or the
 * client has gone. */
static enum srv_rejection rejection_of(const struct srv_exchange *exchange, const struct api_response *response)
{
	if (response->status != 503 || exchange->rejection != SRV_NOT_REJECTED)
		return exchange->rejection;
	if (!atomic_load(&exchange->job.stop))
		return SRV_REJECTED_MEMORY;
	return atomic_load(&exchange->server->draining) ? SRV_REJECTED_DRAINING : SRV_NOT_REJECTED;
}

bool srv_exchange_is_bare(const struct srv_exchange *exchange, const struct api_response *response)
{
	return strcmp(exchange->head.method, "HEAD") == 0 || response->status == 204 || response->status == 304;
}

/* Stores the values that the record reports. */
static void note(struct srv_exchange *exchange, const struct api_response *response)
{
	exchange->status = response->status;
	exchange->bytes_out = srv_exchange_is_bare(exchange, response) ? 0 : response->body_bytes;
	exchange->measure = response->measure;
	exchange->rejection = rejection_of(exchange, response);
}

struct api_response *srv_exchange_take_answer(struct srv_exchange *exchange)
{
	struct api_response *response = exchange->response;
	exchange->response = NULL;
	srv_exchange_move(exchange, SRV_ANSWERING);
	note(exchange, response);
	return response;
}

void srv_exchange_said(struct srv_exchange *exchange, bool whole)
{
	if (whole)
		note(exchange, exchange->response);
	srv_exchange_move(exchange, whole ? SRV_SENT : SRV_ABORTED);
}

bool srv_exchange_was_answered(struct srv_exchange *exchange, int status)
{
	if (srv_exchange_is_answered(exchange))
		return false;
	exchange->status = status;
	return true;
}
