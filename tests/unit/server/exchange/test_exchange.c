/* Exchanges from the first step to the last, carried by this test instead of the library. */
#include "server/exchange/answer.h"
#include "server/exchange/steps.h"

#include "server/observe/log.h"
#include "server/settings/read.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MEBIBYTE ((size_t)1 << 20)
#define HOST "Host", "localhost"
#define JSON "Content-Type", "application/json"
#define BATCH \
	"{\"dim\": 3, \"velocities\": [[0.02, 0.01, 0]], \"friction\": {\"eps_v\": 1e-3, \"mu_s\": 0.5, \"mu_k\": 0.3}, " \
	"\"collisions\": {\"plane_vertex\": {\"vertices\": [0], \"plane_normal\": [0, 0, 1], \"normal_force\": 9.81}}}"

static struct srv_options options;
static struct srv_gate gate;
static struct srv_server server;
static int n_idle;

static _Thread_local bool lacks_memory;
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
	return lacks_memory ? NULL : __real_malloc(n);
}

/* ---- the carrier ---- */

struct carried {
	struct srv_exchange exchange; /* must stay first: converted to and from srv_exchange */
	sem_t resumed;
	bool suspended, reset; /* reset: by the client, during the computation */
	atomic_bool computes;
	void (*compute)(struct srv_job *job);
};

static void note_compute(struct srv_job *job)
{
	struct carried *carried = (struct carried *)(void *)job;
	atomic_store(&carried->computes, true);
	carried->compute(job);
}

static void suspend(struct srv_exchange *exchange)
{
	struct carried *carried = (struct carried *)(void *)exchange;
	carried->suspended = true;
	carried->compute = exchange->job.compute;
	exchange->job.compute = note_compute;
}

static void resume(struct srv_exchange *exchange)
{
	sem_post(&((struct carried *)(void *)exchange)->resumed);
}

static bool is_gone(const struct srv_exchange *exchange)
{
	const struct carried *carried = (const struct carried *)(const void *)exchange;
	return carried->reset && atomic_load(&carried->computes);
}

static const struct srv_carrier carrier = {suspend, resume, is_gone};
static const struct srv_fault no_fault;

/* The variable arguments are names and values of headers in turn, ended by NULL. */
static enum srv_next judge(struct carried *carried, const char *method, const char *target, ...)
{
	struct srv_exchange *x = &carried->exchange;
	va_list headers;
	memset(carried, 0, sizeof *carried);
	sem_init(&carried->resumed, 0, 0);
	srv_exchange_open(x, &server, target);
	assert_int_equal(x->state, SRV_OPENED);
	x->carrier = &carrier;
	x->head.method = method;
	x->head.target = srv_origin_form(target);
	va_start(headers, target);
	for (const char *name; (name = va_arg(headers, const char *));)
		srv_head_add(&x->head, name, va_arg(headers, const char *));
	va_end(headers);
	return srv_exchange_judge(x, &no_fault);
}

static enum srv_next receive(struct carried *carried, const char *text)
{
	return srv_exchange_receive(&carried->exchange, text, strlen(text), false);
}

static enum srv_next finish(struct carried *carried)
{
	return srv_exchange_finish(&carried->exchange, &no_fault);
}

static void await(struct carried *carried)
{
	assert_true(carried->suspended);
	while (sem_wait(&carried->resumed) != 0)
		;
}

/* Ends the exchange, and requires that it has released everything. */
static void end(struct carried *carried)
{
	srv_exchange_end(&carried->exchange, NULL);
	assert_int_equal(carried->exchange.state, SRV_OVER);
	sem_destroy(&carried->resumed);
	assert_true(srv_server_is_idle(&server));
	const struct srv_gauges gauges = srv_server_gauges(&server);
	assert_int_equal(gauges.memory_requests_bytes, 0);
	assert_int_equal(gauges.queue_bytes, 0);
	assert_int_equal(gauges.queue_requests, 0);
}

/* Acts as a carrier does after SRV_ANSWER. */
static void answer(struct carried *carried, int status)
{
	struct api_response *response = srv_exchange_take_answer(&carried->exchange);
	assert_int_equal(carried->exchange.state, SRV_ANSWERING);
	assert_true(srv_exchange_is_answered(&carried->exchange));
	assert_int_equal(carried->exchange.status, status);
	assert_int_equal(response->status, status);
	api_response_free(response);
	free(response);
	end(carried);
}

