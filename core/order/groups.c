#include "core/order/groups.h"

#include <stdlib.h>

/* Up to this size, velocities or positions stay in the caches while groups follow one another. */
enum { FRIC_CACHED_BYTES = 4 << 20 };

/* Orders chunks so that all groups advance together. A chunk belongs to the group of its first contact. */
static void merge_groups(const struct fric_contacts *c, uint32_t *order)
{
	struct advance a;
	for (enum fric_type g = 0; g < FRIC_N_TYPES; g++) {
		a.begin[g] = c->start[g];
		a.next[g] = n_chunks(c->start[g], FRIC_CHUNK) * FRIC_CHUNK;
		a.end[g] = c->start[g + 1];
		a.step[g] = FRIC_CHUNK;
	}
	for (size_t i = 0; i < n_chunks(c->n, FRIC_CHUNK); i++) {
		const enum fric_type g = hindmost(&a);
		order[i] = (uint32_t)(a.next[g] / FRIC_CHUNK);
		a.next[g] += FRIC_CHUNK;
	}
}

struct fault fricp_parallel_contacts(const struct fric_context *context, const struct fric_contacts *contacts,
                                     chunk_work *work, void *task)
{
	const size_t n = contacts->n, bytes = contacts->n_vertices * (size_t)contacts->dim * sizeof(double);
	const size_t chunks = n_chunks(n, FRIC_CHUNK);
	const int n_threads = chunks <= 1 ? 1 : fricp_team_size(context, n);
	uint32_t *order = bytes > FRIC_CACHED_BYTES && chunks > 1 ? malloc(chunks * sizeof(*order)) : NULL;
	const struct phase phase = {work, n, FRIC_CHUNK, true, order};
	if (order) /* without memory, use ascending order */
		merge_groups(contacts, order);
	const struct fault fault = fricp_parallel_phases(context, n_threads, &phase, 1, task);
	free(order);
	return fault;
}
