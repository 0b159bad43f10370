/**
 * The states of an exchange, and the steps between them.
 *
 *      OPENED ────────────────────────────────────┐
 *         │ accepted                              │ refused, or complete, by the head alone
 *         v                                       v
 *     RECEIVING ── too long, late, no room ──> DECIDED ──┐
 *         │                                              │
 *         ├── small ─────────> COMPUTING ──> READY ──────┤
 *         │                        ^           ^         ├── through the library ──> ANSWERING ──┐
 *         └── large ──> QUEUED ────┴─ given up ┘         │                                       ├──> OVER
 *                                                        └── past the library ─────> SENT ───────┘
 *
 *     any state before ANSWERING ── no response possible ──> ABORTED ──> OVER
 *
 * The library may end an exchange early: OVER may follow every state except QUEUED and COMPUTING, in which the exchange
 * may belong to another thread.
 */
#ifndef SERVER_STATE_H
#define SERVER_STATE_H

#include <stdbool.h>

enum srv_state {
	SRV_OPENED,    /* nothing but the target has arrived */
	SRV_RECEIVING, /* the head was accepted; the body, if any, is arriving */
	SRV_DECIDED,   /* the response is known without computation; the rest of the request is read and dropped */
	SRV_QUEUED,    /* complete and waiting for its turn; the connection is suspended */
	SRV_COMPUTING, /* on the connection's thread, or on the worker's with the connection suspended */
	SRV_READY,     /* the response to the complete request exists */
	SRV_ANSWERING, /* the library has the response */
	SRV_SENT,      /* every byte of the response was sent past the library */
	SRV_ABORTED,   /* nothing more can be sent: out of memory, or the connection accepts no more data */
	SRV_OVER,      /* recorded, and its memory freed */
	SRV_N_STATES
};

/* Whether the table permits this step. */
bool srv_state_may(enum srv_state from, enum srv_state to);
/* The name of a state, for messages of tests. */
const char *srv_state_name(enum srv_state state);

#endif
