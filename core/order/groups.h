/**
 * The order in which chunks of contacts are prepared. If the vertices do not fit into the caches, all groups advance
 * together: groups are usually in the order of the mesh, so that a vertex fetched for one group is still cached for the
 * next.
 */
#ifndef FRIC_GROUPS_H
#define FRIC_GROUPS_H

#include "core/base/parallel.h"
#include "core/contacts/contacts.h"

/* Lists of all groups, which advance together: each is at `next` between `begin` and `end`, and advances by `step`. */
struct advance {
	size_t begin[FRIC_N_TYPES], next[FRIC_N_TYPES], end[FRIC_N_TYPES], step[FRIC_N_TYPES];
};

/* The position that a group's list has after its next step. */
static inline size_t next_end(const struct advance *a, enum fric_type group)
{
	const size_t left = a->end[group] - a->next[group];
	return a->next[group] + (a->step[group] < left ? a->step[group] : left);
}

/* The group whose list has made the least progress after its next step, the first one of several; FRIC_N_TYPES if all
 * are done. Thus a step that covers a large part of its list waits until the other lists have passed it, and no list
 * runs far ahead. */
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

/* fricp_parallel_chunks over all contacts, in this order. */
struct fault fricp_parallel_contacts(const struct fric_context *context, const struct fric_contacts *contacts,
                                     chunk_work *work, void *task);

#endif
