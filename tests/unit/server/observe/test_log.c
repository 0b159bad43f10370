/* The log on a real descriptor 2: a pipe, a socket, a closed descriptor. */
#include "server/observe/log.h"

#include "server/observe/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 4096 };

/* Copy of the original descriptor 2; reading end of its replacement. */
static int original, reading_end;

static void catch (int writing, int reading)
{
	original = dup(STDERR_FILENO);
	reading_end = reading;
	dup2(writing, STDERR_FILENO);
	close(writing);
}

static void catch_pipe(void)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	catch (ends[1], ends[0]);
}

static void restore(void)
{
	dup2(original, STDERR_FILENO);
	close(original);
	if (reading_end >= 0)
		close(reading_end);
	srv_log_start(SRV_INFO, SRV_LOGFMT); /* closes descriptors opened by the log */
}

/* Reads everything that is available. */
static char *read_all(void)
{
	enum { ROOM = 1 << 20 };
	char *text = malloc(ROOM);
	size_t n = 0;
	fcntl(reading_end, F_SETFL, O_NONBLOCK);
	for (ssize_t got; n < ROOM - 1 && (got = read(reading_end, text + n, ROOM - 1 - n)) > 0;)
		n += (size_t)got;
	text[n] = '\0';
	return text;
}

static const struct srv_access plain = {
	.request_id = "id-1",
	.method = "POST",
	.target = "/v1/evaluate?secret=1",
	.outcome = {.status = 200, .bytes_in = 268, .bytes_out = 250, .nanoseconds = 412000, .waited_nanoseconds = -1},
};

/* Writes an access line, which must be a single one, and returns it. */
static char *line_of(enum srv_log_format format, const struct srv_access *access)
{
	catch_pipe();
	srv_log_start(SRV_INFO, format);
	srv_log_access(access);
	char *line = read_all();
	restore();
	assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
	assert_true(strlen(line) <= MOST);
	return line;
}

