/* Failing allocations, for tests that are linked with --wrap for the functions below. */
#ifndef SCARCE_H
#define SCARCE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t bytes);

static _Atomic long until_failure = -1; /* allocations that still succeed; negative: all */

static bool may_allocate(void)
{
	return until_failure < 0 || until_failure-- > 0;
}

void *__wrap_malloc(size_t bytes)
{
	return may_allocate() ? __real_malloc(bytes) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return may_allocate() ? __real_calloc(n, size) : NULL;
}

/* Source of the pool's blocks under AddressSanitizer. */
int __wrap_posix_memalign(void **block, size_t alignment, size_t bytes)
{
	return may_allocate() ? __real_posix_memalign(block, alignment, bytes) : ENOMEM;
}

#endif
