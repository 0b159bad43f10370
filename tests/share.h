/* In suites with many cases of one kind, SHARE in the environment selects a share of them, as in builds with sanitizers
 * (tests/run). */
#pragma once

#include <stdlib.h>

/* One case in this many is tried; >= 1. */
static inline int one_in(void)
{
	const char *share = getenv("SHARE");
	return share && atoi(share) > 1 ? atoi(share) : 1;
}
