#include "core/order/sweep.h"

#include <string.h>

/* Buckets are large enough for changing from group to group to cost little, and small enough for a core's caches. */
enum { MOST_BUCKETS = 1024, SMALLEST_SHIFT = 13 };

/* Counting sort. */
void fricp_sweep_make(struct fric_contacts *c)
{
	size_t next[MOST_BUCKETS + 1];
	int shift = SMALLEST_SHIFT;
	while (c->n_vertices >> shift >= MOST_BUCKETS)
		shift++;
	const size_t n_buckets = (c->n_vertices >> shift) + 1;
	memset(next, 0, (n_buckets + 1) * sizeof(*next));
	c->n_spans = 0;
	for (size_t slot = 0; slot < span_slots(c->n); slot++)
		if (c->extents[slot].begin >= 0) {
			next[(c->extents[slot].lowest >> shift) + 1]++;
			c->n_spans++;
		}
	for (size_t b = 1; b <= n_buckets; b++)
		next[b] += next[b - 1];
	for (size_t slot = 0; slot < span_slots(c->n); slot++)
		if (c->extents[slot].begin >= 0)
			c->sweep[next[c->extents[slot].lowest >> shift]++] = (int32_t)slot;
}

/* Goes on after a fault: a lower one may come later in the sweep. */
void fricp_sweep_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct sweep *sweep = data;
	(void)chunk;
	for (size_t i = begin; i < end; i++) {
		struct fault here = {FRIC_OK, SIZE_MAX};
		sweep->work(sweep->task, sweep_span(sweep->contacts, i), &here);
		if (here.code != FRIC_OK && here.position < fault->position)
			*fault = here;
	}
}

struct fault fricp_sweep_run(const struct fric_context *context, const struct fric_contacts *contacts, span_work *work,
                             void *task)
{
	struct sweep sweep = {contacts, work, task};
	const struct phase phase = {fricp_sweep_chunk, contacts->n_spans, SWEEP_CHUNK, false, NULL};
	return fricp_parallel_phases(context, fricp_team_size(context, contacts->n), &phase, 1, &sweep);
}
