#include "server/settings/read.h"
#include "api/base/resources.h"
#include "server/base/descriptors.h"

#include "server/observe/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_ARGUMENTS = 8 };

struct reading {
	struct srv_options options;
	enum srv_start start;
	char *out, *err;
};

/* The arguments follow the program's name, and end with NULL. */
static struct reading read_options(const char *first, ...)
{
	const char *argv[MAX_ARGUMENTS + 2] = {"frictiond"};
	int argc = 1;
	va_list arguments;
	va_start(arguments, first);
	for (const char *argument = first; argument && argc <= MAX_ARGUMENTS; argument = va_arg(arguments, const char *))
		argv[argc++] = argument;
	va_end(arguments);
	struct reading reading;
	size_t n;
	FILE *out = open_memstream(&reading.out, &n), *err = open_memstream(&reading.err, &n);
	reading.start = srv_options_read(argc, (char *const *)(uintptr_t)argv, &reading.options, out, err);
	fclose(out);
	fclose(err);
	return reading;
}

static void forget(struct reading *reading)
{
	if (reading->start == SRV_START)
		srv_options_free(&reading->options);
	free(reading->out);
	free(reading->err);
}

static void refuses(const char *argument, const char *culprit)
{
	struct reading reading = read_options(argument, NULL);
	assert_int_equal(reading.start, SRV_EXIT_BAD);
	assert_string_equal(reading.out, "");
	assert_non_null(strstr(reading.err, culprit));
	assert_ptr_equal(strchr(reading.err, '\n'), reading.err + strlen(reading.err) - 1);
	forget(&reading);
}

static void accepts_bytes(const char *text, long long bytes)
{
	struct reading reading = read_options("--max-json-bytes", text, NULL);
	assert_int_equal(reading.start, SRV_START);
	assert_int_equal(reading.options.max_json_bytes, bytes);
	forget(&reading);
}

static void test_defaults(void **state)
{
	(void)state;
	struct reading reading = read_options(NULL);
	assert_int_equal(reading.start, SRV_START);
	assert_string_equal(reading.options.host, "127.0.0.1");
	assert_int_equal(reading.options.port, 8080);
	assert_int_equal(reading.options.max_json_bytes, 256LL << 20);
	assert_int_equal(reading.options.max_answer_bytes, 4LL << 30);
	const long long available = srv_available_connections(api_available_cpus());
	assert_int_equal(reading.options.connections, available < 1024 ? available : 1024);
	assert_int_equal(reading.options.drain_seconds, 30);
	assert_int_equal(reading.options.log_level, SRV_INFO);
	assert_null(reading.options.gate.tokens);
	assert_null(reading.options.gate.tls_cert);
	assert_null(reading.options.gate.allow_origin);
	assert_null(reading.options.gate.allow_host);
	assert_int_equal(reading.options.gate.anonymous, 0);
	assert_true(reading.options.threads >= 1);
	assert_true(reading.options.io_threads >= 1);
	assert_int_equal(reading.options.max_frame_bytes, 1LL << 30);
	assert_int_equal(reading.options.queue_bytes, 4 * reading.options.max_json_bytes);
	forget(&reading);
}

static void test_ports(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		long long port;
	} cases[] = {{"none", -1}, {"0", 0}, {"65535", 65535}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct reading reading = read_options("--port", cases[i].text, NULL);
		assert_int_equal(reading.start, SRV_START);
		assert_int_equal(reading.options.port, cases[i].port);
		forget(&reading);
	}
	refuses("--port=-1", "--port: '-1' is not a whole number in the range 0 to 65535, or none");
	refuses("--port=None", "or none");
	refuses("--threads=none", "--threads: 'none'");
}

static void accepts_mode(const char *text, long long mode)
{
	struct reading reading = read_options("--unix=/run/socket", text, NULL);
	assert_int_equal(reading.start, SRV_START);
	assert_string_equal(reading.options.unix_path, "/run/socket");
	assert_int_equal(reading.options.unix_mode, mode);
	forget(&reading);
}

