#include "schedule.h"

#include <stdlib.h>
#include <string.h>

/* Borders lie between buckets of neighbouring vertices. */
enum { N_BUCKETS = 1024, PART_BYTES = 2 << 20, PARTS_PER_THREAD = 2, SPANS_PER_PART = 32 };

struct plan {
	const struct fric_contacts *contacts;
	int32_t lowest, highest;        /* vertex of all contacts */
	int shift;                      /* logarithm of a bucket's size */
	size_t n_spans;
	size_t before[N_BUCKETS + 1];   /* work at the vertices of earlier buckets */
	size_t across[N_BUCKETS + 1];   /* spans that a border at the start of a bucket would cut */
	size_t n_parts, n_cut;          /* spans cut by their borders, once for each border */
	size_t border[N_BUCKETS];       /* [n_parts] bucket in which a part begins; that of the first is 0 */
	uint16_t part_of[N_BUCKETS];
};

/* The next range of a span from r on. */
static const struct span_range *skip_empty(const struct fric_contacts *c, const struct span_range *r)
{
	const struct span_range *const end = c->ranges + span_slots(c->n);
	while (r < end && r->begin < 0)
		r++;
	return r;
}

#define EACH_SPAN(c, r)                                                                                                \
	(const struct span_range *r = skip_empty(c, (c)->ranges); r < (c)->ranges + span_slots((c)->n);                \
	 r = skip_empty(c, r + 1))

static size_t bucket(const struct plan *plan, int32_t vertex)
{
	return (size_t)(vertex - plan->lowest) >> plan->shift;
}

static void find_buckets(struct plan *plan)
{
	plan->lowest = INT32_MAX;
	for EACH_SPAN(plan->contacts, r) {
		plan->lowest = r->lowest < plan->lowest ? r->lowest : plan->lowest;
		plan->highest = r->highest > plan->highest ? r->highest : plan->highest;
		plan->n_spans++;
	}
	while (bucket(plan, plan->highest) >= N_BUCKETS)
		plan->shift++;
}

static void add_up(size_t sums[N_BUCKETS + 1])
{
	for (size_t b = 1; b <= N_BUCKETS; b++)
		sums[b] += sums[b - 1];
}

/* While few spans are cut, all of a span's work is at its lowest vertex. */
static void count_spans(struct plan *plan)
{
	for EACH_SPAN(plan->contacts, r) {
		const size_t first = bucket(plan, r->lowest), last = bucket(plan, r->highest);
		plan->before[first + 1]++;
		plan->across[first + 1]++;
		plan->across[last + 1]--; /* size_t wraps, and back again in the sum */
	}
	add_up(plan->before);
	add_up(plan->across);
}

/* Else one contact of each span stands for all of them. */
static void count_corners(struct plan *plan)
{
	const struct fric_contacts *c = plan->contacts;
	memset(plan->before, 0, sizeof(plan->before));
	for EACH_SPAN(c, r) {
		const struct span span = span_at(c, (size_t)r->begin);
		for (int k = 0; k < fric_stencil_size(span.type); k++)
			plan->before[bucket(plan, c->vertices[k][span.begin]) + 1] += span.n;
	}
	add_up(plan->before);
}

/* Up to `wanted` parts of about as much work each. */
static void find_borders(struct plan *plan, size_t wanted)
{
	const size_t all = plan->before[N_BUCKETS];
	size_t done = 0; /* parts' worth of work */
	plan->n_parts = 1;
	plan->n_cut = 0;
	for (size_t b = 1; b < N_BUCKETS; b++) {
		if (plan->before[b] * wanted >= (done + 1) * all && plan->before[b] < all) {
			plan->border[plan->n_parts++] = b;
			plan->n_cut += plan->across[b];
			done = plan->before[b] * wanted / all;
		}
		plan->part_of[b] = (uint16_t)(plan->n_parts - 1);
	}
}

/* Enough for the threads to end at about the same time, small enough for the caches, not so small that much is cut. */
static size_t wanted_parts(const struct plan *plan, size_t n_threads)
{
	const size_t vertices = (size_t)(plan->highest - plan->lowest) + 1;
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
	count_corners(plan);
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
		s->first_vertex[p] = plan->lowest + (int32_t)(plan->border[p] << plan->shift);
	s->first_vertex[s->n_parts] = (int32_t)plan->contacts->n_vertices;
}

static size_t first_part(const struct plan *plan, const struct span_range *r)
{
	return plan->part_of[bucket(plan, r->lowest)];
}

static size_t last_part(const struct plan *plan, const struct span_range *r)
{
	return plan->part_of[bucket(plan, r->highest)];
}

/* Counting sort. */
static void list_spans(const struct plan *plan, struct schedule *s)
{
	size_t *next = s->first_span + 1; /* shifted by one: filling turns starts into ends */
	for EACH_SPAN(plan->contacts, r)
		for (size_t p = first_part(plan, r); p <= last_part(plan, r); p++)
			next[p + 1]++;
	for (size_t p = 1; p <= s->n_parts; p++)
		next[p] += next[p - 1];
	for EACH_SPAN(plan->contacts, r)
		for (size_t p = first_part(plan, r); p <= last_part(plan, r); p++)
			s->begins[next[p]++] = r->begin;
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
