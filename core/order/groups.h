/**
 * The order in which chunks of contacts are prepared. When the vertices do not fit into the caches, all groups advance
 * together: they are usually in the order of the mesh, so that a vertex fetched for one group is there for the next.
 */
#ifndef FRIC_GROUPS_H
#define FRIC_GROUPS_H

#include "core/base/parallel.h"
#include "core/contacts/contacts.h"

/* Several lists that advance together: those of the groups, each at `next` between `begin` and `end`. */
struct advance {
	size_t begin[FRIC_N_TYPES], next[FRIC_N_TYPES], end[FRIC_N_TYPES];
};

/* The list that is least far through, of several the first; FRIC_N_TYPES: all are through. */
static inline enum fric_type hindmost(const struct advance *a)
{
	enum fric_type least = FRIC_N_TYPES;
	double progress = 1;
	for (enum fric_type g = 0; g < FRIC_N_TYPES; g++) {
		if (a->next[g] >= a->end[g])
			continue;
		const double here = (double)(a->next[g] - a->begin[g]) / (double)(a->end[g] - a->begin[g]);
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