static json_t *json_of(const struct srv_access *access)
{
	char *line = line_of(SRV_JSON, access);
	json_error_t error;
	json_t *root = json_loads(line, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("%s: %s", error.text, line);
	free(line);
	return root;
}

static void test_logfmt(void **state)
{
	(void)state;
	char *line = line_of(SRV_LOGFMT, &plain);
	int n = 0;
	assert_int_equal(sscanf(line, "time=%*4d-%*2d-%*2dT%*2d:%*2d:%*2d.%*3dZ%n", &n), 0);
	assert_int_equal(n, 29);
	assert_string_equal(line + n, " level=info request_id=\"id-1\" method=\"POST\" path=\"/v1/evaluate\" status=200"
	                              " bytes_in=268 bytes_out=250 ms=0.412\n");
	free(line);
}

static struct srv_access everything(const struct api_measure *measure, struct srv_trace *trace)
{
	struct srv_access access = plain;
	assert_true(srv_trace_read("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", trace));
	access.outcome.status = 503;
	access.route = "/v1/evaluate";
	access.client = "192.0.2.1";
	access.outcome.waited_nanoseconds = 1002003000;
	access.outcome.measure = measure;
	access.trace = trace;
	access.token = "solver";
	access.rejected = "queue_full";
	access.aborted = "timeout";
	return access;
}

static void test_every_field(void **state)
{
	(void)state;
	const struct api_measure measure = {2, {1499, 2000500, 7, 7}, 42};
	struct srv_trace trace;
	const struct srv_access access = everything(&measure, &trace);
	char expected[512], *line = line_of(SRV_LOGFMT, &access);
	snprintf(
		expected, sizeof expected,
		" level=error request_id=\"id-1\" method=\"POST\" path=\"/v1/evaluate\" status=503"
		" bytes_in=268 bytes_out=250 ms=0.412 route=\"/v1/evaluate\" client=\"192.0.2.1\" waited_ms=1002.003"
		" decode_ms=0.001 prepare_ms=2.001 contacts=42 trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\" span_id=\"%s\""
		" parent_id=\"00f067aa0ba902b7\" token=\"solver\" rejected=\"queue_full\" aborted=\"timeout\"\n",
		trace.span_id);
	assert_string_equal(strstr(line, " level="), expected);
	free(line);
}

static void test_json(void **state)
{
	(void)state;
	const struct api_measure measure = {4, {1000, 2000, 3000, 4000}, 42};
	struct srv_trace trace;
	const struct srv_access access = everything(&measure, &trace);
	json_t *root = json_of(&access);
	const char *level, *id, *method, *path, *route, *client, *token, *rejected, *aborted, *time, *trace_id, *span,
		*parent;
	json_int_t status, in, out, contacts;
	double ms, waited, decode, prepare, evaluate, encode;
	assert_int_equal(json_unpack(root,
	                             "{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:f, s:s, s:s, s:f, s:f, s:f, s:f, s:f,"
	                             " s:I, s:s, s:s, s:s, s:s, s:s, s:s !}",
	                             "time", &time, "level", &level, "request_id", &id, "method", &method, "path", &path,
	                             "status", &status, "bytes_in", &in, "bytes_out", &out, "ms", &ms, "route", &route,
	                             "client", &client, "waited_ms", &waited, "decode_ms", &decode, "prepare_ms", &prepare,
	                             "evaluate_ms", &evaluate, "encode_ms", &encode, "contacts", &contacts, "trace_id",
	                             &trace_id, "span_id", &span, "parent_id", &parent, "token", &token, "rejected",
	                             &rejected, "aborted", &aborted),
	                 0);
	assert_string_equal(path, "/v1/evaluate");
	assert_string_equal(level, "error");
	assert_string_equal(span, trace.span_id);
	assert_true(ms == 0.412 && waited == 1002.003 && encode == 0.004 && status == 503 && contacts == 42);
	json_decref(root);
}

/* The byte's code point in UTF-8, as a JSON reader decodes it. */
static void append_latin(char **out, unsigned char byte)
{
	if (byte >= 0x80)
		*(*out)++ = (char)(0xc0 | byte >> 6);
	*(*out)++ = (char)(byte >= 0x80 ? 0x80 | (byte & 63) : byte);
	**out = '\0';
}

static void test_hostile_bytes(void **state)
{
	(void)state;
	char target[3] = "/", expected[8], *end;
	for (int byte = 1; byte < 256; byte++) {
		struct srv_access access = plain;
		target[1] = (char)byte;
		access.target = target;
		access.method = access.request_id = access.token = target;
		json_t *root = json_of(&access);
		end = expected + 1;
		strcpy(expected, "/");
		append_latin(&end, (unsigned char)byte);
		assert_string_equal(json_string_value(json_object_get(root, "path")), byte == '?' ? "/" : expected);
		assert_string_equal(json_string_value(json_object_get(root, "method")), expected);
		json_decref(root);
		char *line = line_of(SRV_LOGFMT, &access);
		for (const char *c = line; *c != '\n'; c++)
			assert_true(*c >= 0x20 && *c < 0x7f);
		free(line);
	}
}

static void test_long_values(void **state)
{
	(void)state;
	static const char *const fillers[] = {"a", "\x01", "\"", "\xff", "a\x80"};
	for (size_t i = 0; i < sizeof fillers / sizeof fillers[0]; i++) {
		char hostile[20000] = "";
		for (char *end = hostile; end < hostile + sizeof hostile - 4;)
			end = stpcpy(end, fillers[i]);
		const struct api_measure measure = {4, {INT64_MAX / 2, 2, 3, 4}, INT64_MAX};
		struct srv_trace trace;
		struct srv_access access = everything(&measure, &trace);
		access.request_id = access.method = access.target = access.token = hostile;
		access.outcome.bytes_in = access.outcome.bytes_out = INT64_MAX;
		access.outcome.nanoseconds = access.outcome.waited_nanoseconds = INT64_MAX;
		json_t *root = json_of(&access);
		const char *path = json_string_value(json_object_get(root, "path"));
		assert_string_equal(path + strlen(path) - 3, "...");
		assert_true(strlen(path) > 300);
		assert_non_null(json_object_get(root, "aborted"));
		json_decref(root);
		char *line = line_of(SRV_LOGFMT, &access);
		assert_non_null(strstr(line, "...\" status=503"));
		assert_string_equal(line + strlen(line) - strlen("aborted=\"timeout\"\n"), "aborted=\"timeout\"\n");
		free(line);
	}
}

/* A value up to its limit is kept whole; a longer one is cut off and ends in three dots. */
static void test_limits_of_values(void **state)
{
	enum { LONG = 2048 - 6, SHORT = 256 - 6 }; /* targets, and other values, less the room of one escape */
	(void)state;
	char value[LONG + 2];
	for (int more = 0; more < 2; more++) {
		struct srv_access access = plain;
		memset(value, 'a', sizeof value);
		value[LONG + more] = '\0';
		access.target = value;
		json_t *root = json_of(&access);
		const char *path = json_string_value(json_object_get(root, "path"));
		assert_int_equal(strlen(path), LONG + 3 * more);
		assert_string_equal(path + LONG, more ? "..." : "");
		json_decref(root);
		access = plain;
		value[SHORT + more] = '\0';
		access.request_id = value;
		root = json_of(&access);
		const char *id = json_string_value(json_object_get(root, "request_id"));
		assert_int_equal(strlen(id), SHORT + 3 * more);
		assert_string_equal(id + SHORT, more ? "..." : "");
		json_decref(root);
	}
}

/* Escapes are never split. The longest line is a JSON line, and still fits an atomic write to a pipe. */
static void test_limit_of_a_line(void **state)
{
	(void)state;
	char hostile[5000];
	for (size_t n = 0; n < 12; n++) { /* shifts the first escape across the limit */
		const struct api_measure measure = {4, {INT64_MAX / 2, INT64_MAX / 2, INT64_MAX / 2, INT64_MAX / 2}, INT64_MAX};
		struct srv_trace trace;
		struct srv_access access = everything(&measure, &trace);
		memset(hostile, 'a', n);
		memset(hostile + n, '\x01', sizeof hostile - n - 1);
		hostile[sizeof hostile - 1] = '\0';
		access.request_id = access.method = access.target = access.token = hostile;
		json_t *root = json_of(&access); /* also checks the length */
		assert_string_equal(json_string_value(json_object_get(root, "aborted")), "timeout");
		json_decref(root);
	}
}

/* The time of a log line, in seconds of the day. */
static int seconds_of(const char *line)
{
	int hours, minutes, seconds;
	assert_int_equal(sscanf(line, "time=%*4d-%*2d-%*2dT%2d:%2d:%2d.", &hours, &minutes, &seconds), 3);
	return (hours * 60 + minutes) * 60 + seconds;
}

static time_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	return time.tv_sec;
}

