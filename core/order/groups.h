/**
 * The order in which chunks of contacts are prepared. When the vertices do not fit into the caches, all groups advance
 * together: they are usually in the order of the mesh, so that a vertex fetched for one group is there for the next.
 */
#ifndef FRIC_GROUPS_H
#define FRIC_GROUPS_H

#include "core/base/parallel.h"
#include "core/contacts/contacts.h"

/* Lists of all groups that advance together: each is at `next` between `begin` and `end`, and takes `step` at a time. */
struct advance {
	size_t begin[FRIC_N_TYPES], next[FRIC_N_TYPES], end[FRIC_N_TYPES], step[FRIC_N_TYPES];
};

/* How far a list is after its next step. */
static inline size_t next_end(const struct advance *a, enum fric_type group)
{
	const size_t left = a->end[group] - a->next[group];
	return a->next[group] + (a->step[group] < left ? a->step[group] : left);
}

/* The list that is least far through after its next step, of several the first; FRIC_N_TYPES: all are through. So what
 * stretches far comes when the others have passed it, and nothing reaches far ahead. */
static inline enum fric_type hindmost(const struct advance *a)
{
	enum fric_type least = FRIC_N_TYPES;
	double progress = 2;
	for (enum fric_type g = 0; g < FRIC_N_TYPES; g++) {
		if (a->next[g] >= a->end[g])
			continue;
		const double here = (double)(next_end(a, g) - a->begin[g]) / (double)(a->end[g] - a->begin[g]);
		if (here < progress) {
			least = g;
			progress = here;
		}
	}
	return least;
}

/* fricp_parallel_chunks over all contacts, in that order. */
struct fault fricp_parallel_contacts(const struct fric_context *context, const struct fric_contacts *contacts,
                                     chunk_work *work, void *task);

#endif
