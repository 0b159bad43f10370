/**
 * Rows of a sparse matrix on their way to memory that no cache holds (stream.h). Whole cache lines are streamed when
 * the next row is about to be written: what was just stored in pieces is slow to load, and many lines at once would
 * have to wait for each other.
 */
#ifndef FRIC_DELIVERY_H
#define FRIC_DELIVERY_H

#include "core/base/stream.h"

enum { DELIVERY_BYTES = 8192, DELIVERY_MOST = DELIVERY_BYTES - STREAM_LINE };
struct delivery {
	_Alignas(STREAM_LINE) char bytes[DELIVERY_BYTES];
	char *to;        /* where the first byte that waits belongs */
	size_t first, n; /* the bytes that wait */
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

/* Call it before others write where the last row ended, and after the last one. */
static inline void delivery_flush(struct delivery *d)
{
	delivery_send(d, d->n);
	stream_end();
}

/* Room for n bytes that belong to `to`: where the last ones ended, unless nothing waits. n <= DELIVERY_MOST */
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
