#include "server/http/request.h"

#include "server/base/clock.h"
#include "server/exchange/answer.h"
#include "server/exchange/steps.h"
#include "server/http/answer.h"
#include "server/http/connection.h"
#include "server/http/linger.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- carrier ---- */

static struct request *request_of(struct srv_exchange *exchange)
{
	return (struct request *)(void *)exchange;
}

/* The end of the stream is withheld until the response exists. */
static void suspend(struct srv_exchange *exchange)
{
	srv_reader_keep_end(request_of(exchange)->own->reader, true);
	MHD_suspend_connection(request_of(exchange)->connection);
}

static void resume(struct srv_exchange *exchange)
{
	MHD_resume_connection(request_of(exchange)->connection);
}

/* The library does not watch suspended connections. Only a reset counts: a client that has closed its sending side may
 * still be waiting for the response. */
static bool is_gone(const struct srv_exchange *exchange)
{
	const struct request *request = (const struct request *)(const void *)exchange;
	struct pollfd poll_fd = {.fd = request->own->watched.fd, .events = 0};
	return poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & (POLLERR | POLLHUP | POLLNVAL));
}

static const struct srv_carrier carrier = {suspend, resume, is_gone};

/* ---- findings of the connection's reader ---- */

/* With epoll, libmicrohttpd 0.9.75 overlooks an end of stream that arrives together with data, and waits for the rest
 * of a body or for another request until the idle timeout. Its buffer, which may hold the last chunk or a pipelined
 * request, is not accessible. So the connection is not closed but gets one more second. */
static void look_for_end(struct request *request)
{
	if (request->ended || !srv_reader_ended(request->own->reader))
		return;
	request->ended = true;
	srv_set_patience(request->connection, 1);
}

static struct srv_fault fault_of(const struct request *request)
{
	const struct connection *own = request->own;
	struct srv_fault fault;
	fault.code = srv_reader_fault(own->reader, own->n_requests, &fault.detail);
	fault.hides_head = srv_reader_replaced(own->reader, own->n_requests);
	return fault;
}

/* ---- the end of a request ---- */

static void end_request(struct request *request, const char *aborted)
{
	request->own->request = NULL;
	request->own->quiet_ms = srv_clock_ms();
	srv_watch_relieve(&request->own->watched);
	srv_exchange_end(&request->exchange, aborted);
	free(request);
}

/* Ends a request whose end the library never reported. */
static void end_forgotten(struct connection *own)
{
	if (own->request)
		end_request(own->request, "connection failed");
}

/* ---- the head ---- */

static struct request *new_request(struct srv_http *http, const char *target)
{
	const size_t n = strlen(target) + 1;
	struct request *request = calloc(1, sizeof *request + n);
	if (!request)
		return NULL;
	memcpy(request->target, target, n);
	request->http = http;
	srv_exchange_open(&request->exchange, &http->server, request->target);
	request->exchange.carrier = &carrier;
	return request;
}

static void introduce(struct request *request, struct MHD_Connection *connection, struct connection *own)
{
	end_forgotten(own);
	own->request = request;
	request->connection = connection;
	request->own = own;
	request->exchange.client = &own->peer;
	srv_connection_begin_request(request->http, connection, own);
}

void *srv_on_target(void *http, const char *target, struct MHD_Connection *connection)
{
	struct connection *own = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	struct request *request = own ? new_request(http, target ? target : "") : NULL;
	if (request)
		introduce(request, connection, own);
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
	struct srv_head *head = &request->exchange.head;
	head->method = method;
	head->target = srv_origin_form(request->target);
	MHD_get_connection_values(request->connection, MHD_HEADER_KIND, collect, head);
}

static enum MHD_Result begin(struct request *request, const char *method)
{
	read_head(request, method);
	const struct srv_fault fault = fault_of(request);
	const enum srv_next next = srv_exchange_judge(&request->exchange, &fault);
	if (next == SRV_BREAK)
		return MHD_NO;
	look_for_end(request);
	if (next == SRV_READ)
		return MHD_YES;
	request->lingers = true;
	return srv_answer(request);
}

