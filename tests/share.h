/* Suites that try many cases of one kind try a share of them where the environment has SHARE, as builds with sanitizers
 * do (tests/run). */
#pragma once

#include <stdlib.h>

/* One case in how many is tried; >= 1. */
static inline int one_in(void)
{
	const char *share = getenv("SHARE");
	return share && atoi(share) > 1 ? atoi(share) : 1;
}