static void test_unix_domain_sockets(void **state)
{
	(void)state;
	char longest[128] = "--unix=";
	struct reading reading = read_options(NULL);
	assert_null(reading.options.unix_path);
	assert_int_equal(reading.options.unix_mode, 0600);
	forget(&reading);
	accepts_mode("--unix-mode=0660", 0660);
	accepts_mode("--unix-mode=666", 0666);
	accepts_mode("--unix-mode=0", 0);
	refuses("--unix-mode=01000", "--unix-mode: '01000' is not an octal mode in the range 0 to 0777");
	refuses("--unix-mode=0680", "--unix-mode: '0680'");
	refuses("--unix-mode=u+w", "--unix-mode: 'u+w'");
	refuses("--unix-mode=", "--unix-mode: ''");
	refuses("--unix-mode=4294967296000000000", "--unix-mode");
	memset(longest + 7, 'a', 108);
	refuses(longest, "has 108 bytes; the path of a socket has at most 107");
	longest[7 + 107] = '\0';
	reading = read_options(longest, "--print-config", NULL);
	assert_int_equal(reading.start, SRV_EXIT_OK);
	assert_non_null(strstr(reading.out, "\nunix-mode = 0600\n"));
	forget(&reading);
	reading = read_options("--port=none", "--print-config", NULL);
	assert_non_null(strstr(reading.out, "\nport = none\n"));
	forget(&reading);
}

/* There are never more threads than connections. */
static void test_io_threads(void **state)
{
	(void)state;
	static const struct {
		const char *connections, *io_threads;
		long long expected;
	} cases[] = {{"2", "8", 2}, {"8", "8", 8}, {"8", "2", 2}, {"1", "256", 1}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct reading reading =
			read_options("--connections", cases[i].connections, "--io-threads", cases[i].io_threads, NULL);
		assert_int_equal(reading.start, SRV_START);
		assert_int_equal(reading.options.io_threads, cases[i].expected);
		forget(&reading);
	}
}

/* The queue always has room for the longest body of either format. */
static void test_bytes_of_the_queue(void **state)
{
	(void)state;
	static const struct {
		const char *json, *frame, *queue;
		long long frame_bytes, queue_bytes;
	} cases[] = {
		{"256M", NULL, NULL, 1LL << 30, 1LL << 30}, {"1M", NULL, NULL, 1LL << 30, 1LL << 30},
		{"512M", NULL, NULL, 1LL << 30, 2LL << 30}, {"1M", "2M", NULL, 2LL << 20, 4LL << 20},
		{"1M", "3G", NULL, 3LL << 30, 3LL << 30},   {"1M", NULL, "1M", 1LL << 20, 1LL << 20},
		{"1M", NULL, "3G", 1LL << 30, 3LL << 30},   {"1M", "2M", "2M", 2LL << 20, 2LL << 20},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *frame = cases[i].frame ? "--max-frame-bytes" : NULL,
				   *queue = cases[i].queue ? "--queue-bytes" : NULL;
		struct reading reading =
			frame ? read_options("--max-json-bytes", cases[i].json, frame, cases[i].frame, queue, cases[i].queue, NULL)
				  : read_options("--max-json-bytes", cases[i].json, queue, cases[i].queue, NULL);
		assert_int_equal(reading.start, SRV_START);
		assert_int_equal(reading.options.max_frame_bytes, cases[i].frame_bytes);
		assert_int_equal(reading.options.queue_bytes, cases[i].queue_bytes);
		forget(&reading);
	}
}

