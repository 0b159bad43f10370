/*
 * A connection's bytes pass through the filter of its reader (reader.h) before the library sees them.
 * The story of a request: on_target -> begin (judge) -> receive ... -> finish (in place, or suspended while the worker
 * computes, then again) -> answer -> on_completed. libmicrohttpd calls all of them on the connection's thread.
 */
#include "http.h"

#include "acceptor.h"
#include "addresses.h"
#include "admission.h"
#include "api/api.h"
#include "api/budget.h"
#include "api/openapi.h"
#include "body.h"
#include "certificate.h"
#include "head.h"
#include "linger.h"
#include "log.h"
#include "metrics.h"
#include "peer.h"
#include "reader.h"
#include "trace.h"
#include "trimmer.h"
#include "watch.h"

#include <microhttpd.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	DRAIN_BYTES = 1 << 20,     /* of a refused body that are read before the answer, so that the connection can stay */
	CONNECTION_MEMORY = 40 << 10, /* of head and body in transit; cleared for every request. No read is longer */
	IDLE_SECONDS = 60,            /* between requests */
	SPARE_CONNECTIONS = 32,       /* that may be on their way out */
};
_Static_assert((int)CONNECTION_MEMORY <= (int)SRV_READER_MOST && (int)CONNECTION_MEMORY >= 2 * (int)SRV_WIRE_HEAD,
               "no read is longer than the reader's buffer, and a sound head fits");
#define RETRY_SECONDS "1"
static const char late[] = "The request did not arrive in time.";

struct srv_http {
	struct MHD_Daemon *daemon;
	struct srv_acceptor *acceptor;
	struct srv_admission *admission;
	struct srv_addresses *addresses;
	struct srv_watch *watch; /* of TLS connections until their first request; else NULL */
	struct api_budget budget;     /* of all requests together */
	struct api_pool *pool;
	struct api_pool *body_pool;   /* apart: of a body only what has arrived counts against the budget */
	struct srv_trimmer *trimmer, *body_trimmer;
	struct api_service small, large; /* the same promises; small requests are computed by one thread */
	char *description;               /* of both */
	const struct srv_gate *gate;
	void (*on_idle)(void);
	int listen_fd;
	size_t most_connections;
	atomic_size_t n_connections;
	long long receive_seconds, deadline_seconds;
	atomic_bool draining;
	atomic_size_t n_under_way;
};

struct connection {
	struct srv_reader *reader;
	struct srv_watched *watched; /* under TLS, until the first request */
	size_t n_requests;
};

struct request {
	struct srv_job job; /* first */
	struct srv_http *http;
	struct MHD_Connection *connection;
	const struct sockaddr *client;
	struct srv_reader *reader;
	size_t ordinal;  /* on its connection, from 1 */
	struct srv_head head;
	struct srv_entry entry;
	char *target;
	char id[SRV_MAX_ID + 1];
	struct timespec began;
	long long announced;
	struct api_admission admitted;
	struct srv_body body;
	size_t received, dropped;      /* bytes of the body; dropped: those that came after a refusal */
	struct api_response *response; /* the answer until it is queued */
	bool begun;                    /* the head has arrived */
	bool closes;                   /* the connection does not survive the answer */
	bool lingers;                  /* the client may still be sending when the answer is out */
	bool ended;                    /* the client has closed its sending side */
	bool answered;                 /* nothing more can be said for this request */
	bool past_library;             /* it was said, to the last byte, behind the library's back */
	int status;
	size_t bytes_out;
	struct srv_trace trace;
	struct timespec queued;        /* when it was submitted; zero: never */
	long long waited_microseconds; /* from there until it was computed, or was not */
	struct api_measure measure;
	enum srv_rejection rejection;
};

static long long microseconds_since(const struct timespec *began)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1000000LL * (now.tv_sec - began->tv_sec) + (now.tv_nsec - began->tv_nsec) / 1000;
}

/* ---- answers ---- */

static void free_response(void *response)
{
	api_response_free(response);
	free(response);
}

static void drop_answer(struct request *request)
{
	if (request->response)
		free_response(request->response);
	request->response = NULL;
}

