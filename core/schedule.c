#include "schedule.h"

#include <stdlib.h>

/* Borders lie between buckets of neighbouring vertices. */
enum { N_BUCKETS = 1024, PART_BYTES = 2 << 20, PARTS_PER_THREAD = 2, SPANS_PER_PART = 32 };

struct plan {
	const struct fric_contacts *contacts;
	struct vertex_range all;
	int shift;                      /* logarithm of a bucket's size */
	size_t n_spans;
	size_t before[N_BUCKETS + 1];   /* work at the vertices of earlier buckets */
	size_t across[N_BUCKETS + 1];   /* spans that a border at the start of a bucket would cut */
	size_t n_parts, n_cut;          /* spans cut by their borders, once for each border */
	size_t border[N_BUCKETS];       /* [n_parts] bucket in which a part begins; that of the first is 0 */
	uint16_t part_of[N_BUCKETS];
};

/* The span after this one; n is 0 at the end. Begin with an empty one. */
static struct span following(const struct fric_contacts *c, struct span span)
{
	const size_t at = span.begin + span.n;
	return at < c->n ? span_at(c, at) : (struct span){.begin = at};
}

#define EACH_SPAN(c, span) (struct span span = following(c, (struct span){0}); span.n; span = following(c, span))

static size_t bucket(const struct plan *plan, int32_t vertex)
{
	return (size_t)(vertex - plan->all.lowest) >> plan->shift;
}

static void find_buckets(struct plan *plan)
{
	const struct fric_contacts *c = plan->contacts;
	struct vertex_range all = {INT32_MAX, 0};
	for EACH_SPAN(c, span) {
		const struct vertex_range r = c->ranges[span_slot(span)];
		all.lowest = r.lowest < all.lowest ? r.lowest : all.lowest;
		all.highest = r.highest > all.highest ? r.highest : all.highest;
	}
	plan->all = all;
	while (bucket(plan, all.highest) >= N_BUCKETS)
		plan->shift++;
}

/* One contact of each span stands for all of them. */
static void count_work(struct plan *plan, struct span span)
{
	const struct fric_contacts *c = plan->contacts;
	for (int k = 0; k < fric_stencil_size(span.type); k++)
		plan->before[bucket(plan, c->vertices[k][span.begin]) + 1] += span.n;
}

static void count_spans(struct plan *plan)
{
	const struct fric_contacts *c = plan->contacts;
	for EACH_SPAN(c, span) {
		const struct vertex_range r = c->ranges[span_slot(span)];
		plan->n_spans++;
		plan->across[bucket(plan, r.lowest) + 1]++;
		plan->across[bucket(plan, r.highest) + 1]--; /* size_t wraps, and back again in the sum */
		count_work(plan, span);
	}
	for (size_t b = 1; b <= N_BUCKETS; b++) {
		plan->before[b] += plan->before[b - 1];
		plan->across[b] += plan->across[b - 1];
	}
}

/* Up to `wanted` parts of about as much work each. */
static void find_borders(struct plan *plan, size_t wanted)
{
	size_t done = 0;
	plan->n_parts = 1;
	plan->n_cut = 0;
	for (size_t b = 1; b < N_BUCKETS; b++) {
		const size_t reached = plan->before[b] * wanted / plan->before[N_BUCKETS];
		if (reached > done && reached < wanted) {
			plan->border[plan->n_parts++] = b;
			plan->n_cut += plan->across[b];
			done = reached;
		}
		plan->part_of[b] = (uint16_t)(plan->n_parts - 1);
	}
}