/* ---- the body ---- */

static void say(struct request *request)
{
	const gnutls_session_t session = srv_session_of(request->own, request->connection);
	request->lingers = true;
	srv_answer_past_library(&request->exchange, request->own->watched.fd, session);
}

static enum MHD_Result receive(struct request *request, const char *bytes, size_t n)
{
	look_for_end(request);
	const enum srv_next next =
		srv_exchange_receive(&request->exchange, bytes, n, srv_reader_is_late(request->own->reader));
	if (next == SRV_SAY)
		say(request);
	return next == SRV_READ ? MHD_YES : MHD_NO;
}

/* ---- the response ---- */

/* Finishes the request. Runs again after a resume. */
static enum MHD_Result finish(struct request *request)
{
	look_for_end(request);
	if (request->ended) /* allow time for the response; srv_on_completed shortens it again */
		srv_set_patience(request->connection, srv_idle_seconds(request->http));
	const struct srv_fault fault = fault_of(request);
	const enum srv_next next = srv_exchange_finish(&request->exchange, &fault);
	if (next == SRV_WAIT) /* the request may have been freed */
		return MHD_YES;
	srv_reader_keep_end(request->own->reader, false);
	request->lingers |= request->exchange.closes; /* the rest of a faulty request is not parsed */
	return next == SRV_ANSWER ? srv_answer(request) : MHD_NO;
}

enum MHD_Result srv_on_request(void *http, struct MHD_Connection *connection, const char *url, const char *method,
                               const char *version, const char *bytes, size_t *n, void **context)
{
	struct request *request = *context;
	(void)http, (void)connection, (void)url, (void)version;
	if (!request)
		return MHD_NO;
	if (request->exchange.state == SRV_OPENED)
		return begin(request, method);
	if (*n == 0)
		return finish(request);
	enum MHD_Result result = receive(request, bytes, *n);
	*n = 0;
	return result;
}

/* ---- completion ---- */

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

/* The library itself responds to some HTTP faults, in HTML. The filter leaves hardly any of them. */
static void note_own_answer(struct request *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_HTTP_STATUS);
	if (info && srv_exchange_was_answered(&request->exchange, (int)info->http_status))
		request->lingers = true;
}

/* Signals to the client that nothing more follows, and reads the rest of its input. */
static void let_linger(const struct request *request)
{
	const gnutls_session_t session = srv_session_of(request->own, request->connection);
	if (session)
		gnutls_bye(session, GNUTLS_SHUT_WR);
	srv_linger(dup(request->own->watched.fd));
}

/* @return the reason for an early end, or NULL */
static const char *note_end(struct request *request, enum MHD_RequestTerminationCode code)
{
	if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK || !srv_watch_was_cut(&request->own->watched))
		return reason(code);
	request->exchange.rejection = SRV_REJECTED_NOT_TAKEN;
	return "response not received in time";
}

void srv_on_completed(void *http, struct MHD_Connection *connection, void **context,
                      enum MHD_RequestTerminationCode code)
{
	struct request *request = *context;
	(void)http;
	if (!request)
		return;
	note_own_answer(request);
	if (code == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED && srv_exchange_time_out(&request->exchange) == SRV_SAY)
		say(request); /* the library would close without a response */
	else if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK && request->ended)
		srv_set_patience(connection, 1);
	if (request->lingers)
		let_linger(request);
	end_request(request, note_end(request, code));
	*context = NULL;
}

/* ---- connections ---- */

void srv_on_connection(void *http, struct MHD_Connection *connection, void **context,
                       enum MHD_ConnectionNotificationCode code)
{
	struct connection *own = *context;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = srv_connection_open(http, connection);
		return;
	}
	if (own) {
		end_forgotten(own);
		srv_connection_close(http, own);
	}
	*context = NULL;
}