/* The limit on sets is part of the memory, and a caller's share is part of that limit. */
static void test_bytes_of_sets(void **state)
{
	(void)state;
	static const struct {
		const char *options[3];
		long long all, share;
	} cases[] = {
		{{"--memory-bytes=16M"}, 8 << 20, 8 << 20},
		{{"--memory-bytes=16M", "--tokens=file"}, 8 << 20, 4 << 20},
		{{"--memory-bytes=16M", "--set-bytes=16M"}, 16 << 20, 16 << 20},
		{{"--memory-bytes=16M", "--set-bytes=1M", "--tokens=file"}, 1 << 20, 1 << 19},
		{{"--memory-bytes=16M", "--set-bytes=1", "--tokens=file"}, 1, 1},
		{{"--memory-bytes=16M", "--set-bytes-per-caller=8M"}, 8 << 20, 8 << 20},
		{{"--memory-bytes=16M", "--set-bytes-per-caller=8M", "--tokens=file"}, 8 << 20, 8 << 20},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *const *o = cases[i].options;
		struct reading reading = read_options(o[0], o[1], o[1] ? o[2] : NULL, NULL);
		assert_int_equal(reading.start, SRV_START);
		assert_int_equal(reading.options.set_bytes, cases[i].all);
		assert_int_equal(reading.options.set_bytes_per_caller, cases[i].share);
		assert_int_equal(reading.options.sets, 1024);
		assert_int_equal(reading.options.set_idle_seconds, 900);
		forget(&reading);
	}
	refuses("--sets-per-caller=1025", "--sets-per-caller: 1025 is more than --sets, 1024");
	refuses("--sets-per-caller=0", "1 to 65536");
	refuses("--set-bytes=1024G", "--set-bytes: 1099511627776 is more than --memory-bytes");
	refuses("--set-bytes-per-caller=1024G", "--set-bytes-per-caller: 1099511627776 is more than --set-bytes");
	refuses("--set-bytes=0", "--set-bytes: '0'");
	refuses("--sets=65537", "1 to 65536");
	refuses("--sets=0", "1 to 65536");
	refuses("--set-idle-seconds=0", "1 to 86400");
}

static void shares_the_number_of_sets(void **state)
{
	(void)state;
	static const struct {
		const char *options[3];
		long long all, share;
	} cases[] = {
		{{"--set-bytes=1M"}, 1024, 1024},
		{{"--tokens=file"}, 1024, 512},
		{{"--sets=7", "--tokens=file"}, 7, 3},
		{{"--sets=1", "--tokens=file"}, 1, 1},
		{{"--sets=7"}, 7, 7},
		{{"--sets=7", "--sets-per-caller=5"}, 7, 5},
		{{"--sets=7", "--sets-per-caller=7", "--tokens=file"}, 7, 7},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *const *o = cases[i].options;
		struct reading reading = read_options(o[0], o[1], o[1] ? o[2] : NULL, NULL);
		assert_int_equal(reading.start, SRV_START);
		assert_int_equal(reading.options.sets, cases[i].all);
		assert_int_equal(reading.options.sets_per_caller, cases[i].share);
		forget(&reading);
	}
}

static void test_both_forms(void **state)
{
	(void)state;
	struct reading reading = read_options("--port", "80", "--host=::1", "--log-level", "debug", "--threads=3", NULL);
	assert_int_equal(reading.start, SRV_START);
	assert_int_equal(reading.options.port, 80);
	assert_string_equal(reading.options.host, "::1");
	assert_int_equal(reading.options.log_level, SRV_DEBUG);
	assert_int_equal(reading.options.threads, 3);
	forget(&reading);
	reading = read_options("--port=1", "--port", "2", NULL);
	assert_int_equal(reading.options.port, 2);
	forget(&reading);
}

static void test_bytes(void **state)
{
	(void)state;
	accepts_bytes("1", 1);
	accepts_bytes("1K", 1024);
	accepts_bytes("3m", 3LL << 20);
	accepts_bytes("64G", 64LL << 30);
	refuses("--max-json-bytes=65G", "'65G'");
	refuses("--max-json-bytes=0", "'0'");
	refuses("--max-json-bytes=K", "'K'");
	refuses("--max-json-bytes=1KB", "'1KB'");
	refuses("--max-json-bytes=1.5M", "'1.5M'");
	refuses("--max-json-bytes=99999999999999999999", "'99999999999999999999'");
	refuses("--max-json-bytes=999999999999999999G", "'999999999999999999G'");
	refuses("--max-json-bytes=17179869185G", "'17179869185G'"); /* 2^64 and a GiB, which would wrap to one */
}