/* Room for the answer; what was to be said until now is dropped. @return false without memory: nothing can be said then */
static bool make_answer(struct request *request)
{
	drop_answer(request);
	request->response = malloc(sizeof *request->response);
	request->answered = !request->response;
	return request->response;
}

static void refuse(struct request *request, int status, const char *detail)
{
	if (make_answer(request))
		api_problem(status, detail, request->response);
}

static void reject(struct request *request, enum srv_rejection why, int status, const char *detail)
{
	request->rejection = why;
	refuse(request, status, detail);
}

static bool add_trace(const struct request *request, struct MHD_Response *answer)
{
	char text[SRV_TRACEPARENT + 1];
	if (!*request->trace.span_id)
		return true;
	srv_trace_write(&request->trace, text);
	return MHD_add_response_header(answer, "traceresponse", text) == MHD_YES;
}

static bool add_gate_headers(const struct request *request, struct MHD_Response *answer)
{
	struct srv_gate_header headers[SRV_GATE_HEADERS];
	const int n = srv_gate_headers(request->http->gate, &request->head, &request->entry, headers);
	bool ok = true;
	for (int i = 0; i < n; i++)
		ok &= MHD_add_response_header(answer, headers[i].name, headers[i].value) == MHD_YES;
	return ok;
}

static bool add_headers(struct request *request, struct MHD_Response *answer, const struct api_response *response)
{
	bool ok = MHD_add_response_header(answer, "X-Request-Id", request->id) == MHD_YES;
	ok &= add_gate_headers(request, answer);
	if (response->content_type)
		ok &= MHD_add_response_header(answer, "Content-Type", response->content_type) == MHD_YES;
	for (int i = 0; i < response->n_headers; i++)
		ok &= MHD_add_response_header(answer, response->headers[i].name, response->headers[i].value) == MHD_YES;
	if (request->closes || atomic_load(&request->http->draining))
		ok &= MHD_add_response_header(answer, "Connection", "close") == MHD_YES;
	return add_trace(request, answer) && ok;
}

/* The body in parts stays where it is; the library copies the list alone. */
static struct MHD_Response *create_from_parts(struct api_response *response)
{
	struct MHD_IoVec parts[API_MAX_PARTS];
	for (int i = 0; i < response->n_parts; i++)
		parts[i] = (struct MHD_IoVec){response->parts[i].bytes, response->parts[i].n};
	return MHD_create_response_from_iovec(parts, (unsigned)response->n_parts, free_response, response);
}

static struct MHD_Response *create(struct api_response *response)
{
	static char nothing[1];
	if (response->parts)
		return create_from_parts(response);
	return MHD_create_response_from_buffer_with_free_callback_cls(
		response->body_bytes, response->body ? response->body : nothing, free_response, response);
}

/* What has no reason yet: the api found no memory, or stopped because the server does or nobody waits any more. */
static enum srv_rejection rejection_of(const struct request *request, const struct api_response *response)
{
	if (response->status != 503 || request->rejection != SRV_NOT_REJECTED)
		return request->rejection;
	if (!atomic_load(&request->job.stop))
		return SRV_REJECTED_MEMORY;
	return atomic_load(&request->http->draining) ? SRV_REJECTED_DRAINING : SRV_NOT_REJECTED;
}

/* Hands request->response over to the library, body and all; without one (out of memory) the connection breaks. */
static enum MHD_Result answer(struct request *request)
{
	struct api_response *response = request->response;
	request->response = NULL;
	request->answered = true;
	if (!response)
		return MHD_NO;
	request->status = response->status;
	request->measure = response->measure;
	request->rejection = rejection_of(request, response);
	request->bytes_out = strcmp(request->head.method, "HEAD") == 0 ? 0 : response->body_bytes;
	struct MHD_Response *answer = create(response);
	if (!answer) {
		free_response(response);
		return MHD_NO;
	}
	enum MHD_Result result = MHD_NO;
	if (add_headers(request, answer, response))
		result = MHD_queue_response(request->connection, (unsigned)request->status, answer);
	MHD_destroy_response(answer);
	return result;
}

