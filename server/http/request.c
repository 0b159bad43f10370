#include "server/http/http_internal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAIN_BYTES = 1 << 20 }; /* of a refused body that are read before the answer, so that the connection can stay */

/* With epoll, libmicrohttpd 0.9.75 overlooks an end of stream that arrives together with data: it would wait for the
 * rest of a body, or for another request, until the connection is idle for too long. What is still in its buffer (the
 * last chunk, a pipelined request) cannot be seen from here. So the connection gets a second, and is not closed. */
static void look_for_end(struct request *request)
{
	if (request->ended || !srv_reader_ended(request->reader))
		return;
	request->ended = true;
	srv_set_patience(request->connection, 1);
}

/* The filter's, not the client's: on record is a request that could not be read. */
static void forget_head(struct request *request)
{
	request->head = (struct srv_head){.method = "-", .target = "-"};
	strcpy(request->target, "-");
	api_match(request->target, &request->match);
}

/* @return whether the filter has found a fault in this request; it is then refused, and the last of its connection */
static bool is_faulty(struct request *request)
{
	const char *detail;
	const int status = srv_reader_fault(request->reader, request->ordinal, &detail);
	if (status == 0)
		return false;
	if (srv_reader_replaced(request->reader, request->ordinal))
		forget_head(request);
	request->closes = true;
	srv_refuse(request, status, detail);
	return true;
}

/* ---- the head ---- */

void *srv_on_target(void *http, const char *target, struct MHD_Connection *connection)
{
	struct request *request = calloc(1, sizeof *request);
	if (!request)
		return NULL;
	request->http = http;
	request->connection = connection;
	request->target = strdup(target ? target : "");
	if (!request->target || !srv_introduce(request)) {
		free(request->target);
		free(request);
		return NULL;
	}
	api_match(srv_origin_form(request->target), &request->match);
	request->announced = -1;
	request->body.pool = request->http->body_pool;
	request->head.method = "-";
	atomic_init(&request->job.stop, false);
	clock_gettime(CLOCK_MONOTONIC, &request->began);
	srv_new_id(request->id);
	return request;
}

static enum MHD_Result collect(void *head, enum MHD_ValueKind kind, const char *name, const char *value)
{
	(void)kind;
	srv_head_add(head, name, value ? value : "");
	return MHD_YES;
}

static void read_head(struct request *request, const char *method)
{
	struct srv_head *head = &request->head;
	*head = (struct srv_head){.method = method, .target = srv_origin_form(request->target)};
	MHD_get_connection_values(request->connection, MHD_HEADER_KIND, collect, head);
	if (head->n_request_id == 1 && srv_sane_id(head->request_id))
		strcpy(request->id, head->request_id);
	if (head->n_traceparent == 1)
		srv_trace_read(head->traceparent, &request->trace);
	request->announced = srv_head_announced(head);
}

/* An answer before the end of the request closes the connection. So a refused body is read if the connection can then
 * be used on: not if it is too long, or waits for a 100. */
static bool worth_reading(const struct request *request)
{
	return !request->closes && request->response->status != 413 && request->announced <= DRAIN_BYTES &&
	       !srv_head_expects_continue(&request->head);
}

static enum MHD_Result begin(struct request *request, const char *method)
{
	request->begun = true;
	atomic_fetch_add(&request->http->n_under_way, 1);
	read_head(request, method);
	if (!is_faulty(request))
		srv_judge(request);
	if (request->answered)
		return MHD_NO;
	look_for_end(request);
	if (!request->response || worth_reading(request))
		return MHD_YES;
	request->lingers = true;
	return srv_answer(request);
}

/* ---- the body ---- */

static void refuse_length(struct request *request, const char *limit, size_t bytes)
{
	char detail[128];
	snprintf(detail, sizeof detail, "The body is longer than %s %zu bytes.", limit, bytes);
	srv_refuse(request, 413, detail);
}

/* However often it comes again. */
static bool never_fits(const struct request *request)
{
	const size_t announced = request->announced > 0 ? (size_t)request->announced : 0;
	const size_t bytes = announced > request->received ? announced : request->received;
	return api_pool_block_bytes(request->http->body_pool, bytes) > request->http->budget.most_bytes;
}

static void take(struct request *request, const char *bytes, size_t n)
{
	const size_t limit = request->admitted.max_body_bytes;
	const enum srv_append result =
		srv_body_append(&request->body, request->http->admission, bytes, n, request->announced, limit);
	if (result == SRV_APPENDED)
		return;
	srv_body_free(&request->body, request->http->admission);
	if (result == SRV_OVER_LIMIT)
		refuse_length(request, "the limit of", limit);
	else if (never_fits(request))
		refuse_length(request, "the memory of all requests together,", request->http->budget.most_bytes);
	else
		srv_reject(request, SRV_REJECTED_MEMORY, 503, "The memory for large requests is taken; try again soon.");
}

