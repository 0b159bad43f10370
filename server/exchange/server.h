/**
 * State shared by all exchanges, independent of the library that carries them: memory and its limit, the settings
 * promised to clients, the queue of large requests, and whether the server is draining.
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
	struct api_budget budget; /* memory of all requests together */
	struct api_pool *pool;
	struct api_pool *body_pool; /* not in the budget: bodies are counted separately (body.h) */
	struct api_sets *sets;
	struct srv_trimmer *trimmer;     /* for both pools and the sets */
	struct api_service small, large; /* the same settings, but small requests are computed by one thread */
	_Atomic(char *) description;     /* what both services keep */
	long long deadline_seconds;
	void (*on_idle)(void); /* see srv_server_drain */
	atomic_bool draining;
	atomic_size_t n_under_way;   /* exchanges that are not over and whose head has been judged */
	atomic_size_t n_connections; /* maintained by the carrier */
};

/**
 * Sets up settings and memory. Failures are logged.
 * @param server  all zero; must be closed even after a failure
 * @param gate    judges heads; borrowed
 */
bool srv_server_open(struct srv_server *server, const struct srv_options *options, const struct srv_gate *gate);
/* Starts the queue's threads and the trimmer's. @return false if memory or threads run out */
bool srv_server_start(struct srv_server *server, const struct srv_options *options);
/**
 * Starts the threads of large evaluations: as many as configured, or as many as a limit permits, which is logged.
 * @param spare  number of further threads that must still be possible
 * @return false if none can be started
 */
bool srv_server_start_team(struct srv_server *server, int spare);

/* From now on POST, PUT, PATCH and /readyz return 503. server->on_idle is called, on any thread, when the last exchange
 * under way is over. */
void srv_server_drain(struct srv_server *server);
bool srv_server_is_idle(const struct srv_server *server);
/* Gives up large requests that are queued or being computed, with a 503. No exchange is suspended any more when this
 * returns. */
void srv_server_stop(struct srv_server *server);
/* Frees everything. Call it after srv_server_stop if the server was started. */
void srv_server_close(struct srv_server *server);

struct srv_gauges srv_server_gauges(const struct srv_server *server);

#endif