static int socket_of(const struct request *request)
{
	return MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static bool is_tls(const struct srv_http *http)
{
	return http->gate->options->tls_cert;
}

static gnutls_session_t session_of(const struct request *request)
{
	return MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session;
}

static bool send_all(const struct request *request, int fd, const char *bytes, size_t n)
{
	if (is_tls(request->http))
		return gnutls_record_send(session_of(request), bytes, n) == (ssize_t)n;
	return send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}

/* The library takes no answer in the middle of a body, and has none for a head or a chunk that it cannot read or for a
 * client that went silent: it closes. So such an answer, short enough for any socket buffer, goes out past it. Earlier
 * answers on this connection are complete by then. */
static void answer_on(struct request *request, int fd)
{
	const struct api_response *response = request->response;
	char head[1024];
	if (!response || request->answered || (is_tls(request->http) && !request->connection))
		return; /* without a session there is nobody to speak to */
	int n = snprintf(head, sizeof head,
	                 "HTTP/1.1 %d %s\r\nX-Request-Id: %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
	                 "%sConnection: close\r\n\r\n",
	                 response->status, MHD_get_reason_phrase_for((unsigned)response->status), request->id,
	                 response->content_type, response->body_bytes,
	                 response->status == 503 ? "Retry-After: " RETRY_SECONDS "\r\n" : "");
	request->answered = true;
	request->lingers = true;
	if (!send_all(request, fd, head, (size_t)n) || !send_all(request, fd, response->body, response->body_bytes))
		return;
	request->past_library = true;
	request->status = response->status;
	request->bytes_out = response->body_bytes;
}

static void answer_past_library(struct request *request)
{
	answer_on(request, socket_of(request));
}

/* ---- the head ---- */

static enum MHD_Result collect(void *head, enum MHD_ValueKind kind, const char *name, const char *value)
{
	(void)kind;
	srv_head_add(head, name, value ? value : "");
	return MHD_YES;
}

static void set_patience(struct request *request, unsigned seconds)
{
	MHD_set_connection_option(request->connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/* Silence is never longer than what a whole request may take. */
static unsigned idle_seconds(const struct srv_http *http)
{
	return http->receive_seconds < IDLE_SECONDS ? (unsigned)http->receive_seconds : IDLE_SECONDS;
}

/* With epoll, libmicrohttpd 0.9.75 overlooks an end of stream that arrives together with data: it would wait for the
 * rest of a body, or for another request, until the connection is idle for too long. What is still in its buffer (the
 * last chunk, a pipelined request) cannot be seen from here. So the connection gets a second, and is not closed. */
static void look_for_end(struct request *request)
{
	if (request->ended || !srv_reader_ended(request->reader))
		return;
	request->ended = true;
	set_patience(request, 1);
}

static struct api_request api_view(const struct request *request)
{
	return (struct api_request){
		.method = request->head.method,
		.target = request->head.target,
		.content_type = request->head.content_type,
		.accept = request->head.accept,
		.if_none_match = request->head.if_none_match,
		.request_id = request->id,
		.body = request->body.bytes ? request->body.bytes : "",
		.body_bytes = request->body.n,
		.stop = &request->job.stop,
	};
}

static void reject_for_queue(struct request *request)
{
	reject(request, SRV_REJECTED_QUEUE_FULL, 503, "The queue is full; try again soon.");
}

/* A long body that would be sent away when it is there need not come, if the client has asked whether it should. Others are
 * in the middle of sending it, and would not look for an answer before the end. */
static void refuse_if_full(struct request *request)
{
	const bool asks = request->announced > SRV_SMALL_BODY && srv_head_expects_continue(&request->head);
	if (!asks || !request->admitted.computes || !srv_admission_is_full(request->http->admission))
		return;
	reject_for_queue(request);
}

static void ask_api(struct request *request)
{
	struct api_request view = api_view(request);
	struct api_response response;
	request->admitted =
		api_admit(&request->http->large, &view, request->announced, srv_head_chunked(&request->head), &response);
	if (request->admitted.accepted) {
		refuse_if_full(request);
		return;
	}
	if (make_answer(request))
		*request->response = response;
	else
		api_response_free(&response);
}

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
	if (!make_answer(request))
		return;
	struct api_response *response = request->response;
	api_response_clear(response);
	response->status = 200;
	response->content_type = srv_metrics_type;
	response->body = srv_metrics_print(&gauges, &response->body_bytes);
	if (!response->body)
		api_problem(503, "There is no memory for the metrics.", response);
}

/* The one resource that the api knows nothing of. */
static void ask_metrics(struct request *request)
{
	const char *method = request->head.method;
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0) {
		tell_metrics(request);
	} else {
		refuse(request, 405, "The metrics are there to be read; they take GET, HEAD.");
		if (request->response)
			api_response_add_header(request->response, "Allow", "GET, HEAD");
	}
}

static void ask(struct request *request)
{
	if (srv_head_is_for(&request->head, "/metrics"))
		ask_metrics(request);
	else
		ask_api(request);
}

/* @return false if the gate has answered */
static bool passes_gate(struct request *request)
{
	struct srv_entry *entry = &request->entry;
	srv_gate_judge(request->http->gate, &request->head, entry);
	if (entry->status == 0)
		return true;
	if (entry->status != 204) {
		reject(request, SRV_REJECTED_UNAUTHORIZED, entry->status, entry->detail);
	} else if (make_answer(request)) {
		api_response_clear(request->response);
		request->response->status = entry->status;
	}
	return false;
}

/* Sets request->response if the request is refused by its head alone. */
static void judge(struct request *request)
{
	const char *detail;
	int status = srv_head_fault(&request->head, &detail);
	if (status != 400 && !passes_gate(request))
		return;
	if (status) {
		request->closes = status == 400;
		refuse(request, status, detail);
	} else if (!atomic_load(&request->http->draining)) {
		ask(request);
	} else if (strcmp(request->head.method, "POST") == 0 || srv_head_is_for(&request->head, "/readyz")) {
		request->closes = true;
		reject(request, SRV_REJECTED_DRAINING, 503, "The server is draining: it finishes what is under way and stops.");
	} else {
		ask(request);
	}
}

/* An answer before the end of the request closes the connection. So a refused body is read if the connection can then
 * be used on: not if it is too long, or waits for a 100. */
static bool worth_reading(const struct request *request)
{
	return !request->closes && request->response->status != 413 && request->announced <= DRAIN_BYTES &&
	       !srv_head_expects_continue(&request->head);
}

/* @return whether the filter has found a fault in this request; it is then refused, and the last of its connection */
static bool is_faulty(struct request *request)
{
	const char *detail;
	const int status = srv_reader_fault(request->reader, request->ordinal, &detail);
	if (status == 0)
		return false;
	request->closes = true;
	refuse(request, status, detail);
	return true;
}

static enum MHD_Result begin(struct request *request, const char *method)
{
	struct srv_head *head = &request->head;
	request->begun = true;
	atomic_fetch_add(&request->http->n_under_way, 1);
	*head = (struct srv_head){.method = method, .target = srv_origin_form(request->target)};
	MHD_get_connection_values(request->connection, MHD_HEADER_KIND, collect, head);
	if (head->n_request_id == 1 && srv_sane_id(head->request_id))
		strcpy(request->id, head->request_id);
	if (head->n_traceparent == 1)
		srv_trace_read(head->traceparent, &request->trace);
	request->announced = srv_head_announced(head);
	if (!is_faulty(request))
		judge(request);
	if (request->answered)
		return MHD_NO;
	look_for_end(request);
	if (!request->response || worth_reading(request))
		return MHD_YES;
	request->lingers = true;
	return answer(request);
}

/* ---- the body ---- */

static void take(struct request *request, const char *bytes, size_t n)
{
	char detail[96];
	size_t limit = request->admitted.max_body_bytes;
	enum srv_append result =
		srv_body_append(&request->body, request->http->admission, bytes, n, request->announced, limit);
	if (result == SRV_APPENDED)
		return;
	srv_body_free(&request->body, request->http->admission);
	snprintf(detail, sizeof detail, "The body is longer than the limit of %zu bytes.", limit);
	if (result == SRV_OVER_LIMIT)
		refuse(request, 413, detail);
	else
		reject(request, SRV_REJECTED_MEMORY, 503, "The memory for large requests is taken; try again soon.");
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
	if (srv_reader_is_late(request->reader) && !request->response)
		reject(request, SRV_REJECTED_SLOW, 408, late);
	else if (!request->answered && request->dropped <= DRAIN_BYTES)
		return MHD_YES;
	answer_past_library(request);
	return MHD_NO;
}

/* ---- computing ---- */

static void handle(struct request *request, const struct api_service *service)
{
	struct api_request view = api_view(request);
	if (make_answer(request))
		api_handle(service, &view, request->response);
	srv_body_free(&request->body, request->http->admission);
}

/* A suspended connection is not watched by the library. Only a reset counts: a client that closed its sending side may
 * well be waiting for the answer. */
static bool is_gone(const struct request *request)
{
	struct pollfd poll_fd = {.fd = socket_of(request), .events = 0};
	return poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & (POLLERR | POLLHUP | POLLNVAL));
}

