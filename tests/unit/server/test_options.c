#include "server/options.h"

#include "server/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_ARGUMENTS = 8 };

struct reading {
	struct srv_options options;
	enum srv_start start;
	char *out, *err;
};

/* Arguments behind the program's name, ended by NULL. */
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
	assert_int_equal(reading.options.connections, 1024);
	assert_int_equal(reading.options.drain_seconds, 30);
	assert_int_equal(reading.options.log_level, SRV_INFO);
	assert_null(reading.options.tokens);
	assert_null(reading.options.tls_cert);
	assert_null(reading.options.allow_origin);
	assert_int_equal(reading.options.anonymous, 0);
	assert_true(reading.options.threads >= 1);
	assert_true(reading.options.io_threads >= 1);
	assert_int_equal(reading.options.max_frame_bytes, 1LL << 30);
	assert_int_equal(reading.options.queue_bytes, 4 * reading.options.max_json_bytes);
	forget(&reading);
}

/* The queue holds the longest body of either format, whichever of them was given. */
static void test_bytes_of_the_queue(void **state)
{
	(void)state;
	static const struct {
		const char *json, *frame, *queue;
		long long frame_bytes, queue_bytes;
	} cases[] = {
		{"256M", NULL, NULL, 1LL << 30, 1LL << 30},          {"1M", NULL, NULL, 1LL << 30, 1LL << 30},
		{"512M", NULL, NULL, 1LL << 30, 2LL << 30},          {"1M", "2M", NULL, 2LL << 20, 4LL << 20},
		{"1M", "3G", NULL, 3LL << 30, 3LL << 30},            {"1M", NULL, "1M", 1LL << 20, 1LL << 20},
		{"1M", NULL, "3G", 1LL << 30, 3LL << 30},            {"1M", "2M", "2M", 2LL << 20, 2LL << 20},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *frame = cases[i].frame ? "--max-frame-bytes" : NULL, *queue = cases[i].queue ? "--queue-bytes" : NULL;
		struct reading reading =
			frame ? read_options("--max-json-bytes", cases[i].json, frame, cases[i].frame, queue, cases[i].queue, NULL)
			      : read_options("--max-json-bytes", cases[i].json, queue, cases[i].queue, NULL);
		assert_int_equal(reading.start, SRV_START);
		assert_int_equal(reading.options.max_frame_bytes, cases[i].frame_bytes);
		assert_int_equal(reading.options.queue_bytes, cases[i].queue_bytes);
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
	refuses("--tokens=", "--tokens: '' is not a value for FILE");
	refuses("--anonymous=maybe", "no, yes");
	refuses("--tls-cert=a.crt", "--tls-cert needs --tls-key");
	refuses("--tls-key=a.key", "--tls-key needs --tls-cert");
	refuses("--allow-origin=https://a.example,https://b/", "'https://b/' is not an origin");
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

static void test_questions(void **state)
{
	(void)state;
	const char *const questions[] = {"--help", "--version", "--print-options-markdown"};
	const char *const words[] = {"FRICTIOND_MAX_JSON_BYTES", "frictiond ", "| `--max-json-bytes BYTES` |"};
	for (int i = 0; i < 3; i++) {
		struct reading reading = read_options("--port=1", questions[i], NULL);
		assert_int_equal(reading.start, SRV_EXIT_OK);
		assert_string_equal(reading.err, "");
		assert_non_null(strstr(reading.out, words[i]));
		forget(&reading);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),     cmocka_unit_test(test_bytes_of_the_queue), cmocka_unit_test(test_both_forms),
		cmocka_unit_test(test_bytes),        cmocka_unit_test(test_refusals),           cmocka_unit_test(test_environment),
		cmocka_unit_test(test_questions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
