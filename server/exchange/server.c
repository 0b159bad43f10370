#include "server/exchange/server.h"

#include "core/fric.h"
#include "server/base/clock.h"
#include "server/observe/log.h"
#include "server/work/team.h"

#include <stdlib.h>

/* Sets the limits that clients can read, and the settings of computations. */
static bool set_services(struct srv_server *server, const struct srv_options *options)
{
	server->large = srv_service(options);
	if (!api_choose_kernels(&server->large, srv_kernels_name(options))) {
		srv_log(SRV_ERROR, "--kernels: this processor has no %s", srv_kernels_name(options));
		return false;
	}
	server->large.description = &server->description;
	server->small = server->large;
	server->small.n_threads = 1;
	server->small.defers = true;
	return true;
}

static bool make_pools(struct srv_server *server, const struct srv_options *options)
{
	const size_t warm_bytes = (size_t)options->pool_bytes;
	server->budget.most_bytes = (size_t)options->memory_bytes;
	server->body_pool = api_pool_create(warm_bytes / 4, NULL);
	server->pool = api_pool_create(warm_bytes - warm_bytes / 4, &server->budget);
	server->large.pool = server->small.pool = server->pool;
	if (!server->body_pool || !server->pool)
		srv_log(SRV_ERROR, "there is not enough memory to start");
	return server->body_pool && server->pool;
}

static int64_t now_ms(void)
{
	return srv_clock_ms();
}

static bool make_sets(struct srv_server *server, const struct srv_options *options)
{
	const struct api_sets_limits limits = {
		.bytes = (size_t)options->set_bytes,
		.bytes_per_caller = (size_t)options->set_bytes_per_caller,
		.n = (size_t)options->sets,
		.n_per_caller = (size_t)options->sets_per_caller,
		.idle_seconds = options->set_idle_seconds,
		.pool = server->pool,
	};
	server->sets = api_sets_create(&limits, now_ms);
	server->large.sets = server->small.sets = server->sets;
	if (!server->sets)
		srv_log(SRV_ERROR, "there is not enough memory to start");
	return server->sets;
}

bool srv_server_open(struct srv_server *server, const struct srv_options *options, const struct srv_gate *gate)
{
	server->gate = gate;
	server->deadline_seconds = options->deadline_seconds;
	return set_services(server, options) && make_pools(server, options) && make_sets(server, options);
}

bool srv_server_start(struct srv_server *server, const struct srv_options *options)
{
	struct api_pool *const pools[SRV_TRIMMED_POOLS] = {server->pool, server->body_pool};
	server->trimmer = srv_trimmer_start(pools, server->sets, options->idle_seconds);
	server->admission =
		srv_admission_start((size_t)options->queue_requests, (size_t)options->queue_bytes, &server->budget);
	return server->trimmer && server->admission;
}

bool srv_server_start_team(struct srv_server *server, int spare)
{
	const int wanted = server->large.n_threads, size = srv_team_start_for(server->admission, wanted, spare);
	if (size < wanted && size > 0)
		srv_log(SRV_WARNING,
		        "%d of %d threads for large evaluations: no more can be started (ulimit -u, pids.max, "
		        "OMP_THREAD_LIMIT)",
		        size, wanted);
	server->large.n_threads = size;
	return size > 0;
}

void srv_server_drain(struct srv_server *server)
{
	atomic_store(&server->draining, true);
}

bool srv_server_is_idle(const struct srv_server *server)
{
	return atomic_load(&server->n_under_way) == 0;
}

void srv_server_stop(struct srv_server *server)
{
	if (server->admission)
		srv_admission_stop(server->admission);
}

void srv_server_close(struct srv_server *server)
{
	if (server->admission)
		srv_admission_free(server->admission);
	srv_trimmer_stop(server->trimmer);
	api_sets_free(server->sets);
	api_pool_free(server->pool);
	api_pool_free(server->body_pool);
	free(server->description);
}

struct srv_gauges srv_server_gauges(const struct srv_server *server)
{
	const struct srv_admission_counts queue = srv_admission_counts(server->admission);
	const struct api_pool_counts pool = api_pool_counts(server->pool), bodies = api_pool_counts(server->body_pool);
	const struct api_sets_limits *limits = api_sets_limits(server->sets);
	return (struct srv_gauges){
		.queue_requests = queue.n_waiting,
		.queue_bytes = queue.held_bytes,
		.connections = atomic_load(&server->n_connections),
		.threads = (uint64_t)server->large.n_threads,
		.memory_requests_bytes = atomic_load(&server->budget.used_bytes),
		.memory_pool_bytes = pool.idle_bytes + bodies.idle_bytes,
		.memory_limit_bytes = server->budget.most_bytes,
		.draining = atomic_load(&server->draining),
		.instruction_set = fric_kernels_name(server->large.kernels),
		.sets = api_sets_counts(server->sets),
		.sets_limit = limits->n,
		.sets_limit_bytes = limits->bytes,
	};
}
