/** Phases of an exchange that steps.h calls, each implemented in a file of its own. */
#ifndef SERVER_PHASES_H
#define SERVER_PHASES_H

#include "server/exchange/exchange.h"

/* Decides only from the head: the gate, draining, the route and its limits. Moves the exchange to DECIDED if the head
 * suffices for a response; otherwise leaves its state alone. */
void srv_judge(struct srv_exchange *exchange);

/* The api's view of a request; borrows from the exchange. */
struct api_request srv_api_view(const struct srv_exchange *exchange);
/* Refuses a body that has not been sent yet if the queue is full. */
void srv_refuse_if_full(struct srv_exchange *exchange);
/**
 * Computes the response to a complete request, in place or on the worker's thread when its turn comes, or rejects it
 * because the queue is full; the body is freed.
 * @return false: the request is queued, and exchange may already have been freed
 */
bool srv_compute(struct srv_exchange *exchange);

#endif
