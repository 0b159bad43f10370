/**
 * Which thread evaluates which spans (span.h), and adds up at which vertices. A part is a piece of the sweep (sweep.h):
 * each span is evaluated once, by the thread that has its part. A block of vertices belongs to the first part that
 * reaches it, which adds there at once. What a later part would add there is deferred: each such number has a place of
 * its own in a list, which is sorted by ranges of vertices and then by the sweep, and is added up, range by range, when
 * all parts are through. So every vertex gets what its contacts add in the order of the sweep, whatever the parts:
 * sums have the same bits on any number of threads.
 *
 * Where neighbours are numbered far apart, nearly every block is reached by every part, although few vertices are. Then
 * vertices have owners one by one, and sums are set to zero beforehand instead of block by block.
 */
#ifndef FRIC_SCHEDULE_H
#define FRIC_SCHEDULE_H

#include "core/order/sweep.h"

#define NO_PLACES SIZE_MAX

struct fric_schedule {
	size_t n_parts, n_deferred, n_ranges;
	bool by_vertex; /* vertices have owners, not blocks */
	size_t *first;  /* [n_parts + 1] positions in the sweep */
	size_t *range;  /* [n_ranges + 1] places where ranges of vertices begin */
	size_t
		*places_of;  /* [n_spans] at a position of the sweep: where the places of that span begin; NO_PLACES: it defers
	                      nothing. NULL: no span does */
	int32_t *places; /* [stencil size, n] of each such span: the place of what is deferred; < 0: added at once */
	int32_t *vertices; /* [n_deferred] of the places */
	void *arrays;      /* [arrays_bytes] what these lie in; from `memory` */
	size_t arrays_bytes;
	const struct fric_memory *memory;
};

/* Positions [begin, end) of the sweep. */
struct part {
	size_t number, begin, end;
};

/**
 * @param n_threads  fricp_team_size of the contacts; also makes the schedule
 * @param schedule   what it holds is to be given back with fricp_schedule_clear, even on failure
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
