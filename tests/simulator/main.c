/**
 * Runs the service through schedules made from seeds.
 *
 * usage: simulate [--seeds FROM COUNT] [--seconds N] [--seed N] [--tls] [--epoll FROM COUNT]
 *   --seeds FROM COUNT  seeds to run; default 0 1000
 *   --seconds N         stop after N seconds
 *   --seed N            run this seed alone, and print its events
 *   --tls               use TLS
 *   --epoll FROM COUNT  run on the library's threads, without control of the timing (epoll.h)
 * The last line is `N passed, N failed`.
 */
#include "tests/simulator/clock.h"
#include "tests/simulator/epoll.h"
#include "tests/simulator/schedule.h"
#include "tests/simulator/service.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_FAILURES = 10, FILES = 1000, MOST_SECONDS = 120 /* for one schedule */ };

struct wanted {
	unsigned long long from, count;
	double seconds;
	bool alone, epoll, tls;
};

static bool read_wanted(int argc, char **argv, struct wanted *wanted)
{
	*wanted = (struct wanted){.count = 1000, .seconds = 1e9};
	for (int i = 1; i < argc; i++)
		if ((strcmp(argv[i], "--seeds") == 0 || strcmp(argv[i], "--epoll") == 0) && i + 2 < argc) {
			wanted->epoll = argv[i][2] == 'e';
			wanted->from = strtoull(argv[++i], NULL, 10);
			wanted->count = strtoull(argv[++i], NULL, 10);
		} else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
			wanted->from = strtoull(argv[++i], NULL, 10);
			wanted->count = 1;
			wanted->alone = true;
		} else if (strcmp(argv[i], "--tls") == 0) {
			wanted->tls = true;
		} else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
			wanted->seconds = strtod(argv[++i], NULL);
		} else {
			return false;
		}
	return true;
}

static volatile unsigned long long seed_under_way, n_passed;

/* The service has crashed or is in an endless loop. */
static void on_signal(int number)
{
	printf("seed %llu: %s\n", seed_under_way, strsignal(number));
	schedule_print();
	printf("%llu passed, 1 failed\n", n_passed);
	fflush(stdout);
	_exit(1);
}

static void watch(void)
{
	static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGALRM};
	static char stack[64 << 10];
	const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&own, NULL);
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		sigaction(fatal[i], &(struct sigaction){.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_ONSTACK},
		          NULL);
	signal(SIGPIPE, SIG_IGN);
}

static bool run(unsigned long long seed, const struct wanted *wanted)
{
	seed_under_way = seed;
	alarm(MOST_SECONDS);
	const char *fault = wanted->epoll ? epoll_run(seed) : schedule_run(seed);
	if (fault)
		printf("seed %llu: %s\n", seed, fault);
	if (!wanted->epoll && (fault || wanted->alone))
		schedule_print();
	return !fault;
}

int main(int argc, char **argv)
{
	struct wanted wanted;
	unsigned long long n_failed = 0;
	static char buffer[1 << 16];
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	const struct rlimit files = {FILES, FILES};
	setrlimit(RLIMIT_NOFILE, &files); /* tables indexed by descriptor have this length */
	if (!read_wanted(argc, argv, &wanted)) {
		fputs("usage: simulate [--seeds FROM COUNT] [--seconds N] [--seed N] [--tls] [--epoll FROM COUNT]\n", stderr);
		return 2;
	}
	if (wanted.alone)
		service_say_log();
	watch();
	const double began = clock_real_seconds();
	if (!(wanted.epoll ? epoll_start() : schedules_start(wanted.tls))) {
		fputs("simulate: the service cannot be started\n", stderr);
		return 1;
	}
	for (unsigned long long i = 0; i < wanted.count && n_failed < MOST_FAILURES; i++) {
		if (clock_real_seconds() - began > wanted.seconds)
			break;
		if (run(wanted.from + i, &wanted))
			n_passed++;
		else
			n_failed++;
	}
	const char *left = wanted.epoll ? NULL : schedules_stop();
	if (wanted.epoll)
		epoll_stop();
	if (left) {
		printf("%s\n", left);
		n_failed++;
	}
	printf("%.1f s\n%llu passed, %llu failed\n", clock_real_seconds() - began, n_passed, n_failed);
	return n_failed ? 1 : 0;
}
