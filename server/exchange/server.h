/**
 * What all exchanges share, without the library that carries them: memory and its limit, what is promised, the queue of
 * large requests, and whether the server is about to stop.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "api/api.h"
#include "api/base/budget.h"
#include "server/access/gate.h"
#include "server/observe/metrics.h"
#include "server/settings/options.h"
#include "server/work/admission.h"
#include "server/work/trimmer.h"

struct srv_server {
	const struct srv_gate *gate; /* borrowed */
	struct srv_admission *admission;
	struct api_budget budget; /* of all requests together */
	struct api_pool *pool;
	struct api_pool *body_pool; /* apart: bodies count by themselves (body.h) */
	struct api_sets *sets;
	struct srv_trimmer *trimmer;     /* of both pools, and the sets */
	struct api_service small, large; /* the same promises; small requests are computed by one thread */
	char *description;               /* of both */
	long long deadline_seconds;
	void (*on_idle)(void); /* see srv_server_drain */
	atomic_bool draining;
	atomic_size_t n_under_way;   /* exchanges whose head has been judged, and that are not over */
	atomic_size_t n_connections; /* kept by the carrier */
};

/**
 * Promises and memory. Failures are logged.
 * @param server  all zero; to be closed also after a failure
 * @param gate    judges heads; borrowed
 */
bool srv_server_open(struct srv_server *server, const struct srv_options *options, const struct srv_gate *gate);
/* The queue's threads and the trimmer's. @return false when memory or threads do not suffice */
bool srv_server_start(struct srv_server *server, const struct srv_options *options);
/**
 * Starts the threads of large evaluations: as many as are wanted or, where a limit forbids that, as can be started,
 * which is logged.
 * @param spare  how many more must be left to be started
 * @return false if there are none
 */
bool srv_server_start_team(struct srv_server *server, int spare);

/* From now on the answer to POST, PUT, PATCH and /readyz is 503. server->on_idle is called, on any thread, when the last exchange
 * under way is over. */
void srv_server_drain(struct srv_server *server);
bool srv_server_is_idle(const struct srv_server *server);
/* Gives up large requests under way or waiting: 503. When it returns, no exchange is suspended any more. */
void srv_server_stop(struct srv_server *server);
/* After srv_server_stop, if it was started. */
void srv_server_close(struct srv_server *server);

struct srv_gauges srv_server_gauges(const struct srv_server *server);

#endif
