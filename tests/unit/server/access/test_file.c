/* Reading the files that options name: contents, permissions, no descriptors left open. */
#include "server/access/file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/file-XXXXXX";

static int set_up(void **unused)
{
	(void)unused;
	const int fd = mkstemp(path);
	const bool ok = fd >= 0 && write(fd, "0123456789", 10) == 10;
	return close(fd) == 0 && ok ? 0 : -1;
}

static int tear_down(void **unused)
{
	(void)unused;
	return unlink(path);
}

static void the_longest_file_is_read(void **unused)
{
	(void)unused;
	struct srv_file file;
	char message[200];
	assert_true(srv_file_read(path, 10, &file, message, sizeof message));
	assert_int_equal(file.n, 10);
	assert_string_equal(file.bytes, "0123456789");
	srv_file_free(&file);
	assert_null(file.bytes);
	assert_false(srv_file_read(path, 9, &file, message, sizeof message));
	assert_null(file.bytes);
	assert_non_null(strstr(message, "longer than"));
}

static void permissions_for_everybody_are_reported(void **unused)
{
	(void)unused;
	static const struct {
		mode_t mode;
		bool for_everybody;
	} cases[] = {{0600, false}, {0640, false}, {0660, false}, {0604, true}, {0602, true}, {0606, true}, {0601, false}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct srv_file file;
		char message[200];
		assert_int_equal(chmod(path, cases[i].mode), 0);
		assert_true(srv_file_read(path, 100, &file, message, sizeof message));
		assert_int_equal(file.for_everybody, cases[i].for_everybody);
		srv_file_free(&file);
	}
}

static void no_file_stays_open(void **unused)
{
	(void)unused;
	struct srv_file file;
	char message[200];
	const int lowest = dup(0);
	close(lowest);
	assert_true(srv_file_read(path, 100, &file, message, sizeof message));
	srv_file_free(&file);
	assert_false(srv_file_read(path, 1, &file, message, sizeof message));
	assert_false(srv_file_read("/tmp", 100, &file, message, sizeof message));
	const int next = dup(0);
	assert_int_equal(next, lowest);
	close(next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_file_is_read),
		cmocka_unit_test(permissions_for_everybody_are_reported),
		cmocka_unit_test(no_file_stays_open),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