/* Acts as a carrier does after SRV_SAY. */
static void say(struct carried *carried, int status)
{
	assert_int_equal(carried->exchange.response->status, status);
	srv_exchange_said(&carried->exchange, true);
	assert_int_equal(carried->exchange.state, SRV_SENT);
	assert_int_equal(carried->exchange.status, status);
	end(carried);
}

static unsigned long long rejected(const char *reason)
{
	const struct srv_gauges gauges = srv_server_gauges(&server);
	char line[128];
	size_t n;
	char *text = srv_metrics_print(&gauges, &n);
	snprintf(line, sizeof line, "\nfrictiond_rejected_total{reason=\"%s\"} ", reason);
	const char *found = strstr(text, line);
	assert_non_null(found);
	const unsigned long long count = strtoull(found + strlen(line), NULL, 10);
	free(text);
	return count;
}

/* ---- a service for each test ---- */

static void on_idle(void)
{
	n_idle++;
}

static int open_service(void **state)
{
	static char *const argv[] = {"frictiond",
	                             "--threads=1",
	                             "--queue-requests=1",
	                             "--max-json-bytes=2M",
	                             "--max-frame-bytes=2M",
	                             "--queue-bytes=2M",
	                             "--memory-bytes=64M",
	                             NULL};
	(void)state;
	server = (struct srv_server){.on_idle = on_idle};
	n_idle = 0;
	return srv_options_read(7, argv, &options, stdout, stderr) == SRV_START &&
	               srv_gate_open(&gate, &options.gate, stderr) && srv_server_open(&server, &options, &gate) &&
	               srv_server_start(&server, &options)
	           ? 0
	           : -1;
}

static int close_service(void **state)
{
	(void)state;
	srv_server_stop(&server);
	srv_server_close(&server);
	srv_gate_close(&gate);
	srv_options_free(&options);
	return 0;
}

/* A job that keeps the worker busy until released. */
struct other {
	struct srv_job job; /* must stay first: converted to and from srv_job */
	sem_t begun, may_end, ended;
};

static void other_compute(struct srv_job *job)
{
	struct other *other = (struct other *)(void *)job;
	sem_post(&other->begun);
	while (sem_trywait(&other->may_end) != 0 && !atomic_load(&job->stop))
		sched_yield();
}

static void other_finish(struct srv_job *job, bool computed)
{
	(void)computed;
	sem_post(&((struct other *)(void *)job)->ended);
}

static void keep_busy(struct other *other)
{
	*other = (struct other){.job = {.compute = other_compute, .finish = other_finish}};
	sem_init(&other->begun, 0, 0);
	sem_init(&other->may_end, 0, 0);
	sem_init(&other->ended, 0, 0);
	assert_true(srv_admission_reserve(server.admission));
	srv_admission_submit(server.admission, &other->job);
	while (sem_wait(&other->begun) != 0)
		;
}

static void let_go(struct other *other)
{
	sem_post(&other->may_end);
	while (sem_wait(&other->ended) != 0)
		;
}

/* ---- decided by the head ---- */

static void test_a_refused_head_ends_the_connection(void **state)
{
	struct carried c;
	(void)state;
	assert_int_equal(judge(&c, "GET", "/healthz", HOST, "Authorization", "a", "Authorization", "b", NULL), SRV_ANSWER);
	assert_int_equal(c.exchange.state, SRV_DECIDED);
	assert_true(c.exchange.closes);
	answer(&c, 400);
}

static void test_a_fault_of_the_wire_hides_the_head(void **state)
{
	const struct srv_fault fault = {.code = API_E_HEAD_TOO_LONG, .detail = "Too much.", .hides_head = true};
	struct srv_exchange x = {0};
	(void)state;
	srv_exchange_open(&x, &server, "/");
	x.head.method = "GET";
	x.head.target = "/";
	assert_int_equal(srv_exchange_judge(&x, &fault), SRV_ANSWER);
	assert_string_equal(x.head.method, "-");
	assert_string_equal(x.target, "-");
	assert_true(x.closes);
	srv_exchange_said(&x, true);
	assert_int_equal(x.status, 431);
	srv_exchange_end(&x, NULL);
	assert_true(srv_server_is_idle(&server));
}

static void test_the_rest_of_a_refused_request_is_dropped(void **state)
{
	struct carried c;
	(void)state;
	assert_int_equal(judge(&c, "POST", "/nowhere", HOST, JSON, "Content-Length", "3", NULL), SRV_READ);
	assert_int_equal(c.exchange.state, SRV_DECIDED);
	assert_int_equal(receive(&c, "abc"), SRV_READ);
	assert_int_equal(c.exchange.received, 3);
	assert_int_equal(c.exchange.dropped, 3);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_false(c.exchange.closes);
	answer(&c, 404);
}

