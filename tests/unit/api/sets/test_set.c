/* Collision sets: patterns and schedule are made on first use, kept if there is room, shared, and counted. */
#include "api/sets/set.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/api/sets/scarce.h"

/* ---- a store, and sets of vertices on a floor ---- */

enum { N = 2000 };

static struct api_sets *sets;
static struct api_budget budget;
static struct api_pool *pool;
static int32_t vertices[N];
static const double normal[3] = {0, 0, 1}, one = 1;
static const struct fric_context serial = {.n_threads = 1}, team = {.n_threads = 2, .parallel_from = 1};

static int64_t now_ms(void)
{
	return 0;
}

static void open_store(size_t bytes)
{
	const struct api_sets_limits limits = {
		.bytes = bytes, .bytes_per_caller = bytes, .n = 8, .n_per_caller = 8, .idle_seconds = 900, .pool = pool};
	until_failure = -1;
	sets = api_sets_create(&limits, now_ms);
	assert_non_null(sets);
}

static void close_store(void)
{
	api_sets_free(sets);
	assert_int_equal(budget.used_bytes, 0);
}

static int start(void **unused)
{
	(void)unused;
	budget = (struct api_budget){.most_bytes = 64 << 20};
	pool = api_pool_create(0, &budget);
	for (int i = 0; i < N; i++)
		vertices[i] = i;
	return pool ? 0 : -1;
}

static int stop(void **unused)
{
	(void)unused;
	api_pool_free(pool);
	return 0;
}

static struct fric_batch floor_of(size_t n)
{
	struct fric_batch batch = {
		.dim = 3, .n_vertices = N, .friction = {.source = FRIC_MU_SCALAR, .mu_s = 1, .mu_k = 1, .eps_v = 1}};
	batch.groups[FRIC_PLANE_VERTEX] =
		(struct fric_group){.n = n, .vertices = vertices, .plane_normal = {normal, 0}, .normal_force = {&one, 0}};
	return batch;
}

/* NULL if an allocation fails. */
static struct api_set *try_make(size_t n, const struct api_set *old)
{
	const struct fric_batch batch = floor_of(n);
	const struct api_set_facts facts = {.dim = 3};
	const struct api_lagged_velocities none = {0};
	struct api_document document = {.root = json_object()};
	struct api_arena arena = {.pool = pool};
	struct api_fault fault;
	api_fault_clear(&fault);
	struct api_set *set = api_set_create(&serial, pool, &batch, &none, &facts, NULL, &fault);
	if (set && !api_set_finish(set, &document, &arena, old, &fault)) {
		api_set_free(set);
		set = NULL;
	}
	assert_true(set || fault.status == 503);
	json_decref(document.root);
	api_arena_free(&arena);
	return set;
}

/* Puts a set, and holds it. */
static struct api_set *put(const char *name, size_t n, struct api_set *old)
{
	struct api_set *set = try_make(n, old);
	assert_non_null(set);
	const enum api_put expected = old ? API_PUT_REPLACED : API_PUT_CREATED;
	assert_int_equal(api_sets_put(sets, NULL, name, &set->kept, old ? &old->kept : NULL), expected);
	return set;
}

static struct api_shared_pattern *pattern_of(struct api_set *set, int places)
{
	struct api_fault fault;
	struct api_shared_pattern *shared = api_set_pattern(set, &serial, places, &fault);
	assert_non_null(shared);
	assert_non_null(shared->pattern);
	return shared;
}

/* ---- patterns ---- */

static void a_pattern_is_made_once_and_counted(void **unused)
{
	(void)unused;
	open_store(32 << 20);
	struct api_set *set = put("a", N, NULL);
	const size_t before = set->kept.bytes, used = budget.used_bytes;
	struct api_shared_pattern *first = pattern_of(set, FRIC_FULL);
	const size_t after = set->kept.bytes;
	assert_ptr_equal(pattern_of(set, FRIC_FULL), first);
	assert_int_equal(set->kept.bytes, after);
	assert_true(after - before >= fric_pattern_n_entries(first->pattern) * sizeof(int32_t));
	assert_true(budget.used_bytes - used >= after - before);
	assert_int_equal(api_sets_counts(sets).bytes, after);
	assert_int_equal(first->n_holders, 3);
	struct api_shared_pattern *upper = pattern_of(set, FRIC_UPPER);
	assert_ptr_not_equal(upper, first);
	assert_true(set->kept.bytes > after);
	api_pattern_release(first);
	api_pattern_release(first);
	api_pattern_release(upper);
	api_kept_release(&set->kept);
	close_store();
}

/* A response that is still being sent keeps the pattern alive; nothing else does. */
static void a_pattern_outlives_its_set(void **unused)
{
	(void)unused;
	open_store(32 << 20);
	struct api_set *set = put("a", 4, NULL);
	struct api_shared_pattern *shared = pattern_of(set, FRIC_FULL);
	assert_true(api_sets_remove(sets, NULL, "a", &set->kept));
	api_kept_release(&set->kept);
	assert_int_equal(shared->n_holders, 1);
	assert_int_equal(fric_pattern_n_rows(shared->pattern), 3 * N);
	api_pattern_release(shared);
	close_store();
}

