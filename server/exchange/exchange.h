/**
 * A request and its response, independent of the library that carries them, with their progress (state.h). Gate, queue,
 * evaluation, log and metrics use it.
 *
 * A carrier (http/, or a test) reports events through the functions of steps.h, on the connection's thread, and takes
 * the action that they return. Between SRV_WAIT and the carrier's resume() the exchange belongs to the queue.
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

/* Operations that an exchange requires of its connection. */
struct srv_carrier {
	/* Stops all events on the connection until resume. */
	void (*suspend)(struct srv_exchange *exchange);
	/* Makes the carrier call srv_exchange_finish again on the connection's thread. Called on a thread of the queue;
	 * exchange may have been freed when it returns. */
	void (*resume)(struct srv_exchange *exchange);
	/* Whether the client can no longer receive a response. Called on a thread of the queue, between suspend and
	 * resume. */
	bool (*is_gone)(const struct srv_exchange *exchange);
};

/* Embedded in the carrier's own struct; all zero before srv_exchange_open. */
struct srv_exchange {
	struct srv_job job; /* must be the first member: converted to and from srv_job */
	struct srv_server *server;
	const struct srv_carrier *carrier; /* NULL: this exchange computes nothing */
	enum srv_state state;
	bool under_way; /* counted in server->n_under_way */
	/* The request. */
	const struct srv_peer *client; /* borrowed; NULL: unknown */
	const char *target;            /* as received; borrowed */
	struct api_match match;        /* route of the target */
	struct srv_head head;
	char id[SRV_MAX_ID + 1];
	struct srv_trace trace;
	struct srv_entry entry; /* the gate's decision, and the caller's name */
	long long announced;    /* bytes of the body; -1: unknown */
	struct api_admission admitted;
	struct srv_body body;
	bool was_deferred;        /* was computed in place and turned out to be large */
	size_t received, dropped; /* bytes of the body; dropped: received after the response was decided */
	/* The response. */
	struct api_response *response; /* in DECIDED, COMPUTING and READY */
	bool closes;                   /* the connection closes after the response */
	int status;                    /* 0: no response was sent */
	size_t bytes_out;
	enum srv_rejection rejection;
	struct api_measure measure;
	/* Times, in microseconds of srv_clock_us. */
	long long began_us;
	long long queued_us; /* 0: never queued */
	long long waited_us; /* time in the queue, until computation began or was given up */
};

/**
 * Begins an exchange.
 * @param target  as received; borrowed
 */
void srv_exchange_open(struct srv_exchange *exchange, struct srv_server *server, const char *target);

/* Changes the state, which nothing else may do. The step must be in the table of state.h. */
void srv_exchange_move(struct srv_exchange *exchange, enum srv_state state);
/* Whether a response is being sent, or none can be sent. */
bool srv_exchange_is_answered(const struct srv_exchange *exchange);

#endif
