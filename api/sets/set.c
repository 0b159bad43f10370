#include "api/sets/set.h"

#include <string.h>

#include "api/base/account.h"
#include "api/problem.h"

/* ---- patterns ---- */

static void pattern_free(struct api_shared_pattern *shared)
{
	struct api_pool *pool = shared->counted.pool;
	fric_pattern_free(shared->pattern);
	api_pool_give(pool, shared, sizeof(*shared));
}

static struct api_shared_pattern *pattern_hold(struct api_shared_pattern *shared)
{
	if (shared)
		atomic_fetch_add_explicit(&shared->n_holders, 1, memory_order_relaxed);
	return shared;
}

void api_pattern_release(struct api_shared_pattern *shared)
{
	if (shared && atomic_fetch_sub_explicit(&shared->n_holders, 1, memory_order_acq_rel) == 1)
		pattern_free(shared);
}

static size_t pattern_bytes(struct api_shared_pattern *shared)
{
	return shared ? sizeof(*shared) + api_counted_bytes(&shared->counted) : 0;
}

enum fric_code api_places_create(const struct fric_context *context, const struct fric_contacts *contacts, int places,
                                 struct fric_pattern **pattern, struct fric_error *error)
{
	if (places == API_JACOBIAN_PLACES)
		return fric_jacobian_pattern_create(context, contacts, pattern, error);
	return fric_pattern_create(context, contacts, (enum fric_triangle)places, pattern, error);
}

static struct api_shared_pattern *pattern_create(struct api_set *set, const struct fric_context *context, int places,
                                                 struct api_fault *fault)
{
	struct api_shared_pattern *shared = api_pool_take(set->pool, sizeof(*shared));
	struct fric_error error;
	if (!shared) {
		api_fault_no_memory(fault);
		return NULL;
	}
	atomic_init(&shared->n_holders, 1);
	api_counted_start(&shared->counted, set->pool);
	const struct fric_context own = api_counted_context(context, &shared->counted);
	if (api_places_create(&own, set->contacts, places, &shared->pattern, &error) == FRIC_OK)
		return shared;
	api_fault_core(fault, &error);
	api_pool_give(set->pool, shared, sizeof(*shared));
	return NULL;
}

/* Several threads may make the same pattern at the same time; one of the results is kept. */
static void pattern_keep(struct api_set *set, int places, struct api_shared_pattern *shared)
{
	if (atomic_flag_test_and_set(&set->keeps_pattern[places]))
		return;
	if (!atomic_load(&set->patterns[places]) && api_kept_grow(&set->kept, pattern_bytes(shared)))
		atomic_store(&set->patterns[places], pattern_hold(shared));
	atomic_flag_clear(&set->keeps_pattern[places]);
}

struct api_shared_pattern *api_set_pattern(struct api_set *set, const struct fric_context *context, int places,
                                           struct api_fault *fault)
{
	struct api_shared_pattern *shared = pattern_hold(atomic_load(&set->patterns[places]));
	if (shared)
		return shared;
	shared = pattern_create(set, context, places, fault);
	if (shared)
		pattern_keep(set, places, shared);
	return shared;
}

/* ---- schedule ---- */

static void make_schedule(struct api_set *set, const struct fric_context *context)
{
	const struct fric_context own = api_counted_context(context, &set->counted);
	const size_t before = api_counted_bytes(&set->counted);
	struct fric_schedule *schedule;
	struct fric_error error;
	if (fric_schedule_create(&own, set->contacts, &schedule, &error) != FRIC_OK || !schedule)
		return;
	if (api_kept_grow(&set->kept, api_counted_bytes(&set->counted) - before))
		atomic_store(&set->schedule, schedule);
	else
		fric_schedule_free(schedule);
}

const struct fric_schedule *api_set_schedule(struct api_set *set, const struct fric_context *context)
{
	if (!atomic_load(&set->schedule) && !atomic_flag_test_and_set(&set->makes_schedule)) {
		if (!atomic_load(&set->schedule))
			make_schedule(set, context);
		atomic_flag_clear(&set->makes_schedule);
	}
	return atomic_load(&set->schedule);
}

/* ---- lagged velocities ---- */

/* The number of velocity components of all vertices, and of all bodies. */
static size_t n_of_vertices(const struct api_set_facts *facts)
{
	return facts->n_vertices * facts->dim;
}

static size_t n_of_bodies(const struct api_set_facts *facts)
{
	return facts->n_bodies * api_twist(facts->dim);
}

/* Copies values into memory of the set, which counts. @return false when out of memory */
static bool keep(struct api_set *set, const double *values, size_t n, double **kept, struct api_fault *fault)
{
	if (!values)
		return true;
	*kept = api_counted_take(&set->counted, n * sizeof(**kept));
	if (!*kept)
		return api_fault_no_memory(fault);
	return api_account_copy(*kept, values, n * sizeof(**kept)) || api_fault_no_memory(fault);
}

static void give_back(struct api_set *set, double *kept, size_t n)
{
	if (kept)
		api_counted_give(&set->counted, kept, n * sizeof(*kept));
}

/* With both vertices and bodies, a query may bring the lagged velocities of only one of them. */
static bool keep_lagged_velocities(struct api_set *set, const struct api_lagged_velocities *v, struct api_fault *fault)
{
	const size_t n = n_of_vertices(&set->facts), m = n_of_bodies(&set->facts);
	if (n == 0 || m == 0)
		return true;
	return keep(set, v->vertices, n, &set->lagged_velocities, fault) &&
	       keep(set, v->bodies, m, &set->lagged_body_velocities, fault);
}

