#include "server/exchange/phases.h"

#include "server/base/clock.h"
#include "server/exchange/answer.h"

#include <stdio.h>

struct api_request srv_api_view(const struct srv_exchange *exchange)
{
	return (struct api_request){
		.method = exchange->head.method,
		.target = exchange->head.target,
		.content_type = exchange->head.content_type,
		.accept = exchange->head.accept,
		.accept_encoding = exchange->head.accept_encoding,
		.if_none_match = exchange->head.if_none_match,
		.if_match = exchange->head.if_match,
		.if_unmodified_since = exchange->head.if_unmodified_since,
		.if_version = exchange->head.if_version,
		.request_id = exchange->id,
		.caller = *exchange->entry.token ? exchange->entry.token : NULL,
		.match = &exchange->match,
		.formats = &exchange->admitted.formats,
		.body = exchange->body.bytes ? exchange->body.bytes : "",
		.body_bytes = exchange->body.n,
		.body_held = api_pool_block_bytes(exchange->body.pool, exchange->body.capacity),
		.stop = &exchange->job.stop,
	};
}

/* @return false if the request was deferred, and its body is needed again */
static bool handle(struct srv_exchange *exchange, const struct api_service *service)
{
	struct api_request view = srv_api_view(exchange);
	view.was_deferred = exchange->was_deferred;
	if (srv_make_answer(exchange) && !api_handle(service, &view, exchange->response))
		return false;
	srv_body_free(&exchange->body, exchange->server->admission);
	return true;
}

/* Without memory there is no response, and the exchange has already been given up. */
static void be_ready(struct srv_exchange *exchange)
{
	if (exchange->response)
		srv_exchange_move(exchange, SRV_READY);
}

/* ---- queued jobs, on the threads of the admission ---- */

static struct srv_exchange *exchange_of(struct srv_job *job)
{
	return (struct srv_exchange *)(void *)job;
}

static bool is_overdue(const struct srv_exchange *exchange)
{
	return srv_clock_us() - exchange->began_us > exchange->server->deadline_seconds * 1000000;
}

static bool is_overdue_job(struct srv_job *job)
{
	return is_overdue(exchange_of(job));
}

static bool is_abandoned(struct srv_job *job)
{
	const struct srv_exchange *exchange = exchange_of(job);
	return is_overdue(exchange) || exchange->carrier->is_gone(exchange);
}

/* Replaces an existing response. */
static void make_problem(struct srv_exchange *exchange, enum api_code code, const char *detail)
{
	if (srv_make_answer(exchange))
		api_problem(code, detail, exchange->response);
}

static void refuse_overdue(struct srv_exchange *exchange)
{
	char detail[96];
	snprintf(detail, sizeof detail, "The deadline of %lld seconds has passed.", exchange->server->deadline_seconds);
	exchange->rejection = SRV_REJECTED_DEADLINE;
	make_problem(exchange, API_E_DEADLINE_PASSED, detail);
}

/* Replaces the response only if the deadline was the reason to stop. */
static void refuse_if_overdue(struct srv_exchange *exchange)
{
	const bool stopped = atomic_load(&exchange->job.stop) && exchange->response && exchange->response->status == 503;
	if (stopped && is_overdue(exchange))
		refuse_overdue(exchange);
}

static void compute(struct srv_job *job)
{
	struct srv_exchange *exchange = exchange_of(job);
	exchange->waited_us = srv_clock_us() - exchange->queued_us;
	srv_exchange_move(exchange, SRV_COMPUTING);
	handle(exchange, &exchange->server->large);
	refuse_if_overdue(exchange);
}

static void give_up(struct srv_exchange *exchange)
{
	exchange->waited_us = srv_clock_us() - exchange->queued_us;
	atomic_store(&exchange->job.stop, true);
	srv_body_free(&exchange->body, exchange->server->admission);
	if (is_overdue(exchange))
		refuse_overdue(exchange);
	else
		make_problem(exchange, API_E_STOPPED, "The server stopped before the turn of this request.");
}

static void finish(struct srv_job *job, bool computed)
{
	struct srv_exchange *exchange = exchange_of(job);
	if (!computed)
		give_up(exchange);
	be_ready(exchange);
	exchange->carrier->resume(exchange); /* exchange may have been freed when this returns */
}

/* ---- in place or through the queue ---- */

static void reject_for_queue(struct srv_exchange *exchange)
{
	srv_exchange_reject(exchange, SRV_REJECTED_QUEUE_FULL, API_E_QUEUE_FULL, "The queue is full; try again soon.");
}

/* A client that waits for a 100 need not send a long body that would be refused afterwards. Other clients are already
 * sending it, and would not read a response before the end. */
void srv_refuse_if_full(struct srv_exchange *exchange)
{
	const bool asks = exchange->announced > SRV_SMALL_BODY && srv_head_expects_continue(&exchange->head);
	if (asks && exchange->admitted.computes && srv_admission_is_full(exchange->server->admission))
		reject_for_queue(exchange);
}

static bool is_large(const struct srv_exchange *exchange)
{
	const struct api_request view = srv_api_view(exchange);
	return exchange->admitted.computes && api_is_large(&exchange->server->large, &view);
}

static void submit(struct srv_exchange *exchange)
{
	exchange->job.compute = compute;
	exchange->job.finish = finish;
	exchange->job.abandoned = is_abandoned;
	exchange->queued_us = srv_clock_us();
	srv_exchange_move(exchange, SRV_QUEUED);
	exchange->carrier->suspend(exchange); /* before submitting, because the worker may resume it at once */
	srv_admission_submit(exchange->server->admission, &exchange->job);
}

/* Requests without computation use the large service, which reports all threads in /v1/info. The job is watched even
 * here, because a request that looked small may take long. @return false if the request turned out to be large */
static bool compute_in_place(struct srv_exchange *exchange)
{
	const struct srv_server *server = exchange->server;
	srv_exchange_move(exchange, SRV_COMPUTING);
	exchange->job.abandoned = is_overdue_job;
	srv_admission_begin_in_place(server->admission, &exchange->job);
	exchange->was_deferred = !handle(exchange, exchange->admitted.computes ? &server->small : &server->large);
	srv_admission_end_in_place(server->admission, &exchange->job);
	if (exchange->was_deferred)
		return false;
	refuse_if_overdue(exchange);
	be_ready(exchange);
	return true;
}

bool srv_compute(struct srv_exchange *exchange)
{
	struct srv_admission *admission = exchange->server->admission;
	if (!is_large(exchange) && compute_in_place(exchange))
		return true;
	if (srv_admission_reserve(admission)) {
		submit(exchange);
		return false;
	}
	srv_body_free(&exchange->body, admission);
	reject_for_queue(exchange);
	return true;
}
