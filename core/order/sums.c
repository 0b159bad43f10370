#include "core/order/sums.h"

#include "core/base/memory.h"
#include "core/base/vectors.h"

enum { AHEAD = 8, SPANS_BETWEEN_STOPS = 64, NUMBERS_AT_A_TIME = 1 << 14 };

static void add_spans(const struct summation *all, struct part part, struct fault *fault)
{
	for (size_t i = part.begin; i < part.end; i++) {
		struct fault here = {FRIC_OK, SIZE_MAX};
		if (i + AHEAD < part.end) /* hardware prefetchers do not follow alternating groups */
			__builtin_prefetch(&all->contacts->extents[all->contacts->sweep[i + AHEAD]]);
		for (size_t s = 0; s < all->n_sums; s++)
			fricp_scatter_reach(&all->sums[s], part, i);
		all->span(all, part, i, &here);
		if (here.code != FRIC_OK && here.position < fault->position)
			*fault = here; /* continue, because a lower contact may have a fault too */
		if (i % SPANS_BETWEEN_STOPS == 0 && fricp_stop_raised(all->context))
			return; /* fricp_parallel_phases checks the flag afterwards */
	}
}

static void sum_range(void *data, size_t range, size_t begin, size_t end, struct fault *fault)
{
	const struct summation *all = data;
	(void)begin, (void)end, (void)fault;
	for (size_t s = 0, n; s < all->n_sums; s += n) {
		n = (size_t)all->sums[s].apart < all->n_sums - s ? (size_t)all->sums[s].apart : all->n_sums - s;
		fricp_scatter_deferred(&all->sums[s], n, range);
	}
}

/* A phase makes threads wait, which a single range is not worth: the last thread to finish adds it. */
static bool has_little_left(const struct summation *all)
{
	return all->schedule && all->schedule->n_ranges == 1;
}

static void sum_part(void *data, size_t number, size_t begin, size_t end, struct fault *fault)
{
	const struct summation *all = data;
	const struct part part = all->schedule ? fricp_schedule_part(all->schedule, number)
	                                       : (struct part){0, 0, all->contacts->n_spans};
	(all->part ? all->part : add_spans)(all, part, fault);
	for (size_t s = 0; s < all->n_sums; s++)
		fricp_scatter_close(&all->sums[s], part, sums_n_parts(all));
	if (has_little_left(all) && atomic_fetch_sub(all->n_left, 1) == 1)
		sum_range(data, 0, begin, end, fault);
}

/* ---- sums of all vertices ---- */

static size_t n_numbers(const struct summation *all)
{
	size_t most = 0;
	for (size_t s = 0; s < all->n_sums; s++) {
		const size_t n = all->contacts->n_vertices * (size_t)all->sums[s].width;
		most = n > most ? n : most;
	}
	return most;
}

/* The end of the part of [begin, end) that lies within a sum. */
static size_t end_of(const struct summation *all, const struct scatter *sum, size_t begin, size_t end)
{
	const size_t n = all->contacts->n_vertices * (size_t)sum->width;
	return n < begin ? begin : n < end ? n : end;
}

static void clear_numbers(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct summation *all = data;
	(void)chunk, (void)fault;
	for (size_t s = 0; s < all->n_sums; s++)
		memset(all->sums[s].sums + begin, 0, (end_of(all, &all->sums[s], begin, end) - begin) * sizeof(double));
}

static void check_numbers(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct summation *all = data;
	(void)chunk;
	for (size_t s = 0; s < all->n_sums; s++)
		if (!all->sums[s].bounded &&
		    !all_finite(all->sums[s].sums + begin, end_of(all, &all->sums[s], begin, end) - begin))
			*fault = (struct fault){FRIC_E_NOT_FINITE, all->contacts->n};
}

static bool all_bounded(const struct summation *all)
{
	bool bounded = true;
	for (size_t s = 0; s < all->n_sums; s++)
		bounded &= all->sums[s].bounded;
	return bounded;
}

/* ---- all sums ---- */

static struct fault run_phases(struct summation *all)
{
	const struct fric_schedule *s = all->schedule;
	const int n_threads = s ? fricp_most_threads(all->context, all->contacts->n) : 1;
	atomic_size_t n_left = sums_n_parts(all);
	struct phase phases[FRIC_MAX_PHASES];
	int n = 0;
	all->n_left = &n_left;
	if (s && s->by_vertex)
		phases[n++] = (struct phase){clear_numbers, n_numbers(all), NUMBERS_AT_A_TIME, false, NULL};
	phases[n++] = (struct phase){sum_part, sums_n_parts(all), 1, false, NULL};
	if (s && s->n_ranges > 1)
		phases[n++] = (struct phase){sum_range, s->n_ranges, 1, false, NULL};
	if (!all_bounded(all))
		phases[n++] = (struct phase){check_numbers, n_numbers(all), NUMBERS_AT_A_TIME, false, NULL};
	return fricp_parallel_phases(all->context, n_threads, phases, n, all);
}

/* @param own  the schedule that is made if the summation has none. @return false when out of memory */
static bool choose_schedule(struct summation *all, struct fric_schedule *own)
{
	const int n_threads = fricp_team_size(all->context, all->contacts->n);
	*own = (struct fric_schedule){0};
	if (n_threads > 1 && !all->schedule) {
		if (!fricp_schedule_make(all->context, all->contacts, n_threads, own))
			return false;
		all->schedule = own;
	}
	if (n_threads == 1 || all->schedule->n_parts == 1)
		all->schedule = NULL;
	return true;
}

struct fault fricp_sums_scheduled(struct summation *all, struct fault (*run)(struct summation *))
{
	struct fric_schedule own;
	const bool chosen = choose_schedule(all, &own);
	const struct fault fault = chosen ? run(all) : (struct fault){FRIC_E_MEMORY, SIZE_MAX};
	fricp_schedule_clear(&own);
	return fault;
}

/* Counts the deferred values of all sums. If block is not NULL, it also assigns their arrays there. */
static size_t place_deferred(struct summation *all, double *block)
{
	const size_t n = all->schedule ? all->schedule->n_deferred : 0, n_lanes = all->n_lanes > 1 ? all->n_lanes : 1;
	size_t at = 0;
	for (size_t s = 0; s < all->n_sums; s++) {
		struct scatter *sum = &all->sums[s];
		sum->context = all->context;
		sum->contacts = all->contacts;
		sum->schedule = all->schedule;
		sum->apart = (int)n_lanes;
		sum->deferred = block ? block + at + s % n_lanes : NULL;
		if (s % n_lanes + 1 == n_lanes || s + 1 == all->n_sums)
			at += n * (size_t)sum->width * n_lanes;
	}
	return at;
}

struct fault fricp_sums_run(struct summation *all)
{
	const struct fric_memory *memory = all->context->memory;
	const size_t n = place_deferred(all, NULL);
	double *deferred = n ? memory_take(memory, n * sizeof(double)) : NULL;
	if (n && !deferred)
		return (struct fault){FRIC_E_MEMORY, SIZE_MAX};
	place_deferred(all, deferred);
	const struct fault fault = run_phases(all);
	memory_give(memory, deferred, n * sizeof(double));
	return fault;
}