static bool is_overdue(const struct request *request)
{
	return microseconds_since(&request->began) > request->http->deadline_seconds * 1000000;
}

static bool is_abandoned(struct srv_job *job)
{
	const struct request *request = (const struct request *)(const void *)job;
	return is_overdue(request) || is_gone(request);
}

static void refuse_overdue(struct request *request)
{
	char detail[96];
	snprintf(detail, sizeof detail, "The deadline of %lld seconds has passed.", request->http->deadline_seconds);
	reject(request, SRV_REJECTED_DEADLINE, 503, detail);
}

static void compute(struct srv_job *job)
{
	struct request *request = (struct request *)(void *)job;
	request->waited_microseconds = microseconds_since(&request->queued);
	handle(request, &request->http->large);
	if (!atomic_load(&job->stop) || !request->response || request->response->status != 503 || !is_overdue(request))
		return;
	refuse_overdue(request);
}

static void resume(struct srv_job *job, bool computed)
{
	struct request *request = (struct request *)(void *)job;
	if (!computed) {
		request->waited_microseconds = microseconds_since(&request->queued);
		atomic_store(&job->stop, true);
		srv_body_free(&request->body, request->http->admission);
		if (is_overdue(request))
			refuse_overdue(request);
		else
			refuse(request, 503, "The server stopped before the turn of this request.");
	}
	MHD_resume_connection(request->connection); /* from here on the request may be gone */
}

