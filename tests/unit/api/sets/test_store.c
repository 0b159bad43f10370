/* Which sets are kept, and for how long, by a clock that stands still unless a test moves it. */
#include "api/sets/store.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/base/account.h"
#include "tests/unit/api/sets/scarce.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND };

/* ---- a store, and things to put there ---- */

static struct api_sets *sets;
static struct api_budget budget;
static struct api_pool *pool;
static _Atomic int64_t clock_ms;
static size_t record_bytes; /* what the store adds to each set */
static atomic_int n_alive;

static int64_t now_ms(void)
{
	return clock_ms;
}

enum { SOUND = 0x600d };

struct thing {
	struct api_kept kept;
	int seal;
};

/* Would wait for ever if the store's lock were held. */
static void free_thing(struct api_kept *kept)
{
	struct thing *thing = (struct thing *)(void *)kept;
	api_sets_counts(sets);
	assert_int_equal(thing->seal, SOUND);
	thing->seal = 0;
	n_alive--;
	free(thing);
}

/* Takes that many bytes once it is in the store. */
static struct api_kept *make(size_t bytes)
{
	struct thing *thing = calloc(1, sizeof *thing);
	assert_non_null(thing);
	assert_true(bytes >= record_bytes);
	thing->kept.free = free_thing;
	thing->kept.bytes = bytes - record_bytes;
	thing->seal = SOUND;
	n_alive++;
	return &thing->kept;
}

static void open_store(struct api_sets_limits limits)
{
	limits.pool = pool;
	clock_ms = 1000 * SECOND;
	sets = api_sets_create(&limits, now_ms);
	assert_non_null(sets);
}

static void close_store(void)
{
	api_sets_free(sets);
	assert_int_equal(n_alive, 0);
	assert_int_equal(budget.used_bytes, 0);
}

static const struct api_sets_limits plenty = {
	.bytes = 1 << 20, .bytes_per_caller = 1 << 20, .n = 64, .idle_seconds = 900};

static int start(void **unused)
{
	(void)unused;
	budget = (struct api_budget){.most_bytes = 64 << 20};
	pool = api_pool_create(0, &budget);
	open_store(plenty);
	struct api_kept *kept = make(0);
	if (api_sets_put(sets, NULL, "a", kept, NULL) != API_PUT_CREATED)
		return -1;
	record_bytes = kept->bytes;
	api_kept_release(kept);
	close_store();
	return record_bytes > 0 ? 0 : -1;
}

static int stop(void **unused)
{
	(void)unused;
	api_pool_free(pool);
	return 0;
}

/* Puts a set in place of what the name stands for, and holds it no longer. */
static enum api_put put(const char *caller, const char *name, size_t bytes)
{
	struct api_kept *old = api_sets_hold(sets, caller, name, false), *kept = make(bytes);
	const enum api_put result = api_sets_put(sets, caller, name, kept, old);
	api_kept_release(kept);
	api_kept_release(old);
	return result;
}

static bool has(const char *caller, const char *name)
{
	struct api_kept *kept = api_sets_hold(sets, caller, name, false);
	api_kept_release(kept);
	return kept;
}

static void use(const char *caller, const char *name)
{
	struct api_kept *kept = api_sets_hold(sets, caller, name, true);
	assert_non_null(kept);
	api_kept_release(kept);
}

static void pass(int64_t ms)
{
	clock_ms += ms;
}

static void remove_set(const char *caller, const char *name)
{
	struct api_kept *kept = api_sets_hold(sets, caller, name, false);
	assert_true(api_sets_remove(sets, caller, name, kept));
	api_kept_release(kept);
}

static uint64_t evicted(enum api_eviction reason)
{
	return api_sets_counts(sets).n_evicted[reason];
}

static size_t bytes_now(void)
{
	return api_sets_counts(sets).bytes;
}

/* ---- names ---- */

