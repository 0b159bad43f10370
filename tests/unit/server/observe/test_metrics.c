#include "server/observe/metrics.h"

#include "server/observe/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const struct srv_gauges gauges = {
	.queue_requests = 3,
	.queue_bytes = 4,
	.connections = 5,
	.threads = 6,
	.memory_requests_bytes = 7,
	.memory_pool_bytes = 8,
	.memory_limit_bytes = 9,
	.draining = true,
	.instruction_set = "avx2",
	.sets = {.n = 10,
             .bytes = 11,
             .n_created = 12,
             .n_replaced = 13,
             .n_removed = 14,
             .n_hits = 15,
             .n_misses = 16,
             .n_evicted = {17, 18, 19, 20},
             .n_refused = 20},
	.sets_limit = 21,
	.sets_limit_bytes = 22,
};

static char *print(void)
{
	size_t n;
	char *text = srv_metrics_print(&gauges, &n);
	assert_non_null(text);
	assert_int_equal(strlen(text), n);
	assert_int_equal(text[n - 1], '\n');
	return text;
}

/* The value of a series; -1 if absent. Fails if the series appears twice. */
static double value_of(const char *text, const char *series)
{
	char line[256];
	snprintf(line, sizeof line, "\n%s ", series);
	const char *found = strstr(text, line);
	if (!found)
		return -1;
	assert_null(strstr(found + 1, line));
	return strtod(found + strlen(line), NULL);
}

static double now(const char *series)
{
	char *text = print();
	const double value = value_of(text, series);
	free(text);
	return value;
}

static const struct api_match *match_of(const char *target)
{
	static _Thread_local struct api_match match;
	api_match(target, &match);
	return &match;
}