/* Bodies that are too long or wait for 100 Continue are not read after a refusal. */
static void test_bodies_that_are_not_read(void **state)
{
	struct carried c;
	(void)state;
	assert_int_equal(judge(&c, "POST", "/nowhere", HOST, JSON, "Content-Length", "1048577", NULL), SRV_ANSWER);
	answer(&c, 404);
	assert_int_equal(judge(&c, "POST", "/nowhere", HOST, JSON, "Content-Length", "1048576", NULL), SRV_READ);
	end(&c);
	assert_int_equal(judge(&c, "POST", "/nowhere", HOST, JSON, "Content-Length", "3", "Expect", "100-continue", NULL),
	                 SRV_ANSWER);
	answer(&c, 404);
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Content-Length", "2097153", NULL), SRV_ANSWER);
	answer(&c, 413);
}

static void test_what_the_head_alone_answers(void **state)
{
	struct carried c;
	(void)state;
	assert_int_equal(judge(&c, "GET", "/metrics", HOST, NULL), SRV_READ);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_true(c.exchange.response->body_bytes > 1000);
	answer(&c, 200);
	assert_true(c.exchange.bytes_out > 1000);
	assert_int_equal(judge(&c, "POST", "/metrics", HOST, NULL), SRV_READ);
	assert_int_equal(finish(&c), SRV_ANSWER);
	answer(&c, 405);
}

static bool has_header(const struct srv_answer_headers *headers, const char *name)
{
	for (int i = 0; i < (int)headers->n; i++)
		if (!strcmp(headers->list[i].name, name))
			return true;
	return false;
}

static void test_draining(void **state)
{
	struct carried early, late, probe;
	(void)state;
	const unsigned long long before = rejected("draining");
	assert_int_equal(judge(&early, "POST", "/v1/evaluate", HOST, JSON, "Content-Length", "3", NULL), SRV_READ);
	struct srv_answer_headers headers;
	assert_int_equal(judge(&probe, "GET", "/healthz", HOST, NULL), SRV_READ);
	assert_int_equal(finish(&probe), SRV_ANSWER);
	srv_exchange_headers(&probe.exchange, probe.exchange.response, &headers);
	assert_false(has_header(&headers, "Connection"));
	srv_server_drain(&server);
	srv_exchange_headers(&probe.exchange, probe.exchange.response, &headers);
	assert_true(has_header(&headers, "Connection"));
	assert_int_equal(judge(&late, "POST", "/v1/evaluate", HOST, JSON, "Content-Length", "3", NULL), SRV_ANSWER);
	srv_exchange_headers(&late.exchange, late.exchange.response, &headers);
	assert_true(has_header(&headers, "Connection"));
	srv_exchange_said(&late.exchange, true);
	srv_exchange_end(&late.exchange, NULL);
	assert_int_equal(n_idle, 0);
	assert_int_equal(rejected("draining"), before + 1);
	/* A draining server refuses new work of any kind; reading and deleting stay possible. */
	static const struct {
		const char *method, *target;
		bool is_refused;
	} cases[] = {{"PUT", "/v1/sets/a", true},           {"PATCH", "/v1/sets/a", true},
	             {"POST", "/v1/sets/a/evaluate", true}, {"POST", "/v1/sets/a/check", true},
	             {"DELETE", "/v1/sets/a", false},       {"GET", "/v1/sets/a", false},
	             {"GET", "/v1/sets/a/pattern", false},  {"PUT", "/v1/info", false}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct carried c;
		judge(&c, cases[i].method, cases[i].target, HOST, JSON, "Content-Length", "3", NULL);
		assert_int_equal(c.exchange.response && c.exchange.response->status == 503, cases[i].is_refused);
		srv_exchange_end(&c.exchange, NULL);
	}
	srv_exchange_end(&early.exchange, NULL);
	answer(&probe, 200);
	assert_int_equal(n_idle, 1);
}

/* ---- the body ---- */

/* Sends pieces of 64 KiB. @return the step after the last one */
static enum srv_next send_bytes(struct carried *carried, size_t n)
{
	static char piece[64 << 10];
	enum srv_next next = SRV_READ;
	memset(piece, ' ', sizeof piece);
	for (size_t sent = 0; sent < n && next == SRV_READ; sent += sizeof piece)
		next =
			srv_exchange_receive(&carried->exchange, piece, n - sent < sizeof piece ? n - sent : sizeof piece, false);
	return next;
}

