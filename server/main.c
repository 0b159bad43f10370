/* Starts, stops and drains the server. */
#include "server/access/gate.h"
#include "server/base/clock.h"
#include "server/base/descriptors.h"
#include "server/commands/check.h"
#include "server/commands/health.h"
#include "server/http/http.h"
#include "server/listen/listeners.h"
#include "server/listen/peer.h"
#include "server/observe/log.h"
#include "server/settings/read.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { HURRIED_MS = 1000 };

/* A program may be started without standard files. The next descriptor opened, perhaps a connection, would then get the
 * number of standard error and receive the log. */
static void keep_standard_files(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Signals are blocked in every thread and received only by sigtimedwait, so that no code runs in a signal handler.
 * Process 1 of a container receives only signals that it handles or blocks. Other threads send SIGUSR1 when the last
 * request is over. */
static sigset_t block_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return set;
}

/* Settings that libgomp and glibc read from the environment before main begins. Between two steps of a request, threads
 * spin for some tens of microseconds, about as long as waking them takes, and then sleep; by default libgomp spins for
 * milliseconds. glibc caches 7 free blocks per size; the document of a small request has about 20 of one size. Values
 * set by the user stay. */
static bool set_environment(void)
{
	if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || setenv("OMP_WAIT_POLICY", "passive", 1) != 0)
		return false;
	setenv("GOMP_SPINCOUNT", "2000", 1);
	setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=64", 0);
	return true;
}

/* The settings take effect only in a new program image, so the program executes itself again, once. */
static void start_again(char **argv)
{
	char program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
	if (n <= 0)
		return;
	program[n] = '\0';
	execv(program, argv); /* on failure everything still works, but more slowly */
}

static void wake_main(void)
{
	kill(getpid(), SIGUSR1);
}

/* 1024 connections alone reach the usual soft limit, 1024. */
static void allow_files(long long connections, long long library_threads)
{
	struct rlimit limit;
	rlim_t wanted = (rlim_t)(connections + srv_files_beside(library_threads));
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > wanted ? wanted : limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted)
		srv_log(SRV_ERROR, "the limit on open files is too low for %lld connections", connections);
}

static int await_end(const struct srv_gate *gate, const sigset_t *signals)
{
	int signal_number;
	do {
		signal_number = sigwaitinfo(signals, NULL);
		if (signal_number == SIGHUP)
			srv_gate_reload(gate);
	} while (signal_number != SIGTERM && signal_number != SIGINT);
	return signal_number;
}

/* Waits until no request is under way, the time has passed, or a second signal arrives. */
static void await_idle(const struct srv_http *http, const sigset_t *signals, long long ms)
{
	long long end = srv_clock_ms() + ms;
	for (long long left = ms; left > 0 && !srv_http_is_idle(http); left = end - srv_clock_ms()) {
		struct timespec patience = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
		int signal_number = sigtimedwait(signals, NULL, &patience);
		if (signal_number == SIGTERM || signal_number == SIGINT)
			return;
	}
}

static void drain(struct srv_http *http, const sigset_t *signals, long long seconds)
{
	srv_http_drain(http);
	await_idle(http, signals, seconds * 1000);
	if (!srv_http_is_idle(http))
		srv_log(SRV_ERROR, "giving up requests that are still under way");
	srv_http_close(http);
	await_idle(http, signals, HURRIED_MS);
}

/* ---- listening ---- */

static int cannot_listen(const char *host, int port, const struct srv_listen_fault *fault)
{
	const bool other_helps = fault->error == EADDRINUSE || fault->error == EACCES;
	fprintf(stderr, "frictiond: cannot listen on %s port %d: %s%s\n", host, port, fault->text,
	        other_helps ? "; choose another with --port N or FRICTIOND_PORT=N (0: any that is free)" : "");
	return SRV_CODE_FAILED;
}

static int cannot_listen_at(const char *path, const struct srv_listen_fault *fault)
{
	fprintf(stderr, "frictiond: cannot listen on %s: %s\n", path, fault->text);
	return SRV_CODE_FAILED;
}

/* Requests over Unix-domain sockets are always let in, so only a TCP address needs checking. */
static bool is_let_in(struct srv_gate *gate, const struct srv_listeners *listeners)
{
	const struct srv_listener *tcp = srv_listeners_open_most(listeners);
	return !tcp || srv_gate_suits(gate, tcp->host, srv_is_on_loopback(tcp->fd), stderr);
}

/* Sockets passed by a service manager replace the default port, and may coincide with the one that the options name. */
static bool opens_port(const struct srv_options *options, const struct srv_listeners *listeners)
{
	const bool may = listeners->n == 0 || options->port_is_given;
	return options->port >= 0 && may && !srv_listeners_of_port(listeners, (int)options->port);
}

