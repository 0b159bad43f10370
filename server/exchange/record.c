#include "server/http/http_internal.h"

#include "server/observe/log.h"
#include "server/exchange/peer.h"

long long srv_microseconds_since(const struct timespec *began)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1000000LL * (now.tv_sec - began->tv_sec) + (now.tv_nsec - began->tv_nsec) / 1000;
}

static void log_request(const struct request *request, const struct srv_exchange *exchange, const char *aborted)
{
	char client[SRV_PEER];
	srv_log_access(&(struct srv_access){
		.request_id = request->id,
		.method = request->head.method,
		.target = request->target,
		.route = srv_route_name(exchange->match),
		.client = srv_peer_print(request->client, client),
		.status = request->status,
		.bytes_in = request->received,
		.bytes_out = request->bytes_out,
		.microseconds = exchange->nanoseconds / 1000,
		.waited_microseconds = request->queued.tv_sec ? request->waited_microseconds : -1,
		.measure = &request->measure,
		.trace = *request->trace.span_id ? &request->trace : NULL,
		.rejected = srv_rejection_name(request->rejection),
		.token = *request->entry.token ? request->entry.token : NULL,
		.aborted = request->past_library ? NULL : aborted,
	});
}

void srv_record(const struct request *request, const char *aborted)
{
	const struct srv_exchange exchange = {
		.match = &request->match,
		.rejection = request->rejection,
		.status = request->status,
		.nanoseconds = 1000 * srv_microseconds_since(&request->began),
		.waited_nanoseconds = request->queued.tv_sec ? 1000 * request->waited_microseconds : -1,
		.bytes_in = request->received,
		.bytes_out = request->bytes_out,
		.measure = &request->measure,
	};
	srv_metrics_add(&exchange);
	log_request(request, &exchange, aborted);
}
