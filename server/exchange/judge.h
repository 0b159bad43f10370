/** What the head alone decides: by which name the service is called, who asks, what for. */
#ifndef SERVER_JUDGE_H
#define SERVER_JUDGE_H

#include "server/exchange/exchange.h"

/* The exchange is decided if the request is refused, or needs no more; else it stays as it is. */
void srv_judge(struct srv_exchange *exchange);

#endif