static void test_refusals(void **state)
{
	(void)state;
	refuses("--bogus", "'--bogus'");
	refuses("--por", "'--por'");
	refuses("--ports=1", "'--ports=1'");
	refuses("-p", "'-p'");
	refuses("port", "'port'");
	refuses("", "''");
	refuses("--port", "--port needs a value");
	refuses("--port=", "--port: ''");
	refuses("--port= 80", "--port: ' 80'");
	refuses("--port=+80", "--port: '+80'");
	refuses("--port=65536", "0 to 65535");
	refuses("--threads=1K", "'1K'");
	refuses("--host=", "--host");
	refuses("--log-level=info ", "error, warning, info, debug");
	refuses("--queue-bytes=1M", "--max-json-bytes");
	refuses("--tokens=", "--tokens: '' is not a text");
	refuses("--anonymous=maybe", "no, yes");
	refuses("--tls-cert=a.crt", "--tls-cert needs --tls-key");
	refuses("--tls-key=a.key", "--tls-key needs --tls-cert");
	refuses("--allow-origin=https://a.example,https://b/", "'https://b/' is not an origin");
	refuses("--allow-host=a.example,https://b", "--allow-host: 'https://b' is not a name or an address");
	refuses("--allow-host=*", "--allow-host: '*' is not a name");
	refuses("--allow-host=,", "--allow-host: '' is not a name");
	struct reading reading = read_options("--queue-bytes=512M", "--max-frame-bytes=513M", NULL);
	assert_int_equal(reading.start, SRV_EXIT_BAD);
	assert_non_null(strstr(reading.err, "--max-frame-bytes 537919488"));
	forget(&reading);
}

static void test_environment(void **state)
{
	(void)state;
	setenv("FRICTIOND_PORT", "81", 1);
	setenv("FRICTIOND_MAX_JSON_BYTES", "1M", 1);
	setenv("FRICTIOND_THREADS", "", 1);
	struct reading reading = read_options("--max-json-bytes", "2M", NULL);
	assert_int_equal(reading.start, SRV_START);
	assert_int_equal(reading.options.port, 81);
	assert_int_equal(reading.options.max_json_bytes, 2 << 20);
	assert_true(reading.options.threads >= 1);
	forget(&reading);
	setenv("FRICTIOND_PORT", "tcp://10.0.0.1:80", 1);
	refuses("--threads=1", "FRICTIOND_PORT: 'tcp://10.0.0.1:80'");
	refuses("--threads=1", "enableServiceLinks");
	reading = read_options("--port=1", NULL);
	assert_int_equal(reading.start, SRV_START);
	forget(&reading);
	unsetenv("FRICTIOND_PORT");
	unsetenv("FRICTIOND_MAX_JSON_BYTES");
	unsetenv("FRICTIOND_THREADS");
}

static void test_queries(void **state)
{
	(void)state;
	const char *const queries[] = {"--help", "--version", "--print-options-markdown", "--print-config",
	                               "--print-openapi"};
	const char *const words[] = {"FRICTIOND_MAX_JSON_BYTES", "frictiond ", "| `--max-json-bytes BYTES` |", "port = 1\n",
	                             "{\"openapi\":\"3.1.0\","};
	for (int i = 0; i < 5; i++) {
		struct reading reading = read_options("--port=1", queries[i], NULL);
		assert_int_equal(reading.start, SRV_EXIT_OK);
		assert_string_equal(reading.err, "");
		assert_non_null(strstr(reading.out, words[i]));
		forget(&reading);
	}
}

static char config[] = "/tmp/test_options.XXXXXX";

static int make_config(void **state)
{
	(void)state;
	const int fd = mkstemp(config);
	return fd < 0 ? -1 : close(fd);
}

static int remove_config(void **state)
{
	(void)state;
	return unlink(config);
}

