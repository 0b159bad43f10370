#include "server/observe/metrics.h"

#include "api/routes/table.h"
#include "core/fric.h"
#include "server/observe/process.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rejections[SRV_N_REJECTIONS] = {
	NULL,   "queue_full", "memory",       "draining",  "connections", "deadline",
	"slow", "not_taken",  "unauthorized", "forbidden", "misdirected",
};
static const char *const phases[API_N_PHASES] = {"decode", "prepare", "evaluate", "encode"};

/* 0 stands for no response; the last entry covers all other statuses. */
static const int statuses[] = {200, 201, 204, 304, 400, 401, 403, 404, 405, 406, 408, 411, 412, 413,
                               414, 415, 417, 421, 422, 429, 431, 500, 501, 503, 505, 0,   -1};
enum { N_STATUSES = sizeof statuses / sizeof statuses[0] };

/* Upper bounds of the buckets; one more bucket covers the rest. */
static const struct {
	int64_t nanoseconds;
	const char *seconds;
} bounds[] = {
	{10000, "0.00001"},    {25000, "0.000025"},   {50000, "0.00005"},  {100000, "0.0001"},  {250000, "0.00025"},
	{500000, "0.0005"},    {1000000, "0.001"},    {2500000, "0.0025"}, {5000000, "0.005"},  {10000000, "0.01"},
	{25000000, "0.025"},   {50000000, "0.05"},    {100000000, "0.1"},  {250000000, "0.25"}, {500000000, "0.5"},
	{1000000000, "1"},     {2500000000, "2.5"},   {5000000000, "5"},   {10000000000, "10"}, {30000000000, "30"},
	{100000000000, "100"}, {300000000000, "300"},
};
enum { N_BUCKETS = sizeof bounds / sizeof bounds[0] + 1 };

struct histogram {
	atomic_uint_fast64_t buckets[N_BUCKETS]; /* not cumulative */
	atomic_uint_fast64_t nanoseconds;
};

enum { MOST_ROUTES = API_MAX_ROUTES + 1 }; /* the one after the table's rows is "other" */

/* One set of counters to which threads add; a few threads may share it. */
enum { N_SHARDS = 64 };
struct shard {
	_Alignas(64) atomic_uint_fast64_t requests[MOST_ROUTES][N_STATUSES];
	struct histogram durations[MOST_ROUTES], phases[API_N_PHASES], waits;
	atomic_uint_fast64_t rejected[SRV_N_REJECTIONS];
	atomic_uint_fast64_t contacts, bytes_in, bytes_out;
};
static struct shard shards[N_SHARDS];

/* ---- labels ---- */

static const char *name_of(int route)
{
	return route < api_routes.n ? api_routes.rows[route].path : "other";
}

static int number_of(const struct api_match *match)
{
	return match->is_plain ? (int)(match->route - api_routes.rows) : api_routes.n;
}

const char *srv_route_name(const struct api_match *match)
{
	return name_of(number_of(match));
}

const char *srv_rejection_name(enum srv_rejection rejection)
{
	return rejections[rejection];
}

static void name_status(int status, char name[16])
{
	if (status > 0)
		snprintf(name, 16, "%d", status);
	else
		strcpy(name, status == 0 ? "none" : "other");
}

static int place_of(int status)
{
	int place = 0;
	while (place < N_STATUSES - 1 && statuses[place] != status)
		place++;
	return place;
}

/* ---- adding ---- */

static struct shard *mine(void)
{
	static atomic_uint n_threads;
	static _Thread_local struct shard *shard;
	if (!shard)
		shard = &shards[atomic_fetch_add(&n_threads, 1) % N_SHARDS];
	return shard;
}

