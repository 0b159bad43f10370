#include "server/base/id.h"

#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

bool srv_sane_id(const char *id)
{
	size_t n = strspn(id, LETTERS_AND_DIGITS "._-:/+=@");
	return n > 0 && n <= SRV_MAX_ID && id[n] == '\0';
}

/* The clock replaces getrandom on old kernels. Ids that repeat would merely be a nuisance in a log. */
static void seed(uint64_t state[2])
{
	struct timespec now;
	if (getrandom(state, 2 * sizeof state[0], 0) == 2 * (ssize_t)sizeof state[0])
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	state[0] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec;
	state[1] = (uint64_t)(uintptr_t)state;
}

/* splitmix64: ids must differ but need not be secret, so one system call per thread is enough. */
static uint64_t scramble(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

void srv_new_id(char id[SRV_MAX_ID + 1])
{
	static _Thread_local uint64_t state[2];
	if (!state[0] && !state[1])
		seed(state);
	for (int i = 0; i < 2; i++) {
		const uint64_t bits = scramble(state[i] += 0x9e3779b97f4a7c15);
		for (int digit = 0; digit < 16; digit++)
			*id++ = "0123456789abcdef"[bits >> (4 * digit) & 15];
	}
	*id = '\0';
}
