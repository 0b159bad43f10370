#include "core/order/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/inline.h"
#include "core/base/memory.h"
#include "core/motion/stencil.h"

enum {
	LEAST_ROUNDS = 2,
	MOST_ROUNDS = 4,
	SPANS_PER_ROUND = 256,
	LEAST_SPANS = 32,
	NO_OWNER = 255, /* owners are stored as bytes */
	MOST_PARTS = NO_OWNER,
	MOST_SHARES = 4,
	N_RANGES = 64,          /* ranges of vertices: units of work for adding deferred values */
	N_PIECES = 64,          /* pieces of the sweep: units of work for locating deferred values */
	SPANS_PER_PIECE = 32,   /* at least */
	WORTH_A_REGION = 65536, /* incidences; for fewer, no region is opened */
	MOST_MIXED = INT32_MAX / (FRIC_MAX_STENCIL * FRIC_SPAN), /* spans, because places are int32_t */
};

/* A schedule under construction. */
struct plan {
	const struct fric_contacts *contacts;
	struct fric_schedule *s;
	struct fric_context context; /* without a stop flag, because half a schedule is useless */
	int n_threads;
	size_t n_mixed, n_incidences; /* number of spans that may defer values, and of their incidences */
	int32_t lowest;               /* lowest vertex of any contact */
	int shift;                    /* binary logarithm of a range's size */
	size_t n_shares;              /* shares of the sweep, each marked by one thread */
	uint8_t *owners;              /* if `by_vertex`: [n_vertices] first part that reaches a vertex; NO_OWNER: only the
	                                 last part does, or none. [n_shares, n_vertices] during construction */
	size_t n_pieces;              /* pieces of the sweep */
	size_t next[N_PIECES][N_RANGES]; /* number of places that a piece needs, then its next place */
};

static bool is_small(const struct plan *plan)
{
	return plan->n_incidences < WORTH_A_REGION;
}

static void over_spans(struct plan *plan, chunk_work *work, size_t n, size_t at_a_time)
{
	const struct phase phase = {work, n, at_a_time, false, NULL};
	fricp_parallel_phases(&plan->context, is_small(plan) ? 1 : plan->n_threads, &phase, 1, plan);
}

/* ---- parts ---- */

/* The fraction of all work that precedes a part. Each round but the last divides 60 % of the rest, one part per thread:
 * a thread that starts late or is slowed down takes fewer parts, and the last parts are small. */
static double share_before(size_t part, size_t n_rounds, size_t n_threads)
{
	const size_t round = part / n_threads;
	double left = 1;
	for (size_t r = 0; r < round; r++)
		left *= 0.4;
	const double given = round + 1 < n_rounds ? 0.6 * left : left;
	return round < n_rounds ? 1 - left + given * (double)(part % n_threads) / (double)n_threads : 1;
}

static struct part part_of(const struct plan *plan, size_t number, size_t n_rounds)
{
	const double n = (double)plan->contacts->n_spans;
	const size_t n_threads = (size_t)plan->n_threads;
	return (struct part){number, (size_t)(share_before(number, n_rounds, n_threads) * n),
	                     (size_t)(share_before(number + 1, n_rounds, n_threads) * n)};
}

/* Whether a span reaches blocks of earlier parts. */
static bool is_mixed(const struct plan *plan, struct part part, size_t position)
{
	return (size_t)plan->contacts->oldest[position] < part.begin;
}

static size_t n_mixed(const struct plan *plan, size_t n_rounds)
{
	size_t n = 0;
	for (size_t p = 1; p < n_rounds * (size_t)plan->n_threads; p++) {
		const struct part part = part_of(plan, p, n_rounds);
		for (size_t i = part.begin; i < part.end; i++)
			n += is_mixed(plan, part, i);
	}
	return n;
}

/* Chooses enough rounds for the threads to finish at about the same time, but few enough to defer little. */
static size_t choose_rounds(struct plan *plan)
{
	const size_t n_spans = plan->contacts->n_spans, each = n_spans / (size_t)plan->n_threads, most = each / LEAST_SPANS;
	size_t rounds = each / SPANS_PER_ROUND;
	rounds = rounds < LEAST_ROUNDS ? LEAST_ROUNDS : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
	rounds = most < 1 ? 1 : most < rounds ? most : rounds;
	while ((plan->n_mixed = n_mixed(plan, rounds)) * 16 > n_spans && rounds > 1)
		rounds--;
	plan->s->by_vertex = plan->n_mixed * 4 > n_spans && rounds * (size_t)plan->n_threads <= MOST_PARTS;
	return rounds;
}

