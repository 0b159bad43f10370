#include "server/exchange/steps.h"

#include "server/base/clock.h"
#include "server/exchange/answer.h"
#include "server/exchange/phases.h"
#include "server/listen/peer.h"
#include "server/observe/log.h"

#include <stdio.h>
#include <string.h>

enum { DRAIN_BYTES = 1 << 20 }; /* longest refused body that is read to keep the connection usable */

/* ---- faults found by the carrier ---- */

/* Sets placeholders, with which the record shows a request that could not be read. */
static void forget_head(struct srv_exchange *exchange)
{
	exchange->head = (struct srv_head){.method = "-", .target = "-"};
	exchange->target = "-";
	api_match(exchange->target, &exchange->match);
}

/* Refuses the request, replacing any earlier decision, and closes the connection afterwards. @return whether there is a
 * fault */
static bool refuse_fault(struct srv_exchange *exchange, const struct srv_fault *fault)
{
	if (fault->code == API_NO_CODE)
		return false;
	if (fault->hides_head)
		forget_head(exchange);
	exchange->rejection = fault->code == API_E_REQUEST_TIMEOUT ? SRV_REJECTED_SLOW : SRV_NOT_REJECTED;
	exchange->closes = true;
	srv_refuse(exchange, fault->code, fault->detail);
	return true;
}

/* ---- the head ---- */

static void read_head(struct srv_exchange *exchange)
{
	const struct srv_head *head = &exchange->head;
	if (head->n_request_id == 1 && srv_sane_id(head->request_id))
		strcpy(exchange->id, head->request_id);
	if (head->n_traceparent == 1)
		srv_trace_read(head->traceparent, &exchange->trace);
	exchange->announced = srv_head_announced(head);
}

/* A response before the end of the request closes the connection. The rest of a decided request is therefore read if
 * that keeps the connection usable: not if the body is too long or awaits a 100. */
static bool is_worth_reading(const struct srv_exchange *exchange)
{
	return !exchange->closes && exchange->response->status != 413 && exchange->announced <= DRAIN_BYTES &&
	       !srv_head_expects_continue(&exchange->head);
}

enum srv_next srv_exchange_judge(struct srv_exchange *exchange, const struct srv_fault *fault)
{
	exchange->under_way = true;
	atomic_fetch_add(&exchange->server->n_under_way, 1);
	read_head(exchange);
	if (!refuse_fault(exchange, fault))
		srv_judge(exchange);
	if (exchange->state == SRV_ABORTED)
		return SRV_BREAK;
	if (exchange->state == SRV_OPENED)
		srv_exchange_move(exchange, SRV_RECEIVING);
	return exchange->state == SRV_RECEIVING || is_worth_reading(exchange) ? SRV_READ : SRV_ANSWER;
}

/* ---- the body ---- */

static void refuse_length(struct srv_exchange *exchange, enum api_code code, const char *limit, size_t bytes)
{
	char detail[128];
	snprintf(detail, sizeof detail, "The body is longer than %s %zu bytes.", limit, bytes);
	srv_refuse(exchange, code, detail);
}

/* Whether the body can never fit into memory. It is then rejected once, even if the client repeats it. */
static bool never_fits(const struct srv_exchange *exchange)
{
	const size_t announced = exchange->announced > 0 ? (size_t)exchange->announced : 0;
	const size_t bytes = announced > exchange->received ? announced : exchange->received;
	return api_pool_block_bytes(exchange->body.pool, bytes) > exchange->server->budget.most_bytes;
}

static void take(struct srv_exchange *exchange, const char *bytes, size_t n)
{
	struct srv_server *server = exchange->server;
	const size_t limit = exchange->admitted.max_body_bytes;
	const enum srv_append result =
		srv_body_append(&exchange->body, server->admission, bytes, n, exchange->announced, limit);
	if (result == SRV_APPENDED)
		return;
	srv_body_free(&exchange->body, server->admission);
	if (result == SRV_OVER_LIMIT)
		refuse_length(exchange, API_E_BODY_TOO_LONG, "the limit of", limit);
	else if (never_fits(exchange))
		refuse_length(exchange, API_E_EXCEEDS_MEMORY, "the memory of all requests together,",
		              server->budget.most_bytes);
	else
		srv_exchange_reject(exchange, SRV_REJECTED_MEMORY, API_E_OUT_OF_MEMORY,
		                    "The memory for large requests is in use; try again soon.");
}

enum srv_next srv_exchange_receive(struct srv_exchange *exchange, const char *bytes, size_t n, bool late)
{
	if (srv_exchange_is_answered(exchange))
		return SRV_BREAK;
	exchange->received += n;
	if (exchange->state == SRV_RECEIVING)
		take(exchange, bytes, n);
	else
		exchange->dropped += n;
	if (late && exchange->state == SRV_RECEIVING)
		srv_exchange_reject_late(exchange);
	if (exchange->state == SRV_ABORTED)
		return SRV_BREAK;
	return late || exchange->dropped > DRAIN_BYTES ? SRV_SAY : SRV_READ;
}

/* ---- the response ---- */

enum srv_next srv_exchange_finish(struct srv_exchange *exchange, const struct srv_fault *fault)
{
	if (srv_exchange_is_answered(exchange))
		return SRV_BREAK;
	if (exchange->state != SRV_READY && refuse_fault(exchange, fault))
		srv_body_free(&exchange->body, exchange->server->admission);
	if (exchange->state == SRV_RECEIVING && !srv_compute(exchange))
		return SRV_WAIT;
	return exchange->state == SRV_ABORTED ? SRV_BREAK : SRV_ANSWER;
}

enum srv_next srv_exchange_time_out(struct srv_exchange *exchange)
{
	if (srv_exchange_is_answered(exchange) || exchange->status)
		return SRV_BREAK;
	if (!exchange->response)
		srv_exchange_reject_late(exchange);
	return exchange->response ? SRV_SAY : SRV_BREAK;
}

/* ---- the end ---- */

/* Records an exchange in the log and in the metrics. @param aborted  reason for an early end, or NULL */
static void record(const struct srv_exchange *exchange, const char *aborted)
{
	char client[SRV_PEER];
	const struct srv_access access = {
		.request_id = exchange->id,
		.method = exchange->head.method,
		.target = exchange->target,
		.route = srv_route_name(&exchange->match),
		.client = srv_peer_print(exchange->client, client),
		.outcome = {.match = &exchange->match,
	                .rejection = exchange->rejection,
	                .status = exchange->status,
	                .nanoseconds = 1000 * (srv_clock_us() - exchange->began_us),
	                .waited_nanoseconds = exchange->queued_us ? 1000 * exchange->waited_us : -1,
	                .bytes_in = exchange->received,
	                .bytes_out = exchange->bytes_out,
	                .measure = &exchange->measure},
		.trace = *exchange->trace.span_id ? &exchange->trace : NULL,
		.rejected = srv_rejection_name(exchange->rejection),
		.token = *exchange->entry.token ? exchange->entry.token : NULL,
		.aborted = aborted,
	};
	srv_metrics_add(&access.outcome);
	srv_log_access(&access);
}

void srv_exchange_end(struct srv_exchange *exchange, const char *aborted)
{
	struct srv_server *server = exchange->server;
	record(exchange, exchange->state == SRV_SENT ? NULL : aborted);
	srv_drop_answer(exchange);
	srv_body_free(&exchange->body, server->admission);
	srv_exchange_move(exchange, SRV_OVER);
	if (exchange->under_way && atomic_fetch_sub(&server->n_under_way, 1) == 1 && atomic_load(&server->draining))
		server->on_idle();
}
