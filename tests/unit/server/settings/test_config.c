#include "server/settings/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/test_config.XXXXXX";

static int make_file(void **state)
{
	(void)state;
	const int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_file(const char *text, size_t n)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	fclose(file);
}

/* @param expected  "LINE:name|value;" for each line, and the fault, if any, at the end */
static void reads(const char *text, const char *expected)
{
	struct srv_config config;
	const char *fault;
	char got[512] = "", *end = got;
	write_file(text, strlen(text));
	assert_true(srv_config_open(&config, path, &fault));
	while (srv_config_next(&config, &fault))
		end += sprintf(end, "%d:%s|%s;", config.line, config.name, config.value);
	if (fault)
		sprintf(end, "%d:fault", config.line);
	assert_string_equal(got, expected);
	free(config.text);
}

static void test_lines(void **state)
{
	(void)state;
	reads("", "");
	reads("\n\n", "");
	reads("port = 80", "1:port|80;");
	reads("port=80\n", "1:port|80;");
	reads("\n# a = b\n \t host =\t::1  \r\n", "3:host|::1;");
	reads("a = 1\nb = 2\na = 3\n", "1:a|1;2:b|2;3:a|3;");
	reads("tokens = /etc/a file #1 = x\n", "1:tokens|/etc/a file #1 = x;");
	reads("a =\n", "1:a|;");
	reads("a b = c", "1:a b|c;");
	reads("  # x\n\t\n", "");
}

static void test_faults_of_lines(void **state)
{
	(void)state;
	reads("port 80\n", "1:fault");
	reads("a = 1\n\nport\nb = 2\n", "1:a|1;3:fault");
	reads("= 80\n", "1:fault");
	reads("[section]\n", "1:fault");
}

static void does_not_open(const char *name, const char *reason)
{
	struct srv_config config;
	const char *fault = NULL;
	assert_false(srv_config_open(&config, name, &fault));
	assert_non_null(strstr(fault, reason));
}

static void test_files(void **state)
{
	(void)state;
	does_not_open("/nowhere/at/all", "No such file");
	does_not_open("/tmp", "directory");
	write_file("a = \0", 5);
	does_not_open(path, "zero byte");
	char *text = malloc(SRV_MAX_CONFIG + 1);
	memset(text, '#', SRV_MAX_CONFIG + 1);
	write_file(text, SRV_MAX_CONFIG + 1);
	does_not_open(path, "64 KiB");
	write_file(text, SRV_MAX_CONFIG);
	free(text);
	struct srv_config config;
	const char *fault;
	assert_true(srv_config_open(&config, path, &fault));
	assert_false(srv_config_next(&config, &fault));
	assert_null(fault);
	free(config.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_faults_of_lines),
		cmocka_unit_test(test_files),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
