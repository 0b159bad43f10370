#include "http_internal.h"

#include "linger.h"

#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RETRY_SECONDS "1"

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

/* ---- through the library ---- */

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

static bool add_headers(const struct request *request, struct MHD_Response *answer, const struct api_response *response)
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

enum MHD_Result srv_answer(struct request *request)
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

void srv_answer_past_library(struct request *request, int fd)
{
	const struct api_response *response = request->response;
	char head[1024];
	if (!response || request->answered || (request->http->is_tls && !request->connection))
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

void srv_let_linger(const struct request *request)
{
	if (request->http->is_tls)
		gnutls_bye(session_of(request), GNUTLS_SHUT_WR);
	srv_linger(dup(srv_socket_of(request->connection)));
}
