/**
 * Writes rows of a sparse matrix that is too large for the caches (stream.h). A row's whole cache lines are streamed
 * just before the next row is written: loading bytes that were just stored in pieces stalls, and streaming many lines
 * at once would make them wait for each other.
 */
#ifndef FRIC_DELIVERY_H
#define FRIC_DELIVERY_H

#include "core/base/stream.h"

enum { DELIVERY_BYTES = 8192, DELIVERY_MOST = DELIVERY_BYTES - STREAM_LINE };
struct delivery {
	_Alignas(STREAM_LINE) char bytes[DELIVERY_BYTES];
	char *to;        /* destination of the first pending byte */
	size_t first, n; /* index and number of the pending bytes */
};

static inline void delivery_open(struct delivery *d)
{
	d->to = d->bytes;
	d->first = d->n = 0;
}

static inline void delivery_send(struct delivery *d, size_t n)
{
	stream_bytes(d->to, d->bytes + d->first, n);
	d->to += n;
	d->first += n;
	d->n -= n;
}

/* Writes the pending bytes. Call it after the last row, and before another thread writes where the last row ended. */
static inline void delivery_flush(struct delivery *d)
{
	delivery_send(d, d->n);
	stream_end();
}

/* Space for n <= DELIVERY_MOST bytes that go to `to`, which must be where the previous bytes ended unless nothing is
 * pending. */
static inline void *delivery_place(struct delivery *d, size_t n, void *to)
{
	if (d->n == 0)
		d->to = to;
	const size_t in_last = (uintptr_t)(d->to + d->n) % STREAM_LINE;
	if (in_last < d->n)
		delivery_send(d, d->n - in_last);
	if (d->first + d->n + n > DELIVERY_BYTES) {
		memmove(d->bytes, d->bytes + d->first, d->n);
		d->first = 0;
	}
	d->n += n;
	return d->bytes + d->first + d->n - n;
}

#endif