static void add(atomic_uint_fast64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static void observe(struct histogram *histogram, int64_t nanoseconds)
{
	int bucket = 0;
	while (bucket < N_BUCKETS - 1 && nanoseconds > bounds[bucket].nanoseconds)
		bucket++;
	add(&histogram->buckets[bucket], 1);
	add(&histogram->nanoseconds, nanoseconds > 0 ? (uint64_t)nanoseconds : 0);
}

static void add_measure(struct shard *shard, const struct api_measure *measure)
{
	for (int phase = 0; phase < measure->n_phases; phase++)
		observe(&shard->phases[phase], measure->phase_nanoseconds[phase]);
	if (measure->n_contacts)
		add(&shard->contacts, measure->n_contacts);
}

void srv_metrics_add(const struct srv_outcome *outcome)
{
	struct shard *shard = mine();
	const int route = number_of(outcome->match);
	add(&shard->requests[route][place_of(outcome->status)], 1);
	observe(&shard->durations[route], outcome->nanoseconds);
	if (outcome->waited_nanoseconds >= 0)
		observe(&shard->waits, outcome->waited_nanoseconds);
	if (outcome->bytes_in)
		add(&shard->bytes_in, outcome->bytes_in);
	if (outcome->bytes_out)
		add(&shard->bytes_out, outcome->bytes_out);
	if (outcome->measure)
		add_measure(shard, outcome->measure);
	if (outcome->rejection != SRV_NOT_REJECTED)
		add(&shard->rejected[outcome->rejection], 1);
}

/* ---- printing ---- */

const char srv_metrics_type[] = "text/plain; version=0.0.4; charset=utf-8";

/* Sums the counter at this offset over all shards. */
static uint64_t sum_at(size_t offset)
{
	uint64_t sum = 0;
	for (int i = 0; i < N_SHARDS; i++)
		sum += atomic_load((atomic_uint_fast64_t *)(void *)((char *)&shards[i] + offset));
	return sum;
}

static size_t offset_of(const void *member)
{
	return (size_t)((const char *)member - (const char *)&shards[0]);
}

static void print_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_count(FILE *out, const char *name, const char *type, const char *help, uint64_t value)
{
	print_head(out, name, type, help);
	fprintf(out, "%s %" PRIu64 "\n", name, value);
}

static void print_real(FILE *out, const char *name, const char *type, const char *help, double value)
{
	print_head(out, name, type, help);
	fprintf(out, "%s %.3f\n", name, value);
}

/* Series used by alerts exist from the start, because Prometheus sees no increase in a series that begins at one. */
static bool is_expected(int route, int status)
{
	return route < api_routes.n && (status == 200 || status == 500 || status == 503);
}

static void print_requests(FILE *out)
{
	static const char name[] = "frictiond_requests_total";
	print_head(out, name, "counter", "Requests by route and status of the answer; none: no answer was sent.");
	for (int route = 0; route <= api_routes.n; route++) {
		for (int i = 0; i < N_STATUSES; i++) {
			const uint64_t n = sum_at(offset_of(&shards[0].requests[route][i]));
			char status[16];
			name_status(statuses[i], status);
			if (n > 0 || is_expected(route, statuses[i]))
				fprintf(out, "%s{route=\"%s\",status=\"%s\"} %" PRIu64 "\n", name, name_of(route), status, n);
		}
	}
}

/* Prints a histogram. label: "" or 'name="value"'. The count is the sum of the buckets, so that they agree despite
 * concurrent additions. */
static void print_histogram(FILE *out, const char *name, const char *label, const struct histogram *histogram)
{
	const char *comma = *label ? "," : "", *open = *label ? "{" : "", *close = *label ? "}" : "";
	uint64_t n = 0;
	for (int i = 0; i < N_BUCKETS; i++) {
		n += sum_at(offset_of(&histogram->buckets[i]));
		fprintf(out, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", name, label, comma,
		        i < N_BUCKETS - 1 ? bounds[i].seconds : "+Inf", n);
	}
	const uint64_t nanoseconds = sum_at(offset_of(&histogram->nanoseconds));
	fprintf(out, "%s_sum%s%s%s %" PRIu64 ".%09" PRIu64 "\n", name, open, label, close, nanoseconds / 1000000000,
	        nanoseconds % 1000000000);
	fprintf(out, "%s_count%s%s%s %" PRIu64 "\n", name, open, label, close, n);
}

static void print_histograms(FILE *out, const char *name, const char *label, const char *const values[], int n,
                             const struct histogram histograms[], const char *help)
{
	print_head(out, name, "histogram", help);
	for (int i = 0; i < n; i++) {
		char text[64];
		snprintf(text, sizeof text, "%s=\"%s\"", label, values[i]);
		print_histogram(out, name, text, &histograms[i]);
	}
}

static void print_durations(FILE *out)
{
	const char *routes[MOST_ROUTES];
	for (int route = 0; route <= api_routes.n; route++)
		routes[route] = name_of(route);
	print_histograms(out, "frictiond_request_duration_seconds", "route", routes, api_routes.n + 1, shards[0].durations,
	                 "Time from the first line of a request to the last byte of its answer.");
	print_histograms(out, "frictiond_phase_duration_seconds", "phase", phases, API_N_PHASES, shards[0].phases,
	                 "Time that evaluations spent in each phase, as in Server-Timing.");
	print_head(out, "frictiond_queue_wait_seconds", "histogram", "Time that large requests waited for their turn.");
	print_histogram(out, "frictiond_queue_wait_seconds", "", &shards[0].waits);
}

static void print_sums(FILE *out)
{
	print_count(out, "frictiond_contacts_total", "counter", "Contacts of completed evaluations.",
	            sum_at(offset_of(&shards[0].contacts)));
	print_count(out, "frictiond_request_bytes_total", "counter", "Bytes of the bodies of requests.",
	            sum_at(offset_of(&shards[0].bytes_in)));
	print_count(out, "frictiond_response_bytes_total", "counter", "Bytes of the bodies of answers.",
	            sum_at(offset_of(&shards[0].bytes_out)));
	print_count(out, "frictiond_log_lines_dropped_total", "counter",
	            "Lines of the log that could not be written at once.", srv_log_dropped());
	print_head(out, "frictiond_rejected_total", "counter",
	           "Requests and connections rejected for the server's state or policy, not for their contents.");
	for (int i = SRV_NOT_REJECTED + 1; i < SRV_N_REJECTIONS; i++)
		fprintf(out, "frictiond_rejected_total{reason=\"%s\"} %" PRIu64 "\n", rejections[i],
		        sum_at(offset_of(&shards[0].rejected[i])));
}

static void print_memory(FILE *out, const struct srv_gauges *gauges, const struct srv_process *process)
{
	static const char name[] = "frictiond_memory_bytes";
	print_head(out, name, "gauge",
	           "Memory that requests and collision sets hold, that is kept warm, and of the whole process.");
	fprintf(out, "%s{kind=\"requests\"} %" PRIu64 "\n", name, gauges->memory_requests_bytes);
	fprintf(out, "%s{kind=\"pool\"} %" PRIu64 "\n", name, gauges->memory_pool_bytes);
	fprintf(out, "%s{kind=\"resident\"} %" PRIu64 "\n", name, process->resident_bytes);
	if (gauges->memory_limit_bytes)
		print_count(out, "frictiond_memory_limit_bytes", "gauge",
		            "Limit on the memory of all requests and sets together.", gauges->memory_limit_bytes);
}

static void print_evictions(FILE *out, const struct api_sets_counts *sets)
{
	static const char *const reasons[API_N_EVICTIONS] = {"idle", "own_room", "others_room", "equal_share"};
	print_head(
		out, "frictiond_sets_evictions_total", "counter",
		"Collision sets that were forgotten: unused for too long, or for a new set of the same caller or of another.");
	for (int i = 0; i < API_N_EVICTIONS; i++)
		fprintf(out, "frictiond_sets_evictions_total{reason=\"%s\"} %" PRIu64 "\n", reasons[i], sets->n_evicted[i]);
}

static void print_sets(FILE *out, const struct srv_gauges *gauges)
{
	const struct api_sets_counts *sets = &gauges->sets;
	if (gauges->sets_limit == 0)
		return;
	print_count(out, "frictiond_sets", "gauge", "Collision sets.", sets->n);
	print_count(out, "frictiond_sets_limit", "gauge", "Limit on the number of collision sets.", gauges->sets_limit);
	print_count(out, "frictiond_sets_bytes", "gauge",
	            "Memory of collision sets, forgotten ones that a request still uses included.", sets->bytes);
	print_count(out, "frictiond_sets_limit_bytes", "gauge", "Limit on the memory of all collision sets together.",
	            gauges->sets_limit_bytes);
	print_count(out, "frictiond_sets_created_total", "counter", "Collision sets that were put under a free name.",
	            sets->n_created);
	print_count(out, "frictiond_sets_replaced_total", "counter", "Collision sets that took the place of another.",
	            sets->n_replaced);
	print_count(out, "frictiond_sets_removed_total", "counter", "Collision sets that a client deleted.",
	            sets->n_removed);
	print_count(out, "frictiond_sets_hits_total", "counter", "Requests that found the collision set that they use.",
	            sets->n_hits);
	print_count(out, "frictiond_sets_misses_total", "counter",
	            "Requests that did not find the collision set that they use.", sets->n_misses);
	print_evictions(out, sets);
	print_count(out, "frictiond_sets_refused_total", "counter",
	            "Collision sets, and patterns of one, for which there was no room.", sets->n_refused);
}

static void print_state(FILE *out, const struct srv_gauges *gauges)
{
	print_count(out, "frictiond_queue_requests", "gauge", "Large requests that wait for their turn.",
	            gauges->queue_requests);
	print_count(out, "frictiond_queue_bytes", "gauge", "Bytes of the bodies of large requests.", gauges->queue_bytes);
	print_count(out, "frictiond_connections", "gauge", "Open connections.", gauges->connections);
	print_count(out, "frictiond_threads", "gauge", "Threads of a large evaluation.", gauges->threads);
	print_count(out, "frictiond_draining", "gauge", "1 while the server is about to stop.", gauges->draining);
	print_head(out, "frictiond_build_info", "gauge", "1; the labels are the version and the inner loops in use.");
	fprintf(out, "frictiond_build_info{version=\"" FRIC_VERSION "\",instruction_set=\"%s\"} 1\n",
	        gauges->instruction_set);
}

static void print_process(FILE *out, const struct srv_process *process)
{
	print_real(out, "process_cpu_seconds_total", "counter", "CPU time in user and system mode.", process->cpu_seconds);
	print_real(out, "process_start_time_seconds", "gauge", "When the process began, in seconds since 1970.",
	           process->start_seconds);
	print_count(out, "process_resident_memory_bytes", "gauge", "Memory in use.", process->resident_bytes);
	print_count(out, "process_virtual_memory_bytes", "gauge", "Address space in use.", process->virtual_bytes);
	print_count(out, "process_open_fds", "gauge", "Open files and connections.", process->n_open_files);
	print_count(out, "process_max_fds", "gauge", "Limit on open files.", process->max_open_files);
	print_count(out, "process_threads", "gauge", "Threads of the process.", process->n_threads);
}

char *srv_metrics_print(const struct srv_gauges *gauges, size_t *bytes)
{
	struct srv_process process;
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes);
	if (!out)
		return NULL;
	srv_process_read(&process);
	print_requests(out);
	print_durations(out);
	print_sums(out);
	print_memory(out, gauges, &process);
	print_sets(out, gauges);
	print_state(out, gauges);
	print_process(out, &process);
	const bool failed = ferror(out);
	if (fclose(out) == 0 && !failed)
		return text;
	free(text);
	return NULL;
}
