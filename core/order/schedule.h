/**
 * Assigns spans (span.h) to threads, and determines which thread adds at which vertices. A part is a piece of the sweep
 * (sweep.h): each span is evaluated once, by the thread that has its part. A block of vertices belongs to the first
 * part that reaches it, which adds there at once. Later parts defer their contributions: each deferred value has its
 * own place in a list, which is sorted by ranges of vertices and then by the sweep. After all parts are done, the list
 * is added range by range. So every vertex sums its contacts' contributions in the order of the sweep, whatever the
 * parts, and sums have the same bits on any number of threads.
 *
 * If neighbouring vertices have distant numbers, nearly every part reaches every block, but only a few of its vertices.
 * Then single vertices have owners instead of blocks, and all sums are set to zero beforehand instead of block by
 * block.
 */
#ifndef FRIC_SCHEDULE_H
#define FRIC_SCHEDULE_H

#include "core/order/sweep.h"

#define NO_PLACES SIZE_MAX

struct fric_schedule {
	size_t n_parts, n_deferred, n_ranges;
	bool by_vertex; /* vertices have owners instead of blocks */
	size_t *first;  /* [n_parts + 1] positions in the sweep */
	size_t *range;  /* [n_ranges + 1] first place of each range of vertices */
	/* [n_spans] by position in the sweep: index of the span's first place; NO_PLACES: the span defers nothing. NULL: no
	 * span does */
	size_t *places_of;
	int32_t *places;   /* [stencil size, n] of each such span: place of a deferred value; < 0: added at once */
	int32_t *vertices; /* [n_deferred] vertex of each place */
	void *arrays;      /* [arrays_bytes] block that contains these; from `memory` */
	size_t arrays_bytes;
	const struct fric_memory *memory;
};

/* Positions [begin, end) of the sweep. */
struct part {
	size_t number, begin, end;
};

/**
 * @param n_threads  fricp_team_size of the contacts; the schedule is also made on these threads
 * @param schedule   to be cleared with fricp_schedule_clear, even on failure
 * @return false when out of memory
 */
bool fricp_schedule_make(const struct fric_context *context, const struct fric_contacts *contacts, int n_threads,
                         struct fric_schedule *schedule);
struct part fricp_schedule_part(const struct fric_schedule *schedule, size_t number);
void fricp_schedule_clear(struct fric_schedule *schedule);

/* The places of a span, [stencil size, n]; NULL: it defers nothing. */
static inline const int32_t *schedule_places(const struct fric_schedule *s, size_t position)
{
	return s->places_of && s->places_of[position] != NO_PLACES ? s->places + s->places_of[position] : NULL;
}

#endif
