#include "server/access/tokens.h"

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
#include <pthread.h>
#include <stdatomic.h>

#define FIRST "0123456789abcdef"
#define SECOND "fedcba9876543210"

static char path[] = "/tmp/tokens-XXXXXX";
static char message[SRV_TOKENS_MESSAGE];

static void write_bytes(const char *bytes, size_t n)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static void write_text(const char *text)
{
	write_bytes(text, strlen(text));
}

static struct srv_tokens *open_text(const char *text)
{
	write_text(text);
	return srv_tokens_open(path, message);
}

static void refuses_bytes(const char *bytes, size_t n, const char *culprit)
{
	write_bytes(bytes, n);
	assert_null(srv_tokens_open(path, message));
	assert_non_null(strstr(message, path));
	assert_non_null(strstr(message, culprit));
	assert_null(strstr(message, FIRST));
}

static void refuses(const char *text, const char *culprit)
{
	refuses_bytes(text, strlen(text), culprit);
}

static void accepts(const char *text, size_t n)
{
	struct srv_tokens *tokens = open_text(text);
	assert_non_null(tokens);
	assert_int_equal(srv_tokens_count(tokens), n);
	srv_tokens_close(tokens);
}

static void test_lines(void **state)
{
	(void)state;
	accepts("a " FIRST "\n", 1);
	accepts("a " FIRST, 1);
	accepts("a " FIRST "\r\nb\t" SECOND "\r\n", 2);
	accepts("# who\n\n  \t\n  # more\na  \t " FIRST "  \n\tb " SECOND "\n", 2);
	accepts("Az09._- !#$%&'()*+,/:;<=>?@[]^_`{|}~\"\\\n", 1);
}

static void test_faults(void **state)
{
	(void)state;
	refuses("", ": there is no token in it");
	refuses("# none\n", ": there is no token in it");
	refuses("a\n", ":1: a line is a name and a token");
	refuses("\n" FIRST "\n", ":2: a line is a name and a token");
	refuses("a " FIRST " more\n", ":1: a line is a name and a token");
	refuses("ok " SECOND "\na "
	        "0123456789abcde\n",
	        ":2: the token of 'a' is shorter than 16 characters");
	refuses("a " FIRST "\na " SECOND "\n", ":2: a token named 'a' already exists");
	refuses("a " FIRST "\nb " FIRST "\n", ":2: the token of 'b' is the same as that of 'a'");
	refuses("a!b " FIRST "\n", ":1: a name has 1 to 64 characters of");
	refuses("\xef\xbb\xbf"
	        "a " FIRST "\n",
	        ":1: a name has 1 to 64 characters of");
	refuses("a 0123456789abcde\x7f\n", ":1: the token of 'a' contains a character that is not printable");
	refuses("a 0123456789abcd\xc3\xa9\n", ":1: the token of 'a' contains a character that is not printable");
	refuses_bytes("a " FIRST "\0\n", 20, ":1: ");
}

static void test_limits(void **state)
{
	(void)state;
	static char text[2 << 20];
	char name[80], long_token[520];
	memset(name, 'n', 65);
	snprintf(text, sizeof text, "%.64s %s\n", name, FIRST);
	accepts(text, 1);
	snprintf(text, sizeof text, "%.65s %s\n", name, FIRST);
	refuses(text, ":1: a name has 1 to 64 characters of");
	memset(long_token, 'x', sizeof long_token);
	snprintf(text, sizeof text, "a %.512s\n", long_token);
	accepts(text, 1);
	snprintf(text, sizeof text, "a %.513s\n", long_token);
	refuses(text, ":1: the token of 'a' is longer than 512 characters");
	size_t n = 0;
	for (int i = 0; i < 1024; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "name%d token%020d\n", i, i);
	accepts(text, 1024);
	snprintf(text + n, sizeof text - n, "one more%s\n", FIRST);
	refuses(text, ":1025: there are more than 1024 tokens");
	memset(text, '\n', (1 << 20) + 1);
	refuses_bytes(text, (1 << 20) + 1, ": longer than 1 MiB");
}