static void test_a_body_in_chunks_that_becomes_too_long(void **state)
{
	struct carried c;
	(void)state;
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Transfer-Encoding", "chunked", NULL), SRV_READ);
	assert_int_equal(send_bytes(&c, 2 * MEBIBYTE), SRV_READ);
	assert_int_equal(c.exchange.state, SRV_RECEIVING);
	assert_int_equal(receive(&c, " "), SRV_READ);
	assert_int_equal(c.exchange.state, SRV_DECIDED);
	assert_null(c.exchange.body.bytes);
	assert_int_equal(send_bytes(&c, MEBIBYTE), SRV_READ);
	assert_int_equal(receive(&c, " "), SRV_SAY);
	say(&c, 413);
	assert_int_equal(c.exchange.received, 3 * MEBIBYTE + 2);
}

static void test_a_chunk_with_a_fault_replaces_what_was_decided(void **state)
{
	const struct srv_fault fault = {.code = API_E_MALFORMED_HTTP, .detail = "A chunk is longer than its size."};
	struct carried c;
	(void)state;
	assert_int_equal(judge(&c, "POST", "/nowhere", HOST, JSON, "Transfer-Encoding", "chunked", NULL), SRV_READ);
	assert_int_equal(receive(&c, "abc"), SRV_READ);
	assert_int_equal(srv_exchange_finish(&c.exchange, &fault), SRV_ANSWER);
	assert_true(c.exchange.closes);
	answer(&c, 400);
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Transfer-Encoding", "chunked", NULL), SRV_READ);
	assert_int_equal(receive(&c, "abc"), SRV_READ);
	assert_int_equal(srv_exchange_finish(&c.exchange, &fault), SRV_ANSWER);
	assert_null(c.exchange.body.bytes);
	answer(&c, 400);
}

static void test_a_late_body(void **state)
{
	struct carried c;
	(void)state;
	const unsigned long long before = rejected("slow");
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Content-Length", "9", NULL), SRV_READ);
	assert_int_equal(receive(&c, "abc"), SRV_READ);
	assert_int_equal(srv_exchange_receive(&c.exchange, "d", 1, true), SRV_SAY);
	say(&c, 408);
	assert_int_equal(rejected("slow"), before + 1);
	assert_int_equal(judge(&c, "POST", "/nowhere", HOST, JSON, "Content-Length", "9", NULL), SRV_READ);
	assert_int_equal(srv_exchange_receive(&c.exchange, "d", 1, true), SRV_SAY);
	say(&c, 404);
}

/* The limit may be noticed by the carrier or by the exchange. The reason of an earlier refusal is replaced. */
static void test_a_late_head_or_chunk(void **state)
{
	const struct srv_fault late = {.code = API_E_REQUEST_TIMEOUT, .detail = "Late.", .hides_head = true};
	const struct srv_fault faulty = {.code = API_E_MALFORMED_HTTP, .detail = "No chunk."};
	struct srv_exchange x = {0};
	struct carried c;
	(void)state;
	const unsigned long long slow = rejected("slow"), forbidden = rejected("forbidden");
	srv_exchange_open(&x, &server, "/");
	assert_int_equal(srv_exchange_judge(&x, &late), SRV_ANSWER);
	srv_exchange_said(&x, true);
	srv_exchange_end(&x, NULL);
	assert_int_equal(rejected("slow"), slow + 1);
	assert_int_equal(
		judge(&c, "POST", "/nowhere", HOST, "Origin", "https://b.example", "Transfer-Encoding", "chunked", NULL),
		SRV_READ);
	assert_int_equal(c.exchange.rejection, SRV_REJECTED_FORBIDDEN);
	assert_int_equal(srv_exchange_finish(&c.exchange, &faulty), SRV_ANSWER);
	answer(&c, 400);
	assert_int_equal(rejected("forbidden"), forbidden);
}

static void test_silence(void **state)
{
	struct carried c;
	(void)state;
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Content-Length", "9", NULL), SRV_READ);
	assert_int_equal(srv_exchange_time_out(&c.exchange), SRV_SAY);
	say(&c, 408);
	assert_int_equal(judge(&c, "POST", "/nowhere", HOST, JSON, "Content-Length", "9", NULL), SRV_READ);
	assert_int_equal(srv_exchange_time_out(&c.exchange), SRV_SAY);
	srv_exchange_said(&c.exchange, false);
	assert_int_equal(c.exchange.state, SRV_ABORTED);
	assert_int_equal(c.exchange.status, 0);
	assert_int_equal(srv_exchange_time_out(&c.exchange), SRV_BREAK);
	end(&c);
}