static void keeps_by_caller_and_name(void **unused)
{
	(void)unused;
	open_store(plenty);
	struct api_kept *mine = make(1000), *hers = make(1000), *other = make(1000);
	assert_int_equal(api_sets_put(sets, "me", "a", mine, NULL), API_PUT_CREATED);
	assert_int_equal(api_sets_put(sets, "her", "a", hers, NULL), API_PUT_CREATED);
	assert_int_equal(api_sets_put(sets, "me", "b", other, NULL), API_PUT_CREATED);
	assert_ptr_equal(api_sets_hold(sets, "me", "a", true), mine);
	assert_ptr_equal(api_sets_hold(sets, "her", "a", false), hers);
	assert_null(api_sets_hold(sets, "her", "b", true));
	assert_null(api_sets_hold(sets, NULL, "a", false));
	assert_null(api_sets_hold(sets, "me", "A", false));
	api_kept_release(mine);
	api_kept_release(mine);
	api_kept_release(hers);
	api_kept_release(hers);
	api_kept_release(other);
	assert_int_equal(n_alive, 3);
	close_store();
}

static void takes_names_of_full_length(void **unused)
{
	(void)unused;
	char name[API_SET_NAME_BYTES], caller[API_CALLER_BYTES], almost[API_SET_NAME_BYTES];
	memset(name, 'n', sizeof name - 1);
	memset(caller, 'c', sizeof caller - 1);
	name[sizeof name - 1] = caller[sizeof caller - 1] = '\0';
	memcpy(almost, name, sizeof name);
	almost[sizeof name - 2] = 'm';
	open_store(plenty);
	assert_int_equal(put(caller, name, 1000), API_PUT_CREATED);
	assert_true(has(caller, name));
	assert_false(has(caller, almost));
	assert_int_equal(put(caller, name, 1000), API_PUT_REPLACED);
	close_store();
}

static void replaces_what_is_expected_alone(void **unused)
{
	(void)unused;
	open_store(plenty);
	struct api_kept *first = make(1000), *second = make(2000), *third = make(3000);
	strcpy(first->version, "one");
	assert_int_equal(api_sets_put(sets, NULL, "a", third, first), API_PUT_CHANGED);
	assert_int_equal(api_sets_put(sets, NULL, "a", first, NULL), API_PUT_CREATED);
	assert_string_equal(first->before, "");
	assert_int_equal(api_sets_put(sets, NULL, "a", second, NULL), API_PUT_CHANGED);
	assert_int_equal(api_sets_put(sets, NULL, "a", second, third), API_PUT_CHANGED);
	assert_int_equal(second->bytes, 2000 - record_bytes);
	assert_int_equal(api_sets_put(sets, NULL, "a", second, first), API_PUT_REPLACED);
	assert_string_equal(second->before, "one");
	assert_int_equal(api_sets_put(sets, NULL, "a", third, first), API_PUT_CHANGED);
	assert_int_equal(bytes_now(), 3000);
	assert_int_equal(n_alive, 3);
	api_kept_release(first);
	assert_int_equal(n_alive, 2);
	assert_int_equal(bytes_now(), 2000);
	api_kept_release(second);
	api_kept_release(third);
	assert_int_equal(api_sets_counts(sets).n, 1);
	close_store();
}

static void removes_what_is_expected_alone(void **unused)
{
	(void)unused;
	open_store(plenty);
	struct api_kept *kept = make(1000), *other = make(1000);
	assert_int_equal(api_sets_put(sets, "me", "a", kept, NULL), API_PUT_CREATED);
	assert_false(api_sets_remove(sets, "me", "a", other));
	assert_false(api_sets_remove(sets, "me", "b", kept));
	assert_false(api_sets_remove(sets, "her", "a", kept));
	assert_ptr_equal(api_kept_hold(kept), kept);
	assert_true(api_sets_remove(sets, "me", "a", kept));
	assert_false(api_sets_remove(sets, "me", "a", kept));
	assert_false(has("me", "a"));
	api_kept_release(kept);
	assert_int_equal(bytes_now(), 1000);
	assert_int_equal(api_sets_counts(sets).n, 0);
	assert_int_equal(n_alive, 2);
	api_kept_release(kept);
	assert_int_equal(bytes_now(), 0);
	api_kept_release(other);
	api_kept_release(NULL);
	close_store();
}

