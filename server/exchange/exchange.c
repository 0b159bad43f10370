#include "server/exchange/exchange.h"

#include "server/base/clock.h"

#include <assert.h>

void srv_exchange_move(struct srv_exchange *exchange, enum srv_state state)
{
	assert(srv_state_may(exchange->state, state));
	exchange->state = state;
}

void srv_exchange_open(struct srv_exchange *exchange, struct srv_server *server, const char *target)
{
	exchange->server = server;
	exchange->target = target;
	api_match(srv_origin_form(target), &exchange->match);
	exchange->head.method = exchange->head.target = "-";
	exchange->announced = -1;
	exchange->body.pool = server->body_pool;
	atomic_init(&exchange->job.stop, false);
	exchange->began_us = srv_clock_us();
	srv_new_id(exchange->id);
}

bool srv_exchange_is_answered(const struct srv_exchange *exchange)
{
	return exchange->state >= SRV_ANSWERING;
}
