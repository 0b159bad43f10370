#include "core/order/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

/* Borders between parts lie between buckets of consecutive vertices. */
enum { N_BUCKETS = 1024, LEAST_ROUNDS = 2, MOST_ROUNDS = 4, SPANS_PER_ROUND = 256, LEAST_SPANS = 32 };

struct plan {
	const struct fric_contacts *contacts;
	int32_t lowest, highest;      /* vertex of any contact */
	int shift;                    /* binary logarithm of a bucket's size */
	size_t before[N_BUCKETS + 1]; /* work at the vertices of earlier buckets */
	size_t across[N_BUCKETS + 1]; /* spans that a border at the beginning of a bucket would cut */
	size_t n_parts, n_cut;        /* spans cut by borders, counted once per border */
	size_t border[N_BUCKETS];     /* [n_parts] bucket where a part begins; 0 for the first */
	uint16_t part_of[N_BUCKETS];
};

static size_t bucket(const struct plan *plan, int32_t vertex)
{
	return (size_t)(vertex - plan->lowest) >> plan->shift;
}

static void find_buckets(struct plan *plan)
{
	plan->lowest = INT32_MAX;
	for (size_t i = 0; i < plan->contacts->n_spans; i++) {
		const struct span_extent r = sweep_extent(plan->contacts, i);
		plan->lowest = r.lowest < plan->lowest ? r.lowest : plan->lowest;
		plan->highest = r.highest > plan->highest ? r.highest : plan->highest;
	}
	while (bucket(plan, plan->highest) >= N_BUCKETS)
		plan->shift++;
}

static void add_up(size_t sums[N_BUCKETS + 1])
{
	for (size_t b = 1; b <= N_BUCKETS; b++)
		sums[b] += sums[b - 1];
}

/* First try: all of a span's work counts at its lowest vertex, which is right while few spans are cut. */
static void count_spans(struct plan *plan)
{
	for (size_t i = 0; i < plan->contacts->n_spans; i++) {
		const struct span_extent r = sweep_extent(plan->contacts, i);
		const size_t first = bucket(plan, r.lowest), last = bucket(plan, r.highest);
		plan->before[first + 1]++;
		plan->across[first + 1]++;
		plan->across[last + 1]--; /* size_t wraps, and back again in the sum */
	}
	add_up(plan->before);
	add_up(plan->across);
}

/* Second try: the vertices of a span's first contact stand for those of all its contacts. */
static void count_vertices(struct plan *plan)
{
	const struct fric_contacts *c = plan->contacts;
	memset(plan->before, 0, sizeof(plan->before));
	for (size_t i = 0; i < c->n_spans; i++) {
		const struct span span = sweep_span(c, i);
		for (int k = 0; k < fric_stencil_size(span.type); k++)
			plan->before[bucket(plan, c->vertices[k][span.begin]) + 1] += span.n;
	}
	add_up(plan->before);
}

/* The share of all work that lies before a part. Each round but the last divides 60 % of what is left, a part per
 * thread: a thread that starts late or is slowed down takes fewer parts, and the last ones are small. */
static double share_before(size_t part, size_t n_rounds, size_t n_threads)
{
	const size_t round = part / n_threads;
	double left = 1;
	for (size_t r = 0; r < round; r++)
		left *= 0.4;
	const double given = round + 1 < n_rounds ? 0.6 * left : left;
	return 1 - left + given * (double)(part % n_threads) / (double)n_threads;
}

static void find_borders(struct plan *plan, size_t n_rounds, size_t n_threads)
{
	const double all = (double)plan->before[N_BUCKETS];
	const size_t wanted = n_rounds * n_threads;
	size_t next = 1;
	plan->n_parts = 1;
	plan->n_cut = 0;
	for (size_t b = 1; b < N_BUCKETS; b++) {
		const double before = (double)plan->before[b];
		if (next < wanted && before < all && before >= share_before(next, n_rounds, n_threads) * all) {
			plan->border[plan->n_parts++] = b;
			plan->n_cut += plan->across[b];
			while (next < wanted && before >= share_before(next, n_rounds, n_threads) * all)
				next++;
		}
		plan->part_of[b] = (uint16_t)(plan->n_parts - 1);
	}
}

/* Enough for the threads to finish at about the same time, few enough to cut few spans. */
static size_t wanted_rounds(const struct plan *plan, size_t n_threads)
{
	const size_t each = plan->contacts->n_spans / n_threads, most = each / LEAST_SPANS;
	size_t rounds = each / SPANS_PER_ROUND;
	rounds = rounds < LEAST_ROUNDS ? LEAST_ROUNDS : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
	return most < 1 ? 1 : most < rounds ? most : rounds;
}