static void test_a_body_that_finds_no_room(void **state)
{
	struct carried c, other;
	(void)state;
	const unsigned long long before = rejected("memory");
	assert_int_equal(judge(&other, "POST", "/v1/evaluate", HOST, JSON, "Transfer-Encoding", "chunked", NULL), SRV_READ);
	assert_int_equal(send_bytes(&other, 3 * MEBIBYTE / 2), SRV_READ);
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Transfer-Encoding", "chunked", NULL), SRV_READ);
	assert_int_equal(send_bytes(&c, MEBIBYTE), SRV_READ);
	assert_int_equal(c.exchange.state, SRV_DECIDED);
	assert_int_equal(c.exchange.rejection, SRV_REJECTED_MEMORY);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_int_equal(c.exchange.response->status, 503);
	srv_exchange_end(&c.exchange, NULL);
	assert_int_equal(rejected("memory"), before + 1);
	end(&other);
}

static void test_a_body_that_can_never_fit(void **state)
{
	struct carried c;
	(void)state;
	server.budget.most_bytes = MEBIBYTE;
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Content-Length", "1100000", NULL), SRV_READ);
	assert_int_equal(send_bytes(&c, 1100000), SRV_READ);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_non_null(strstr(c.exchange.response->body, "memory of all requests together"));
	answer(&c, 413);
}

/* ---- computed in place ---- */

static void test_a_small_request(void **state)
{
	struct carried c;
	(void)state;
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "X-Request-Id", "mine", NULL), SRV_READ);
	assert_int_equal(finish(&c), SRV_ANSWER);
	answer(&c, 411);
	assert_int_equal(
		judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Transfer-Encoding", "chunked", "X-Request-Id", "mine", NULL),
		SRV_READ);
	assert_int_equal(receive(&c, BATCH), SRV_READ);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_int_equal(c.exchange.state, SRV_READY);
	assert_int_equal(c.exchange.queued_us, 0);
	assert_string_equal(c.exchange.id, "mine");
	answer(&c, 200);
	assert_int_equal(c.exchange.received, strlen(BATCH));
	assert_int_equal(c.exchange.measure.n_contacts, 1);
	assert_true(c.exchange.bytes_out > 100);
}

/* A carrier may also send it past the library. */
static void test_a_computed_answer_that_is_said(void **state)
{
	struct carried c;
	(void)state;
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Transfer-Encoding", "chunked", NULL), SRV_READ);
	assert_int_equal(receive(&c, BATCH), SRV_READ);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_int_equal(srv_exchange_time_out(&c.exchange), SRV_SAY);
	say(&c, 200);
	assert_int_equal(c.exchange.measure.n_contacts, 1);
	assert_true(c.exchange.bytes_out > 100);
}

/* A short body with 400 contacts, each of which needs a Hessian. */
static const char *many_contacts(void)
{
	static char body[2000];
	int at = sprintf(body, "{\"dim\":3,\"velocities\":[[1,0,0]],\"friction\":{\"eps_v\":1,\"mu\":1},\"collisions\":"
	                       "{\"plane_vertex\":{\"plane_normal\":[0,0,1],\"normal_force\":1,\"vertices\":[0");
	for (int i = 1; i < 400; i++)
		at += sprintf(body + at, ",0");
	sprintf(body + at, "]}}}");
	return body;
}

static void test_a_request_that_turns_out_to_be_large(void **state)
{
	struct carried c;
	(void)state;
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Transfer-Encoding", "chunked", NULL), SRV_READ);
	assert_int_equal(receive(&c, many_contacts()), SRV_READ);
	assert_int_equal(finish(&c), SRV_WAIT);
	await(&c);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_true(c.exchange.queued_us);
	answer(&c, 200);
	assert_int_equal(c.exchange.measure.n_contacts, 400);
}

