#include "core/order/sweep.h"

#include <string.h>

#include "core/base/inline.h"
#include "core/order/groups.h"

/* Buckets are large enough for the groups to advance evenly, and small enough for a core's caches. */
enum { MOST_BUCKETS = 1024, SMALLEST_SHIFT = 13 };

/* Reorders the spans at positions [begin, end) of the sweep, which are in contact order. @param room [end - begin] */
static void merge_groups(struct fric_contacts *c, size_t begin, size_t end, int32_t *room)
{
	struct advance a;
	size_t at = begin;
	for (enum fric_type g = 0; g < FRIC_N_TYPES; g++) {
		a.begin[g] = a.next[g] = at - begin;
		while (at < end && (size_t)sweep_extent(c, at).begin < c->start[g + 1])
			at++;
		a.end[g] = at - begin;
		a.step[g] = 1;
	}
	memcpy(room, c->sweep + begin, (end - begin) * sizeof(*room));
	for (size_t i = begin; i < end; i++)
		c->sweep[i] = room[a.next[hindmost(&a)]++];
}

/* Orders spans with a counting sort by bucket. */
static void order_spans(struct fric_contacts *c)
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
	for (size_t b = 0; b < n_buckets; b++) /* next[b] is now the end of bucket b */
		merge_groups(c, b ? next[b - 1] : 0, next[b], c->oldest);
}

/* ---- blocks ---- */

/* The list of blocks under construction. */
struct reach {
	int32_t *reached, *blocks;
	int32_t n_listed;
	int32_t position, oldest; /* position: the span whose blocks are reached; oldest: the least `reached` of these */
};

INLINE void reach_block(struct reach *r, size_t block)
{
	int32_t first = r->reached[block];
	if (first < 0) {
		r->reached[block] = first = r->position;
		r->blocks[r->n_listed++] = (int32_t)block;
	}
	r->oldest = first < r->oldest ? first : r->oldest;
}

INLINE size_t block_of(int32_t vertex)
{
	return (size_t)vertex >> BLOCK_SHIFT;
}

/* Marks all blocks on both sides of the gap, even the few that may contain no vertex of the span. */
INLINE void reach_near(struct reach *r, struct span_extent e)
{
	const size_t below = block_of(e.below), last = block_of(e.highest);
	for (size_t b = block_of(e.lowest); b <= below; b++)
		reach_block(r, b);
	for (size_t b = block_of(e.above) > below ? block_of(e.above) : below + 1; b <= last; b++)
		reach_block(r, b);
}

/* Marks the blocks of a span's vertices. @param all_reached  no block is new, so only the oldest one is looked for,
 * until it is the first of all */
INLINE void reach_members(struct reach *r, const struct fric_contacts *c, struct span span, bool all_reached)
{
	for (int k = 0; k < fric_stencil_size(span.type); k++) {
		const int32_t *v = c->vertices[k] + span.begin;
		for (size_t j = 0; j < span.n && !(all_reached && r->oldest == 0); j++)
			reach_block(r, block_of(v[j]));
	}
}

static void list_blocks(struct fric_contacts *c)
{
	enum { FEW = 4096 }; /* vertices */
	const size_t n_blocks = n_blocks_of(c->n_vertices);
	struct reach r = {.reached = c->reached, .blocks = c->blocks};
	memset(c->reached, 0xff, n_blocks * sizeof(*c->reached));
	for (size_t i = 0; i < c->n_spans; i++) {
		const struct span_extent e = sweep_extent(c, i);
		c->listed[i] = r.n_listed;
		r.position = r.oldest = (int32_t)i;
		if ((e.below - e.lowest) + (e.highest - e.above) < FEW)
			reach_near(&r, e);
		else if ((size_t)r.n_listed < n_blocks)
			reach_members(&r, c, sweep_span(c, i), false);
		else
			reach_members(&r, c, sweep_span(c, i), true);
		c->oldest[i] = r.oldest;
	}
	c->listed[c->n_spans] = r.n_listed;
	for (size_t b = 0; b < n_blocks; b++)
		if (c->reached[b] < 0) {
			c->reached[b] = (int32_t)c->n_spans;
			c->blocks[r.n_listed++] = (int32_t)b;
		}
}

void fricp_sweep_make(struct fric_contacts *c)
{
	order_spans(c);
	list_blocks(c);
}

/* Proceeds group by group, because hardware prefetchers do not follow alternating groups. Continues after a fault,
 * because a later span may have a lower one. */
void fricp_sweep_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct sweep *sweep = data;
	const struct fric_contacts *c = sweep->contacts;
	size_t first[SWEEP_CHUNK] = {0};
	(void)chunk;
	for (size_t i = begin; i < end; i++)
		first[i - begin] = (size_t)sweep_extent(c, i).begin;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		for (size_t i = 0; i < end - begin; i++) {
			struct fault here = {FRIC_OK, SIZE_MAX};
			if (first[i] < c->start[type] || first[i] >= c->start[type + 1])
				continue;
			sweep->work(sweep->task, span_at(c, first[i]), &here);
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