static bool is_large(const struct request *request)
{
	struct api_request view = api_view(request);
	return request->admitted.computes && api_is_large(&view);
}

/* Called again after a resume: the answer is there then, or memory ran out. */
static enum MHD_Result finish(struct request *request)
{
	if (request->answered)
		return MHD_NO;
	look_for_end(request);
	if (request->ended)
		set_patience(request, idle_seconds(request->http)); /* for the answer; on_completed takes it back */
	if (is_faulty(request))
		srv_body_free(&request->body, request->http->admission);
	if (request->answered)
		return MHD_NO;
	if (request->response)
		return answer(request);
	if (!is_large(request)) {
		handle(request, request->admitted.computes ? &request->http->small : &request->http->large);
	} else if (srv_admission_reserve(request->http->admission)) {
		request->job.compute = compute;
		request->job.finish = resume;
		request->job.abandoned = is_abandoned;
		clock_gettime(CLOCK_MONOTONIC, &request->queued);
		MHD_suspend_connection(request->connection); /* before submit: the worker may resume it at once */
		srv_admission_submit(request->http->admission, &request->job);
		return MHD_YES;
	} else {
		srv_body_free(&request->body, request->http->admission);
		reject_for_queue(request);
	}
	return answer(request);
}

/* ---- the library's callbacks ---- */

static const struct sockaddr *client_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
}

static void end_watch(const struct srv_http *http, struct connection *own)
{
	srv_watch_remove(http->watch, own->watched);
	own->watched = NULL;
}

static void *on_target(void *http, const char *target, struct MHD_Connection *connection)
{
	struct request *request = calloc(1, sizeof *request);
	struct connection *own = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	if (!own || !request) {
		free(request);
		return NULL;
	}
	request->http = http;
	request->connection = connection;
	request->client = client_of(connection);
	request->reader = own->reader;
	request->ordinal = ++own->n_requests;
	if (own->watched) {
		end_watch(http, own);
		set_patience(request, idle_seconds(http));
	}
	request->announced = -1;
	request->body.pool = request->http->body_pool;
	request->head.method = "-";
	atomic_init(&request->job.stop, false);
	clock_gettime(CLOCK_MONOTONIC, &request->began);
	srv_new_id(request->id);
	request->target = strdup(target ? target : "");
	return request;
}

