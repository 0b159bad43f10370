/* In suites with many cases of one kind, SHARE in the environment selects a share of them, as in builds with sanitizers
 * (tests/run). */
#pragma once

#include <stdlib.h>

/* gcc has a macro, clang a feature. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#define IS_SANITIZED __has_feature(thread_sanitizer)
#else
#define IS_SANITIZED 0
#endif

/* One case in this many is tried; >= 1. */
static inline int one_in(void)
{
	const char *share = getenv("SHARE");
	return share && atoi(share) > 1 ? atoi(share) : 1;
}

/* Steps through cases where a share is tried, usually further with a sanitizer. */
static inline int step_in_share(int step, int sanitized)
{
	return one_in() == 1 ? 1 : IS_SANITIZED ? sanitized : step;
}

/* Steps through the cases of suites that are quick except with a sanitizer, where a share is tried. */
static inline int step_sanitized(int step)
{
	return step_in_share(1, step);
}