static void test_files(void **state)
{
	(void)state;
	assert_null(srv_tokens_open("/nowhere/tokens", message));
	assert_non_null(strstr(message, "/nowhere/tokens: No such file"));
	assert_null(srv_tokens_open("/tmp", message));
	assert_non_null(strstr(message, "/tmp: not a regular file"));
	assert_null(srv_tokens_open("/dev/zero", message));
	assert_non_null(strstr(message, "/dev/zero: not a regular file"));
	char fifo[] = "/tmp/tokens-fifo-XXXXXX";
	assert_non_null(mkdtemp(fifo));
	assert_int_equal(rmdir(fifo), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_null(srv_tokens_open(fifo, message)); /* must not wait for a writer */
	unlink(fifo);
}

static void test_warning(void **state)
{
	(void)state;
	write_text("a " FIRST "\n");
	chmod(path, 0600);
	struct srv_tokens *tokens = srv_tokens_open(path, message);
	assert_string_equal(message, "");
	srv_tokens_close(tokens);
	chmod(path, 0604);
	tokens = srv_tokens_open(path, message);
	assert_non_null(strstr(message, "everybody"));
	chmod(path, 0600);
	assert_int_equal(srv_tokens_count(tokens), 1); /* must release the lock, or the reload below hangs */
	assert_true(srv_tokens_reload(tokens, message));
	assert_string_equal(message, "");
	srv_tokens_close(tokens);
}

static void check_is(const struct srv_tokens *tokens, const char *authorization, enum srv_bearer bearer,
                     const char *expected)
{
	char name[SRV_TOKEN_NAME + 1] = "?";
	assert_int_equal(srv_tokens_check(tokens, authorization, name), bearer);
	assert_string_equal(name, expected);
}

static void test_check(void **state)
{
	(void)state;
	struct srv_tokens *tokens = open_text("a " FIRST "\nb " SECOND "\nc " FIRST SECOND "\n");
	check_is(tokens, "Bearer " FIRST, SRV_BEARER_KNOWN, "a");
	check_is(tokens, "bEARER   " SECOND "  \t", SRV_BEARER_KNOWN, "b");
	check_is(tokens, "Bearer " FIRST SECOND, SRV_BEARER_KNOWN, "c");
	check_is(tokens, "Bearer " FIRST "x", SRV_BEARER_WRONG, "");
	check_is(tokens,
	         "Bearer "
	         "0123456789abcde",
	         SRV_BEARER_WRONG, "");
	check_is(tokens, "Bearer 0123456789ABCDEF", SRV_BEARER_WRONG, "");
	check_is(tokens, "Bearer " FIRST ", Bearer " SECOND, SRV_BEARER_WRONG, "");
	check_is(tokens, "Bearer " FIRST " " FIRST, SRV_BEARER_WRONG, "");
	check_is(tokens, "Bearer", SRV_BEARER_WRONG, "");
	check_is(tokens, "Bearer ", SRV_BEARER_WRONG, "");
	check_is(tokens, NULL, SRV_BEARER_NONE, "");
	check_is(tokens, "", SRV_BEARER_NONE, "");
	check_is(tokens, "Basic " FIRST, SRV_BEARER_NONE, "");
	check_is(tokens, "Bearer" FIRST, SRV_BEARER_NONE, "");
	check_is(tokens, FIRST, SRV_BEARER_NONE, "");
	srv_tokens_close(tokens);
}

static void test_very_long(void **state)
{
	(void)state;
	struct srv_tokens *tokens = open_text("a " FIRST "\n");
	static char presented[1 << 20] = "Bearer ";
	memset(presented + 7, 'x', sizeof presented - 8);
	check_is(tokens, presented, SRV_BEARER_WRONG, "");
	srv_tokens_close(tokens);
}

static void test_reload(void **state)
{
	(void)state;
	struct srv_tokens *tokens = open_text("a " FIRST "\n");
	write_text("b " SECOND "\nbad\n");
	assert_false(srv_tokens_reload(tokens, message));
	assert_non_null(strstr(message, ":2: a line is"));
	check_is(tokens, "Bearer " FIRST, SRV_BEARER_KNOWN, "a");
	check_is(tokens, "Bearer " SECOND, SRV_BEARER_WRONG, "");
	write_text("b " SECOND "\n");
	assert_true(srv_tokens_reload(tokens, message));
	check_is(tokens, "Bearer " FIRST, SRV_BEARER_WRONG, "");
	check_is(tokens, "Bearer " SECOND, SRV_BEARER_KNOWN, "b");
	unlink(path);
	assert_false(srv_tokens_reload(tokens, message));
	check_is(tokens, "Bearer " SECOND, SRV_BEARER_KNOWN, "b");
	srv_tokens_close(tokens);
}

struct crowd {
	struct srv_tokens *tokens;
	atomic_bool stop;
	atomic_int n_wrong, n_checks;
};

/* Both files contain FIRST, so every check must find it. */
static void *ask_on_and_on(void *argument)
{
	struct crowd *crowd = argument;
	char name[SRV_TOKEN_NAME + 1];
	while (!atomic_load(&crowd->stop)) {
		if (srv_tokens_check(crowd->tokens, "Bearer " FIRST, name) != SRV_BEARER_KNOWN || strcmp(name, "a") != 0)
			atomic_fetch_add(&crowd->n_wrong, 1);
		atomic_fetch_add(&crowd->n_checks, 1);
	}
	return NULL;
}

static void test_reload_beside_checks(void **state)
{
	(void)state;
	struct crowd crowd = {.tokens = open_text("a " FIRST "\n")};
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_on_and_on, &crowd), 0);
	for (int i = 0; i < 200 || atomic_load(&crowd.n_checks) < 1000; i++) {
		write_text(i % 2 ? "a " FIRST "\n" : "b " SECOND "\na " FIRST "\n");
		assert_true(srv_tokens_reload(crowd.tokens, message));
	}
	atomic_store(&crowd.stop, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(crowd.n_wrong, 0);
	srv_tokens_close(crowd.tokens);
}

static int make_file(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),     cmocka_unit_test(test_faults),  cmocka_unit_test(test_limits),
		cmocka_unit_test(test_files),     cmocka_unit_test(test_warning), cmocka_unit_test(test_check),
		cmocka_unit_test(test_very_long), cmocka_unit_test(test_reload),  cmocka_unit_test(test_reload_beside_checks),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