static void write_config(const char *text)
{
	FILE *file = fopen(config, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void test_file(void **state)
{
	(void)state;
	write_config("# ours\n\nhost = ::1\nport = 90\nqueue-requests = 7\nmax-json-bytes = 2M\nlog-format = json\n");
	setenv("FRICTIOND_QUEUE_REQUESTS", "8", 1);
	setenv("FRICTIOND_LOG_LEVEL", "debug", 1);
	struct reading reading = read_options("--port", "91", "--config", config, NULL);
	assert_int_equal(reading.start, SRV_START);
	assert_string_equal(reading.options.host, "::1");    /* file before default */
	assert_int_equal(reading.options.queue_requests, 8); /* environment before file */
	assert_int_equal(reading.options.port, 91);          /* flag before file */
	assert_int_equal(reading.options.max_json_bytes, 2 << 20);
	assert_int_equal(reading.options.log_format, SRV_JSON);
	assert_int_equal(reading.options.log_level, SRV_DEBUG);
	forget(&reading);
	setenv("FRICTIOND_CONFIG", config, 1);
	reading = read_options(NULL);
	assert_int_equal(reading.options.port, 90);
	forget(&reading);
	reading = read_options("--config=/nowhere", NULL);
	assert_int_equal(reading.start, SRV_EXIT_BAD);
	assert_non_null(strstr(reading.err, "/nowhere: No such file"));
	forget(&reading);
	unsetenv("FRICTIOND_CONFIG");
	unsetenv("FRICTIOND_LOG_LEVEL");
	unsetenv("FRICTIOND_QUEUE_REQUESTS");
}

static void refuses_file(const char *text, const char *culprit)
{
	char flag[64], expected[256];
	write_config(text);
	snprintf(flag, sizeof flag, "--config=%s", config);
	snprintf(expected, sizeof expected, "frictiond: %s%s", config, culprit);
	refuses(flag, expected);
}

static void test_bad_files(void **state)
{
	(void)state;
	refuses_file("host = ::1\nprot = 80\n", ", line 2: unknown option 'prot'");
	refuses_file("port = 1\n# x\nport = 1\n", ", line 3: port is already set in line 1");
	refuses_file("port = http\n", ", line 1: port: 'http' is not a whole number in the range 0 to 65535");
	refuses_file("log-format = xml\n", ", line 1: log-format: 'xml' is not one of logfmt, json");
	refuses_file("host =\n", ", line 1: host: '' is not a text");
	refuses_file("host = a\tb\n", ", line 1: host: 'a\tb' is not a text");
	refuses_file("config = other\n", ", line 1: config: a file cannot name another");
	refuses_file("--port = 80\n", ", line 1: unknown option '--port'");
	refuses_file("Port = 80\n", ", line 1: unknown option 'Port'");
	refuses_file("port 80\n", ", line 1: no '='");
	refuses("--config=/nowhere", "/nowhere: No such file");
	refuses("--config=", "--config: ''");
	write_config("port = http\n"); /* invalid, although overridden */
	struct reading reading = read_options("--port=1", "--config", config, NULL);
	assert_int_equal(reading.start, SRV_EXIT_BAD);
	forget(&reading);
}

/* Memory for connections is subtracted from that for requests, up to half of the total. */
static void test_memory_beside_connections(void **state)
{
	(void)state;
	static const char *const connections[] = {"--connections=1", "--connections=1000", "--connections=65536"};
	const long long available = api_available_memory();
	for (int i = 0; i < 3; i++) {
		struct reading reading = read_options(connections[i], NULL);
		const long long held = reading.options.connections * (88 << 10);
		const long long left = held < available / 2 ? available - held : available / 2;
		assert_int_equal(reading.start, SRV_START);
		assert_int_equal(reading.options.memory_bytes, left / 4 * 3);
		forget(&reading);
	}
	struct reading given = read_options("--connections=1000", "--memory-bytes=1G", NULL);
	assert_int_equal(given.options.memory_bytes, 1LL << 30);
	forget(&given);
}

/* Options printed by --print-config and read by --config are the same, including automatic values. */
static void test_printed_and_read(void **state)
{
	(void)state;
	setenv("FRICTIOND_IDLE_SECONDS", "9", 1);
	struct reading first =
		read_options("--threads=3", "--max-json-bytes=1536K", "--host", "a # b", "--kernels", "scalar", NULL);
	struct reading printed = read_options("--print-config", "--threads=3", "--max-json-bytes=1536K", "--host", "a # b",
	                                      "--kernels", "scalar", NULL);
	assert_int_equal(printed.start, SRV_EXIT_OK);
	assert_non_null(strstr(printed.out, "# from: --threads\nthreads = 3\n"));
	assert_non_null(strstr(printed.out, "# from: FRICTIOND_IDLE_SECONDS\nidle-seconds = 9\n"));
	assert_non_null(strstr(printed.out, "# from: default\nport = 8080\n"));
	assert_non_null(strstr(printed.out, "# from: automatic\nqueue-bytes = 1G\n"));
	assert_non_null(strstr(printed.out, "max-json-bytes = 1536K\n"));
	assert_non_null(strstr(printed.out, "# from: nowhere\n# config =\n"));
	unsetenv("FRICTIOND_IDLE_SECONDS");
	write_config(printed.out);
	struct reading again = read_options("--config", config, NULL);
	assert_int_equal(again.start, SRV_START);
	assert_string_equal(again.options.host, "a # b");
	struct srv_options a = first.options, b = again.options;
	a.host = b.host = a.config = b.config = NULL;
	a.config_text = b.config_text = NULL;
	assert_true(!a.port_is_given && b.port_is_given);
	a.port_is_given = b.port_is_given;
	assert_memory_equal(&a, &b, sizeof a);
	struct reading once_more = read_options("--config", config, "--print-config", NULL);
	char source[96];
	snprintf(source, sizeof source, "\n# from: --config\n# config = %s\n", config);
	assert_non_null(strstr(once_more.out, source));
	snprintf(source, sizeof source, "\n# from: %s, line ", config);
	assert_non_null(strstr(once_more.out, source));
	forget(&first), forget(&printed), forget(&again), forget(&once_more);
}

/* health accepts all server options, but none of check's. */
static void test_health(void **state)
{
	(void)state;
	struct reading reading = read_options("health", "--port", "81", "--ready", "--timeout-seconds", "9", NULL);
	assert_int_equal(reading.start, SRV_START);
	assert_int_equal(reading.options.command, SRV_HEALTH);
	assert_true(reading.options.ready && reading.options.port == 81 && reading.options.timeout_seconds == 9);
	forget(&reading);
	reading = read_options("health", "--timeout-seconds=3600", NULL);
	assert_int_equal(reading.options.timeout_seconds, 3600);
	assert_false(reading.options.ready);
	forget(&reading);
	reading = read_options("health", "--help", NULL);
	assert_int_equal(reading.start, SRV_EXIT_OK);
	assert_non_null(strstr(reading.out, "frictiond health [OPTION]..."));
	forget(&reading);
	static const char *const wrong[] = {"--timeout-seconds=0",
	                                    "--timeout-seconds=",
	                                    "--timeout-second=1",
	                                    "--timeout-seconds2=1",
	                                    "--json",
	                                    "file",
	                                    "--port=x",
	                                    "--ready=yes"};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		reading = read_options("health", wrong[i], NULL);
		assert_int_equal(reading.start, SRV_EXIT_BAD);
		assert_int_equal(reading.options.command, SRV_HEALTH);
		forget(&reading);
	}
	refuses("--ready", "unknown option '--ready'");
	refuses("--timeout-seconds=1", "unknown option '--timeout-seconds=1'");
}

/* check accepts a file, --json and all server options, in any order. */
static void test_check(void **state)
{
	(void)state;
	struct reading reading = read_options("check", "--threads", "3", "a.json", "--json", "--kernels=scalar", NULL);
	assert_int_equal(reading.start, SRV_START);
	assert_true(reading.options.command == SRV_CHECK && reading.options.json);
	assert_string_equal(reading.options.file, "a.json");
	assert_int_equal(reading.options.threads, 3);
	assert_string_equal(srv_kernels_name(&reading.options), "scalar");
	forget(&reading);
	reading = read_options("check", "-", NULL);
	assert_int_equal(reading.start, SRV_START);
	assert_string_equal(reading.options.file, "-");
	assert_false(reading.options.json);
	forget(&reading);
	reading = read_options("check", "--help", NULL);
	assert_int_equal(reading.start, SRV_EXIT_OK);
	assert_non_null(strstr(reading.out, "frictiond check [OPTION]... FILE"));
	forget(&reading);
	refuses("check", "check needs a FILE");
	refuses("--json", "unknown option '--json'");
	refuses("checks", "unexpected argument 'checks'");
	reading = read_options("check", "a", "b", NULL);
	assert_int_equal(reading.start, SRV_EXIT_BAD);
	assert_non_null(strstr(reading.err, "unexpected argument 'b'"));
	forget(&reading);
	reading = read_options("--port=1", "check", "a", NULL);
	assert_int_equal(reading.start, SRV_EXIT_BAD);
	forget(&reading);
	reading = read_options(NULL);
	assert_int_equal(reading.options.command, SRV_SERVE);
	forget(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_unix_domain_sockets),
		cmocka_unit_test(test_io_threads),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_bytes_of_the_queue),
		cmocka_unit_test(test_bytes_of_sets),
		cmocka_unit_test(shares_the_number_of_sets),
		cmocka_unit_test(test_both_forms),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_queries),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_printed_and_read),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_health),
		cmocka_unit_test(test_memory_beside_connections),
	};
	return cmocka_run_group_tests(tests, make_config, remove_config);
}