static void test_routes(void **state)
{
	(void)state;
	static const struct {
		const char *target, *name;
	} cases[] = {
		{"/v1/evaluate", "/v1/evaluate"},
		{"/v1/evaluate?x=1", "/v1/evaluate"},
		{"/v1/check", "/v1/check"},
		{"/v1/functions", "/v1/functions"},
		{"/v1/functions/", "other"},
		{"/v1/functions/smooth_mu?y=1", "/v1/functions/{name}"},
		{"/v1/functions/\"}\n", "/v1/functions/{name}"},
		{"/v1/functions/none", "/v1/functions/{name}"},
		{"/v1/functions/%73mooth_mu", "/v1/functions/{name}"},
		{"/v1/functions/{name}", "/v1/functions/{name}"},
		{"/v1/info", "/v1/info"},
		{"/healthz", "/healthz"},
		{"/readyz?", "/readyz"},
		{"/metrics", "/metrics"},
		{"/openapi.json", "/openapi.json"},
		{"/v1/evaluate/", "other"},
		{"/v1/evaluat", "other"},
		{"/v1/%65valuate", "other"},
		{"other", "other"},
		{"", "other"},
		{"/", "/"},
		{"/?x", "/"},
		{"/explorer", "other"},
		{"/explorer/x.js", "/explorer/{file}"},
		{"/explorer/{file}", "/explorer/{file}"},
		{"/explorer/%zz", "/explorer/{file}"},
		{"*", "other"},
		{"/metrics/x", "other"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (strcmp(srv_route_name(match_of(cases[i].target)), cases[i].name))
			fail_msg("%s: %s", cases[i].target, srv_route_name(match_of(cases[i].target)));
	assert_string_equal(srv_rejection_name(SRV_REJECTED_QUEUE_FULL), "queue_full");
	assert_string_equal(srv_rejection_name(SRV_REJECTED_UNAUTHORIZED), "unauthorized");
	assert_string_equal(srv_rejection_name(SRV_REJECTED_FORBIDDEN), "forbidden");
	assert_string_equal(srv_rejection_name(SRV_REJECTED_MISDIRECTED), "misdirected");
	assert_null(srv_rejection_name(SRV_NOT_REJECTED));
}

static void test_counts(void **state)
{
	(void)state;
	const struct api_measure measure = {API_N_PHASES, {1000, 2000, 3000, 4000}, 100};
	const struct srv_outcome outcome = {.match = match_of("/v1/evaluate"),
	                                    .status = 200,
	                                    .nanoseconds = 1500000,
	                                    .waited_nanoseconds = 20000,
	                                    .bytes_in = 1000,
	                                    .bytes_out = 10,
	                                    .measure = &measure};
	for (int i = 0; i < 3; i++)
		srv_metrics_add(&outcome);
	char *text = print();
	assert_true(value_of(text, "frictiond_requests_total{route=\"/v1/evaluate\",status=\"200\"}") == 3);
	assert_true(value_of(text, "frictiond_requests_total{route=\"/v1/evaluate\",status=\"503\"}") == 0);
	assert_true(value_of(text, "frictiond_requests_total{route=\"/v1/evaluate\",status=\"422\"}") == -1);
	assert_true(value_of(text, "frictiond_request_duration_seconds_count{route=\"/v1/evaluate\"}") == 3);
	assert_true(value_of(text, "frictiond_request_duration_seconds_sum{route=\"/v1/evaluate\"}") == 0.0045);
	assert_true(value_of(text, "frictiond_request_duration_seconds_bucket{route=\"/v1/evaluate\",le=\"0.001\"}") == 0);
	assert_true(value_of(text, "frictiond_request_duration_seconds_bucket{route=\"/v1/evaluate\",le=\"0.0025\"}") == 3);
	assert_true(value_of(text, "frictiond_request_duration_seconds_bucket{route=\"/v1/evaluate\",le=\"+Inf\"}") == 3);
	assert_true(value_of(text, "frictiond_phase_duration_seconds_sum{phase=\"encode\"}") == 0.000012);
	assert_true(value_of(text, "frictiond_phase_duration_seconds_count{phase=\"decode\"}") == 3);
	assert_true(value_of(text, "frictiond_queue_wait_seconds_count") == 3);
	assert_true(value_of(text, "frictiond_queue_wait_seconds_bucket{le=\"0.000025\"}") == 3);
	assert_true(value_of(text, "frictiond_contacts_total") == 300);
	assert_true(value_of(text, "frictiond_request_bytes_total") == 3000);
	assert_true(value_of(text, "frictiond_response_bytes_total") == 30);
	free(text);
}

/* A bucket includes its upper bound. A request that waited 0 ns in the queue counts as queued. */
static void test_ends(void **state)
{
	(void)state;
	const double waits = now("frictiond_queue_wait_seconds_count");
	srv_metrics_add(&(struct srv_outcome){.match = match_of("/"), .status = 200, .nanoseconds = 1000000});
	assert_true(now("frictiond_request_duration_seconds_bucket{route=\"/\",le=\"0.001\"}") == 1);
	srv_metrics_add(&(struct srv_outcome){.match = match_of("/"), .status = 200, .nanoseconds = 1000001});
	assert_true(now("frictiond_request_duration_seconds_bucket{route=\"/\",le=\"0.001\"}") == 1);
	assert_true(now("frictiond_queue_wait_seconds_count") == waits + 2);
}

static void test_faults(void **state)
{
	(void)state;
	const struct api_measure halfway = {2, {1000, 2000, 0, 0}, 0};
	const double waits = now("frictiond_queue_wait_seconds_count");
	const double decoded = now("frictiond_phase_duration_seconds_count{phase=\"decode\"}");
	const double encoded = now("frictiond_phase_duration_seconds_count{phase=\"encode\"}");
	const int statuses[] = {422, 418, 0, -7, 999};
	for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
		srv_metrics_add(&(struct srv_outcome){.match = match_of("/v1/check"),
		                                      .status = statuses[i],
		                                      .nanoseconds = -5,
		                                      .waited_nanoseconds = -1,
		                                      .measure = i ? NULL : &halfway});
	assert_true(now("frictiond_requests_total{route=\"/v1/check\",status=\"422\"}") == 1);
	assert_true(now("frictiond_requests_total{route=\"/v1/check\",status=\"none\"}") == 1);
	assert_true(now("frictiond_requests_total{route=\"/v1/check\",status=\"other\"}") == 3);
	assert_true(now("frictiond_request_duration_seconds_sum{route=\"/v1/check\"}") == 0);
	assert_true(now("frictiond_queue_wait_seconds_count") == waits);
	assert_true(now("frictiond_phase_duration_seconds_count{phase=\"decode\"}") == decoded + 1);
	assert_true(now("frictiond_phase_duration_seconds_count{phase=\"encode\"}") == encoded);
}

static void test_rejections(void **state)
{
	(void)state;
	srv_metrics_add(&(struct srv_outcome){
		.match = match_of("/readyz"), .status = 429, .waited_nanoseconds = -1, .rejection = SRV_REJECTED_CONNECTIONS});
	srv_metrics_add(&(struct srv_outcome){
		.match = match_of("/readyz"), .status = 503, .waited_nanoseconds = -1, .rejection = SRV_REJECTED_DRAINING});
	assert_true(now("frictiond_rejected_total{reason=\"connections\"}") == 1);
	assert_true(now("frictiond_rejected_total{reason=\"draining\"}") == 1);
	assert_true(now("frictiond_rejected_total{reason=\"deadline\"}") == 0);
	assert_true(now("frictiond_requests_total{route=\"/readyz\",status=\"503\"}") == 1);
}

static void test_buckets_are_cumulative(void **state)
{
	(void)state;
	for (int64_t nanoseconds = 1; nanoseconds < INT64_MAX / 2; nanoseconds *= 2)
		srv_metrics_add(&(struct srv_outcome){
			.match = match_of("/v1/info"), .status = 200, .nanoseconds = nanoseconds, .waited_nanoseconds = -1});
	char *text = print();
	static const char name[] = "\nfrictiond_request_duration_seconds_bucket{route=\"/v1/info\",le=\"";
	double last_bound = 0, last_count = 0;
	int n = 0;
	for (const char *at = strstr(text, name); at; at = strstr(at + 1, name), n++) {
		char *end;
		const double bound = strtod(at + strlen(name), &end), count = strtod(end + 3, NULL);
		assert_true(bound > last_bound && count >= last_count);
		assert_true(count > last_count);
		last_bound = bound;
		last_count = count;
	}
	assert_true(n > 20 && last_bound > 1e300);
	assert_true(value_of(text, "frictiond_request_duration_seconds_count{route=\"/v1/info\"}") == last_count);
	free(text);
}

static void test_gauges(void **state)
{
	(void)state;
	char *text = print();
	assert_true(value_of(text, "frictiond_queue_requests") == 3);
	assert_true(value_of(text, "frictiond_queue_bytes") == 4);
	assert_true(value_of(text, "frictiond_connections") == 5);
	assert_true(value_of(text, "frictiond_threads") == 6);
	assert_true(value_of(text, "frictiond_memory_bytes{kind=\"requests\"}") == 7);
	assert_true(value_of(text, "frictiond_memory_bytes{kind=\"pool\"}") == 8);
	assert_true(value_of(text, "frictiond_memory_limit_bytes") == 9);
	assert_true(value_of(text, "frictiond_draining") == 1);
	assert_non_null(strstr(text, ",instruction_set=\"avx2\"} 1\n"));
	free(text);
}

static void test_sets(void **state)
{
	(void)state;
	char *text = print();
	assert_true(value_of(text, "frictiond_sets") == 10);
	assert_true(value_of(text, "frictiond_sets_bytes") == 11);
	assert_true(value_of(text, "frictiond_sets_created_total") == 12);
	assert_true(value_of(text, "frictiond_sets_replaced_total") == 13);
	assert_true(value_of(text, "frictiond_sets_removed_total") == 14);
	assert_true(value_of(text, "frictiond_sets_hits_total") == 15);
	assert_true(value_of(text, "frictiond_sets_misses_total") == 16);
	assert_true(value_of(text, "frictiond_sets_evictions_total{reason=\"idle\"}") == 17);
	assert_true(value_of(text, "frictiond_sets_evictions_total{reason=\"own_room\"}") == 18);
	assert_true(value_of(text, "frictiond_sets_evictions_total{reason=\"others_room\"}") == 19);
	assert_true(value_of(text, "frictiond_sets_evictions_total{reason=\"equal_share\"}") == 20);
	assert_true(value_of(text, "frictiond_sets_refused_total") == 20);
	assert_true(value_of(text, "frictiond_sets_limit") == 21);
	assert_true(value_of(text, "frictiond_sets_limit_bytes") == 22);
	free(text);
}

/* Without sets their series are absent. */
static void test_no_sets(void **state)
{
	(void)state;
	struct srv_gauges without = gauges;
	without.sets_limit = 0;
	size_t n;
	char *text = srv_metrics_print(&without, &n);
	assert_null(strstr(text, "frictiond_sets"));
	free(text);
}

static void test_process(void **state)
{
	(void)state;
	struct srv_process before, after;
	srv_process_read(&before);
	assert_true(before.start_seconds <= (double)time(NULL) + 1 && before.start_seconds > (double)time(NULL) - 3600);
	assert_true(before.resident_bytes > 100000 && before.virtual_bytes >= before.resident_bytes);
	assert_true(before.n_threads >= 1 && before.n_open_files >= 3 && before.max_open_files >= before.n_open_files);
	uint64_t n_files = 0;
	for (int fd = 0; fd < sysconf(_SC_OPEN_MAX) && fd < 65536; fd++)
		n_files += fcntl(fd, F_GETFD) != -1;
	assert_int_equal(before.n_open_files, n_files);
	const int fd = dup(0);
	prctl(PR_SET_NAME, "a) b (c) 1 2");
	do
		srv_process_read(&after);
	while (after.cpu_seconds == before.cpu_seconds);
	close(fd);
	assert_true(after.cpu_seconds > before.cpu_seconds);
	assert_int_equal(after.n_open_files, before.n_open_files + 1);
	assert_true(after.start_seconds == before.start_seconds && after.n_threads == before.n_threads);
}

enum { N_THREADS = 100, N_ADDITIONS = 1000 };

static void *add_many(void *unused)
{
	for (int i = 0; i < N_ADDITIONS; i++)
		srv_metrics_add(&(struct srv_outcome){
			.match = match_of("/nowhere"), .status = 404, .nanoseconds = 1, .waited_nanoseconds = -1});
	return unused;
}

static void test_threads(void **state)
{
	(void)state;
	pthread_t threads[N_THREADS];
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_many, NULL), 0);
	free(print());
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_true(now("frictiond_requests_total{route=\"other\",status=\"404\"}") == N_THREADS * N_ADDITIONS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_routes),     cmocka_unit_test(test_counts),
		cmocka_unit_test(test_ends),       cmocka_unit_test(test_faults),
		cmocka_unit_test(test_rejections), cmocka_unit_test(test_buckets_are_cumulative),
		cmocka_unit_test(test_gauges),     cmocka_unit_test(test_sets),
		cmocka_unit_test(test_no_sets),    cmocka_unit_test(test_process),
		cmocka_unit_test(test_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
