/** Computing the answer: in place, or on the worker's thread when its turn comes. */
#ifndef SERVER_COMPUTE_H
#define SERVER_COMPUTE_H

#include "server/exchange/exchange.h"

/* What the api has to know of a request; borrows from it. */
struct api_request srv_api_view(const struct srv_exchange *exchange);
/* Refuses a body that has not been sent yet if the queue has no place for it. */
void srv_refuse_if_full(struct srv_exchange *exchange);
/**
 * Computes the answer to a whole request, or decides that there is no place for it; its body is freed.
 * @return false: it is queued, and by now may be gone
 */
bool srv_compute(struct srv_exchange *exchange);

#endif
