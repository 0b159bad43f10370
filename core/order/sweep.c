#include "core/order/sweep.h"

#include <string.h>

/* A neighbourhood is so large that changing from group to group costs little, and its vertices fit into a core's caches. */
enum { N_NEIGHBOURHOODS = 1024, SMALLEST_SHIFT = 13 };

/* Counting sort. */
void fricp_sweep_make(struct fric_contacts *c)
{
	size_t next[N_NEIGHBOURHOODS + 1];
	int shift = SMALLEST_SHIFT;
	while (c->n_vertices >> shift >= N_NEIGHBOURHOODS)
		shift++;
	const size_t n_neighbourhoods = (c->n_vertices >> shift) + 1;
	memset(next, 0, (n_neighbourhoods + 1) * sizeof(*next));
	c->n_spans = 0;
	for (size_t slot = 0; slot < span_slots(c->n); slot++)
		if (c->ranges[slot].begin >= 0) {
			next[(c->ranges[slot].lowest >> shift) + 1]++;
			c->n_spans++;
		}
	for (size_t b = 1; b <= n_neighbourhoods; b++)
		next[b] += next[b - 1];
	for (size_t slot = 0; slot < span_slots(c->n); slot++)
		if (c->ranges[slot].begin >= 0)
			c->sweep[next[c->ranges[slot].lowest >> shift]++] = (int32_t)slot;
}

/* The lowest fault of all wins, so that none is missed for another one that comes earlier in the sweep. */
void fricp_sweep_piece(void *data, size_t piece, size_t begin, size_t end, struct fault *fault)
{
	const struct walk *walk = data;
	(void)piece;
	for (size_t i = begin; i < end; i++) {
		struct fault here = {FRIC_OK, SIZE_MAX};
		walk->work(walk->task, sweep_span(walk->contacts, i), &here);
		if (here.code != FRIC_OK && here.position < fault->position)
			*fault = here;
	}
}

struct fault fricp_sweep_run(const struct fric_context *context, const struct fric_contacts *contacts, span_work *work,
                       void *task)
{
	struct walk walk = {contacts, work, task};
	const struct phase phase = {fricp_sweep_piece, contacts->n_spans, SWEEP_PIECE, false, NULL};
	return fricp_parallel_phases(context, fricp_team_size(context, contacts->n), &phase, 1, &walk);
}
