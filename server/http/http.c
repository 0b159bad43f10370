#include "server/http/http_internal.h"

#include "api/contract/openapi.h"
#include "server/access/certificate.h"
#include "server/http/linger.h"
#include "server/observe/log.h"
#include "server/resources.h"
#include "server/http/selftest.h"
#include "server/work/team.h"

#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_LATER_THREADS = 1 };    /* the acceptor's, which is started when all others are there */
enum { SPARE_CONNECTIONS = 32 }; /* that are out of the table while the library is still closing them */
enum {
	CONNECTION_MEMORY = 40 << 10, /* of head and body in transit. No read is longer */
	RECORD = 64,                  /* what the library keeps of a header line or an argument */
	OWN_HEAD = 2 << 10,           /* more than the head of an answer takes */
};
_Static_assert((int)CONNECTION_MEMORY <= (int)SRV_READER_MOST, "no read is longer than the reader's buffer");
/* Hardly more: the library clears all of it for every request, which beyond the first-level cache shows in the rate of
 * small ones. An answer in parts needs room for their list as well, which the longest head of all does not leave. */
_Static_assert((int)CONNECTION_MEMORY >= (int)SRV_WIRE_HEAD + (int)SRV_WIRE_FIELDS * (int)RECORD + (int)OWN_HEAD,
               "the longest head fits, and the head of its answer beside it");
_Static_assert((int)CONNECTION_MEMORY + (int)SRV_WIRE_HEAD + 4096 <= (int)SRV_CONNECTION_BYTES,
               "what the library has, a head that is held back, and what is known of the connection");

/* ---- the library ---- */

static void on_message(void *http, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

static void on_message(void *http, const char *format, va_list arguments)
{
	char text[512];
	(void)http;
	vsnprintf(text, sizeof text, format, arguments);
	text[strcspn(text, "\n")] = '\0';
	srv_log(SRV_DEBUG, "microhttpd: %s", text);
}

/* Options that are not always there. */
static void choose(const struct srv_options *options, struct MHD_OptionItem items[4])
{
	int n = 0;
	if (options->io_threads > 1)
		items[n++] = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)options->io_threads, NULL};
	if (options->tls_cert) {
		items[n++] =
			(struct MHD_OptionItem){MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)(uintptr_t)srv_certificate_hand_out};
		items[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)SRV_TLS_PRIORITIES};
	}
	items[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
}

/* The library divides its limit among its threads, and one that meets its share hangs: it returns with a lock held. The
 * acceptor keeps the limit, so that no share is less than all connections. */
static unsigned beyond_reach(const struct srv_options *options)
{
	return (unsigned)((options->connections + SPARE_CONNECTIONS) * options->io_threads);
}

/* With epoll, libmicrohttpd 0.9.75 asks again and again for the rest of a TLS handshake: one silent client would keep a
 * CPU busy. TURBO: without it the library shuts the sending side down before srv_on_completed can say why. */
static unsigned flags_of(const struct srv_http *http)
{
	return MHD_USE_SUSPEND_RESUME | MHD_USE_ERROR_LOG | MHD_USE_TURBO | MHD_USE_NO_LISTEN_SOCKET |
	       (http->is_tls ? MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_TLS : MHD_USE_EPOLL_INTERNAL_THREAD);
}

static struct MHD_Daemon *start_daemon(struct srv_http *http, const struct srv_options *options)
{
	struct MHD_OptionItem items[4];
	choose(options, items);
	return MHD_start_daemon(flags_of(http), 0, NULL, NULL, srv_on_request, http,
	                        MHD_OPTION_EXTERNAL_LOGGER, on_message, http,
	                        MHD_OPTION_URI_LOG_CALLBACK, srv_on_target, http,
	                        MHD_OPTION_NOTIFY_COMPLETED, srv_on_completed, http,
	                        MHD_OPTION_NOTIFY_CONNECTION, srv_on_connection, http,
	                        MHD_OPTION_CONNECTION_LIMIT, beyond_reach(options),
	                        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
	                        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)srv_idle_seconds(http),
	                        MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

/* ---- start and stop ---- */

static struct srv_acceptor *start_acceptor(struct srv_http *http)
{
	const struct srv_acceptor_target target = {srv_add_connection, http};
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
	http->description = api_openapi_print(&http->large, &http->large.description_bytes);
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
	http->daemon = start_daemon(http, options);
	if (http->daemon && have_team(http))
		http->acceptor = start_acceptor(http);
	return http->acceptor;
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

struct srv_http *srv_http_start(const struct srv_options *options, const struct srv_gate *gate, int listen_fd,
                                void (*on_idle)(void))
{
	struct srv_http *http = calloc(1, sizeof *http);
	if (!http)
		return NULL;
	http->gate = gate;
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
	close(http->listen_fd);
	srv_admission_stop(http->admission);
}

/* No connection is suspended any more: srv_http_close waited for the last to be resumed. */
void srv_http_stop(struct srv_http *http)
{
	MHD_stop_daemon(http->daemon);
	destroy(http);
}