static void test_a_full_queue_for_a_request_that_turns_out_to_be_large(void **state)
{
	struct carried c;
	struct other busy, waiting;
	(void)state;
	keep_busy(&busy);
	assert_true(srv_admission_reserve(server.admission)); /* takes the only place */
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Transfer-Encoding", "chunked", NULL), SRV_READ);
	assert_int_equal(receive(&c, many_contacts()), SRV_READ);
	assert_int_equal(finish(&c), SRV_ANSWER);
	waiting = (struct other){.job = {.compute = other_compute, .finish = other_finish}};
	sem_init(&waiting.begun, 0, 0);
	sem_init(&waiting.may_end, 0, 0);
	sem_init(&waiting.ended, 0, 0);
	srv_admission_submit(server.admission, &waiting.job);
	let_go(&busy);
	let_go(&waiting);
	answer(&c, 503);
}

/* The deadline also applies to requests that were considered small. */
static void test_a_deadline_in_place(void **state)
{
	struct carried c;
	(void)state;
	server.deadline_seconds = 0;
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Transfer-Encoding", "chunked", NULL), SRV_READ);
	assert_int_equal(receive(&c, BATCH), SRV_READ);
	atomic_store(&c.exchange.job.stop, true);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_int_equal(c.exchange.rejection, SRV_REJECTED_DEADLINE);
	answer(&c, 503);
}

static void test_a_lack_of_memory_that_is_said(void **state)
{
	struct carried c;
	static char nodes[3 * 10000 + 1]; /* large enough for the queue */
	(void)state;
	for (size_t i = 0; i + 1 < sizeof nodes; i += 3)
		memcpy(nodes + i, i == 0 ? "[{}" : ",{}", 3);
	const unsigned long long before = rejected("memory");
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Transfer-Encoding", "chunked", NULL), SRV_READ);
	assert_int_equal(receive(&c, nodes), SRV_READ);
	assert_int_equal(receive(&c, "]"), SRV_READ);
	const size_t others = server.budget.most_bytes - atomic_load(&server.budget.used_bytes);
	assert_true(api_budget_take(&server.budget, others));
	assert_int_equal(finish(&c), SRV_WAIT);
	await(&c);
	api_budget_give(&server.budget, others);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_int_equal(srv_exchange_time_out(&c.exchange), SRV_SAY);
	say(&c, 503);
	assert_int_equal(rejected("memory"), before + 1);
}

/* The length is that of the body which GET would send. */
static void test_head_has_a_length_and_no_bytes(void **state)
{
	struct carried c;
	(void)state;
	assert_int_equal(judge(&c, "HEAD", "/v1/info", HOST, NULL), SRV_READ);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_true(c.exchange.response->body_bytes > 0);
	answer(&c, 200);
	assert_int_equal(c.exchange.bytes_out, 0);
	assert_int_equal(judge(&c, "GET", "/v1/info", HOST, NULL), SRV_READ);
	assert_int_equal(finish(&c), SRV_ANSWER);
	answer(&c, 200);
	assert_true(c.exchange.bytes_out > 0);
}

static void test_nothing_can_be_said_without_memory(void **state)
{
	struct carried c;
	(void)state;
	lacks_memory = true;
	const enum srv_next refused = judge(&c, "GET", "/nowhere", HOST, NULL);
	lacks_memory = false;
	assert_int_equal(refused, SRV_BREAK);
	assert_int_equal(c.exchange.state, SRV_ABORTED);
	assert_int_equal(srv_exchange_time_out(&c.exchange), SRV_BREAK);
	end(&c);
	assert_int_equal(judge(&c, "GET", "/healthz", HOST, NULL), SRV_READ);
	lacks_memory = true;
	const enum srv_next computed = finish(&c);
	lacks_memory = false;
	assert_int_equal(computed, SRV_BREAK);
	assert_int_equal(finish(&c), SRV_BREAK);
	assert_int_equal(receive(&c, "x"), SRV_BREAK);
	end(&c);
}

/* ---- through the queue ---- */

static enum srv_next send_check(struct carried *carried)
{
	assert_int_equal(judge(carried, "POST", "/v1/check", HOST, JSON, "Transfer-Encoding", "chunked", NULL), SRV_READ);
	assert_int_equal(receive(carried, BATCH), SRV_READ);
	return finish(carried);
}

static void test_a_large_request_waits_for_its_turn(void **state)
{
	struct carried c;
	struct other other;
	(void)state;
	keep_busy(&other);
	assert_int_equal(send_check(&c), SRV_WAIT);
	assert_int_equal(srv_server_gauges(&server).queue_requests, 1);
	let_go(&other);
	await(&c);
	assert_int_equal(c.exchange.state, SRV_READY);
	assert_null(c.exchange.body.bytes);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_true(c.exchange.queued_us > 0);
	answer(&c, 200);
}

