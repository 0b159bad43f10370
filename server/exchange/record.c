#include "server/exchange/phases.h"

#include "server/base/clock.h"
#include "server/listen/peer.h"
#include "server/observe/log.h"

static void log_exchange(const struct srv_exchange *exchange, const struct srv_outcome *outcome, const char *aborted)
{
	char client[SRV_PEER];
	srv_log_access(&(struct srv_access){
		.request_id = exchange->id,
		.method = exchange->head.method,
		.target = exchange->target,
		.route = srv_route_name(outcome->match),
		.client = srv_peer_print(exchange->client, client),
		.status = exchange->status,
		.bytes_in = exchange->received,
		.bytes_out = exchange->bytes_out,
		.microseconds = outcome->nanoseconds / 1000,
		.waited_microseconds = exchange->queued_us ? exchange->waited_us : -1,
		.measure = &exchange->measure,
		.trace = *exchange->trace.span_id ? &exchange->trace : NULL,
		.rejected = srv_rejection_name(exchange->rejection),
		.token = *exchange->entry.token ? exchange->entry.token : NULL,
		.aborted = aborted,
	});
}

void srv_record(const struct srv_exchange *exchange, const char *aborted)
{
	const struct srv_outcome outcome = {
		.match = &exchange->match,
		.rejection = exchange->rejection,
		.status = exchange->status,
		.nanoseconds = 1000 * (srv_clock_us() - exchange->began_us),
		.waited_nanoseconds = exchange->queued_us ? 1000 * exchange->waited_us : -1,
		.bytes_in = exchange->received,
		.bytes_out = exchange->bytes_out,
		.measure = &exchange->measure,
	};
	srv_metrics_add(&outcome);
	log_exchange(exchange, &outcome, aborted);
}
