/**
 * What the files behind http.h share; nobody else includes it, and no other file knows libmicrohttpd.
 *
 * http.c start and stop. connection.c from accept to close: what arrives passes through the filter of the connection's
 * reader (reader.h) before the library sees it. request.c the story of a request: srv_on_target -> begin (srv_judge,
 * judge.c) -> receive ... -> finish (srv_compute, compute.c: in place, or suspended while the worker computes, and then
 * finish again) -> srv_answer (answer.c) -> srv_on_completed (srv_record, record.c), all on the connection's thread.
 */
#ifndef SERVER_HTTP_INTERNAL_H
#define SERVER_HTTP_INTERNAL_H

#include "server/http/acceptor.h"
#include "server/http/addresses.h"
#include "server/work/admission.h"
#include "api/api.h"
#include "api/base/budget.h"
#include "api/base/pool.h"
#include "server/exchange/body.h"
#include "server/access/gate.h"
#include "server/base/head.h"
#include "server/base/id.h"
#include "server/http/http.h"
#include "server/observe/metrics.h"
#include "server/http/reader.h"
#include "server/observe/trace.h"
#include "server/work/trimmer.h"
#include "server/work/watch.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>

struct srv_http {
	struct MHD_Daemon *daemon;
	struct srv_acceptor *acceptor;
	struct srv_admission *admission;
	struct srv_addresses *addresses;
	struct srv_watch *watch;         /* of TLS handshakes, and of answers until they are taken */
	struct api_budget budget;        /* of all requests together */
	struct api_pool *pool;
	struct api_pool *body_pool;      /* apart: bodies count by themselves (body.h) */
	struct srv_trimmer *trimmer;     /* of both */
	struct api_service small, large; /* the same promises; small requests are computed by one thread */
	char *description;               /* of both */
	const struct srv_gate *gate;
	void (*on_idle)(void);
	enum srv_http_mode mode;
	int listen_fd;                   /* -1: none */
	bool is_tls;
	size_t most_connections;
	atomic_size_t n_connections;
	_Atomic(struct connection *) *slots; /* [n_slots] by the number of the file; entered by the acceptor's thread alone */
	size_t n_slots;
	long long receive_seconds, deadline_seconds, send_seconds;
	atomic_bool draining;
	atomic_size_t n_under_way;
};

/* From accept to close, whatever the library makes of it. */
struct connection {
	struct srv_reader *reader;
	struct srv_watched watched;
	struct sockaddr_storage address;
	struct request *request; /* under way, or NULL; freed with the connection at the latest */
	size_t n_requests;
};

struct request {
	struct srv_job job; /* first */
	struct srv_http *http;
	struct MHD_Connection *connection; /* NULL: the library knows of no request */
	struct connection *own;            /* likewise */
	const struct sockaddr *client;
	struct srv_reader *reader;
	size_t ordinal;  /* on its connection, from 1 */
	struct srv_head head;
	struct srv_entry entry;
	char *target;
	struct api_match match; /* of the target */
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

/* ---- answer.c ---- */

/* Room for the answer; what was to be said until now is dropped. @return false without memory: nothing can be said */
bool srv_make_answer(struct request *request);
/* Frees what was to be said, if anything. */
void srv_drop_answer(struct request *request);
/* The answer is a problem of the server's own. detail is copied. */
void srv_refuse(struct request *request, int status, const char *detail);
/* The same for a reason that is not in what the request asks for. */
void srv_reject(struct request *request, enum srv_rejection why, int status, const char *detail);
void srv_reject_late(struct request *request);

/* Hands request->response over to the library, body and all; without one (out of memory) the connection breaks. */
enum MHD_Result srv_answer(struct request *request);
/**
 * The library takes no answer in the middle of a body, and has none for a head or a chunk that it cannot read or for a
 * client that went silent: it closes. So such an answer, short enough for any socket buffer, goes out past it. Earlier
 * answers on this connection are complete by then.
 * @param fd  the connection's
 */
void srv_answer_past_library(struct request *request, int fd);
/* Before the library closes: the client learns that nothing more comes, and what it is still sending is read. */
void srv_let_linger(const struct request *request);

/* ---- request.c ---- */

/* Ends and frees a request that the library never says is over. */
void srv_abandon(struct request *request);

/* ---- judge.c, compute.c ---- */

/* What the api has to know of a request; borrows from it. */
struct api_request srv_api_view(const struct request *request);
/* Makes the answer if the request is refused, or needs no more, by its head alone. */
void srv_judge(struct request *request);
/* The queue has no place for a body that need not come. */
void srv_refuse_if_full(struct request *request);
/**
 * Computes the answer to a whole request; its body is freed.
 * @return true if the answer is there, or memory ran out; false: the connection is suspended until then, and by now the
 *         request may be gone
 */
bool srv_compute(struct request *request);

/* ---- record.c ---- */

/* On the monotonic clock. */
long long srv_microseconds_since(const struct timespec *began);
/* In the log and in the metrics. @param aborted  why the exchange ended early, or NULL */
void srv_record(const struct request *request, const char *aborted);

/* ---- connection.c ---- */

int srv_socket_of(struct MHD_Connection *connection);
/* How long a connection may be silent before the library closes it; 0: for ever. */
void srv_set_patience(struct MHD_Connection *connection, unsigned seconds);
unsigned srv_idle_seconds(const struct srv_http *http);
/* Gives a new request to its connection. @return false if that is none of ours, and is closed */
bool srv_introduce(struct request *request);

bool srv_connections_start(struct srv_http *http);
/* After the library has stopped. */
void srv_connections_stop(struct srv_http *http);

/* ---- the library's callbacks; those of a connection, then of a request ---- */

void srv_on_connection(void *http, struct MHD_Connection *connection, void **context,
                       enum MHD_ConnectionNotificationCode code);
void *srv_on_target(void *http, const char *target, struct MHD_Connection *connection);
enum MHD_Result srv_on_request(void *http, struct MHD_Connection *connection, const char *url, const char *method,
                               const char *version, const char *bytes, size_t *n, void **context);
void srv_on_completed(void *http, struct MHD_Connection *connection, void **context,
                      enum MHD_RequestTerminationCode code);

#endif