static void test_the_queue_is_full(void **state)
{
	struct carried waits, c;
	struct other other;
	(void)state;
	const unsigned long long before = rejected("queue_full");
	keep_busy(&other);
	assert_int_equal(send_check(&waits), SRV_WAIT);
	assert_int_equal(send_check(&c), SRV_ANSWER);
	assert_int_equal(c.exchange.state, SRV_DECIDED);
	assert_null(c.exchange.body.bytes);
	assert_int_equal(c.exchange.response->status, 503);
	srv_exchange_end(&c.exchange, NULL);
	/* A client that waits for 100 Continue is refused before it sends a long body. */
	assert_int_equal(
		judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Content-Length", "65537", "Expect", "100-continue", NULL),
		SRV_ANSWER);
	srv_exchange_end(&c.exchange, NULL);
	assert_int_equal(
		judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Content-Length", "65536", "Expect", "100-continue", NULL),
		SRV_READ);
	srv_exchange_end(&c.exchange, NULL);
	assert_int_equal(rejected("queue_full"), before + 2);
	let_go(&other);
	await(&waits);
	assert_int_equal(finish(&waits), SRV_ANSWER);
	answer(&waits, 200);
}

static void test_the_deadline_passes_while_it_waits(void **state)
{
	struct carried c;
	struct other other;
	(void)state;
	const unsigned long long before = rejected("deadline");
	keep_busy(&other);
	server.deadline_seconds = 0;
	assert_int_equal(send_check(&c), SRV_WAIT);
	await(&c);
	assert_int_equal(c.exchange.state, SRV_READY);
	assert_null(c.exchange.body.bytes);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_non_null(strstr(c.exchange.response->body, "The deadline of 0 seconds has passed."));
	let_go(&other);
	answer(&c, 503);
	assert_int_equal(rejected("deadline"), before + 1);
}

static void test_the_server_stops_while_it_waits(void **state)
{
	struct carried c;
	struct other other;
	(void)state;
	keep_busy(&other);
	assert_int_equal(send_check(&c), SRV_WAIT);
	srv_server_drain(&server);
	srv_server_stop(&server);
	await(&c);
	assert_int_equal(finish(&c), SRV_ANSWER);
	assert_non_null(strstr(c.exchange.response->body, "The server stopped before the turn of this request."));
	answer(&c, 503);
	assert_int_equal(c.exchange.rejection, SRV_REJECTED_DRAINING);
	assert_int_equal(n_idle, 1);
	srv_admission_free(server.admission); /* a queue can be stopped only once */
	server.admission = NULL;
}

/* Takes long enough for the watcher to notice; if the test fails it takes some seconds. */
static void send_long_check(struct carried *carried)
{
	enum { N_CONTACTS = 200000 };
	static const char head[] =
		"{\"dim\": 3, \"velocities\": [[0.02, 0.01, 0]], \"friction\": {\"eps_v\": 1e-3, \"mu_s\": 0.5, "
		"\"mu_k\": 0.3}, \"collisions\": {\"plane_vertex\": {\"plane_normal\": [0, 0, 1], "
		"\"normal_force\": 9.81, \"vertices\": [0";
	static char more[2 * N_CONTACTS + 1];
	for (int i = 0; i < N_CONTACTS; i++)
		memcpy(more + 2 * i, ",0", 3);
	assert_int_equal(judge(carried, "POST", "/v1/check", HOST, JSON, "Transfer-Encoding", "chunked", NULL), SRV_READ);
	assert_int_equal(receive(carried, head), SRV_READ);
	assert_int_equal(receive(carried, more), SRV_READ);
	assert_int_equal(receive(carried, "]}}}"), SRV_READ);
}

static void test_the_client_goes_while_it_is_computed(void **state)
{
	struct carried c;
	(void)state;
	send_long_check(&c);
	c.reset = true;
	assert_int_equal(finish(&c), SRV_WAIT);
	await(&c);
	assert_true(atomic_load(&c.exchange.job.stop));
	assert_int_equal(finish(&c), SRV_ANSWER);
	answer(&c, 503);
	assert_int_equal(c.exchange.rejection, SRV_NOT_REJECTED);
}

static void test_the_deadline_passes_while_it_is_computed(void **state)
{
	struct carried c;
	(void)state;
	send_long_check(&c);
	server.deadline_seconds = 1;
	c.exchange.began_us -= 900000;
	assert_int_equal(finish(&c), SRV_WAIT);
	await(&c);
	assert_int_equal(finish(&c), SRV_ANSWER);
	answer(&c, 503);
	assert_int_equal(c.exchange.rejection, SRV_REJECTED_DEADLINE);
}