/* Buckets are few, callers many. */
static void finds_among_many(void **unused)
{
	(void)unused;
	enum { CALLERS = 5, NAMES = 12, STEPS = 4000 };
	bool is_there[CALLERS][NAMES] = {{false}};
	unsigned seed = 1;
	open_store(plenty);
	for (int step = 0; step < STEPS; step++) {
		const int c = rand_r(&seed) % CALLERS, n = rand_r(&seed) % NAMES;
		char caller[8], name[8];
		snprintf(caller, sizeof caller, "c%d", c);
		snprintf(name, sizeof name, "n%d", n);
		assert_int_equal(has(caller, name), is_there[c][n]);
		if (is_there[c][n])
			remove_set(caller, name);
		else
			assert_int_equal(put(caller, name, 1000), API_PUT_CREATED);
		is_there[c][n] = !is_there[c][n];
	}
	close_store();
}

static void forgets_callers_without_sets(void **unused)
{
	(void)unused;
	open_store(plenty);
	for (int i = 0; i < 1000; i++) {
		char caller[24];
		snprintf(caller, sizeof caller, "caller %d", i);
		assert_int_equal(put(caller, "a", 1000), API_PUT_CREATED);
		assert_int_equal(put(caller, "b", 2 << 20), API_PUT_TOO_LARGE);
		remove_set(caller, "a");
		assert_int_equal(put(caller, "b", 2 << 20), API_PUT_TOO_LARGE);
		assert_int_equal(budget.used_bytes, 0);
	}
	close_store();
}

/* ---- room ---- */

static const struct api_sets_limits narrow = {.bytes = 3000, .bytes_per_caller = 3000, .n = 8, .idle_seconds = 900};

static void fits_to_the_byte(void **unused)
{
	(void)unused;
	open_store(narrow);
	assert_int_equal(put(NULL, "a", 3001), API_PUT_TOO_LARGE);
	assert_int_equal(put(NULL, "a", 3000), API_PUT_CREATED);
	assert_int_equal(put(NULL, "a", 1000), API_PUT_REPLACED);
	assert_int_equal(put(NULL, "b", 1000), API_PUT_CREATED);
	assert_int_equal(put(NULL, "c", 1001), API_PUT_NO_ROOM);
	assert_int_equal(put(NULL, "c", 1000), API_PUT_CREATED);
	assert_int_equal(put(NULL, "d", record_bytes), API_PUT_NO_ROOM);
	assert_int_equal(bytes_now(), 3000);
	assert_int_equal(api_sets_counts(sets).n_refused, 3);
	close_store();
}

static void forgets_the_least_recently_used(void **unused)
{
	(void)unused;
	open_store(narrow);
	put(NULL, "a", 1000);
	pass(SECOND);
	put(NULL, "b", 1000);
	pass(SECOND);
	put(NULL, "c", 1000);
	pass(SECOND);
	use(NULL, "a");
	pass(10 * SECOND);
	assert_int_equal(put(NULL, "d", 1000), API_PUT_CREATED);
	assert_false(has(NULL, "b"));
	assert_true(has(NULL, "a") && has(NULL, "c"));
	assert_int_equal(put(NULL, "e", 1000), API_PUT_CREATED);
	assert_false(has(NULL, "c"));
	assert_true(has(NULL, "a"));
	assert_int_equal(evicted(API_EVICTED_OWN), 2);
	close_store();
}

static void spares_what_was_used_within_ten_seconds(void **unused)
{
	(void)unused;
	open_store(narrow);
	put(NULL, "a", 3000);
	pass(10 * SECOND - 1);
	assert_int_equal(put(NULL, "b", 1000), API_PUT_NO_ROOM);
	assert_true(has(NULL, "a"));
	pass(1);
	assert_int_equal(put(NULL, "b", 1000), API_PUT_CREATED);
	assert_false(has(NULL, "a"));
	close_store();
}

static void spares_what_is_held(void **unused)
{
	(void)unused;
	open_store(narrow);
	put(NULL, "a", 1000);
	put(NULL, "b", 2000);
	struct api_kept *held = api_sets_hold(sets, NULL, "a", false);
	pass(10 * SECOND);
	assert_int_equal(put(NULL, "c", 2001), API_PUT_NO_ROOM);
	assert_true(has(NULL, "b"));
	assert_int_equal(put(NULL, "c", 2000), API_PUT_CREATED);
	assert_true(has(NULL, "a") && !has(NULL, "b"));
	api_kept_release(held);
	close_store();
}

