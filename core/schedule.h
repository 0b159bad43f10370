/**
 * Who adds up where. The vertices are divided into parts, each with a list of the spans (block.h) that touch it, in contact
 * order; one thread alone adds up at the vertices of a part. While contacts come roughly in the order of the mesh, few
 * spans lie across a border, and a part evaluates all of its spans by itself: no thread waits for another, and what it
 * works on stays in the caches. Else forces are evaluated first, kept, and then added up part by part.
 */
#ifndef FRIC_SCHEDULE_H
#define FRIC_SCHEDULE_H

#include "block.h"

struct schedule {
	size_t n_parts;        /* 0: not worth it, contacts are to be taken one after the other */
	bool keeps_forces;     /* too many spans lie across borders */
	int32_t *first_vertex; /* [n_parts + 1]; all vertices are in some part */
	size_t *first_span;    /* [n_parts + 1] into begins */
	int32_t *begins;       /* of the spans of each part */
};

/**
 * @param n_threads  team_size of the contacts
 * @param schedule   to be freed with schedule_free in any case
 * @return false if memory does not suffice
 */
bool schedule_make(const struct fric_contacts *contacts, int n_threads, struct schedule *schedule);
void schedule_free(struct schedule *schedule);

#endif