/* ---- other ---- */

static void test_the_library_answers_by_itself(void **state)
{
	struct srv_exchange x = {0};
	(void)state;
	srv_exchange_open(&x, &server, "/");
	assert_true(srv_exchange_was_answered(&x, 431));
	assert_int_equal(srv_exchange_time_out(&x), SRV_BREAK);
	srv_exchange_end(&x, "timeout");
	assert_int_equal(x.status, 431);
	struct carried c;
	assert_int_equal(judge(&c, "GET", "/healthz", HOST, NULL), SRV_READ);
	assert_int_equal(finish(&c), SRV_ANSWER);
	struct api_response *response = srv_exchange_take_answer(&c.exchange);
	assert_false(srv_exchange_was_answered(&c.exchange, 500));
	assert_int_equal(c.exchange.status, 200);
	api_response_free(response);
	free(response);
	end(&c);
}

/* Captures the log line that is written at the end of an exchange. */
static void ends_with_a_line(struct carried *carried, const char *aborted, char *line, size_t bytes)
{
	int ends[2];
	const int original = dup(STDERR_FILENO);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	srv_log_start(SRV_INFO, SRV_LOGFMT);
	srv_exchange_end(&carried->exchange, aborted);
	sem_destroy(&carried->resumed);
	const ssize_t n = read(ends[0], line, bytes - 1);
	line[n > 0 ? n : 0] = '\0';
	dup2(original, STDERR_FILENO);
	srv_log_start(SRV_INFO, SRV_LOGFMT);
	close(original);
	close(ends[0]);
	close(ends[1]);
}

static void test_an_answered_request_is_not_logged_as_aborted(void **state)
{
	struct carried c;
	char line[4096];
	(void)state;
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Content-Length", "9", NULL), SRV_READ);
	ends_with_a_line(&c, "timeout", line, sizeof line);
	assert_non_null(strstr(line, " aborted=\"timeout\""));
	assert_int_equal(judge(&c, "POST", "/v1/evaluate", HOST, JSON, "Content-Length", "9", NULL), SRV_READ);
	assert_int_equal(srv_exchange_time_out(&c.exchange), SRV_SAY);
	srv_exchange_said(&c.exchange, true);
	ends_with_a_line(&c, "timeout", line, sizeof line);
	assert_non_null(strstr(line, " status=408 "));
	assert_null(strstr(line, "aborted"));
}

/* Debug builds abort. */
static void test_an_impossible_step(void **state)
{
	(void)state;
#ifndef NDEBUG
	const pid_t child = fork();
	if (child == 0) {
		struct srv_exchange x = {.state = SRV_SENT};
		close(STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		srv_exchange_move(&x, SRV_ANSWERING);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_service, close_service)
	const struct CMUnitTest tests[] = {
		T(test_a_refused_head_ends_the_connection),
		T(test_a_fault_of_the_wire_hides_the_head),
		T(test_the_rest_of_a_refused_request_is_dropped),
		T(test_bodies_that_are_not_read),
		T(test_what_the_head_alone_answers),
		T(test_draining),
		T(test_a_body_in_chunks_that_becomes_too_long),
		T(test_a_chunk_with_a_fault_replaces_what_was_decided),
		T(test_a_late_body),
		T(test_a_late_head_or_chunk),
		T(test_silence),
		T(test_a_body_that_finds_no_room),
		T(test_a_body_that_can_never_fit),
		T(test_a_small_request),
		T(test_a_computed_answer_that_is_said),
		T(test_a_request_that_turns_out_to_be_large),
		T(test_a_full_queue_for_a_request_that_turns_out_to_be_large),
		T(test_a_deadline_in_place),
		T(test_a_lack_of_memory_that_is_said),
		T(test_head_has_a_length_and_no_bytes),
		T(test_nothing_can_be_said_without_memory),
		T(test_a_large_request_waits_for_its_turn),
		T(test_the_queue_is_full),
		T(test_the_deadline_passes_while_it_waits),
		T(test_the_server_stops_while_it_waits),
		T(test_the_client_goes_while_it_is_computed),
		T(test_the_deadline_passes_while_it_is_computed),
		T(test_the_library_answers_by_itself),
		T(test_an_answered_request_is_not_logged_as_aborted),
		cmocka_unit_test(test_an_impossible_step),
	};
	return cmocka_run_group_tests_name("exchange", tests, NULL, NULL);
}
