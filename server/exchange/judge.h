/** What the head alone decides: the gate, draining, the route and its limits. */
#ifndef SERVER_JUDGE_H
#define SERVER_JUDGE_H

#include "server/exchange/exchange.h"

/* The exchange is decided if the request is refused, or needs nothing else; otherwise it stays as it is. */
void srv_judge(struct srv_exchange *exchange);

#endif