/* @return whether forces must be evaluated first and kept */
static bool choose_parts(struct plan *plan, size_t n_threads)
{
	size_t rounds = wanted_rounds(plan, n_threads);
	find_borders(plan, rounds, n_threads);
	while (plan->n_cut * 8 > plan->contacts->n_spans && rounds > 1)
		find_borders(plan, --rounds, n_threads);
	if (plan->n_cut * 4 < plan->contacts->n_spans && plan->n_parts >= n_threads)
		return false;
	count_vertices(plan);
	find_borders(plan, 1, n_threads);
	return true;
}

static bool allocate(const struct plan *plan, struct fric_schedule *s)
{
	const size_t spans = (plan->n_parts + 2) * sizeof(*s->first_span);
	const size_t vertices = (plan->n_parts + 1) * sizeof(*s->first_vertex);
	s->arrays_bytes = spans + vertices + (plan->contacts->n_spans + plan->n_cut) * sizeof(*s->slots);
	s->arrays = memory_take(s->memory, s->arrays_bytes);
	if (!s->arrays)
		return false;
	s->first_span = memset(s->arrays, 0, spans);
	s->first_vertex = (int32_t *)(s->first_span + plan->n_parts + 2);
	s->slots = s->first_vertex + plan->n_parts + 1;
	return true;
}

static void list_vertices(const struct plan *plan, struct fric_schedule *s)
{
	s->n_parts = plan->n_parts;
	s->first_vertex[0] = 0;
	for (size_t p = 1; p < s->n_parts; p++)
		s->first_vertex[p] = plan->lowest + (int32_t)(plan->border[p] << plan->shift);
	s->first_vertex[s->n_parts] = (int32_t)plan->contacts->n_vertices;
}

static size_t first_part(const struct plan *plan, struct span_extent extent)
{
	return plan->part_of[bucket(plan, extent.lowest)];
}

static size_t last_part(const struct plan *plan, struct span_extent extent)
{
	return plan->part_of[bucket(plan, extent.highest)];
}

/* Counting sort. */
static void list_spans(const struct plan *plan, struct fric_schedule *s)
{
	const struct fric_contacts *c = plan->contacts;
	size_t *next = s->first_span + 1; /* shifted by one: filling turns starts into ends */
	for (size_t i = 0; i < c->n_spans; i++)
		for (size_t p = first_part(plan, sweep_extent(c, i)); p <= last_part(plan, sweep_extent(c, i)); p++)
			next[p + 1]++;
	for (size_t p = 1; p <= s->n_parts; p++)
		next[p] += next[p - 1];
	for (size_t i = 0; i < c->n_spans; i++)
		for (size_t p = first_part(plan, sweep_extent(c, i)); p <= last_part(plan, sweep_extent(c, i)); p++)
			s->slots[next[p]++] = c->sweep[i];
}

static bool divide(const struct fric_contacts *contacts, int n_threads, struct fric_schedule *schedule)
{
	struct plan plan = {.contacts = contacts};
	find_buckets(&plan);
	count_spans(&plan);
	schedule->keeps_forces = choose_parts(&plan, (size_t)n_threads);
	if (!allocate(&plan, schedule))
		return false;
	list_vertices(&plan, schedule);
	list_spans(&plan, schedule);
	return true;
}

bool fricp_schedule_make(const struct fric_memory *memory, const struct fric_contacts *contacts, int n_threads,
                         struct fric_schedule *schedule)
{
	*schedule = (struct fric_schedule){.n_parts = 1, .memory = memory};
	return contacts->n == 0 || n_threads == 1 || divide(contacts, n_threads, schedule);
}

struct part fricp_schedule_part(const struct fric_contacts *contacts, const struct fric_schedule *s, size_t p)
{
	if (!s->slots)
		return (struct part){0, (int32_t)contacts->n_vertices, contacts->sweep, contacts->n_spans};
	return (struct part){s->first_vertex[p], s->first_vertex[p + 1], s->slots + s->first_span[p],
	                     s->first_span[p + 1] - s->first_span[p]};
}

void fricp_schedule_clear(struct fric_schedule *schedule)
{
	memory_give(schedule->memory, schedule->arrays, schedule->arrays_bytes);
}

enum fric_code fric_schedule_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                    struct fric_schedule **schedule, struct fric_error *error)
{
	const int n_threads = fricp_team_size(context, contacts->n);
	*schedule = NULL;
	if (contacts->n == 0 || n_threads == 1)
		return FRIC_OK;
	struct fric_schedule *made = malloc(sizeof(*made));
	if (made && fricp_schedule_make(context->memory, contacts, n_threads, made)) {
		*schedule = made;
		return FRIC_OK;
	}
	free(made); /* out of memory it holds nothing */
	return report_code(FRIC_E_MEMORY, error);
}

void fric_schedule_free(struct fric_schedule *schedule)
{
	if (schedule)
		fricp_schedule_clear(schedule);
	free(schedule);
}