static enum MHD_Result on_request(void *http, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *bytes, size_t *n, void **context)
{
	struct request *request = *context;
	(void)http, (void)connection, (void)url, (void)version;
	if (!request || !request->target)
		return MHD_NO;
	if (!request->begun)
		return begin(request, method);
	if (*n == 0)
		return finish(request);
	enum MHD_Result result = receive(request, bytes, *n);
	*n = 0;
	return result;
}

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

/* What the library would close without a word. */
static void say_why(struct request *request, enum MHD_RequestTerminationCode code)
{
	if (request->answered || request->status)
		return;
	if (!request->response && code == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED)
		reject(request, SRV_REJECTED_SLOW, 408, late);
	if (code == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED)
		answer_past_library(request);
}

static void log_request(const struct request *request, const struct srv_exchange *exchange, const char *aborted)
{
	char client[SRV_PEER];
	srv_log_access(&(struct srv_access){
		.request_id = request->id,
		.method = request->head.method,
		.target = request->target,
		.route = srv_route_name(exchange->route),
		.client = srv_peer_print(request->client, client),
		.status = request->status,
		.bytes_in = request->received,
		.bytes_out = request->bytes_out,
		.microseconds = exchange->nanoseconds / 1000,
		.waited_microseconds = request->queued.tv_sec ? request->waited_microseconds : -1,
		.measure = &request->measure,
		.trace = *request->trace.span_id ? &request->trace : NULL,
		.rejected = srv_rejection_name(request->rejection),
		.token = *request->entry.token ? request->entry.token : NULL,
		.aborted = request->past_library ? NULL : aborted,
	});
}

/* In the log and in the metrics. */
static void record(const struct request *request, const char *aborted)
{
	const struct srv_exchange exchange = {
		.route = srv_route_of(srv_origin_form(request->target)),
		.rejection = request->rejection,
		.status = request->status,
		.nanoseconds = 1000 * microseconds_since(&request->began),
		.waited_nanoseconds = request->queued.tv_sec ? 1000 * request->waited_microseconds : -1,
		.bytes_in = request->received,
		.bytes_out = request->bytes_out,
		.measure = &request->measure,
	};
	srv_metrics_add(&exchange);
	log_request(request, &exchange, aborted);
}

/* Some faults of HTTP itself are answered by the library, in HTML: a head too long, a length that is no number ... */
static void note_own_answer(struct request *request)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_HTTP_STATUS);
	if (!info || request->answered)
		return;
	request->status = (int)info->http_status;
	request->lingers = true;
}

static void on_completed(void *closure, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
	struct srv_http *http = closure;
	struct request *request = *context;
	(void)connection;
	if (!request)
		return;
	note_own_answer(request);
	if (code != MHD_REQUEST_TERMINATED_COMPLETED_OK)
		say_why(request, code);
	else if (request->ended)
		set_patience(request, 1);
	if (request->lingers && is_tls(http))
		gnutls_bye(session_of(request), GNUTLS_SHUT_WR);
	if (request->lingers)
		srv_linger(dup(socket_of(request)));
	if (request->target)
		record(request, reason(code));
	drop_answer(request);
	srv_body_free(&request->body, http->admission);
	bool begun = request->begun;
	free(request->target);
	free(request);
	*context = NULL;
	if (begun && atomic_fetch_sub(&http->n_under_way, 1) == 1 && atomic_load(&http->draining))
		http->on_idle();
}

static void forget_connection(struct srv_http *http, const struct sockaddr *address)
{
	srv_addresses_remove(http->addresses, address);
	atomic_fetch_sub(&http->n_connections, 1);
}

/* A connection that libmicrohttpd 0.9.75 gives up in the middle of a TLS handshake is never closed, and keeps a CPU
 * busy. So the library has no patience that could end then; what is late finds the end of its input instead. */
static bool watch(const struct srv_http *http, struct MHD_Connection *connection, struct connection *own, int fd)
{
	if (!http->watch)
		return true;
	MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0);
	own->watched = srv_watch_add(http->watch, fd);
	return own->watched;
}