static void test_the_clock(void **state)
{
	(void)state;
	enum { DAY = 86400 };
	for (int i = 0; i < 2; i++) {
		const time_t before = now();
		char *line = line_of(SRV_LOGFMT, &plain);
		const time_t after = now();
		assert_true((seconds_of(line) - before % DAY + DAY) % DAY <= after - before);
		free(line);
		while (i == 0 && now() == after)
			usleep(10000);
	}
}

static void test_levels(void **state)
{
	(void)state;
	for (int status = 499; status < 502; status++) {
		struct srv_access access = plain;
		access.outcome.status = status;
		char *line = line_of(SRV_LOGFMT, &access);
		assert_int_equal(strstr(line, "level=error") != NULL, status >= 500);
		free(line);
	}
}

static void test_messages(void **state)
{
	(void)state;
	catch_pipe();
	srv_log_start(SRV_INFO, SRV_JSON);
	srv_log(SRV_DEBUG, "unheard");
	srv_log(SRV_INFO, "heard");
	char *heard = read_all();
	assert_non_null(strstr(heard, "\"level\":\"info\",\"msg\":\"heard\"}\n"));
	assert_null(strstr(heard, "unheard"));
	free(heard);
	srv_log(SRV_ERROR, "cannot open \"%s\"\n", "a\tb");
	char *line = read_all();
	restore();
	json_t *root = json_loads(line, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(root, "msg")), "cannot open \"a\tb\"\n");
	assert_string_equal(json_string_value(json_object_get(root, "level")), "error");
	json_decref(root);
	free(line);
}

