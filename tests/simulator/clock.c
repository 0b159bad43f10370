#include "tests/simulator/clock.h"

#include "tests/simulator/real.h"

#include <stdbool.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

enum { FIRST_DAY = 1790000000 };
static const long long second_ns = 1000000000;

static bool simulated;
static long long now_ns = 1000000 * 1000000000LL, day_ns = FIRST_DAY * 1000000000LL;

void clock_start(void)
{
	simulated = true;
}

long long clock_now_ns(void)
{
	return now_ns;
}

void clock_pass_ns(long long ns)
{
	now_ns += ns;
}

void clock_set_back_ns(long long ns)
{
	day_ns -= ns;
}

double clock_real_seconds(void)
{
	struct timespec now;
	REAL(clock_gettime)(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int clock_gettime(clockid_t id, struct timespec *time)
{
	if (!simulated)
		return REAL(clock_gettime)(id, time);
	const long long ns = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE ? now_ns + day_ns : now_ns;
	*time = (struct timespec){ns / second_ns, ns % second_ns};
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec now;
	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
	return 0;
}

int timespec_get(struct timespec *out, int base)
{
	return clock_gettime(CLOCK_REALTIME, out) == 0 ? base : 0;
}

/* Deterministic, so that a seed reproduces a run. */
ssize_t getrandom(void *bytes, size_t n, unsigned flags)
{
	static unsigned char next = 1;
	if (!simulated)
		return REAL(getrandom)(bytes, n, flags);
	for (size_t i = 0; i < n; i++)
		((unsigned char *)bytes)[i] = next = (unsigned char)(next * 5 + 1);
	return (ssize_t)n;
}
