/**
 * How far an exchange has come: the states, and the steps that there are between them.
 *
 *      OPENED ────────────────────────────────────┐
 *         │ accepted                              │ refused, or answered, by the head alone
 *         v                                       v
 *     RECEIVING ── too long, late, no room ──> DECIDED ──┐
 *         │                                              │
 *         ├── small ─────────> COMPUTING ──> READY ──────┤
 *         │                        ^           ^         ├── through the library ──> ANSWERING ──┐
 *         └── large ──> QUEUED ────┴─ given up ┘         │                                       ├──> OVER
 *                                                        └── past the library ─────> SAID ───────┘
 *
 *     any of those before ANSWERING ── nothing can be said ──> MUTE ──> OVER
 *
 * The library may end an exchange early: OVER may follow every state except QUEUED and COMPUTING, in which it may be
 * another thread's.
 */
#ifndef SERVER_STATE_H
#define SERVER_STATE_H

#include <stdbool.h>

enum srv_state {
	SRV_OPENED,    /* the target has arrived, if anything */
	SRV_RECEIVING, /* its head was accepted; the body arrives, if there is one */
	SRV_DECIDED,   /* the answer is known and nothing is computed; what is left of the request is read and dropped */
	SRV_QUEUED,    /* whole; waits for its turn, and its connection is suspended */
	SRV_COMPUTING, /* on the thread of its connection or, still suspended, on the worker's */
	SRV_READY,     /* there is an answer to the whole request */
	SRV_ANSWERING, /* the library has the answer */
	SRV_SAID,      /* the answer has been sent past the library, to the last byte */
	SRV_MUTE,      /* nothing, or nothing more, can be said: memory is missing, or the connection takes no more */
	SRV_OVER,      /* on record; what it had is freed */
	SRV_N_STATES
};

/* Whether there is a step from one to the other. */
bool srv_state_may(enum srv_state from, enum srv_state to);
/* For the messages of tests. */
const char *srv_state_name(enum srv_state state);

#endif