static void open_connection(const struct srv_http *http, struct MHD_Connection *connection, void **context)
{
	const int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	struct connection *own = calloc(1, sizeof *own);
	if (own)
		own->reader = srv_reader_open(fd, is_tls(http), http->receive_seconds);
	if (own && !own->reader) {
		free(own);
		own = NULL;
	}
	if (!own || !watch(http, connection, own, fd))
		shutdown(fd, SHUT_RDWR);
	*context = own;
}

/* The library closes a silent connection, and knows nothing of the head that has begun to arrive there. */
static void say_late(struct srv_http *http, struct MHD_Connection *connection)
{
	const int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	struct request request = {.http = http, .target = "-", .head.method = "-"}; /* a TLS session is over by now */
	request.client = client_of(connection);
	clock_gettime(CLOCK_MONOTONIC, &request.began);
	srv_new_id(request.id);
	reject(&request, SRV_REJECTED_SLOW, 408, late);
	answer_on(&request, fd);
	srv_linger(dup(fd));
	record(&request, "timeout");
	drop_answer(&request);
}

static void on_connection(void *http, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
	struct connection *own = *context;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		open_connection(http, connection, context);
		return;
	}
	forget_connection(http, client_of(connection));
	if (own) {
		if (srv_reader_holds_head(own->reader) && !srv_reader_ended(own->reader))
			say_late(http, connection);
		end_watch(http, own);
		srv_reader_close(own->reader);
		free(own);
		*context = NULL;
	}
}

static void on_message(void *http, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

static void on_message(void *http, const char *format, va_list arguments)
{
	char text[512];
	(void)http;
	vsnprintf(text, sizeof text, format, arguments);
	text[strcspn(text, "\n")] = '\0';
	srv_log(SRV_DEBUG, "microhttpd: %s", text);
}

/* ---- start and stop ---- */

/* Options that are not always there. */
static void choose(const struct srv_options *options, struct MHD_OptionItem items[4])
{
	int n = 0;
	if (options->io_threads > 1)
		items[n++] = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)options->io_threads, NULL};
	if (options->tls_cert) {
		items[n++] =
			(struct MHD_OptionItem){MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)(uintptr_t)srv_certificate_hand_out};
		items[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)SRV_TLS_PRIORITIES};
	}
	items[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
}

/* With epoll, libmicrohttpd 0.9.75 asks again and again for the rest of a TLS handshake: one silent client would keep a
 * CPU busy. TURBO: without it the library shuts the sending side down before on_completed can say why. */
static unsigned flags_of(const struct srv_http *http)
{
	return MHD_USE_SUSPEND_RESUME | MHD_USE_ERROR_LOG | MHD_USE_TURBO | MHD_USE_NO_LISTEN_SOCKET |
	       (is_tls(http) ? MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_TLS : MHD_USE_EPOLL_INTERNAL_THREAD);
}

