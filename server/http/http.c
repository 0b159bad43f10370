#include "server/http/http_internal.h"

#include "api/api.h"
#include "server/http/daemon.h"
#include "server/http/linger.h"
#include "server/observe/log.h"
#include "server/http/selftest.h"
#include "server/work/team.h"

#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_LATER_THREADS = 1 };    /* the acceptor's, which is started when all others are there */
/* ---- start and stop ---- */

static struct srv_acceptor *start_acceptor(struct srv_http *http)
{
	const struct srv_acceptor_target target = {srv_http_add, http};
	return srv_acceptor_start(http->listen_fd, &target);
}

static void destroy(struct srv_http *http)
{
	if (http->admission)
		srv_admission_free(http->admission);
	srv_trimmer_stop(http->trimmer);
	srv_linger_stop();
	srv_connections_stop(http);
	api_pool_free(http->pool);
	api_pool_free(http->body_pool);
	srv_addresses_free(http->addresses);
	srv_watch_stop(http->watch);
	free(http->description);
	free(http);
}

/* What is promised, and how it is computed. */
static bool set_services(struct srv_http *http, const struct srv_options *options)
{
	http->large = srv_service(options);
	if (!api_choose_kernels(&http->large, srv_kernels_name(options))) {
		srv_log(SRV_ERROR, "--kernels: this processor has no %s", srv_kernels_name(options));
		return false;
	}
	http->description = api_describe(&http->large, &http->large.description_bytes);
	http->large.description = http->description; /* out of memory: each request will try */
	http->small = http->large;
	http->small.n_threads = 1;
	return true;
}

/* The first job of the admission's worker, for the team belongs to the thread that opens regions. */
struct team_start {
	struct srv_job job; /* first */
	int wanted, spare, size;
	sem_t done;
};

static void start_team_there(struct srv_job *job)
{
	struct team_start *start = (struct team_start *)(void *)job;
	start->size = srv_team_start(start->wanted, start->spare);
}

static void tell_team(struct srv_job *job, bool computed)
{
	struct team_start *start = (struct team_start *)(void *)job;
	(void)computed;
	sem_post(&start->done);
}

/* As many threads as can be had besides those to spare; 0: none of those. */
static int start_team(struct srv_admission *admission, int wanted, int spare)
{
	struct team_start start = {.job = {.compute = start_team_there, .finish = tell_team}, .wanted = wanted, .spare = spare};
	sem_init(&start.done, 0, 0);
	if (srv_admission_reserve(admission)) {
		srv_admission_submit(admission, &start.job);
		while (sem_wait(&start.done) != 0)
			;
	}
	sem_destroy(&start.done);
	return start.size;
}

static bool have_team(struct srv_http *http)
{
	const int wanted = http->large.n_threads, size = start_team(http->admission, wanted, N_LATER_THREADS);
	if (size < wanted && size > 0)
		srv_log(SRV_WARNING, "%d of %d threads for large evaluations: no more can be started (ulimit -u, pids.max, "
		        "OMP_THREAD_LIMIT)", size, wanted);
	http->large.n_threads = size;
	return size > 0;
}

/* Pools and tables. */
static bool take_memory(struct srv_http *http, const struct srv_options *options)
{
	const size_t warm_bytes = (size_t)options->pool_bytes;
	http->body_pool = api_pool_create(warm_bytes / 4, NULL);
	http->pool = api_pool_create(warm_bytes - warm_bytes / 4, &http->budget);
	http->large.pool = http->small.pool = http->pool;
	http->addresses = srv_addresses_create((size_t)options->connections_per_address);
	return http->addresses && http->body_pool && http->pool && srv_readers_start() && srv_connections_start(http);
}

/* Every thread that there will ever be; none is started for what a client sends. The team comes last, for it goes on with
 * what a limit leaves, and only then connections. */
static bool start_threads(struct srv_http *http, const struct srv_options *options)
{
	struct api_pool *const pools[SRV_TRIMMED_POOLS] = {http->pool, http->body_pool};
	http->watch = srv_watch_start();
	http->trimmer = srv_trimmer_start(pools, options->idle_seconds);
	http->admission = srv_admission_start((size_t)options->queue_requests, (size_t)options->queue_bytes, &http->budget);
	if (!http->watch || !http->trimmer || !http->admission || !srv_linger_start())
		return false;
	http->daemon = srv_daemon_start(http, options, http->mode);
	if (!http->daemon || !have_team(http))
		return false;
	if (http->mode == SRV_HTTP_THREADS)
		http->acceptor = start_acceptor(http);
	return http->acceptor || http->mode == SRV_HTTP_ROUNDS;
}

static bool start(struct srv_http *http, const struct srv_options *options)
{
	if (!take_memory(http, options)) {
		srv_log(SRV_ERROR, "there is not enough memory to start");
		return false;
	}
	if (start_threads(http, options))
		return true;
	srv_log(SRV_ERROR, "the server's threads cannot be started: a limit on threads (ulimit -u, pids.max), on files or on "
	        "memory; with fewer --io-threads it needs fewer");
	return false;
}

struct srv_http *srv_http_start(const struct srv_options *options, const struct srv_gate *gate, enum srv_http_mode mode,
                                int listen_fd, void (*on_idle)(void))
{
	struct srv_http *http = calloc(1, sizeof *http);
	if (!http)
		return NULL;
	http->gate = gate;
	http->mode = mode;
	http->is_tls = options->tls_cert;
	http->on_idle = on_idle;
	http->listen_fd = listen_fd;
	http->most_connections = (size_t)options->connections;
	http->deadline_seconds = options->deadline_seconds;
	http->budget.most_bytes = (size_t)options->memory_bytes;
	http->receive_seconds = options->receive_seconds;
	http->send_seconds = options->send_seconds;
	if (set_services(http, options) && srv_selftest(http->is_tls) && start(http, options))
		return http;
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	if (http->admission)
		srv_admission_stop(http->admission);
	destroy(http);
	return NULL;
}

int srv_http_threads(const struct srv_http *http)
{
	return http->large.n_threads;
}

bool srv_http_round(struct srv_http *http)
{
	return srv_daemon_round(http->daemon);
}

void srv_http_drain(struct srv_http *http)
{
	atomic_store(&http->draining, true);
}

bool srv_http_is_idle(const struct srv_http *http)
{
	return atomic_load(&http->n_under_way) == 0;
}

void srv_http_close(struct srv_http *http)
{
	srv_acceptor_stop(http->acceptor);
	if (http->listen_fd >= 0)
		close(http->listen_fd);
	srv_admission_stop(http->admission);
}

/* No connection is suspended any more: srv_http_close waited for the last to be resumed. */
void srv_http_stop(struct srv_http *http)
{
	MHD_stop_daemon(http->daemon);
	destroy(http);
}
