#include "server/http/http_internal.h"

#include <poll.h>
#include <stdio.h>

struct api_request srv_api_view(const struct request *request)
{
	return (struct api_request){
		.method = request->head.method,
		.target = request->head.target,
		.content_type = request->head.content_type,
		.accept = request->head.accept,
		.if_none_match = request->head.if_none_match,
		.request_id = request->id,
		.caller = *request->entry.token ? request->entry.token : NULL,
		.match = &request->match,
		.formats = &request->admitted.formats,
		.body = request->body.bytes ? request->body.bytes : "",
		.body_bytes = request->body.n,
		.body_held = api_pool_block_bytes(request->body.pool, request->body.capacity),
		.stop = &request->job.stop,
	};
}

static void handle(struct request *request, const struct api_service *service)
{
	const struct api_request view = srv_api_view(request);
	if (srv_make_answer(request))
		api_handle(service, &view, request->response);
	srv_body_free(&request->body, request->http->admission);
}

/* ---- a job of the queue, on the threads of the admission ---- */

static struct request *request_of(struct srv_job *job)
{
	return (struct request *)(void *)job;
}

/* A suspended connection is not watched by the library. Only a reset counts: a client that closed its sending side may
 * well be waiting for the answer. */
static bool is_gone(const struct request *request)
{
	struct pollfd poll_fd = {.fd = srv_socket_of(request->connection), .events = 0};
	return poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & (POLLERR | POLLHUP | POLLNVAL));
}

static bool is_overdue(const struct request *request)
{
	return srv_microseconds_since(&request->began) > request->http->deadline_seconds * 1000000;
}

static bool is_abandoned(struct srv_job *job)
{
	const struct request *request = request_of(job);
	return is_overdue(request) || is_gone(request);
}

static void refuse_overdue(struct request *request)
{
	char detail[96];
	snprintf(detail, sizeof detail, "The deadline of %lld seconds has passed.", request->http->deadline_seconds);
	srv_reject(request, SRV_REJECTED_DEADLINE, 503, detail);
}

static void compute(struct srv_job *job)
{
	struct request *request = request_of(job);
	request->waited_microseconds = srv_microseconds_since(&request->queued);
	handle(request, &request->http->large);
	const bool stopped = atomic_load(&job->stop) && request->response && request->response->status == 503;
	if (stopped && is_overdue(request))
		refuse_overdue(request);
}

static void give_up(struct request *request)
{
	request->waited_microseconds = srv_microseconds_since(&request->queued);
	atomic_store(&request->job.stop, true);
	srv_body_free(&request->body, request->http->admission);
	if (is_overdue(request))
		refuse_overdue(request);
	else
		srv_refuse(request, 503, "The server stopped before the turn of this request.");
}

static void resume(struct srv_job *job, bool computed)
{
	struct request *request = request_of(job);
	if (!computed)
		give_up(request);
	MHD_resume_connection(request->connection); /* from here on the request may be gone */
}

/* ---- in place or through the queue ---- */

static void reject_for_queue(struct request *request)
{
	srv_reject(request, SRV_REJECTED_QUEUE_FULL, 503, "The queue is full; try again soon.");
}

/* A long body that would be sent away when it is there need not come, if the client has asked whether it should. Others
 * are in the middle of sending it, and would not look for an answer before the end. */
void srv_refuse_if_full(struct request *request)
{
	const bool asks = request->announced > SRV_SMALL_BODY && srv_head_expects_continue(&request->head);
	if (asks && request->admitted.computes && srv_admission_is_full(request->http->admission))
		reject_for_queue(request);
}

static bool is_large(const struct request *request)
{
	const struct api_request view = srv_api_view(request);
	return request->admitted.computes && api_is_large(&view);
}

static void submit(struct request *request)
{
	request->job.compute = compute;
	request->job.finish = resume;
	request->job.abandoned = is_abandoned;
	clock_gettime(CLOCK_MONOTONIC, &request->queued);
	srv_reader_keep_end(request->reader, true); /* until srv_answer */
	MHD_suspend_connection(request->connection); /* before submit: the worker may resume it at once */
	srv_admission_submit(request->http->admission, &request->job);
}

bool srv_compute(struct request *request)
{
	struct srv_http *http = request->http;
	if (!is_large(request)) {
		handle(request, request->admitted.computes ? &http->small : &http->large);
		return true;
	}
	if (srv_admission_reserve(http->admission)) {
		submit(request);
		return false;
	}
	srv_body_free(&request->body, http->admission);
	reject_for_queue(request);
	return true;
}