static void list_parts(struct plan *plan, size_t n_rounds)
{
	struct fric_schedule *s = plan->s;
	s->n_parts = 0;
	for (size_t p = 0; p < n_rounds * (size_t)plan->n_threads; p++) {
		const struct part part = part_of(plan, p, n_rounds);
		s->first[s->n_parts] = part.begin;
		s->n_parts += part.begin < part.end;
	}
	s->first[s->n_parts] = plan->contacts->n_spans;
}

struct part fricp_schedule_part(const struct fric_schedule *s, size_t number)
{
	return (struct part){number, s->first[number], s->first[number + 1]};
}

/* ---- deferred values ---- */

static size_t n_incidences_of(struct span span)
{
	return (size_t)fric_stencil_size(span.type) * span.n;
}

static void list_mixed(struct plan *plan)
{
	for (size_t p = 0; p < plan->s->n_parts; p++) {
		const struct part part = fricp_schedule_part(plan->s, p);
		for (size_t i = part.begin; i < part.end; i++) {
			plan->s->places_of[i] = is_mixed(plan, part, i) ? plan->n_incidences : NO_PLACES;
			if (is_mixed(plan, part, i))
				plan->n_incidences += n_incidences_of(sweep_span(plan->contacts, i));
		}
	}
}

INLINE void mark_span(enum fric_type type, const struct plan *plan, struct span span, uint8_t part, uint8_t *owners)
{
	for (int k = 0; k < stencil_size_of(type); k++) {
		const int32_t *v = plan->contacts->vertices[k] + span.begin;
		for (size_t j = 0; j < span.n; j++)
			owners[v[j]] = owners[v[j]] < part ? owners[v[j]] : part;
	}
}

/* Marks the vertices of a share of each part but the last. Each share has its own array, because threads that wrote to
 * the same one would compete for its cache lines. */
static void mark_share(void *data, size_t share, size_t begin, size_t end, struct fault *fault)
{
	const struct plan *plan = data;
	uint8_t *owners = plan->owners + share * plan->contacts->n_vertices;
	(void)begin, (void)end, (void)fault;
	memset(owners, NO_OWNER, plan->contacts->n_vertices);
	for (size_t p = 0; p + 1 < plan->s->n_parts; p++) {
		const size_t first = plan->s->first[p], n = plan->s->first[p + 1] - first;
		for (size_t i = first + share * n / plan->n_shares; i < first + (share + 1) * n / plan->n_shares; i++) {
			const struct span span = sweep_span(plan->contacts, i);
			FOR_TYPE(mark_span, span.type, plan, span, (uint8_t)p, owners)
		}
	}
}

static void join_marks(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct plan *plan = data;
	(void)chunk, (void)fault;
	for (size_t share = 1; share < plan->n_shares; share++) {
		const uint8_t *owners = plan->owners + share * plan->contacts->n_vertices;
		for (size_t v = begin; v < end; v++)
			plan->owners[v] = plan->owners[v] < owners[v] ? plan->owners[v] : owners[v];
	}
}

static void find_owners(struct plan *plan)
{
	enum { VERTICES_AT_A_TIME = 1 << 14 };
	over_spans(plan, mark_share, plan->n_shares, 1);
	over_spans(plan, join_marks, plan->contacts->n_vertices, VERTICES_AT_A_TIME);
}

/* Whether a part defers its contribution to a vertex. */
INLINE bool is_deferred(const struct plan *plan, bool by_vertex, struct part part, int32_t vertex)
{
	if (!by_vertex)
		return (size_t)plan->contacts->reached[vertex >> BLOCK_SHIFT] < part.begin;
	return plan->owners[vertex] < part.number;
}

static size_t range_of(const struct plan *plan, int32_t vertex)
{
	return (size_t)(vertex - plan->lowest) >> plan->shift;
}

static void find_ranges(struct plan *plan)
{
	int32_t highest = 0;
	plan->lowest = INT32_MAX;
	for (size_t i = 0; i < plan->contacts->n_spans; i++) {
		const struct span_extent e = sweep_extent(plan->contacts, i);
		plan->lowest = e.lowest < plan->lowest ? e.lowest : plan->lowest;
		highest = e.highest > highest ? e.highest : highest;
	}
	while (range_of(plan, highest) >= N_RANGES)
		plan->shift++;
}

/* The part that contains a position, starting the search at a part found earlier. */
static struct part find_part(const struct plan *plan, struct part part, size_t position)
{
	while (position >= part.end)
		part = fricp_schedule_part(plan->s, part.number + 1);
	return part;
}

/* Counts deferred values, and stores the range of each in its place, or -1. @return their number */
INLINE size_t count_members(enum fric_type type, bool by_vertex, const struct plan *plan, struct part part,
                            struct span span, size_t *n, int32_t *places)
{
	size_t all = 0;
	for (int k = 0; k < stencil_size_of(type); k++) {
		const int32_t *v = plan->contacts->vertices[k] + span.begin;
		for (size_t j = 0; j < span.n; j++) {
			const bool deferred = is_deferred(plan, by_vertex, part, v[j]);
			const size_t range = range_of(plan, v[j]);
			places[(size_t)k * span.n + j] = deferred ? (int32_t)range : -1;
			n[range] += deferred;
			all += deferred;
		}
	}
	return all;
}