/* Logs until the pipe is full; once there is room, a single line must report the number of dropped ones. */
static void fill_and_drain(void)
{
	srv_log_start(SRV_INFO, SRV_LOGFMT);
	const unsigned long long before = srv_log_dropped();
	for (int i = 0; i < 1000000 && srv_log_dropped() < before + 3; i++)
		srv_log_access(&plain);
	assert_int_equal(srv_log_dropped(), before + 3);
	char *text = read_all();
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_null(strstr(text, "dropped"));
	free(text);
	srv_log_access(&plain);
	srv_log_access(&plain);
	text = read_all();
	const char *second = strchr(text, '\n') + 1;
	assert_non_null(strstr(text, "dropped"));
	assert_true(strstr(text, " lines=3\n") < second);
	assert_null(strstr(second, "dropped"));
	assert_int_equal(srv_log_dropped(), before + 3);
	free(text);
	restore();
}

static void test_full_pipe(void **state)
{
	(void)state;
	catch_pipe();
	fill_and_drain();
}

/* In a container, standard error may belong to another user, and then its pipe cannot be reopened. */
static int fill_as_nobody(void)
{
	if (fchmod(STDERR_FILENO, 0) != 0 || (geteuid() == 0 && setuid(65534) != 0))
		return 1;
	srv_log_start(SRV_INFO, SRV_LOGFMT);
	const unsigned long long before = srv_log_dropped();
	for (int i = 0; i < 1000000 && srv_log_dropped() < before + 3; i++)
		srv_log_access(&plain);
	char *text = read_all();
	const bool whole = text[strlen(text) - 1] == '\n' && !strstr(text, "dropped");
	srv_log_access(&plain);
	char *rest = read_all();
	return whole && srv_log_dropped() == before + 3 && strstr(rest, " lines=3\n") ? 0 : 2;
}

static void test_full_pipe_of_another_user(void **state)
{
	(void)state;
	int status = -1;
	catch_pipe();
	const pid_t child = fork();
	if (child == 0)
		_exit(fill_as_nobody());
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	restore();
	assert_int_equal(status, 0);
}

static void test_full_socket(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	catch (ends[1], ends[0]);
	fill_and_drain();
}

static void test_a_closed_pipe(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN); /* as main does */
	catch_pipe();
	srv_log_start(SRV_INFO, SRV_LOGFMT);
	close(reading_end);
	reading_end = -1;
	const unsigned long long before = srv_log_dropped();
	srv_log_access(&plain);
	srv_log(SRV_ERROR, "lost");
	assert_int_equal(srv_log_dropped(), before + 2);
	restore();
	signal(SIGPIPE, SIG_DFL);
}

static void test_full_disk(void **state)
{
	(void)state;
	const int full = open("/dev/full", O_WRONLY);
	assert_true(full >= 0);
	catch (full, -1);
	srv_log_start(SRV_INFO, SRV_LOGFMT);
	const unsigned long long before = srv_log_dropped();
	srv_log_access(&plain);
	assert_int_equal(srv_log_dropped(), before + 1);
	restore();
}

enum { N_THREADS = 4, N_LINES = 100 };

static void *write_lines(void *unused)
{
	for (int i = 0; i < N_LINES; i++)
		srv_log_access(&plain);
	return unused;
}

static void test_threads(void **state)
{
	(void)state;
	pthread_t threads[N_THREADS];
	catch_pipe();
	srv_log_start(SRV_INFO, SRV_LOGFMT);
	fcntl(STDERR_FILENO, F_SETPIPE_SZ, 1 << 20);
	srv_log_access(&plain); /* reports lines dropped by earlier tests */
	free(read_all());
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, write_lines, NULL);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	char *text = read_all();
	restore();
	int n = 0;
	for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), n++) {
		assert_int_equal(strncmp(line, "time=", 5), 0);
		assert_string_equal(strstr(line, " ms="), " ms=0.412");
	}
	assert_int_equal(n, N_THREADS * N_LINES);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logfmt),
		cmocka_unit_test(test_every_field),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_hostile_bytes),
		cmocka_unit_test(test_long_values),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_the_clock),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_limits_of_values),
		cmocka_unit_test(test_limit_of_a_line),
		cmocka_unit_test(test_full_pipe),
		cmocka_unit_test(test_full_socket),
		cmocka_unit_test(test_full_pipe_of_another_user),
		cmocka_unit_test(test_a_closed_pipe),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
