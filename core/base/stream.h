/**
 * Stores that go past the caches. A plain store fetches its line first; of results that no cache holds, that is twice as many
 * bytes to move. Without such instructions nothing streams, and they are plain stores.
 */
#ifndef FRIC_STREAM_H
#define FRIC_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/fric.h"

enum { STREAM_LINE = 64 };

/* Whether results of so many bytes are streamed; `from` unless the context says otherwise. */
static inline bool streams(const struct fric_context *context, size_t bytes, size_t from)
{
#ifdef __SSE2__
	return bytes > (context->stream_from ? context->stream_from : from);
#else
	(void)context, (void)bytes, (void)from;
	return false;
#endif
}

/* One whole line; `to` is aligned. */
static inline void stream_line(char *to, const char *from)
{
#ifdef __SSE2__
	for (int at = 0; at < STREAM_LINE; at += (int)sizeof(__m128i))
		_mm_stream_si128((__m128i *)(to + at), _mm_loadu_si128((const __m128i *)(from + at)));
#else
	memcpy(to, from, STREAM_LINE);
#endif
}

/* Before other threads are told that the stores are done: they are in no order with others. */
static inline void stream_end(void)
{
#ifdef __SSE2__
	_mm_sfence();
#endif
}

/* Whole lines go past the caches, the ends of `to` through them. To be followed by stream_end. */
static inline void stream_bytes(char *to, const char *from, size_t n)
{
	const size_t before = (STREAM_LINE - (uintptr_t)to % STREAM_LINE) % STREAM_LINE;
	size_t i = before < n ? before : n;
	memcpy(to, from, i);
	for (; i + STREAM_LINE <= n; i += STREAM_LINE)
		stream_line(to + i, from + i);
	memcpy(to + i, from + i, n - i);
}

/* Where results that follow each other are put together, a few at a time, in the caches; whole lines are sent off. */
enum { STAGE_BYTES = 2048 };
struct stage {
	_Alignas(STREAM_LINE) char bytes[STAGE_BYTES];
	char *to;      /* a line: where bytes belong */
	size_t before; /* bytes of the first line that are not ours */
	size_t held;   /* bytes put together, those before included; less than a line between two deliveries */
};

static inline void stage_open(struct stage *stage, void *to)
{
	stage->before = stage->held = (uintptr_t)to % STREAM_LINE;
	stage->to = (char *)to - stage->before;
}

/* Where the next results are to be written: no more than STAGE_BYTES - STREAM_LINE. */
static inline void *stage_place(struct stage *stage)
{
	return stage->bytes + stage->held;
}

/* They are written, so many bytes of them. */
static inline void stage_deliver(struct stage *stage, size_t bytes)
{
	size_t at = 0;
	stage->held += bytes;
	if (stage->held < STREAM_LINE)
		return;
	if (stage->before) { /* a line that others write, too */
		memcpy(stage->to + stage->before, stage->bytes + stage->before, STREAM_LINE - stage->before);
		stage->before = 0;
		at = STREAM_LINE;
	}
	for (; at + STREAM_LINE <= stage->held; at += STREAM_LINE)
		stream_line(stage->to + at, stage->bytes + at);
	memcpy(stage->bytes, stage->bytes + at, STREAM_LINE);
	stage->to += at;
	stage->held -= at;
}

/* What is left; to be followed by stream_end. */
static inline void stage_close(struct stage *stage)
{
	memcpy(stage->to + stage->before, stage->bytes + stage->before, stage->held - stage->before);
}

#endif
