/**
 * Shared by the harnesses. A harness is one LLVMFuzzerTestOneInput, which libFuzzer calls in the builds of `make fuzz`,
 * and replay.c in all others. It aborts if something is wrong.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition, ...) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #condition); \
			fprintf(stderr, __VA_ARGS__); \
			fputc('\n', stderr); \
			abort(); \
		} \
	} while (0)

/* An input that is consumed from the front; yields zeros once it is used up. */
struct fuzz_input {
	const uint8_t *at, *end;
};

static inline uint8_t fuzz_byte(struct fuzz_input *input)
{
	return input->at < input->end ? *input->at++ : 0;
}

static inline size_t fuzz_below(struct fuzz_input *input, size_t n)
{
	return fuzz_byte(input) % n;
}

static inline size_t fuzz_left(const struct fuzz_input *input)
{
	return (size_t)(input->end - input->at);
}

/* A copy of exactly that many bytes, so that the sanitizer detects overruns. The caller frees it. */
static inline void *fuzz_copy(const void *bytes, size_t n)
{
	void *copy = malloc(n ? n : 1);
	FUZZ_CHECK(copy, "out of memory");
	if (n)
		memcpy(copy, bytes, n);
	return copy;
}

#endif
