#include "tests/simulator/service.h"

#include "tests/simulator/identity.h"
#include "tests/simulator/memory.h"
#include "tests/simulator/threads.h"

#include "api/contract/openapi.h"
#include "server/listen/listeners.h"
#include "server/http/http.h"
#include "server/http/linger.h"
#include "server/http/selftest.h"
#include "server/http/shared.h"
#include "server/observe/log.h"
#include "server/work/team.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <unistd.h>

static struct service_kind kind;
static struct srv_gate gate;
static struct srv_http *http;
static struct srv_acceptor *acceptor;
static struct srv_listeners listeners; /* for service_start_threads */
static size_t n_idle_calls;

/* ---- replacements of parts of the service ---- */

__typeof__(srv_selftest) __wrap_srv_selftest;
__typeof__(srv_team_start_for) __wrap_srv_team_start_for;
__typeof__(api_openapi_print) __real_api_openapi_print, __wrap_api_openapi_print;
__typeof__(api_is_large) __real_api_is_large, __wrap_api_is_large;
__typeof__(srv_log) __wrap_srv_log;
__typeof__(srv_log_access) __wrap_srv_log_access;

/* The real self-test runs threads of the library. */
bool __wrap_srv_selftest(bool tls)
{
	(void)tls;
	return srv_readers_start();
}

/* Teams have one thread. */
int __wrap_srv_team_start_for(struct srv_admission *admission, int wanted, int spare)
{
	(void)admission, (void)wanted, (void)spare;
	return 1;
}

static size_t large_one_in, n_asked_large;

/* Real large requests take long to compute; the queue works the same for small ones. */
bool __wrap_api_is_large(const struct api_service *by, const struct api_request *request)
{
	return large_one_in ? ++n_asked_large % large_one_in == 0 : __real_api_is_large(by, request);
}

void service_make_large(size_t one_in)
{
	large_one_in = one_in;
	n_asked_large = 0;
}

/* Prints the text only once, because printing takes longer than most schedules. */
char *__wrap_api_openapi_print(const struct api_service *service, const struct api_table *table, size_t *bytes)
{
	static char *text;
	static size_t n;
	if (!text)
		text = __real_api_openapi_print(service, table, &n);
	*bytes = n;
	return text ? memcpy(malloc(n + 1), text, n + 1) : NULL;
}

static bool says_log;

void __wrap_srv_log(enum srv_level level, const char *format, ...)
{
	va_list arguments;
	if (!says_log)
		return;
	va_start(arguments, format);
	printf("log %d: ", (int)level);
	vprintf(format, arguments);
	putchar('\n');
	va_end(arguments);
}

void service_say_log(void)
{
	says_log = true;
}

/* ---- the access log ---- */

enum { MOST_RECORDS = 256 };

static struct {
	char id[48];
	int status;
} records[MOST_RECORDS];
static size_t n_records;
static unsigned long long n_ever;
static bool keeps_records = true;

void __wrap_srv_log_access(const struct srv_access *access)
{
	n_ever++;
	if (!keeps_records || n_records == MOST_RECORDS)
		return;
	strncpy(records[n_records].id, access->request_id, sizeof records[0].id - 1);
	records[n_records++].status = access->outcome.status;
}

size_t service_n_recorded(const char *id, int status)
{
	size_t n = 0;
	for (size_t i = 0; i < n_records; i++)
		n += strcmp(records[i].id, id) == 0 && records[i].status == status;
	return n;
}

void service_forget_records(void)
{
	n_records = 0;
}

bool service_metrics_agree(void)
{
	static const char name[] = "\nfrictiond_requests_total{";
	const struct srv_gauges gauges = {.instruction_set = "-"};
	size_t n;
	unsigned long long sum = 0;
	char *text = srv_metrics_print(&gauges, &n);
	for (const char *at = text; at && (at = memmem(at, n - (size_t)(at - text), name, sizeof name - 1)); at++)
		sum += strtoull(strstr(at, "} ") + 2, NULL, 10); /* skip to the last brace, because labels may contain braces */
	free(text);
	return sum == n_ever;
}

/* ---- start and stop ---- */

static const char *tokens_file(void)
{
	static char path[32];
	static const char text[] = "simulator 0123456789abcdef\n";
	if (*path)
		return path;
	const int fd = memfd_create("tokens", MFD_CLOEXEC);
	if (fd < 0 || write(fd, text, sizeof text - 1) < 0)
		return NULL;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return path;
}

static char certificate_path[IDENTITY_PATH], key_path[IDENTITY_PATH]; /* empty: no TLS */

bool service_use_tls(void)
{
	return identity_make(certificate_path, key_path);
}

void service_kind_make(struct service_kind *made, uint64_t number)
{
	struct chance chance = {number * 0x9e3779b97f4a7c15};
	static const long long json_bytes[] = {16 << 10, 64 << 10, 1 << 20};
	*made = (struct service_kind){.asks_tokens = chance_one_in(&chance, 4)};
	made->options = (struct srv_options){
		.host = "127.0.0.1",
		.threads = 1,
		.io_threads = 1,
		.max_json_bytes = json_bytes[chance_below(&chance, 3)],
		.max_answer_bytes = 1 << 20,
		.max_contacts = 1000,
		.max_vertices = 1000,
		.memory_bytes = 1 << 20,
		.queue_bytes = 1 << 20,
		.set_bytes = 512 << 10,
		.set_bytes_per_caller = 512 << 10,
		.sets = 8,
		.sets_per_caller = 8,
		.set_idle_seconds = chance_one_in(&chance, 2) ? 900 : 10,
		.pool_bytes = chance_one_in(&chance, 2) ? 0 : 256 << 10,
		.idle_seconds = 5,
		.connections = chance_one_in(&chance, 4) ? 2 : 64,
		.connections_per_address = chance_one_in(&chance, 4) ? 1 : 64,
		.receive_seconds = 6,
		.send_seconds = 7,
		.deadline_seconds = 5,
		.drain_seconds = 5,
		.queue_requests = chance_one_in(&chance, 2) ? 1 : 8,
		.kernels = 4,
		.log_level = SRV_ERROR,
		.gate = {.allow_origin = "https://a.example", .tokens = made->asks_tokens ? tokens_file() : NULL},
	};
	made->options.max_frame_bytes = made->options.max_json_bytes;
	made->tls = *certificate_path;
	if (made->tls)
		made->options.gate.tls_cert = certificate_path, made->options.gate.tls_key = key_path;
}