static size_t count_span(const struct plan *plan, struct part part, struct span span, size_t *n, int32_t *places)
{
	size_t all = 0;
#define COUNT(...) all = count_members(__VA_ARGS__)
	if (plan->s->by_vertex)
		FOR_TYPE(COUNT, span.type, true, plan, part, span, n, places)
	else
		FOR_TYPE(COUNT, span.type, false, plan, part, span, n, places)
#undef COUNT
	return all;
}

static void count_piece(void *data, size_t piece, size_t begin, size_t end, struct fault *fault)
{
	struct plan *plan = data;
	struct fric_schedule *s = plan->s;
	struct part part = fricp_schedule_part(s, 0);
	(void)fault;
	for (size_t i = begin; i < end; i++) {
		part = find_part(plan, part, i);
		if (s->places_of[i] != NO_PLACES &&
		    !count_span(plan, part, sweep_span(plan->contacts, i), plan->next[piece], s->places + s->places_of[i]))
			s->places_of[i] = NO_PLACES;
	}
}

/* Assigns places contact by contact, in the order of a scatter. */
INLINE void place_span(enum fric_type type, const struct plan *plan, struct span span, size_t *next, int32_t *places)
{
	for (size_t j = 0; j < span.n; j++)
		for (int k = 0; k < stencil_size_of(type); k++) {
			int32_t *place = &places[(size_t)k * span.n + j];
			if (*place < 0)
				continue;
			const size_t at = next[*place]++;
			plan->s->vertices[at] = plan->contacts->vertices[k][span.begin + j];
			*place = (int32_t)at;
		}
}

static void place_piece(void *data, size_t piece, size_t begin, size_t end, struct fault *fault)
{
	struct plan *plan = data;
	struct fric_schedule *s = plan->s;
	(void)fault;
	for (size_t i = begin; i < end; i++) {
		const struct span span = sweep_span(plan->contacts, i);
		if (s->places_of[i] != NO_PLACES)
			FOR_TYPE(place_span, span.type, plan, span, plan->next[piece], s->places + s->places_of[i])
	}
}

/* Orders places by range, and within a range by piece. */
static void list_ranges(struct plan *plan)
{
	struct fric_schedule *s = plan->s;
	for (size_t r = 0; r < N_RANGES; r++) {
		const size_t before = s->n_deferred;
		for (size_t piece = 0; piece < plan->n_pieces; piece++) {
			const size_t n = plan->next[piece][r];
			plan->next[piece][r] = s->n_deferred;
			s->n_deferred += n;
		}
		s->range[s->n_ranges] = before;
		s->n_ranges += s->n_deferred > before;
	}
	s->range[s->n_ranges] = s->n_deferred;
}

/* For few values: assigns all places in one pass and in a single range, and writes the place after the last one. */
INLINE size_t place_members(enum fric_type type, const struct plan *plan, struct part part, struct span span, size_t at,
                            int32_t *places)
{
	for (size_t j = 0; j < span.n; j++)
		for (int k = 0; k < stencil_size_of(type); k++) {
			const int32_t v = plan->contacts->vertices[k][span.begin + j];
			const bool deferred = is_deferred(plan, false, part, v);
			places[(size_t)k * span.n + j] = deferred ? (int32_t)at : -1;
			plan->s->vertices[at] = v;
			at += deferred;
		}
	return at;
}

static void place_few(struct plan *plan)
{
	struct fric_schedule *s = plan->s;
	size_t at = 0;
	for (size_t p = 1; p < s->n_parts; p++) {
		const struct part part = fricp_schedule_part(s, p);
		for (size_t i = part.begin; i < part.end; i++) {
			const struct span span = sweep_span(plan->contacts, i);
			if (s->places_of[i] == NO_PLACES)
				continue;
#define PLACE(...) at = place_members(__VA_ARGS__)
			FOR_TYPE(PLACE, span.type, plan, part, span, at, s->places + s->places_of[i])
#undef PLACE
		}
	}
	s->n_deferred = at;
	s->range[0] = 0;
	s->range[1] = at;
	s->n_ranges = at > 0;
}

/* Whether owners of single vertices reduce the deferred values to less than half. Otherwise they do harm: threads that
 * add at neighbouring vertices compete for cache lines. Judges from some spans of the last part. */
