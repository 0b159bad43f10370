/**
 * Which thread adds up forces at which vertices. The vertices are divided into parts, each with a list of the spans
 * (span.h) that touch it, in the order of the sweep (sweep.h); only one thread adds up at the vertices of a part. If
 * contacts come roughly in the order of the mesh, few spans lie across a border, and each part evaluates all of its
 * spans: no thread waits for another. Otherwise all forces are evaluated first, kept, and then added up part by part.
 */
#ifndef FRIC_SCHEDULE_H
#define FRIC_SCHEDULE_H

#include "core/order/sweep.h"

struct fric_schedule {
	size_t n_parts;
	bool keeps_forces;     /* too many spans lie across borders */
	size_t *first_span;    /* [n_parts + 1] into slots */
	int32_t *first_vertex; /* [n_parts + 1]; together the parts cover all vertices */
	int32_t *slots;        /* slots of the spans of each part; NULL: one part has all vertices and the whole sweep */
	void *arrays;          /* [arrays_bytes] what these lie in; from `memory` */
	size_t arrays_bytes;
	const struct fric_memory *memory;
};

/* Vertices [first, last), and the spans that touch them. */
struct part {
	int32_t first, last;
	const int32_t *slots;
	size_t n_slots;
};

/**
 * @param n_threads  fricp_team_size of the contacts
 * @param schedule   what it holds is to be given back with fricp_schedule_clear, even on failure
 * @return false when out of memory
 */
bool fricp_schedule_make(const struct fric_memory *memory, const struct fric_contacts *contacts, int n_threads,
                         struct fric_schedule *schedule);
struct part fricp_schedule_part(const struct fric_contacts *contacts, const struct fric_schedule *schedule,
                                size_t part);
void fricp_schedule_clear(struct fric_schedule *schedule);

#endif