/* Checks the gate before it listens on the port, and warns before it creates a file. @return SRV_CODE_OK, or the exit
 * code */
static int listen_everywhere(const struct srv_options *options, struct srv_gate *gate, struct srv_listeners *listeners)
{
	struct srv_listen_fault fault;
	const struct srv_listener *culprit;
	const char *path = options->unix_path;
	if (!srv_listeners_take_over(listeners, stderr))
		return SRV_CODE_FAILED;
	if (opens_port(options, listeners) && !srv_listeners_bind(listeners, options->host, (int)options->port, &fault))
		return cannot_listen(options->host, (int)options->port, &fault);
	if (!is_let_in(gate, listeners))
		return SRV_CODE_BAD;
	if (!srv_listeners_listen(listeners, &culprit, &fault))
		return cannot_listen(culprit->host, culprit->port, &fault);
	if (path && !srv_listeners_at(listeners, path) &&
	    !srv_listeners_add_unix(listeners, path, (mode_t)options->unix_mode, &fault))
		return cannot_listen_at(path, &fault);
	if (listeners->n > 0)
		return SRV_CODE_OK;
	fputs("frictiond: --port none needs --unix PATH, or sockets passed in (LISTEN_FDS)\n", stderr);
	return SRV_CODE_BAD;
}

static void warn_of_users(const struct srv_gate *gate, const struct srv_listeners *listeners)
{
	if (gate->tokens && srv_listeners_have_unix(listeners) && !srv_peers_are_told_apart("/proc/self/uid_map"))
		srv_log(SRV_WARNING, "users that this user namespace does not map (/proc/self/uid_map) are one caller");
}

static void log_listeners(const struct srv_listeners *listeners, int n_threads)
{
	for (int i = 0; i < listeners->n; i++) {
		const struct srv_listener *listener = &listeners->list[i];
		if (listener->is_unix)
			srv_log(SRV_INFO, "listening on %s, %d threads", listener->host, n_threads);
		else
			srv_log(SRV_INFO, "listening on %s port %d, %d threads", listener->host, listener->port, n_threads);
	}
}

/* ---- main ---- */

static int run(const struct srv_options *options, struct srv_gate *gate, struct srv_listeners *listeners,
               const sigset_t *signals)
{
	struct srv_http *http = srv_http_start(options, gate, SRV_HTTP_THREADS, listeners, wake_main);
	if (!http)
		return SRV_CODE_FAILED;
	srv_listeners_announce(listeners, options->gate.tls_cert, stdout);
	log_listeners(listeners, srv_http_threads(http));
	warn_of_users(gate, listeners);
	int signal_number = await_end(gate, signals);
	srv_log(SRV_INFO, "%s: draining", signal_number == SIGTERM ? "SIGTERM" : "SIGINT");
	drain(http, signals, options->drain_seconds);
	srv_http_stop(http);
	srv_log(SRV_INFO, "stopped");
	return SRV_CODE_OK;
}

static int serve(const struct srv_options *options, struct srv_gate *gate, const sigset_t *signals)
{
	struct srv_listeners listeners = {0};
	int code = listen_everywhere(options, gate, &listeners);
	if (code == SRV_CODE_OK)
		code = run(options, gate, &listeners, signals);
	srv_listeners_close(&listeners);
	return code;
}

/* Other commands keep the default signal handling. */
static int answer(struct srv_options *options, const sigset_t *signals)
{
	signal(SIGPIPE, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, signals, NULL);
	const int code = (options->command == SRV_CHECK ? srv_check : srv_health)(options, stdout, stderr);
	srv_options_free(options);
	return code;
}

int main(int argc, char **argv)
{
	struct srv_options options;
	struct srv_gate gate;
	keep_standard_files();
	if (set_environment())
		start_again(argv);
	sigset_t signals = block_signals();
	switch (srv_options_read(argc, argv, &options, stdout, stderr)) {
	case SRV_EXIT_OK: return fflush(stdout) == 0 ? SRV_CODE_OK : SRV_CODE_FAILED;
	case SRV_EXIT_BAD: return options.command == SRV_HEALTH ? SRV_CODE_FAILED : SRV_CODE_BAD;
	case SRV_START: break;
	}
	if (options.command != SRV_SERVE)
		return answer(&options, &signals);
	srv_log_start((enum srv_level)options.log_level, (enum srv_log_format)options.log_format);
	/* Fixed, because glibc would raise it after the first large body and then retain up to 64 MiB per thread for
	 * good. */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	allow_files(options.connections, srv_library_threads(&options));
	if (!srv_gate_open(&gate, &options.gate, stderr))
		return SRV_CODE_BAD;
	const int code = serve(&options, &gate, &signals);
	srv_gate_close(&gate);
	srv_options_free(&options);
	return code;
}