/* Enough for the threads to end at about the same time, small enough for the caches, not so small that much is cut. */
static size_t wanted_parts(const struct plan *plan, size_t n_threads)
{
	const size_t vertices = (size_t)(plan->all.highest - plan->all.lowest) + 1;
	const size_t bytes = vertices * (size_t)plan->contacts->dim * 2 * sizeof(double);
	size_t wanted = bytes / PART_BYTES, most = plan->n_spans / SPANS_PER_PART;
	if (n_threads > 1 && wanted < PARTS_PER_THREAD * n_threads)
		wanted = PARTS_PER_THREAD * n_threads;
	most = most < N_BUCKETS ? most : N_BUCKETS;
	wanted = wanted < most ? wanted : most;
	return wanted > n_threads ? wanted : n_threads;
}

/* @return whether forces must be kept */
static bool choose_parts(struct plan *plan, size_t n_threads)
{
	size_t wanted = wanted_parts(plan, n_threads);
	find_borders(plan, wanted);
	while (plan->n_cut * 8 > plan->n_spans && wanted > n_threads) {
		wanted = wanted / 2 > n_threads ? wanted / 2 : n_threads;
		find_borders(plan, wanted);
	}
	if (n_threads == 1 || (plan->n_cut * 4 < plan->n_spans && plan->n_parts >= n_threads))
		return false;
	find_borders(plan, n_threads);
	return true;
}

static bool allocate(const struct plan *plan, struct schedule *s)
{
	s->first_vertex = malloc((plan->n_parts + 1) * sizeof(*s->first_vertex));
	s->first_span = calloc(plan->n_parts + 2, sizeof(*s->first_span));
	s->begins = malloc((plan->n_spans + plan->n_cut) * sizeof(*s->begins));
	return s->first_vertex && s->first_span && s->begins;
}

static void list_vertices(const struct plan *plan, struct schedule *s)
{
	s->n_parts = plan->n_parts;
	s->first_vertex[0] = 0;
	for (size_t p = 1; p < s->n_parts; p++)
		s->first_vertex[p] = plan->all.lowest + (int32_t)(plan->border[p] << plan->shift);
	s->first_vertex[s->n_parts] = (int32_t)plan->contacts->n_vertices;
}

static struct vertex_range parts_of(const struct plan *plan, struct span span)
{
	const struct vertex_range r = plan->contacts->ranges[span_slot(span)];
	return (struct vertex_range){plan->part_of[bucket(plan, r.lowest)], plan->part_of[bucket(plan, r.highest)]};
}

/* Counting sort. */
static void list_spans(const struct plan *plan, struct schedule *s)
{
	const struct fric_contacts *c = plan->contacts;
	size_t *next = s->first_span + 1; /* shifted by one: filling turns starts into ends */
	for EACH_SPAN(c, span) {
		const struct vertex_range parts = parts_of(plan, span);
		for (int32_t p = parts.lowest; p <= parts.highest; p++)
			next[p + 1]++;
	}
	for (size_t p = 1; p <= s->n_parts; p++)
		next[p] += next[p - 1];
	for EACH_SPAN(c, span) {
		const struct vertex_range parts = parts_of(plan, span);
		for (int32_t p = parts.lowest; p <= parts.highest; p++)
			s->begins[next[p]++] = (int32_t)span.begin;
	}
}

bool schedule_make(const struct fric_contacts *contacts, int n_threads, struct schedule *schedule)
{
	struct plan plan = {.contacts = contacts};
	const size_t bytes = contacts->n_vertices * (size_t)contacts->dim * 2 * sizeof(double);
	*schedule = (struct schedule){0};
	if (contacts->n == 0 || (n_threads == 1 && bytes < 4 * (size_t)PART_BYTES))
		return true;
	find_buckets(&plan);
	count_spans(&plan);
	schedule->keeps_forces = choose_parts(&plan, (size_t)n_threads);
	if (plan.n_parts == 1 && !schedule->keeps_forces)
		return true;
	if (!allocate(&plan, schedule))
		return false;
	list_vertices(&plan, schedule);
	list_spans(&plan, schedule);
	return true;
}

void schedule_free(struct schedule *schedule)
{
	free(schedule->first_vertex);
	free(schedule->first_span);
	free(schedule->begins);
}
