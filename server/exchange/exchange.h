/**
 * A request and its answer, without the library that carries them: what is known of them, and how far they have come
 * (state.h). Gate, queue, evaluation, log and metrics work on this.
 *
 * A carrier (http/, or a test) reports what happens through the functions of steps.h, on the connection's thread, and
 * does what they return. Between SRV_WAIT and the carrier's resume() the exchange belongs to the queue.
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
#include "server/listen/peer.h"
#include "server/observe/trace.h"

struct srv_exchange;

/* What an exchange needs of the connection that carries it. */
struct srv_carrier {
	/* From now on nothing happens on the connection, until resume. */
	void (*suspend)(struct srv_exchange *exchange);
	/* Has srv_exchange_finish called again, on the connection's thread. Called on a thread of the queue; by the time it
	 * returns the exchange may be gone. */
	void (*resume)(struct srv_exchange *exchange);
	/* Whether the client can no longer take an answer. Called on a thread of the queue, between suspend and resume. */
	bool (*is_gone)(const struct srv_exchange *exchange);
};

/* Embedded in the carrier's own struct; all zero before srv_exchange_open. */
struct srv_exchange {
	struct srv_job job; /* first */
	struct srv_server *server;
	const struct srv_carrier *carrier; /* NULL: nothing will be computed */
	enum srv_state state;
	bool under_way; /* counted in server->n_under_way */
	/* The request. */
	const struct srv_peer *client; /* borrowed; NULL: not known */
	const char *target;            /* as it came; borrowed */
	struct api_match match;        /* of the target */
	struct srv_head head;
	char id[SRV_MAX_ID + 1];
	struct srv_trace trace;
	struct srv_entry entry; /* what the gate decided, and the caller's name */
	long long announced;    /* bytes of the body; -1: not said */
	struct api_admission admitted;
	struct srv_body body;
	bool was_deferred;        /* in place it turned out to be large */
	size_t received, dropped; /* bytes of the body; dropped: those that came after the answer was decided */
	/* The answer. */
	struct api_response *response; /* in DECIDED, COMPUTING and READY */
	bool closes;                   /* the connection does not survive it */
	int status;                    /* 0: nothing has been said */
	size_t bytes_out;
	enum srv_rejection rejection;
	struct api_measure measure;
	/* Times, of srv_clock_us. */
	long long began_us;
	long long queued_us; /* 0: never */
	long long waited_us; /* from there until it was computed, or given up */
};

/**
 * An exchange begins.
 * @param target  as it came; borrowed
 */
void srv_exchange_open(struct srv_exchange *exchange, struct srv_server *server, const char *target);

/* The only place where the state changes, by a step that the table of state.h has. */
void srv_exchange_move(struct srv_exchange *exchange, enum srv_state state);
/* Whether the answer is on its way, or none can be given. */
bool srv_exchange_is_answered(const struct srv_exchange *exchange);

#endif