static void spares_others_for_a_minute(void **unused)
{
	(void)unused;
	open_store(narrow);
	put("her", "a", 2000);
	pass(MINUTE - 1);
	assert_int_equal(put("me", "a", 2000), API_PUT_NO_ROOM);
	pass(1);
	struct api_kept *held = api_sets_hold(sets, "her", "a", false);
	assert_int_equal(put("me", "a", 2000), API_PUT_NO_ROOM);
	api_kept_release(held);
	assert_int_equal(put("me", "a", 2000), API_PUT_CREATED);
	assert_false(has("her", "a"));
	assert_int_equal(evicted(API_EVICTED_OTHERS), 1);
	assert_int_equal(evicted(API_EVICTED_OWN), 0);
	close_store();
}

static void forgets_own_before_others(void **unused)
{
	(void)unused;
	open_store(narrow);
	put("her", "a", 1000);
	put("her", "b", 1000);
	pass(MINUTE);
	put("me", "a", 1000);
	pass(10 * SECOND);
	assert_int_equal(put("me", "b", 1000), API_PUT_CREATED);
	assert_true(has("her", "a") && has("her", "b") && !has("me", "a"));
	pass(10 * SECOND);
	assert_int_equal(put("me", "c", 1500), API_PUT_CREATED);
	assert_true(!has("her", "a") && has("her", "b") && !has("me", "b"));
	assert_int_equal(evicted(API_EVICTED_OWN), 2);
	assert_int_equal(evicted(API_EVICTED_OTHERS), 1);
	close_store();
}

static void forgets_nothing_in_vain(void **unused)
{
	(void)unused;
	open_store(narrow);
	put("her", "a", 500);
	pass(MINUTE);
	put("her", "b", 1000);
	put("me", "a", 500);
	pass(10 * SECOND);
	assert_int_equal(put("me", "b", 2001), API_PUT_NO_ROOM);
	assert_true(has("her", "a") && has("her", "b") && has("me", "a"));
	assert_int_equal(put("me", "b", 2000), API_PUT_CREATED);
	assert_true(!has("her", "a") && has("her", "b") && !has("me", "a"));
	close_store();
}

static void keeps_each_caller_to_a_share(void **unused)
{
	(void)unused;
	open_store((struct api_sets_limits){.bytes = 3000, .bytes_per_caller = 1500, .n = 8, .idle_seconds = 900});
	put("her", "a", 1500);
	pass(MINUTE);
	assert_int_equal(put("me", "a", 1501), API_PUT_TOO_LARGE);
	assert_int_equal(put("me", "a", 1000), API_PUT_CREATED);
	assert_int_equal(put("me", "b", 501), API_PUT_NO_ROOM);
	assert_true(has("her", "a") && has("me", "a"));
	assert_int_equal(put("me", "b", 500), API_PUT_CREATED);
	pass(10 * SECOND);
	assert_int_equal(put("me", "c", 1000), API_PUT_CREATED);
	assert_true(has("her", "a") && !has("me", "a") && has("me", "b"));
	close_store();
}

static void limits_the_number(void **unused)
{
	(void)unused;
	open_store((struct api_sets_limits){.bytes = 9000, .bytes_per_caller = 9000, .n = 2, .idle_seconds = 900});
	put("me", "a", 1000);
	put("her", "a", 1000);
	assert_int_equal(put("me", "b", 1000), API_PUT_NO_ROOM);
	assert_int_equal(put("me", "a", 2000), API_PUT_REPLACED);
	pass(10 * SECOND);
	assert_int_equal(put("me", "b", 1000), API_PUT_CREATED);
	assert_true(!has("me", "a") && has("her", "a"));
	pass(MINUTE - 11 * SECOND);
	use("me", "b");
	assert_int_equal(put("me", "c", 1000), API_PUT_NO_ROOM);
	pass(SECOND);
	assert_int_equal(put("me", "c", 1000), API_PUT_CREATED);
	assert_true(has("me", "b") && !has("her", "a"));
	assert_int_equal(api_sets_counts(sets).n, 2);
	close_store();
}