static bool owners_help(const struct plan *plan)
{
	enum { SOME = 16 };
	const struct part last = fricp_schedule_part(plan->s, plan->s->n_parts - 1);
	const size_t step = (last.end - last.begin) / SOME + 1;
	int32_t places[FRIC_MAX_STENCIL * FRIC_SPAN];
	size_t n[N_RANGES] = {0}, deferred = 0, all = 0;
	for (size_t i = last.begin; i < last.end; i += step) {
		const struct span span = sweep_span(plan->contacts, i);
		deferred += count_span(plan, last, span, n, places);
		all += n_incidences_of(span);
	}
	return deferred * 2 < all;
}

static void defer(struct plan *plan)
{
	const size_t n = plan->contacts->n_spans, even = (n + N_PIECES - 1) / N_PIECES;
	const size_t each = is_small(plan) ? n : even < SPANS_PER_PIECE ? SPANS_PER_PIECE : even;
	if (is_small(plan) && !plan->s->by_vertex) {
		place_few(plan);
		return;
	}
	plan->n_pieces = n_chunks(n, each);
	find_ranges(plan);
	if (plan->s->by_vertex) {
		find_owners(plan);
		plan->s->by_vertex = owners_help(plan);
	}
	over_spans(plan, count_piece, n, each);
	list_ranges(plan);
	over_spans(plan, place_piece, n, each);
}

/* ---- the schedule ---- */

/* Carves an array out of a block that begins at base. base NULL: only adds up sizes. */
static void *cut(char *base, size_t *bytes, size_t n, size_t size)
{
	void *array = base ? base + *bytes : NULL;
	*bytes += (n * size + sizeof(size_t) - 1) / sizeof(size_t) * sizeof(size_t);
	return array;
}

/* Carves the arrays once it is known which spans may defer values, but not yet which values. */
static void cut_arrays(struct plan *plan, size_t n_rounds, char *base, size_t *bytes)
{
	struct fric_schedule *s = plan->s;
	*bytes = 0;
	s->first = cut(base, bytes, n_rounds * (size_t)plan->n_threads + 1, sizeof(*s->first));
	s->range = cut(base, bytes, N_RANGES + 1, sizeof(*s->range));
	if (plan->n_mixed == 0)
		return;
	s->places_of = cut(base, bytes, plan->contacts->n_spans, sizeof(*s->places_of));
	s->places = cut(base, bytes, plan->n_mixed * FRIC_MAX_STENCIL * FRIC_SPAN, sizeof(*s->places));
	s->vertices = cut(base, bytes, plan->n_mixed * FRIC_MAX_STENCIL * FRIC_SPAN + 1, sizeof(*s->vertices));
}

static bool divide(struct plan *plan)
{
	struct fric_schedule *s = plan->s;
	const size_t n_rounds = choose_rounds(plan),
				 owners = s->by_vertex ? plan->n_shares * plan->contacts->n_vertices : 0;
	if (plan->n_mixed > MOST_MIXED)
		return true; /* keeps a single part */
	cut_arrays(plan, n_rounds, NULL, &s->arrays_bytes);
	s->arrays = memory_take(s->memory, s->arrays_bytes);
	plan->owners = owners && s->arrays ? memory_take(s->memory, owners) : NULL;
	if (!s->arrays || (owners && !plan->owners))
		return false;
	cut_arrays(plan, n_rounds, s->arrays, &s->arrays_bytes);
	list_parts(plan, n_rounds);
	if (plan->n_mixed) {
		list_mixed(plan);
		defer(plan);
	}
	memory_give(s->memory, plan->owners, owners);
	return true;
}

bool fricp_schedule_make(const struct fric_context *context, const struct fric_contacts *contacts, int n_threads,
                         struct fric_schedule *schedule)
{
	struct plan plan = {.contacts = contacts, .s = schedule, .context = *context, .n_threads = n_threads};
	plan.context.stop = NULL;
	plan.n_shares = n_threads < MOST_SHARES ? (size_t)n_threads : MOST_SHARES;
	*schedule = (struct fric_schedule){.n_parts = 1, .memory = context->memory};
	return contacts->n == 0 || n_threads == 1 || divide(&plan);
}

void fricp_schedule_clear(struct fric_schedule *schedule)
{
	memory_give(schedule->memory, schedule->arrays, schedule->arrays_bytes);
}

enum fric_code fric_schedule_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                    struct fric_schedule **schedule, struct fric_error *error)
{
	const int n_threads = fricp_most_threads(context, contacts->n);
	*schedule = NULL;
	if (contacts->n == 0 || n_threads == 1)
		return FRIC_OK;
	struct fric_schedule *made = malloc(sizeof(*made));
	if (made && fricp_schedule_make(context, contacts, n_threads, made)) {
		*schedule = made;
		return FRIC_OK;
	}
	if (made)
		fricp_schedule_clear(made);
	free(made);
	return report_code(FRIC_E_MEMORY, error);
}

void fric_schedule_free(struct fric_schedule *schedule)
{
	if (schedule)
		fricp_schedule_clear(schedule);
	free(schedule);
}