/* Lagged velocities over all DOFs, if both parts exist. With vertices and bodies they need an array of their own. */
struct joined {
	const double *all;
	double *own;
	size_t n;
};

static bool join(struct api_set *set, const struct api_lagged_velocities *v, struct joined *out,
                 struct api_fault *fault)
{
	const size_t n = n_of_vertices(&set->facts), m = n_of_bodies(&set->facts);
	*out = (struct joined){.n = n + m};
	if (m == 0 || n == 0) {
		out->all = m == 0 ? v->vertices : v->bodies;
		return true;
	}
	if (!v->vertices || !v->bodies)
		return true;
	out->all = out->own = api_pool_take(set->pool, out->n * sizeof(*out->own));
	if (!out->own)
		return api_fault_no_memory(fault);
	memcpy(out->own, v->vertices, n * sizeof(*out->own));
	memcpy(out->own + n, v->bodies, m * sizeof(*out->own));
	return true;
}

/* ---- the set ---- */

void api_set_free(struct api_set *set)
{
	struct api_pool *pool = set->pool;
	for (int places = 0; places < API_N_PLACES; places++)
		api_pattern_release(atomic_load(&set->patterns[places]));
	fric_schedule_free(atomic_load(&set->schedule));
	fric_state_free(set->state);
	fric_contacts_free(set->contacts);
	api_archive_free(&set->document);
	api_neighbours_release(set->neighbours);
	give_back(set, set->lagged_velocities, n_of_vertices(&set->facts));
	give_back(set, set->lagged_body_velocities, n_of_bodies(&set->facts));
	api_pool_give(pool, set, sizeof(*set));
}

static void free_kept(struct api_kept *kept)
{
	api_set_free(api_set_of(kept));
}

static struct api_set *allocate(struct api_pool *pool)
{
	struct api_set *set = api_pool_take(pool, sizeof(*set));
	if (!set)
		return NULL;
	memset(set, 0, sizeof(*set)); /* zero is a valid initial value of flags and pointers */
	set->kept.free = free_kept;
	set->pool = pool;
	set->document.pool = pool;
	api_counted_start(&set->counted, pool);
	return set;
}

static bool prepare(struct api_set *set, const struct fric_context *context, const struct fric_batch *batch,
                    const double *lagged_velocities, struct api_fault *fault)
{
	const struct fric_context own = api_counted_context(context, &set->counted);
	struct fric_batch all = *batch;
	struct fric_error error;
	all.terms = FRIC_TERM_FRICTION | (api_allows_barrier(&set->facts.obstacles) ? FRIC_TERM_BARRIER : 0);
	enum fric_code code = fric_prepare(&own, &all, &set->contacts, &error);
	if (code == FRIC_OK && lagged_velocities)
		code = fric_state_create(&own, set->contacts, lagged_velocities, &set->state, &error);
	return code == FRIC_OK || api_neighbours_fault(set->neighbours, &error, fault);
}

/* Runs once per set, because the search takes a while among millions of contacts. */
static void find_first_skipped(struct api_set *set)
{
	const size_t n = fric_n_skipped(set->contacts) < API_FIRST_SKIPPED ? fric_n_skipped(set->contacts)
	                                                                   : API_FIRST_SKIPPED;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		for (size_t i = 0; i < fric_group_size(set->contacts, type) && set->n_first_skipped < n; i++) {
			const enum fric_code code = fric_skipped(set->contacts, type, i);
			if (*fric_reason(code))
				set->first_skipped[set->n_first_skipped++] = (struct api_skipped){type, i, code};
		}
}

struct api_set *api_set_create(const struct fric_context *context, struct api_pool *pool,
                               const struct fric_batch *batch, const struct api_lagged_velocities *lagged_velocities,
                               const struct api_set_facts *facts, struct api_neighbours *neighbours,
                               struct api_fault *fault)
{
	struct api_set *set = allocate(pool);
	if (!set) {
		api_neighbours_release(neighbours);
		api_fault_no_memory(fault);
		return NULL;
	}
	set->neighbours = neighbours;
	set->facts = *facts;
	api_stencils_identify(batch, set->stencils);
	struct joined joined = {0};
	bool ok = keep_lagged_velocities(set, lagged_velocities, fault) && join(set, lagged_velocities, &joined, fault);
	set->has_lagged_velocities = joined.all;
	ok = ok && prepare(set, context, batch, joined.all, fault);
	if (joined.own)
		api_pool_give(pool, joined.own, joined.n * sizeof(*joined.own));
	if (ok) {
		find_first_skipped(set);
		return set;
	}
	api_set_free(set);
	return NULL;
}

static void inherit_patterns(struct api_set *set, const struct api_set *old)
{
	if (!old || strcmp(set->stencils, old->stencils) != 0)
		return;
	for (int places = 0; places < API_N_PLACES; places++)
		atomic_init(&set->patterns[places], pattern_hold(atomic_load(&old->patterns[places])));
}

static size_t count_all(struct api_set *set)
{
	size_t bytes = sizeof(*set) + api_counted_bytes(&set->counted) + api_pool_block_bytes(set->pool, set->document.n) +
	               api_neighbours_bytes(set->neighbours);
	for (int places = 0; places < API_N_PLACES; places++)
		bytes += pattern_bytes(atomic_load(&set->patterns[places]));
	return bytes;
}

bool api_set_finish(struct api_set *set, struct api_document *document, struct api_arena *arena,
                    const struct api_set *old, struct api_fault *fault)
{
	if (!api_archive_write(document, arena, &set->document, fault))
		return false;
	inherit_patterns(set, old);
	set->kept.bytes = count_all(set);
	return true;
}