static struct MHD_Daemon *start_daemon(struct srv_http *http, const struct srv_options *options)
{
	struct MHD_OptionItem items[4];
	choose(options, items);
	return MHD_start_daemon(flags_of(http), 0, NULL, NULL, on_request, http,
	                        MHD_OPTION_EXTERNAL_LOGGER, on_message, http,
	                        MHD_OPTION_URI_LOG_CALLBACK, on_target, http,
	                        MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
	                        MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
	                        MHD_OPTION_CONNECTION_LIMIT, (unsigned)options->connections + SPARE_CONNECTIONS,
	                        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
	                        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)idle_seconds(http),
	                        MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

static bool has_room(void *closure)
{
	const struct srv_http *http = closure;
	return atomic_load(&http->n_connections) < http->most_connections + SPARE_CONNECTIONS;
}

/* In place of a connection: one answer, whatever will be asked. */
static void send_away(struct srv_http *http, int fd, const struct sockaddr *address, int status, const char *detail)
{
	struct request request = {.http = http, .target = "-", .head.method = "-", .client = address};
	clock_gettime(CLOCK_MONOTONIC, &request.began);
	srv_new_id(request.id);
	reject(&request, SRV_REJECTED_CONNECTIONS, status, detail);
	answer_on(&request, fd);
	srv_linger(fd);
	record(&request, NULL);
	drop_answer(&request);
}

/* The library gives connections to its threads in turn, by the number of the file. */
static void add_connection(void *closure, int fd, const struct sockaddr *address, socklen_t bytes)
{
	struct srv_http *http = closure;
	if (atomic_load(&http->n_connections) >= http->most_connections) {
		send_away(http, fd, address, 503, "There are as many connections as the server takes; try again soon.");
	} else if (!srv_addresses_add(http->addresses, address)) {
		send_away(http, fd, address, 429, "There are as many connections from this address as the server takes.");
	} else {
		atomic_fetch_add(&http->n_connections, 1);
		if (MHD_add_connection(http->daemon, fd, address, bytes) != MHD_YES) /* which has closed fd */
			forget_connection(http, address);
	}
}

static struct srv_acceptor *start_acceptor(struct srv_http *http)
{
	const struct srv_acceptor_target target = {has_room, add_connection, http};
	return srv_acceptor_start(http->listen_fd, &target);
}

static void destroy(struct srv_http *http)
{
	if (http->admission)
		srv_admission_free(http->admission);
	srv_trimmer_stop(http->trimmer);
	srv_trimmer_stop(http->body_trimmer);
	api_pool_free(http->pool);
	api_pool_free(http->body_pool);
	srv_addresses_free(http->addresses);
	srv_watch_stop(http->watch);
	free(http->description);
	free(http);
}

static bool start_threads(struct srv_http *http, const struct srv_options *options)
{
	const size_t warm_bytes = (size_t)options->pool_bytes;
	http->addresses = srv_addresses_create((size_t)options->connections_per_address);
	http->body_pool = api_pool_create(warm_bytes / 4, NULL);
	http->pool = api_pool_create(warm_bytes - warm_bytes / 4, &http->budget);
	http->watch = is_tls(http) ? srv_watch_start(http->receive_seconds) : NULL;
	if (!http->addresses || !http->body_pool || !http->pool || !srv_readers_start() || (is_tls(http) && !http->watch))
		return false;
	http->large.pool = http->small.pool = http->pool;
	http->trimmer = srv_trimmer_start(http->pool, options->idle_seconds);
	http->body_trimmer = srv_trimmer_start(http->body_pool, options->idle_seconds);
	http->admission = srv_admission_start((size_t)options->queue_requests, (size_t)options->queue_bytes, &http->budget);
	if (http->trimmer && http->body_trimmer && http->admission)
		http->daemon = start_daemon(http, options);
	if (http->daemon)
		http->acceptor = start_acceptor(http);
	return http->acceptor;
}

struct srv_http *srv_http_start(const struct srv_options *options, const struct srv_gate *gate, int listen_fd,
                                void (*on_idle)(void))
{
	struct srv_http *http = calloc(1, sizeof *http);
	if (!http)
		return NULL;
	http->gate = gate;
	http->on_idle = on_idle;
	http->listen_fd = listen_fd;
	http->most_connections = (size_t)options->connections;
	http->deadline_seconds = options->deadline_seconds;
	http->budget.most_bytes = (size_t)options->memory_bytes;
	http->receive_seconds = options->receive_seconds;
	http->large = srv_service(options);
	if (!api_choose_kernels(&http->large, srv_kernels_name(options))) {
		srv_log(SRV_ERROR, "--kernels: this processor has no %s", srv_kernels_name(options));
		destroy(http);
		return NULL;
	}
	http->description = api_openapi_print(&http->large, &http->large.description_bytes);
	http->large.description = http->description; /* out of memory: each request will try */
	http->small = http->large;
	http->small.n_threads = 1;
	if (start_threads(http, options))
		return http;
	srv_log(SRV_ERROR, "the server's threads cannot be started");
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	if (http->admission)
		srv_admission_stop(http->admission);
	destroy(http);
	return NULL;
}

void srv_http_drain(struct srv_http *http)
{
	atomic_store(&http->draining, true);
}

bool srv_http_is_idle(const struct srv_http *http)
{
	return atomic_load(&http->n_under_way) == 0;
}

void srv_http_close(struct srv_http *http)
{
	srv_acceptor_stop(http->acceptor);
	close(http->listen_fd);
	srv_admission_stop(http->admission);
}

/* No connection is suspended any more: srv_http_close waited for the last to be resumed. */
void srv_http_stop(struct srv_http *http)
{
	MHD_stop_daemon(http->daemon);
	destroy(http);
}
