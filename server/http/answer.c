#include "server/http/http_internal.h"

#include "server/http/linger.h"

#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD_BYTES = 8192, SEND_RATE = 1 << 20 /* bytes a second that every client is expected to take */ };

static void free_response(void *response)
{
	api_response_free(response);
	free(response);
}

void srv_drop_answer(struct request *request)
{
	if (request->response)
		free_response(request->response);
	request->response = NULL;
}

bool srv_make_answer(struct request *request)
{
	srv_drop_answer(request);
	request->response = malloc(sizeof *request->response);
	request->answered = !request->response;
	return request->response;
}

void srv_refuse(struct request *request, int status, const char *detail)
{
	if (srv_make_answer(request))
		api_problem(status, detail, request->response);
}

void srv_reject(struct request *request, enum srv_rejection why, int status, const char *detail)
{
	request->rejection = why;
	srv_refuse(request, status, detail);
}

void srv_reject_late(struct request *request)
{
	srv_reject(request, SRV_REJECTED_SLOW, 408, "The request did not arrive in time.");
}

/* ---- the headers, whichever way they go ---- */

enum { MOST_HEADERS = API_MAX_HEADERS + SRV_GATE_HEADERS + 4 };

struct headers {
	struct srv_gate_header list[MOST_HEADERS];
	int n;
	char traceresponse[SRV_TRACEPARENT + 1];
};

static void add(struct headers *headers, const char *name, const char *value)
{
	headers->list[headers->n++] = (struct srv_gate_header){name, value};
}

/* All but those that frame the message. Borrows from request and response. */
static void collect_headers(const struct request *request, const struct api_response *response, struct headers *headers)
{
	add(headers, "X-Request-Id", request->id);
	headers->n += srv_gate_headers(request->http->gate, &request->head, &request->entry, headers->list + headers->n);
	if (response->content_type)
		add(headers, "Content-Type", response->content_type);
	for (int i = 0; i < response->n_headers; i++)
		add(headers, response->headers[i].name, response->headers[i].value);
	if (request->closes || atomic_load(&request->http->draining))
		add(headers, "Connection", "close");
	if (*request->trace.span_id) {
		srv_trace_write(&request->trace, headers->traceresponse);
		add(headers, "traceresponse", headers->traceresponse);
	}
}

/* ---- through the library ---- */

static bool add_headers(const struct request *request, struct MHD_Response *answer, const struct api_response *response)
{
	struct headers headers = {.n = 0};
	bool ok = true;
	collect_headers(request, response, &headers);
	for (int i = 0; i < headers.n; i++)
		ok &= MHD_add_response_header(answer, headers.list[i].name, headers.list[i].value) == MHD_YES;
	return ok;
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

/* Takes the response. */
static enum MHD_Result queue(const struct request *request, struct api_response *response)
{
	struct MHD_Response *answer = create(response);
	enum MHD_Result result = MHD_NO;
	if (!answer) {
		free_response(response);
		return MHD_NO;
	}
	if (add_headers(request, answer, response))
		result = MHD_queue_response(request->connection, (unsigned)request->status, answer);
	MHD_destroy_response(answer);
	return result;
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

static bool has_no_body(const struct request *request, const struct api_response *response)
{
	return strcmp(request->head.method, "HEAD") == 0 || response->status == 204 || response->status == 304;
}

/* From now on the client has so many seconds, and those that its answer takes at a mebibyte a second. */
static void allow_time(const struct request *request)
{
	const long long to_send_ms = 1000 * (long long)request->bytes_out / SEND_RATE;
	srv_watch_allow(&request->own->watched, 1000 * request->http->send_seconds + to_send_ms, SRV_LATE_CUTS);
}

enum MHD_Result srv_answer(struct request *request)
{
	struct api_response *response = request->response;
	request->response = NULL;
	request->answered = true;
	srv_reader_keep_end(request->reader, false);
	if (!response)
		return MHD_NO;
	request->status = response->status;
	request->measure = response->measure;
	request->rejection = rejection_of(request, response);
	request->bytes_out = has_no_body(request, response) ? 0 : response->body_bytes;
	allow_time(request);
	return queue(request, response);
}

/* ---- past the library ---- */

static gnutls_session_t session_of(const struct request *request)
{
	return MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session;
}

static bool send_all(const struct request *request, int fd, const char *bytes, size_t n)
{
	if (request->http->is_tls)
		return gnutls_record_send(session_of(request), bytes, n) == (ssize_t)n;
	return send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}

/* @return its bytes, or 0 if they are more than there is room for, which takes an origin beyond all reason */
static size_t print_head(const struct request *request, const struct api_response *response, char head[HEAD_BYTES])
{
	struct headers headers = {.n = 0};
	collect_headers(request, response, &headers);
	int n = snprintf(head, HEAD_BYTES, "HTTP/1.1 %d %s\r\n", response->status,
	                 MHD_get_reason_phrase_for((unsigned)response->status));
	for (int i = 0; i < headers.n && n < HEAD_BYTES; i++)
		n += snprintf(head + n, (size_t)(HEAD_BYTES - n), "%s: %s\r\n", headers.list[i].name, headers.list[i].value);
	if (response->status != 204 && n < HEAD_BYTES)
		n += snprintf(head + n, (size_t)(HEAD_BYTES - n), "Content-Length: %zu\r\n", response->body_bytes);
	if (n < HEAD_BYTES)
		n += snprintf(head + n, (size_t)(HEAD_BYTES - n), "\r\n");
	return n < HEAD_BYTES ? (size_t)n : 0;
}

static bool send_parts(const struct request *request, int fd, const struct api_response *response)
{
	if (!response->parts)
		return send_all(request, fd, response->body, response->body_bytes);
	bool ok = true;
	for (int i = 0; ok && i < response->n_parts; i++)
		ok = send_all(request, fd, response->parts[i].bytes, response->parts[i].n);
	return ok;
}

void srv_answer_past_library(struct request *request, int fd)
{
	const struct api_response *response = request->response;
	char head[HEAD_BYTES];
	if (!response || request->answered || (request->http->is_tls && !request->connection))
		return; /* without a session there is nobody to speak to */
	const bool bare = has_no_body(request, response);
	request->closes = true;
	request->answered = true;
	request->lingers = true;
	const size_t n = print_head(request, response, head);
	if (n == 0 || !send_all(request, fd, head, n) || (!bare && !send_parts(request, fd, response)))
		return;
	request->past_library = true;
	request->status = response->status;
	request->bytes_out = bare ? 0 : response->body_bytes;
}

void srv_let_linger(const struct request *request)
{
	if (request->http->is_tls)
		gnutls_bye(session_of(request), GNUTLS_SHUT_WR);
	srv_linger(dup(srv_socket_of(request->connection)));
}
