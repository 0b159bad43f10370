/** What steps.h calls on the way of an exchange, each in a file of its own. */
#ifndef SERVER_PHASES_H
#define SERVER_PHASES_H

#include "server/exchange/exchange.h"

/* What the head alone decides: the gate, draining, the route and its limits. The exchange is decided if the request is refused,
 * or needs nothing else; otherwise it stays as it is. */
void srv_judge(struct srv_exchange *exchange);

/* What the api has to know of a request; borrows from it. */
struct api_request srv_api_view(const struct srv_exchange *exchange);
/* Refuses a body that has not been sent yet if the queue has no place for it. */
void srv_refuse_if_full(struct srv_exchange *exchange);
/**
 * Computes the answer to a whole request, in place or on the worker's thread when its turn comes, or decides that there is no
 * place for it; its body is freed.
 * @return false: it is queued, and by now may be gone
 */
bool srv_compute(struct srv_exchange *exchange);

/* In the log and in the metrics. @param aborted  why it ended early, or NULL */
void srv_record(const struct srv_exchange *exchange, const char *aborted);

#endif