static void counts_what_it_replaces_as_room(void **unused)
{
	(void)unused;
	open_store(narrow);
	put(NULL, "a", 2000);
	assert_int_equal(put(NULL, "a", 3000), API_PUT_REPLACED);
	struct api_kept *also = api_sets_hold(sets, NULL, "a", true);
	assert_int_equal(put(NULL, "a", record_bytes), API_PUT_NO_ROOM);
	api_kept_release(also);
	assert_int_equal(put(NULL, "a", 1000), API_PUT_REPLACED);
	assert_int_equal(bytes_now(), 1000);
	close_store();
}

/* A caller whose every set has to go is still there for the one that comes. */
static void makes_room_of_all_that_a_caller_has(void **unused)
{
	(void)unused;
	open_store(narrow);
	put("me", "a", 1000);
	put("me", "b", 2000);
	pass(10 * SECOND);
	assert_int_equal(put("me", "c", 3000), API_PUT_CREATED);
	assert_true(has("me", "c"));
	assert_int_equal(bytes_now(), 3000);
	close_store();
}

static void grows(void **unused)
{
	(void)unused;
	open_store(narrow);
	put(NULL, "a", 1000);
	put(NULL, "b", 1000);
	struct api_kept *kept = api_sets_hold(sets, NULL, "a", true);
	assert_true(api_kept_grow(kept, 1000));
	assert_int_equal(kept->bytes, 2000);
	assert_int_equal(bytes_now(), 3000);
	assert_false(api_kept_grow(kept, 1));
	pass(10 * SECOND);
	assert_false(api_kept_grow(kept, 1001));
	assert_false(api_kept_grow(kept, SIZE_MAX));
	assert_true(has(NULL, "b"));
	assert_true(api_kept_grow(kept, 1000));
	assert_false(has(NULL, "b"));
	assert_int_equal(kept->bytes, 3000);
	assert_int_equal(api_sets_counts(sets).n_refused, 3);
	api_kept_release(kept);
	remove_set(NULL, "a");
	assert_int_equal(bytes_now(), 0);
	close_store();
}

static void grows_after_it_was_forgotten(void **unused)
{
	(void)unused;
	open_store(narrow);
	put(NULL, "a", 1000);
	struct api_kept *kept = api_sets_hold(sets, NULL, "a", true);
	assert_true(api_sets_remove(sets, NULL, "a", kept));
	assert_true(api_kept_grow(kept, 500));
	assert_int_equal(bytes_now(), 1500);
	assert_int_equal(put(NULL, "b", 1501), API_PUT_NO_ROOM);
	api_kept_release(kept);
	assert_int_equal(bytes_now(), 0);
	close_store();
}

/* ---- time ---- */

static void forgets_what_is_idle(void **unused)
{
	(void)unused;
	open_store(plenty);
	put(NULL, "a", 1000);
	put(NULL, "b", 1000);
	put(NULL, "c", 1000);
	pass(900 * SECOND);
	api_sets_expire(sets);
	assert_true(has(NULL, "a"));
	use(NULL, "c");
	pass(1);
	assert_null(api_sets_hold(sets, NULL, "a", true));
	assert_int_equal(n_alive, 2);
	api_sets_expire(sets);
	assert_int_equal(n_alive, 1);
	assert_true(has(NULL, "c"));
	assert_int_equal(evicted(API_EVICTED_IDLE), 2);
	assert_int_equal(api_sets_counts(sets).n_misses, 1);
	close_store();
}

static void is_idle_only_after_its_last_use_ends(void **unused)
{
	(void)unused;
	open_store(plenty);
	put(NULL, "a", 1000);
	struct api_kept *one = api_sets_hold(sets, NULL, "a", true), *two = api_sets_hold(sets, NULL, "a", true);
	put(NULL, "b", 1000);
	pass(901 * SECOND);
	api_sets_expire(sets);
	assert_int_equal(n_alive, 1);
	assert_true(has(NULL, "a") && !has(NULL, "b"));
	api_kept_release(one);
	pass(901 * SECOND);
	api_sets_expire(sets);
	assert_true(has(NULL, "a"));
	api_kept_release(two);
	pass(900 * SECOND);
	assert_true(has(NULL, "a"));
	pass(1);
	assert_false(has(NULL, "a"));
	close_store();
}