static void note_idle(void)
{
	n_idle_calls++;
}

/* Not preempted, because in production the library's thread takes over the connection at this point. */
static void add(void *closure, int fd, const struct sockaddr *address, socklen_t bytes)
{
	threads_hold(true);
	srv_http_add(closure, fd, address, bytes);
	threads_hold(false);
}

/* Asks for the description, which the service keeps from the first request on: a schedule would take it for a leak. */
static bool keep_description(void)
{
	size_t n;
	char *text = http ? api_describe(&http->server.large, &n) : NULL;
	if (text)
		atomic_store(&http->server.description, text);
	return text;
}

bool service_start(const struct service_kind *wanted)
{
	struct srv_acceptor_target target = {.add = add};
	kind = *wanted;
	n_idle_calls = 0;
	if (!srv_gate_open(&gate, &kind.options.gate, stderr) || !srv_gate_suits(&gate, kind.options.host, true, stderr))
		return false;
	target.closure = http = srv_http_start(&kind.options, &gate, SRV_HTTP_ROUNDS, NULL, note_idle);
	const int fd = keep_description() ? sockets_listen() : -1;
	acceptor = fd >= 0 ? srv_acceptor_start(&fd, 1, &target) : NULL;
	return acceptor;
}

bool service_start_threads(const struct service_kind *wanted, int *port)
{
	struct srv_listen_fault fault;
	const struct srv_listener *culprit;
	kind = *wanted;
	keeps_records = false;
	if (!srv_listeners_bind(&listeners, kind.options.host, 0, &fault) ||
	    !srv_listeners_listen(&listeners, &culprit, &fault) || !srv_gate_open(&gate, &kind.options.gate, stderr) ||
	    !srv_gate_suits(&gate, kind.options.host, true, stderr))
		return false;
	*port = listeners.list[0].port;
	http = srv_http_start(&kind.options, &gate, SRV_HTTP_THREADS, &listeners, note_idle);
	return keep_description();
}

void service_drain(void)
{
	srv_http_drain(http);
}

void service_reload(void)
{
	memory_enter_service();
	srv_gate_reload(&gate);
	memory_leave_service();
}

bool service_is_idle(void)
{
	return srv_http_is_idle(http);
}

size_t service_n_idle_calls(void)
{
	return n_idle_calls;
}

void service_close(void)
{
	memory_enter_service();
	if (acceptor) {
		srv_acceptor_stop(acceptor);
		sockets_unlisten();
	}
	srv_http_close(http);
	memory_leave_service();
}

void service_stop(void)
{
	memory_enter_service();
	srv_http_stop(http);
	memory_leave_service();
	srv_gate_close(&gate);
	http = NULL;
	acceptor = NULL;
}

void service_forget_sets(void)
{
	static const char *const names[] = {"a", "b"}, *const callers[] = {NULL, "simulator"};
	struct api_sets *sets = http->server.sets;
	memory_enter_service();
	for (size_t i = 0; i < 4; i++) {
		struct api_kept *kept = api_sets_hold(sets, callers[i / 2], names[i % 2], false);
		if (kept)
			api_sets_remove(sets, callers[i / 2], names[i % 2], kept);
		api_kept_release(kept);
	}
	memory_leave_service();
}

struct service_counts service_counts(void)
{
	const struct srv_server *server = &http->server;
	const struct srv_gauges gauges = srv_http_gauges(http);
	return (struct service_counts){
		.n_connections = gauges.connections,
		.n_under_way = atomic_load(&server->n_under_way),
		.n_waiting = gauges.queue_requests,
		.queue_bytes = gauges.queue_bytes,
		.budget_bytes = gauges.memory_requests_bytes,
		.pool_bytes = api_pool_counts(server->pool).used_bytes + api_pool_counts(server->body_pool).used_bytes,
		.idle_bytes = gauges.memory_pool_bytes,
	};
}

/* ---- one round of the library ---- */

/* Number of bytes that can be received until the next round: often few. */
static size_t some_credit(struct chance *chance)
{
	static const size_t most[] = {1, 3, 16, 100, 1000, SERVICE_TURN_BYTES, SERVICE_TURN_BYTES, (size_t)-1};
	const size_t limit = most[chance_below(chance, sizeof most / sizeof most[0])];
	return limit == (size_t)-1 ? limit : 1 + chance_below(chance, limit);
}

static struct chance *turns_chance;

static void give_credit(struct link *link)
{
	link->credit = turns_chance ? some_credit(turns_chance) : (size_t)-1;
}

bool service_turn(struct chance *chance)
{
	turns_chance = chance;
	memory_enter_service();
	sockets_each(give_credit);
	const bool goes_on = srv_http_round(http);
	memory_leave_service();
	return goes_on;
}
