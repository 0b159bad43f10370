/**
 * A request and its answer, free of the library that carries them: what is known of them, how far they have come (state.h),
 * and what is to be done next. Gate, queue, evaluation, log and metrics work on this.
 *
 * A carrier (http/, or a test) tells the exchange what happens, by the functions below, and does what they return. They are
 * called on one thread, the connection's. Between SRV_WAIT and the carrier's resume() the exchange is the queue's.
 */
#ifndef SERVER_EXCHANGE_H
#define SERVER_EXCHANGE_H

#include "api/api.h"
#include "server/access/gate.h"
#include "server/base/head.h"
#include "server/base/id.h"
#include "server/exchange/body.h"
#include "server/exchange/server.h"
#include "server/exchange/state.h"
#include "server/observe/trace.h"

#include <sys/socket.h>

struct srv_exchange;

/* What an exchange wants of the connection that carries it. */
struct srv_carrier {
	/* From now on nothing happens on the connection, until resume. */
	void (*suspend)(struct srv_exchange *exchange);
	/* srv_exchange_finish is to be called again, on the connection's thread. Called on a thread of the queue; by the time it
	 * returns the exchange may be gone. */
	void (*resume)(struct srv_exchange *exchange);
	/* Whether the client can take no answer any more. On a thread of the queue, between suspend and resume. */
	bool (*is_gone)(const struct srv_exchange *exchange);
};

/* Embedded in the carrier's own struct; all zero before srv_exchange_open. */
struct srv_exchange {
	struct srv_job job; /* first */
	struct srv_server *server;
	const struct srv_carrier *carrier; /* NULL: nothing will be computed */
	enum srv_state state;
	bool under_way;                /* counted there */
	/* The request. */
	const struct sockaddr *client; /* borrowed; NULL: not known */
	const char *target;            /* as it came; borrowed */
	struct api_match match;        /* of the target */
	struct srv_head head;
	char id[SRV_MAX_ID + 1];
	struct srv_trace trace;
	struct srv_entry entry;        /* the gate's word, and the caller's name */
	long long announced;           /* bytes of the body; -1: not said */
	struct api_admission admitted;
	struct srv_body body;
	size_t received, dropped;      /* bytes of the body; dropped: those that came after the answer was decided */
	/* The answer. */
	struct api_response *response; /* in DECIDED, COMPUTING and READY */
	bool closes;                   /* the connection does not survive it */
	int status;                    /* 0: nothing has been said */
	size_t bytes_out;
	enum srv_rejection rejection;
	struct api_measure measure;
	/* Times, of srv_clock_us. */
	long long began_us;
	long long queued_us;           /* 0: never */
	long long waited_us;           /* from there until it was computed, or given up */
};

/* What the carrier does next. */
enum srv_next {
	SRV_READ,   /* goes on to read the request */
	SRV_WAIT,   /* nothing: it is suspended, and may have been resumed already */
	SRV_ANSWER, /* takes the answer by srv_exchange_take_answer and sends it */
	SRV_SAY,    /* the same in the middle of the request: sends exchange->response by itself, and closes (srv_exchange_said) */
	SRV_BREAK,  /* closes without a word */
};

/* What the carrier has found wrong with a request. */
struct srv_fault {
	int status;         /* 0: nothing */
	const char *detail; /* static */
	bool hides_head;    /* the head at hand is none of the client's */
};

/**
 * An exchange begins.
 * @param target  as it came; borrowed
 */
void srv_exchange_open(struct srv_exchange *exchange, struct srv_server *server, const char *target);

/**
 * The head has arrived: exchange->head has the header lines.
 * @return SRV_READ, SRV_ANSWER or SRV_BREAK
 */
enum srv_next srv_exchange_judge(struct srv_exchange *exchange, const struct srv_fault *fault);
/**
 * A piece of the body has arrived.
 * @param late  the request has had all its time
 * @return SRV_READ, SRV_SAY or SRV_BREAK
 */
enum srv_next srv_exchange_receive(struct srv_exchange *exchange, const char *bytes, size_t n, bool late);
/**
 * The whole request has arrived, or resume has been called.
 * @return SRV_ANSWER, SRV_WAIT or SRV_BREAK
 */
enum srv_next srv_exchange_finish(struct srv_exchange *exchange, const struct srv_fault *fault);
/* The carrier waits no longer for the client. @return SRV_SAY, or SRV_BREAK where nothing is left to be said */
enum srv_next srv_exchange_time_out(struct srv_exchange *exchange);

/* The answer, as it will be on record. The caller frees it, by api_response_free and free. After SRV_ANSWER */
struct api_response *srv_exchange_take_answer(struct srv_exchange *exchange);
/* exchange->response has been sent. After SRV_SAY. @param whole  to the last byte */
void srv_exchange_said(struct srv_exchange *exchange, bool whole);
/* The carrier has answered by itself. @return false if there is an answer already, which stays */
bool srv_exchange_was_answered(struct srv_exchange *exchange, int status);
/* Whether no answer is needed any more, or none can be given. */
bool srv_exchange_is_answered(const struct srv_exchange *exchange);
/* HEAD, 204 and 304: the answer tells the length of a body, perhaps, and has none. */
bool srv_exchange_is_bare(const struct srv_exchange *exchange, const struct api_response *response);

/* The answer is a problem that the carrier has found, not in what the request asks for. detail is copied. */
void srv_exchange_reject(struct srv_exchange *exchange, enum srv_rejection why, int status, const char *detail);
void srv_exchange_reject_late(struct srv_exchange *exchange);

/* All headers of an answer but those that frame it. Borrows from exchange and response. */
enum { SRV_ANSWER_HEADERS = API_MAX_HEADERS + SRV_GATE_HEADERS + 4 };
struct srv_answer_headers {
	struct srv_gate_header list[SRV_ANSWER_HEADERS];
	int n;
	char traceresponse[SRV_TRACEPARENT + 1];
};
void srv_exchange_headers(const struct srv_exchange *exchange, const struct api_response *response,
                          struct srv_answer_headers *headers);

/**
 * The exchange is over: it goes on record, and what it has is freed. Not between SRV_WAIT and resume.
 * @param aborted  why it ended early, or NULL
 */
void srv_exchange_end(struct srv_exchange *exchange, const char *aborted);

#endif
