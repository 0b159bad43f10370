#include "server/listen/unix_socket.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { N_RACERS = 8 };

static char directory[] = "/tmp/unix-XXXXXX";
static char path[64];

static int listen_there(struct srv_socket_file *file)
{
	struct srv_listen_fault fault = {0};
	return srv_unix_listen(path, 0600, file, &fault);
}

static void fails(const char *where, const char *why, int error)
{
	struct srv_socket_file file;
	struct srv_listen_fault fault = {0};
	assert_int_equal(srv_unix_listen(where, 0600, &file, &fault), -1);
	assert_non_null(strstr(fault.text, why));
	assert_int_equal(fault.error, error);
	assert_null(file.path);
}

static bool is_there(void)
{
	struct stat found;
	return lstat(path, &found) == 0;
}

static int connect_there(void)
{
	struct sockaddr_un address;
	assert_true(srv_unix_address(path, &address));
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (connect(fd, (const void *)&address, sizeof address) == 0)
		return fd;
	close(fd);
	return -1;
}

static void leave(int fd, const struct srv_socket_file *file)
{
	srv_unix_remove(file);
	close(fd);
}

static void test_listens(void **state)
{
	struct srv_socket_file file;
	(void)state;
	const int fd = listen_there(&file);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	const int client = connect_there();
	assert_true(client >= 0);
	close(client);
	leave(fd, &file);
	assert_false(is_there());
}

/* The mode is independent of the umask, which is restored. */
static void test_modes(void **state)
{
	static const mode_t modes[] = {0600, 0660, 0666, 0777, 0, 0602}, umasks[] = {0, 022, 0777};
	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
		for (size_t u = 0; u < sizeof umasks / sizeof umasks[0]; u++) {
			struct srv_socket_file file;
			struct srv_listen_fault fault;
			struct stat made;
			const mode_t before = umask(umasks[u]);
			const int fd = srv_unix_listen(path, modes[i], &file, &fault);
			assert_int_equal(umask(before), umasks[u]);
			assert_int_equal(lstat(path, &made), 0);
			assert_int_equal(made.st_mode, S_IFSOCK | modes[i]);
			leave(fd, &file);
		}
}

static mode_t umask_at_bind;
static useconds_t pause_us; /* between bind and listen */

/* Replaces the system's function: the file must never be more permissive than requested. */
int bind(int fd, __CONST_SOCKADDR_ARG address, socklen_t bytes)
{
	static int (*real)(int, const struct sockaddr *, socklen_t);
	if (!real)
		*(void **)(void *)&real = dlsym(RTLD_NEXT, "bind");
	umask_at_bind = umask(0);
	umask(umask_at_bind);
	const int failure = real(fd, address.__sockaddr__, bytes);
	usleep(pause_us);
	return failure;
}

static bool cannot_listen;

/* Replaces the system's function. */
int listen(int fd, int backlog)
{
	static int (*real)(int, int);
	if (!real)
		*(void **)(void *)&real = dlsym(RTLD_NEXT, "listen");
	if (!cannot_listen)
		return real(fd, backlog);
	errno = ENOBUFS;
	return -1;
}

static int n_open_files(void)
{
	const int fd = dup(STDERR_FILENO); /* the lowest free number */
	close(fd);
	return fd;
}

/* The file exists by then, and must be removed. */
static void test_what_cannot_listen_leaves_nothing(void **state)
{
	struct srv_socket_file file;
	const int n_before = n_open_files();
	(void)state;
	cannot_listen = true;
	const int fd = listen_there(&file);
	cannot_listen = false;
	assert_int_equal(fd, -1);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(n_open_files(), n_before);
}

static void test_the_umask_while_binding(void **state)
{
	struct srv_socket_file file;
	(void)state;
	const int fd = listen_there(&file);
	assert_int_equal(umask_at_bind, 0177);
	leave(fd, &file);
}

static void test_stale(void **state)
{
	struct srv_socket_file first, second;
	(void)state;
	close(listen_there(&first)); /* as a killed process leaves it */
	assert_true(is_there());
	const int fd = listen_there(&second);
	assert_true(fd >= 0);
	close(connect_there());
	leave(fd, &second);
	assert_false(is_there());
}

static void test_a_live_socket_is_kept(void **state)
{
	struct srv_socket_file file;
	(void)state;
	const int fd = listen_there(&file);
	fails(path, "another process listens there", EADDRINUSE);
	const int client = connect_there();
	assert_true(client >= 0);
	close(client);
	leave(fd, &file);
}

/* A process that is too busy to accept connections is still alive. */
static void test_busy(void **state)
{
	struct sockaddr_un address;
	int clients[8], n = 0;
	(void)state;
	assert_true(srv_unix_address(path, &address));
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(fd, 0), 0);
	do {
		clients[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		errno = 0;
	} while (connect(clients[n++], (const struct sockaddr *)&address, sizeof address) == 0);
	assert_int_equal(errno, EAGAIN);
	fails(path, "another process listens there", EADDRINUSE);
	while (n > 0)
		close(clients[--n]);
	close(fd);
	unlink(path);
}

