#include "server/exchange/phases.h"

#include "server/base/clock.h"
#include "server/listen/peer.h"
#include "server/observe/log.h"

void srv_record(const struct srv_exchange *exchange, const char *aborted)
{
	char client[SRV_PEER];
	const struct srv_access access = {
		.request_id = exchange->id,
		.method = exchange->head.method,
		.target = exchange->target,
		.route = srv_route_name(&exchange->match),
		.client = srv_peer_print(exchange->client, client),
		.outcome = {.match = &exchange->match,
	                .rejection = exchange->rejection,
	                .status = exchange->status,
	                .nanoseconds = 1000 * (srv_clock_us() - exchange->began_us),
	                .waited_nanoseconds = exchange->queued_us ? 1000 * exchange->waited_us : -1,
	                .bytes_in = exchange->received,
	                .bytes_out = exchange->bytes_out,
	                .measure = &exchange->measure},
		.trace = *exchange->trace.span_id ? &exchange->trace : NULL,
		.rejected = srv_rejection_name(exchange->rejection),
		.token = *exchange->entry.token ? exchange->entry.token : NULL,
		.aborted = aborted,
	};
	srv_metrics_add(&access.outcome);
	srv_log_access(&access);
}