static enum MHD_Result receive(struct request *request, const char *bytes, size_t n)
{
	request->received += n;
	if ((long long)request->received != request->announced) /* finish looks, too */
		look_for_end(request);
	if (request->response)
		request->dropped += n;
	else
		take(request, bytes, n);
	const bool late = srv_reader_is_late(request->reader);
	if (late && !request->response)
		srv_reject_late(request);
	else if (!late && !request->answered && request->dropped <= DRAIN_BYTES)
		return MHD_YES;
	srv_answer_past_library(request, srv_socket_of(request->connection));
	return MHD_NO;
}

/* ---- the answer ---- */

/* Called again after a resume: the answer is there then, or memory ran out. */
static enum MHD_Result finish(struct request *request)
{
	if (request->answered)
		return MHD_NO;
	look_for_end(request);
	if (request->ended) /* patience for the answer; srv_on_completed takes it back */
		srv_set_patience(request->connection, srv_idle_seconds(request->http));
	if (is_faulty(request))
		srv_body_free(&request->body, request->http->admission);
	if (request->answered)
		return MHD_NO;
	if (!request->response && !srv_compute(request))
		return MHD_YES;
	return srv_answer(request);
}

enum MHD_Result srv_on_request(void *http, struct MHD_Connection *connection, const char *url, const char *method,
                               const char *version, const char *bytes, size_t *n, void **context)
{
	struct request *request = *context;
	(void)http, (void)connection, (void)url, (void)version;
	if (!request)
		return MHD_NO;
	if (!request->begun)
		return begin(request, method);
	if (*n == 0)
		return finish(request);
	enum MHD_Result result = receive(request, bytes, *n);
	*n = 0;
	return result;
}

/* ---- the end ---- */

static const char *reason(enum MHD_RequestTerminationCode code)
{
	switch (code) {
	case MHD_REQUEST_TERMINATED_COMPLETED_OK: return NULL;
	case MHD_REQUEST_TERMINATED_TIMEOUT_REACHED: return "timeout";
	case MHD_REQUEST_TERMINATED_DAEMON_SHUTDOWN: return "shutdown";
	case MHD_REQUEST_TERMINATED_READ_ERROR:
	case MHD_REQUEST_TERMINATED_CLIENT_ABORT: return "client closed";
	case MHD_REQUEST_TERMINATED_WITH_ERROR: break;
	}
	return "connection failed";
}

/* Some faults of HTTP itself are answered by the library, in HTML: a head too long, a length that is no number ... */
static void note_own_answer(struct request *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_HTTP_STATUS);
	if (!info || request->answered)
		return;
	request->status = (int)info->http_status;
	request->lingers = true;
}

/* What the library would close without a word. */
static void say_why(struct request *request)
{
	if (request->answered || request->status)
		return;
	if (!request->response)
		srv_reject_late(request);
	srv_answer_past_library(request, srv_socket_of(request->connection));
}

static void free_request(struct request *request)
{
	srv_drop_answer(request);
	srv_body_free(&request->body, request->http->admission);
	free(request->target);
	free(request);
}

/* On record, and gone. */
static void end_request(struct request *request, const char *aborted)
{
	struct srv_http *http = request->http;
	const bool begun = request->begun;
	request->own->request = NULL;
	srv_watch_relieve(&request->own->watched);
	srv_record(request, aborted);
	free_request(request);
	if (begun && atomic_fetch_sub(&http->n_under_way, 1) == 1 && atomic_load(&http->draining))
		http->on_idle();
}

void srv_abandon(struct request *request)
{
	end_request(request, "connection failed");
}

/* @return why the exchange ended early, or NULL */
static const char *note_end(struct request *request, enum MHD_RequestTerminationCode code)
{
	if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK || !srv_watch_was_cut(&request->own->watched))
		return reason(code);
	request->rejection = SRV_REJECTED_NOT_TAKEN;
	return "answer not taken in time";
}

void srv_on_completed(void *http, struct MHD_Connection *connection, void **context,
                      enum MHD_RequestTerminationCode code)
{
	struct request *request = *context;
	(void)http;
	if (!request)
		return;
	note_own_answer(request);
	if (code == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED)
		say_why(request);
	else if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK && request->ended)
		srv_set_patience(connection, 1);
	if (request->lingers)
		srv_let_linger(request);
	end_request(request, note_end(request, code));
	*context = NULL;
}