/* To describe a set is no use of it. */
static void looking_is_no_use(void **unused)
{
	(void)unused;
	open_store(plenty);
	put(NULL, "a", 1000);
	pass(500 * SECOND);
	struct api_kept *looking = api_sets_hold(sets, NULL, "a", false);
	pass(401 * SECOND);
	api_sets_expire(sets);
	assert_false(has(NULL, "a"));
	assert_int_equal(bytes_now(), 1000);
	api_kept_release(looking);
	assert_int_equal(bytes_now(), 0);
	assert_int_equal(api_sets_counts(sets).n_hits, 0);
	close_store();
}

static void idle_sets_leave_before_a_put_looks_for_room(void **unused)
{
	(void)unused;
	open_store(narrow);
	put("her", "a", 3000);
	pass(901 * SECOND);
	assert_int_equal(put("me", "a", 1000), API_PUT_CREATED);
	assert_int_equal(evicted(API_EVICTED_IDLE), 1);
	assert_int_equal(evicted(API_EVICTED_OTHERS), 0);
	close_store();
}

/* ---- what is told ---- */

static void give_back(struct api_listed *listed, size_t n)
{
	for (size_t i = 0; i < n; i++)
		api_kept_release(listed[i].kept);
}

static void lists_by_name(void **unused)
{
	(void)unused;
	static const char *const names[] = {"b", "a", "a-b", "Z", "~", "a.b", "1"};
	static const char *const sorted[] = {"1", "Z", "a", "a-b", "a.b", "b", "~"};
	struct api_arena arena = {.pool = pool};
	struct api_listed *listed;
	size_t n, bytes;
	open_store(plenty);
	assert_true(api_sets_list(sets, "me", &arena, &listed, &n, &bytes));
	assert_int_equal(n + bytes, 0);
	for (size_t i = 0; i < 7; i++)
		put("me", names[i], 1000 + i);
	put("her", "c", 5000);
	struct api_kept *held = api_sets_hold(sets, "me", "b", true);
	remove_set("me", "b");
	put("me", "b", 1000);
	assert_true(api_sets_list(sets, "me", &arena, &listed, &n, &bytes));
	assert_int_equal(n, 7);
	assert_int_equal(bytes, 8000 + 1 + 2 + 3 + 4 + 5 + 6);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(listed[i].name, sorted[i]);
	assert_true(api_kept_grow(listed[2].kept, 500));
	assert_int_equal(listed[2].bytes, 1001);
	remove_set("me", "a");
	assert_int_equal(n_alive, 9);
	give_back(listed, n);
	assert_int_equal(n_alive, 8);
	api_kept_release(held);
	api_arena_free(&arena);
	close_store();
}

static void lists_nothing_that_is_idle(void **unused)
{
	(void)unused;
	struct api_arena arena = {.pool = pool};
	struct api_listed *listed;
	size_t n, bytes;
	open_store(plenty);
	put(NULL, "a", 1000);
	pass(901 * SECOND);
	assert_true(api_sets_list(sets, NULL, &arena, &listed, &n, &bytes));
	assert_int_equal(n + bytes, 0);
	api_arena_free(&arena);
	close_store();
}

static void counts(void **unused)
{
	(void)unused;
	open_store(narrow);
	put(NULL, "a", 1000);
	put(NULL, "b", 1000);
	put(NULL, "b", 2000);
	use(NULL, "a");
	use(NULL, "a");
	assert_null(api_sets_hold(sets, NULL, "c", true));
	assert_null(api_sets_hold(sets, NULL, "c", false));
	put(NULL, "c", 3001);
	remove_set(NULL, "b");
	const struct api_sets_counts counts = api_sets_counts(sets);
	assert_int_equal(counts.n, 1);
	assert_int_equal(counts.bytes, 1000);
	assert_int_equal(counts.n_created, 2);
	assert_int_equal(counts.n_replaced, 1);
	assert_int_equal(counts.n_removed, 1);
	assert_int_equal(counts.n_hits, 2);
	assert_int_equal(counts.n_misses, 1);
	assert_int_equal(counts.n_refused, 1);
	assert_int_equal(api_sets_limits(sets)->bytes_per_caller, 3000);
	close_store();
}

