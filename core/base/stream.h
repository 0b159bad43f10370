/**
 * Stores that bypass the caches. A plain store fetches its cache line first, which doubles the traffic for results too
 * large for any cache. On processors without such instructions these are plain stores.
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

/* Whether results of `bytes` are streamed, that is, exceed `from`, or the context's limit if it has one. */
static inline bool streams(const struct fric_context *context, size_t bytes, size_t from)
{
#ifdef __SSE2__
	return bytes > (context->stream_from ? context->stream_from : from);
#else
	(void)context, (void)bytes, (void)from;
	return false;
#endif
}

/* Stores one whole cache line; `to` is aligned. */
static inline void stream_line(char *to, const char *from)
{
#ifdef __SSE2__
	for (int at = 0; at < STREAM_LINE; at += (int)sizeof(__m128i))
		_mm_stream_si128((__m128i *)(to + at), _mm_loadu_si128((const __m128i *)(from + at)));
#else
	memcpy(to, from, STREAM_LINE);
#endif
}

/* Call it before another thread is told that the stores are done: streaming stores are not ordered with others. */
static inline void stream_end(void)
{
#ifdef __SSE2__
	_mm_sfence();
#endif
}

/* Streams whole lines; the partial lines at both ends of `to` go through the caches. Follow it with stream_end. */
static inline void stream_bytes(char *to, const char *from, size_t n)
{
	const size_t before = (STREAM_LINE - (uintptr_t)to % STREAM_LINE) % STREAM_LINE;
	size_t i = before < n ? before : n;
	memcpy(to, from, i);
	for (; i + STREAM_LINE <= n; i += STREAM_LINE)
		stream_line(to + i, from + i);
	memcpy(to + i, from + i, n - i);
}

/* Collects consecutive results in the caches, a few at a time, and streams whole lines. One transfer covers several
 * deliveries, because loading a line whose parts have just been stored stalls until they have reached the cache. */
enum { STAGE_BYTES = 4096, STAGE_FULL = STAGE_BYTES / 2, STAGE_MOST = STAGE_FULL - STREAM_LINE /* per delivery */ };
struct stage {
	_Alignas(STREAM_LINE) char bytes[STAGE_BYTES];
	char *to;      /* destination of `bytes`, at a line */
	size_t before; /* bytes of the first line that belong to other data */
	size_t held;   /* bytes collected, including `before`; less than STAGE_FULL between two deliveries */
};

static inline void stage_open(struct stage *stage, void *to)
{
	stage->before = stage->held = (uintptr_t)to % STREAM_LINE;
	stage->to = (char *)to - stage->before;
}

/* Space for the next results, at most STAGE_MOST. */
static inline void *stage_place(struct stage *stage)
{
	return stage->bytes + stage->held;
}

/* Streams the whole lines collected so far. */
static inline void stage_send(struct stage *stage)
{
	size_t at = 0;
	if (stage->before && stage->held >= STREAM_LINE) { /* the rest of this line belongs to other data */
		memcpy(stage->to + stage->before, stage->bytes + stage->before, STREAM_LINE - stage->before);
		stage->before = 0;
		at = STREAM_LINE;
	}
	for (; at + STREAM_LINE <= stage->held; at += STREAM_LINE)
		stream_line(stage->to + at, stage->bytes + at);
	memmove(stage->bytes, stage->bytes + at, STREAM_LINE);
	stage->to += at;
	stage->held -= at;
}

/* Reports that `bytes` have been written to the space from stage_place. */
static inline void stage_deliver(struct stage *stage, size_t bytes)
{
	stage->held += bytes;
	if (stage->held >= STAGE_FULL)
		stage_send(stage);
}

/* Stores the rest. Follow it with stream_end. */
static inline void stage_close(struct stage *stage)
{
	stage_send(stage);
	memcpy(stage->to + stage->before, stage->bytes + stage->before, stage->held - stage->before);
}

#endif
