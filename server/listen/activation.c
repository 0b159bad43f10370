#include "server/listen/activation.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* @return -1: not a number from 0 to INT_MAX */
static int number_of(const char *text)
{
	char *end;
	errno = 0;
	const long number = strtol(text, &end, 10);
	const bool ok = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && number <= INT_MAX;
	return ok ? (int)number : -1;
}

int srv_handed_over(void)
{
	const char *process = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
	const bool meant = process && n && number_of(process) == getpid();
	const int count = meant ? number_of(n) : 0;
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return count;
}