/* ---- memory that is not there ---- */

static void needs_memory_to_begin(void **unused)
{
	(void)unused;
	long n = 0;
	for (sets = NULL; !sets; n++) {
		until_failure = n;
		sets = api_sets_create(&plenty, now_ms);
		until_failure = -1;
	}
	assert_int_equal(n - 1, 3);
	api_sets_free(sets);
	api_sets_free(NULL);
}

static void needs_memory_for_a_set(void **unused)
{
	(void)unused;
	open_store(plenty);
	struct api_kept *kept = make(1000);
	enum api_put result = API_PUT_NO_MEMORY;
	long n = 0;
	for (; result == API_PUT_NO_MEMORY; n++) {
		assert_int_equal(kept->bytes, 1000 - record_bytes);
		assert_int_equal(budget.used_bytes, 0);
		until_failure = n;
		result = api_sets_put(sets, "me", "a", kept, NULL);
		until_failure = -1;
	}
	assert_int_equal(result, API_PUT_CREATED);
	assert_int_equal(n - 1, 2);
	api_kept_release(kept);
	close_store();
}

static void needs_memory_for_a_list(void **unused)
{
	(void)unused;
	struct api_arena arena = {.pool = pool};
	struct api_listed *listed;
	size_t n, bytes;
	open_store(plenty);
	put(NULL, "a", 1000);
	until_failure = 0;
	assert_false(api_sets_list(sets, NULL, &arena, &listed, &n, &bytes));
	until_failure = -1;
	remove_set(NULL, "a");
	assert_int_equal(n_alive, 0);
	api_arena_free(&arena);
	close_store();
}

/* ---- whose memory it is ---- */

enum { MB = 1 << 20 };

struct holding {
	struct thing thing;
	void *block; /* [MB] */
};

static void free_holding(struct api_kept *kept)
{
	struct holding *holding = (struct holding *)(void *)kept;
	api_pool_give(pool, holding->block, MB);
	n_alive--;
	free(holding);
}

/* The account of the request that makes another set go. */
static void a_request_is_not_credited_with_what_it_frees(void **unused)
{
	(void)unused;
	open_store(narrow);
	struct holding *holding = calloc(1, sizeof *holding);
	assert_non_null(holding);
	n_alive++;
	holding->block = api_pool_take(pool, MB);
	holding->thing.kept.free = free_holding;
	holding->thing.kept.bytes = 3000 - record_bytes;
	assert_int_equal(api_sets_put(sets, NULL, "a", &holding->thing.kept, NULL), API_PUT_CREATED);
	api_kept_release(&holding->thing.kept);
	pass(10 * SECOND);
	struct api_account account;
	api_account_open(&account, &budget, NULL, 0);
	const size_t taken = account.taken_bytes, used = budget.used_bytes;
	assert_int_equal(put(NULL, "b", 3000), API_PUT_CREATED);
	assert_int_equal(account.taken_bytes, taken);
	assert_ptr_equal(api_account_current, &account);
	assert_true(budget.used_bytes <= used - MB);
	api_account_close(&account);
	close_store();
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 4000 };

static void look(const struct api_kept *kept)
{
	assert_int_equal(((const struct thing *)(const void *)kept)->seal, SOUND);
}

static void look_at_all(const char *caller)
{
	struct api_arena arena = {.pool = pool};
	struct api_listed *listed;
	size_t n, bytes;
	assert_true(api_sets_list(sets, caller, &arena, &listed, &n, &bytes));
	for (size_t i = 0; i < n; i++)
		look(listed[i].kept);
	give_back(listed, n);
	api_arena_free(&arena);
}

