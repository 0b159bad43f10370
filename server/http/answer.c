#include "server/http/answer.h"

#include "server/exchange/answer.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEAD_BYTES = 8192, SEND_RATE = 1 << 20 /* bytes that every client is expected to take in a second */ };

static void free_response(void *response)
{
	api_response_free(response);
	free(response);
}

/* ---- through the library ---- */

static bool add_headers(const struct srv_exchange *exchange, struct MHD_Response *answer,
                        const struct api_response *response)
{
	struct srv_answer_headers headers;
	bool ok = true;
	srv_exchange_headers(exchange, response, &headers);
	for (int i = 0; i < headers.n; i++)
		ok &= MHD_add_response_header(answer, headers.list[i].name, headers.list[i].value) == MHD_YES;
	return ok;
}

/* The parts stay in place; the library copies only the list. */
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

/* Takes ownership of the response. */
static enum MHD_Result queue(const struct request *request, struct api_response *response)
{
	struct MHD_Response *answer = create(response);
	enum MHD_Result result = MHD_NO;
	if (!answer) {
		free_response(response);
		return MHD_NO;
	}
	if (add_headers(&request->exchange, answer, response))
		result = MHD_queue_response(request->connection, (unsigned)response->status, answer);
	MHD_destroy_response(answer);
	return result;
}

/* The limit is --send-seconds plus the time that the response takes at SEND_RATE. */
static void allow_time(const struct request *request)
{
	const long long to_send_ms = 1000 * (long long)request->exchange.bytes_out / SEND_RATE;
	srv_watch_allow(&request->own->watched, 1000 * request->http->send_seconds + to_send_ms, SRV_LATE_CUTS);
}

enum MHD_Result srv_answer(struct request *request)
{
	struct api_response *response = srv_exchange_take_answer(&request->exchange);
	allow_time(request);
	return queue(request, response);
}

/* ---- past the library ---- */

static bool send_all(int fd, gnutls_session_t session, const char *bytes, size_t n)
{
	if (session)
		return gnutls_record_send(session, bytes, n) == (ssize_t)n;
	return send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}

/* @return length of the head, or 0 if it exceeds the buffer, which only an absurdly long origin can cause */
static size_t print_head(const struct srv_exchange *exchange, char head[HEAD_BYTES])
{
	const struct api_response *response = exchange->response;
	struct srv_answer_headers headers;
	srv_exchange_headers(exchange, response, &headers);
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

static bool send_body(const struct api_response *response, int fd, gnutls_session_t session)
{
	if (!response->parts)
		return send_all(fd, session, response->body, response->body_bytes);
	bool ok = true;
	for (int i = 0; ok && i < response->n_parts; i++)
		ok = send_all(fd, session, response->parts[i].bytes, response->parts[i].n);
	return ok;
}

void srv_answer_past_library(struct srv_exchange *exchange, int fd, gnutls_session_t session)
{
	const struct api_response *response = exchange->response;
	char head[HEAD_BYTES];
	exchange->closes = true;
	const size_t n = print_head(exchange, head);
	srv_exchange_said(exchange, n > 0 && send_all(fd, session, head, n) &&
	                                (srv_exchange_is_bare(exchange, response) || send_body(response, fd, session)));
}