static void share(int places)
{
	open_store(32 << 20);
	struct api_set *old = put("a", 4, NULL);
	struct api_shared_pattern *shared = pattern_of(old, places);
	struct api_set *same = put("a", 4, old);
	assert_ptr_equal(pattern_of(same, places), shared);
	assert_int_equal(shared->n_holders, 4); /* two sets and two callers */
	assert_true(same->kept.bytes >= shared->counted.bytes);
	struct api_set *other = put("a", 5, same);
	struct api_shared_pattern *own = pattern_of(other, places);
	assert_ptr_not_equal(own, shared);
	api_kept_release(&old->kept);
	api_kept_release(&same->kept);
	assert_int_equal(shared->n_holders, 2);
	api_pattern_release(shared);
	api_pattern_release(shared);
	api_pattern_release(own);
	api_kept_release(&other->kept);
	close_store();
}

static void sets_with_the_same_stencils_share_patterns(void **unused)
{
	(void)unused;
	for (int places = 0; places < API_N_PLACES; places++)
		share(places);
}

static void without_room_a_pattern_is_given_but_not_kept(void **unused)
{
	(void)unused;
	open_store(32 << 20);
	struct api_set *probe = put("a", N, NULL);
	const size_t bytes = probe->kept.bytes;
	api_kept_release(&probe->kept);
	close_store();
	open_store(bytes);
	struct api_set *set = put("a", N, NULL);
	struct api_shared_pattern *first = pattern_of(set, FRIC_FULL), *second = pattern_of(set, FRIC_FULL);
	assert_ptr_not_equal(first, second);
	assert_int_equal(first->n_holders, 1);
	assert_null(api_set_schedule(set, &team));
	assert_int_equal(set->kept.bytes, bytes);
	assert_int_equal(api_sets_counts(sets).n_refused, 3);
	api_pattern_release(first);
	api_pattern_release(second);
	api_kept_release(&set->kept);
	close_store();
}

static void *ask_for_a_pattern(void *set)
{
	return pattern_of(set, FRIC_FULL);
}

static void threads_keep_one_pattern(void **unused)
{
	(void)unused;
	open_store(32 << 20);
	for (int round = 0; round < 20; round++) {
		struct api_set *set = put("a", N, NULL);
		const size_t before = set->kept.bytes;
		pthread_t threads[2];
		void *got[2];
		for (int i = 0; i < 2; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, ask_for_a_pattern, set), 0);
		for (int i = 0; i < 2; i++)
			assert_int_equal(pthread_join(threads[i], &got[i]), 0);
		struct api_shared_pattern *kept = set->patterns[FRIC_FULL];
		assert_true(kept && (got[0] == kept || got[1] == kept));
		assert_int_equal(set->kept.bytes - before, sizeof(*kept) + kept->counted.bytes);
		api_pattern_release(got[0]);
		api_pattern_release(got[1]);
		assert_int_equal(kept->n_holders, 1);
		assert_true(api_sets_remove(sets, NULL, "a", &set->kept));
		api_kept_release(&set->kept);
	}
	close_store();
}

/* ---- the schedule ---- */

static void a_schedule_is_made_once_and_counted(void **unused)
{
	(void)unused;
	open_store(32 << 20);
	struct api_set *set = put("a", N, NULL);
	const size_t before = set->kept.bytes;
	assert_null(api_set_schedule(set, &serial));
	assert_int_equal(set->kept.bytes, before);
	const struct fric_schedule *schedule = api_set_schedule(set, &team);
	assert_non_null(schedule);
	const size_t after = set->kept.bytes;
	assert_true(after > before);
	assert_ptr_equal(api_set_schedule(set, &team), schedule);
	assert_int_equal(set->kept.bytes, after);
	api_kept_release(&set->kept);
	close_store();
}

/* ---- memory that runs out ---- */

static void a_set_needs_memory(void **unused)
{
	int n_failed = 0;
	(void)unused;
	open_store(32 << 20);
	for (struct api_set *set = NULL; !set; n_failed++) {
		api_pool_trim(pool, 0);
		until_failure = n_failed;
		set = try_make(N, NULL);
		until_failure = -1;
		if (set)
			api_set_free(set);
		assert_true(n_failed < 200);
	}
	assert_true(n_failed > 3);
	close_store();
}

/* After a failure, a later call tries again. */
static void patterns_and_schedules_need_memory(void **unused)
{
	(void)unused;
	for (int n = 0, done = 0; !done; n++) {
		struct api_fault fault;
		open_store(32 << 20);
		struct api_set *set = put("a", N, NULL);
		const size_t before = set->kept.bytes;
		api_fault_clear(&fault);
		api_pool_trim(pool, 0);
		until_failure = n;
		struct api_shared_pattern *shared = api_set_pattern(set, &serial, FRIC_FULL, &fault);
		const struct fric_schedule *schedule = shared ? api_set_schedule(set, &team) : NULL;
		until_failure = -1;
		done = shared && schedule;
		assert_true(shared || (fault.status == 503 && set->kept.bytes == before));
		api_pattern_release(shared);
		api_pattern_release(pattern_of(set, FRIC_FULL));
		assert_non_null(api_set_schedule(set, &team));
		api_kept_release(&set->kept);
		close_store();
		assert_true(n < 200);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pattern_is_made_once_and_counted),
		cmocka_unit_test(a_pattern_outlives_its_set),
		cmocka_unit_test(sets_with_the_same_stencils_share_patterns),
		cmocka_unit_test(without_room_a_pattern_is_given_but_not_kept),
		cmocka_unit_test(threads_keep_one_pattern),
		cmocka_unit_test(a_schedule_is_made_once_and_counted),
		cmocka_unit_test(a_set_needs_memory),
		cmocka_unit_test(patterns_and_schedules_need_memory),
	};
	return cmocka_run_group_tests(tests, start, stop);
}