static void do_something(unsigned *seed)
{
	static const char *const callers[] = {NULL, "me", "her"};
	const char *caller = callers[rand_r(seed) % 3];
	char name[2] = {(char)('a' + rand_r(seed) % 6), '\0'};
	struct api_kept *kept;
	switch (rand_r(seed) % 8) {
	case 0:
	case 1: put(caller, name, record_bytes + (size_t)(rand_r(seed) % 800)); break;
	case 2:
		kept = api_sets_hold(sets, caller, name, true);
		api_sets_remove(sets, caller, name, kept);
		api_kept_release(kept);
		break;
	case 3: look_at_all(caller); break;
	case 4: pass(rand_r(seed) % 20000); break;
	case 5: api_sets_expire(sets); break;
	default:
		kept = api_sets_hold(sets, caller, name, true);
		if (kept) {
			look(api_kept_hold(kept));
			api_kept_grow(kept, (size_t)(rand_r(seed) % 100));
			api_kept_release(kept);
			look(kept);
			api_kept_release(kept);
		}
	}
}

static void *work(void *seed)
{
	for (int i = 0; i < ROUNDS; i++)
		do_something(seed);
	return NULL;
}

/* Each of the threads may have replaced a set that it still holds. */
static void serves_threads(void **unused)
{
	(void)unused;
	pthread_t threads[THREADS];
	unsigned seeds[THREADS];
	open_store((struct api_sets_limits){.bytes = 5000, .bytes_per_caller = 3000, .n = 7, .idle_seconds = 100});
	for (unsigned i = 0; i < THREADS; i++) {
		seeds[i] = i + 1;
		assert_int_equal(pthread_create(&threads[i], NULL, work, &seeds[i]), 0);
	}
	for (int i = 0; i < 1000; i++) {
		const struct api_sets_counts counts = api_sets_counts(sets);
		assert_true(counts.n <= 7);
		assert_true(counts.bytes <= 5000 + THREADS * 3000);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	const struct api_sets_counts counts = api_sets_counts(sets);
	assert_int_equal((size_t)n_alive, counts.n);
	assert_true(counts.bytes <= 5000);
	assert_true(counts.n_created && counts.n_replaced && counts.n_removed && counts.n_hits && counts.n_misses);
	for (int i = 0; i < API_N_EVICTIONS; i++)
		assert_true(counts.n_evicted[i] > 0);
	pass(1000 * SECOND);
	api_sets_expire(sets);
	assert_int_equal(bytes_now(), 0);
	assert_int_equal(n_alive, 0);
	close_store();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_by_caller_and_name),
		cmocka_unit_test(takes_names_of_full_length),
		cmocka_unit_test(replaces_what_is_expected_alone),
		cmocka_unit_test(removes_what_is_expected_alone),
		cmocka_unit_test(finds_among_many),
		cmocka_unit_test(forgets_callers_without_sets),
		cmocka_unit_test(fits_to_the_byte),
		cmocka_unit_test(forgets_the_least_recently_used),
		cmocka_unit_test(spares_what_was_used_within_ten_seconds),
		cmocka_unit_test(spares_what_is_held),
		cmocka_unit_test(spares_others_for_a_minute),
		cmocka_unit_test(forgets_own_before_others),
		cmocka_unit_test(forgets_nothing_in_vain),
		cmocka_unit_test(keeps_each_caller_to_a_share),
		cmocka_unit_test(limits_the_number),
		cmocka_unit_test(counts_what_it_replaces_as_room),
		cmocka_unit_test(makes_room_of_all_that_a_caller_has),
		cmocka_unit_test(grows),
		cmocka_unit_test(grows_after_it_was_forgotten),
		cmocka_unit_test(forgets_what_is_idle),
		cmocka_unit_test(is_idle_only_after_its_last_use_ends),
		cmocka_unit_test(looking_is_no_use),
		cmocka_unit_test(idle_sets_leave_before_a_put_looks_for_room),
		cmocka_unit_test(lists_by_name),
		cmocka_unit_test(lists_nothing_that_is_idle),
		cmocka_unit_test(counts),
		cmocka_unit_test(needs_memory_to_begin),
		cmocka_unit_test(needs_memory_for_a_set),
		cmocka_unit_test(needs_memory_for_a_list),
		cmocka_unit_test(a_request_is_not_credited_with_what_it_frees),
		cmocka_unit_test(serves_threads),
	};
	return cmocka_run_group_tests(tests, start, stop);
}