static void put_datagrams(void)
{
	struct sockaddr_un address;
	assert_true(srv_unix_address(path, &address));
	const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
	fails(path, strerror(EPROTOTYPE), EPROTOTYPE);
	close(fd);
}

static void put_link(void)
{
	assert_int_equal(symlink("/nowhere", path), 0);
	fails(path, "not a socket", EEXIST);
}

static void put_file(void)
{
	close(open(path, O_CREAT | O_WRONLY, 0600));
	fails(path, "not a socket", EEXIST);
}

static void put_pipe(void)
{
	assert_int_equal(mkfifo(path, 0600), 0);
	fails(path, "not a socket", EEXIST);
}

static void test_nothing_else_is_removed(void **state)
{
	static void (*const puts[])(void) = {put_datagrams, put_link, put_file, put_pipe};
	(void)state;
	for (size_t i = 0; i < sizeof puts / sizeof puts[0]; i++) {
		puts[i]();
		assert_true(is_there());
		unlink(path);
	}
}

/* The file was removed, and another process has created one of the same name. */
static void test_a_later_socket_file_stays(void **state)
{
	struct srv_socket_file first, second;
	(void)state;
	const int fd = listen_there(&first);
	unlink(path);
	const int later = listen_there(&second);
	leave(fd, &first);
	assert_true(is_there());
	leave(later, &second);
	assert_false(is_there());
	srv_unix_remove(&(struct srv_socket_file){0});
}

static void test_paths(void **state)
{
	char text[SRV_MOST_PATH + 2];
	struct srv_socket_file file;
	struct srv_listen_fault fault;
	struct sockaddr_un address;
	(void)state;
	fails("/nowhere/there", strerror(ENOENT), ENOENT);
	fails(directory, "not a socket", EEXIST);
	memset(text, 'a', sizeof text);
	memcpy(text, directory, strlen(directory));
	text[strlen(directory)] = '/';
	text[SRV_MOST_PATH + 1] = '\0';
	fails(text, strerror(ENAMETOOLONG), ENAMETOOLONG);
	assert_false(srv_unix_address(text, &address));
	text[SRV_MOST_PATH] = '\0';
	assert_int_equal(strlen(text), 107);
	const int fd = srv_unix_listen(text, 0600, &file, &fault);
	assert_true(fd >= 0);
	leave(fd, &file);
	assert_int_equal(access(text, F_OK), -1);
}

/* Relative to the working directory. */
static void test_relative_path(void **state)
{
	struct srv_socket_file file;
	struct srv_listen_fault fault;
	(void)state;
	const int here = open(".", O_RDONLY | O_DIRECTORY);
	assert_int_equal(chdir(directory), 0);
	const int fd = srv_unix_listen("socket", 0600, &file, &fault);
	assert_true(fd >= 0 && is_there());
	leave(fd, &file);
	assert_false(is_there());
	assert_int_equal(fchdir(here), 0);
	close(here);
}

/* Waits for the end of one pipe, tries, reports, and waits for the end of another. */
static void race(const int begin[2], const int done[2], const int end[2])
{
	struct srv_socket_file file;
	char byte;
	close(begin[1]);
	close(end[1]);
	while (read(begin[0], &byte, 1) > 0)
		;
	pause_us = 1000; /* meanwhile the file looks stale */
	byte = listen_there(&file) >= 0;
	if (write(done[1], &byte, 1) == 1)
		while (read(end[0], &byte, 1) > 0)
			;
	_exit(0);
}

/* Several processes find one stale file, and exactly one of them gets it. */
static void test_several_at_one_time(void **state)
{
	struct srv_socket_file file;
	(void)state;
	for (int round = 0; round < 5; round++) {
		int begin[2], done[2], end[2], n_won = 0;
		char won;
		close(listen_there(&file));
		assert_true(pipe(begin) == 0 && pipe(done) == 0 && pipe(end) == 0);
		for (int i = 0; i < N_RACERS; i++)
			if (fork() == 0)
				race(begin, done, end);
		close(begin[1]);
		for (int i = 0; i < N_RACERS; i++) {
			assert_int_equal(read(done[0], &won, 1), 1);
			n_won += won;
		}
		close(end[1]);
		while (wait(NULL) > 0)
			;
		assert_int_equal(n_won, 1);
		const int rest[] = {begin[0], done[0], done[1], end[0]};
		for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
			close(rest[i]);
	}
	unlink(path);
}

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof path, "%s/socket", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory); /* fails if a file was left behind */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listens),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_the_umask_while_binding),
		cmocka_unit_test(test_what_cannot_listen_leaves_nothing),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_a_live_socket_is_kept),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_nothing_else_is_removed),
		cmocka_unit_test(test_a_later_socket_file_stays),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_relative_path),
		cmocka_unit_test(test_several_at_one_time),
	};
	return cmocka_run_group_tests_name("unix_socket", tests, make_directory, remove_directory);
}
