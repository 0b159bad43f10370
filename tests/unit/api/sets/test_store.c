/* Which sets are kept, and for how long. The clock stands still unless a test moves it. */
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

/* ---- a store, and objects to put there ---- */

static struct api_sets *sets;
static struct api_budget budget;
static struct api_pool *pool;
static _Atomic int64_t clock_ms;
static size_t record_bytes; /* overhead of the store per set */
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

/* Would deadlock if the store's lock were held. */
static void free_thing(struct api_kept *kept)
{
	struct thing *thing = (struct thing *)(void *)kept;
	api_sets_counts(sets);
	assert_int_equal(thing->seal, SOUND);
	thing->seal = 0;
	n_alive--;
	free(thing);
}

/* An object of the given size. */
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
	.bytes = 1 << 20, .bytes_per_caller = 1 << 20, .n = 64, .n_per_caller = 64, .idle_seconds = 900};

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

/* Puts a set under a name, whatever the name refers to, and releases it. */
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

/* In a store for one set, all callers and all names share a bucket. */
static void names_with_the_same_beginning_differ(void **unused)
{
	struct api_sets_limits one = plenty;
	(void)unused;
	one.n = 1;
	open_store(one);
	assert_int_equal(put("caller", "name", 1000), API_PUT_CREATED);
	assert_true(has("caller", "name"));
	assert_false(has("call", "name") || has("caller", "nam") || has("caller2", "name") || has("caller", "name2"));
	assert_false(has(NULL, "name") || has("", "name"));
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
	assert_ptr_equal(api_sets_hold(sets, "me", "a", false), kept);
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

/* Few buckets, many callers. */
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

static const struct api_sets_limits narrow = {
	.bytes = 3000, .bytes_per_caller = 3000, .n = 8, .n_per_caller = 8, .idle_seconds = 900};

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

static void evicts_nothing_for_a_put_that_fails(void **unused)
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
	open_store((struct api_sets_limits){
		.bytes = 3000, .bytes_per_caller = 1500, .n = 8, .n_per_caller = 8, .idle_seconds = 900});
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
	open_store((struct api_sets_limits){
		.bytes = 9000, .bytes_per_caller = 9000, .n = 2, .n_per_caller = 2, .idle_seconds = 900});
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

/* The caller's record survives although all of its sets are evicted for the new one. */
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

/* ---- equal shares ---- */

static const char *numbered(char kind, int i)
{
	static char name[16];
	snprintf(name, sizeof name, "%c%d", kind, i);
	return name;
}

/* Puts up to n sets. @return how many fitted */
static int fill(const char *caller, int n, size_t bytes)
{
	int made = 0;
	while (made < n && put(caller, numbered('s', made), bytes) == API_PUT_CREATED)
		made++;
	return made;
}

static int count_sets(const char *caller, int most)
{
	int n = 0;
	for (int i = 0; i < most; i++)
		n += has(caller, numbered('s', i));
	return n;
}

static void open_shared(size_t bytes, size_t n, size_t n_per_caller)
{
	open_store((struct api_sets_limits){
		.bytes = bytes, .bytes_per_caller = bytes, .n = n, .n_per_caller = n_per_caller, .idle_seconds = 900});
}

static void keeps_each_caller_to_a_share_of_names(void **unused)
{
	(void)unused;
	open_shared(1 << 20, 8, 3);
	assert_int_equal(fill("her", 8, 1000), 3);
	assert_int_equal(put("her", "s0", 2000), API_PUT_REPLACED);
	pass(10 * SECOND);
	assert_int_equal(put("her", "t", 1000), API_PUT_CREATED);
	assert_int_equal(count_sets("her", 8), 2);
	assert_int_equal(evicted(API_EVICTED_OWN), 1);
	assert_int_equal(fill("me", 8, 1000), 3);
	close_store();
}

/* The caller that holds everything uses it all the time. */
static void gives_an_equal_share_of_names_at_once(void **unused)
{
	(void)unused;
	open_shared(1 << 20, 12, 12);
	assert_int_equal(fill("her", 12, 1000), 12);
	assert_int_equal(fill("me", 12, 1000), 6);
	assert_int_equal(count_sets("her", 12), 6);
	assert_int_equal(evicted(API_EVICTED_SHARE), 6);
	assert_int_equal(put("her", "t", 1000), API_PUT_NO_ROOM);
	assert_int_equal(fill("third", 12, 1000), 4);
	assert_int_equal(count_sets("her", 12), 4);
	assert_int_equal(count_sets("me", 12), 4);
	assert_int_equal(evicted(API_EVICTED_OTHERS), 0);
	assert_int_equal(evicted(API_EVICTED_OWN), 0);
	close_store();
}

static void takes_the_least_recently_used_of_those_above(void **unused)
{
	(void)unused;
	open_shared(1 << 20, 6, 6);
	fill("low", 1, 1000);
	fill("her", 5, 1000);
	pass(SECOND);
	use("her", "s0");
	assert_int_equal(fill("me", 2, 1000), 2);
	assert_true(has("low", "s0"));
	assert_true(has("her", "s0") && !has("her", "s1") && !has("her", "s2") && has("her", "s3"));
	close_store();
}

static void gives_an_equal_share_of_bytes_at_once(void **unused)
{
	(void)unused;
	open_shared(12000, 64, 64);
	assert_int_equal(fill("her", 64, 1000), 12);
	assert_int_equal(fill("me", 64, 1000), 6);
	assert_int_equal(fill("third", 64, 2000), 2);
	assert_int_equal(count_sets("her", 12), 4);
	assert_int_equal(count_sets("me", 12), 4);
	assert_int_equal(evicted(API_EVICTED_SHARE), 10);
	assert_int_equal(bytes_now(), 12000);
	close_store();
}

/* 10 names for three callers: 3 each, and one stays where it is. */
static void shares_are_rounded_down(void **unused)
{
	(void)unused;
	open_shared(1 << 20, 10, 10);
	fill("her", 10, 1000);
	assert_int_equal(fill("me", 10, 1000), 5);
	assert_int_equal(fill("third", 10, 1000), 3);
	assert_int_equal(count_sets("her", 10) + count_sets("me", 10), 7);
	assert_true(count_sets("her", 10) >= 3 && count_sets("me", 10) >= 3);
	close_store();
}

static void more_callers_than_names_take_nothing(void **unused)
{
	(void)unused;
	open_shared(1 << 20, 2, 2);
	fill("her", 1, 1000);
	fill("me", 1, 1000);
	assert_int_equal(put("third", "a", 1000), API_PUT_NO_ROOM);
	assert_int_equal(put("her", "b", 1000), API_PUT_NO_ROOM);
	close_store();
}

/* A set beyond an equal share has to wait as usual, so that sets are not evicted back and forth. */
static void a_set_beyond_a_share_takes_nothing_at_once(void **unused)
{
	(void)unused;
	open_shared(10000, 64, 64);
	assert_int_equal(put("her", "a", 7000), API_PUT_CREATED);
	assert_int_equal(put("me", "a", 5001), API_PUT_NO_ROOM);
	assert_int_equal(put("me", "a", 5000), API_PUT_CREATED);
	assert_false(has("her", "a"));
	assert_int_equal(put("her", "a", 7000), API_PUT_NO_ROOM);
	assert_int_equal(put("her", "a", 5000), API_PUT_CREATED);
	assert_int_equal(put("me", "a", 5001), API_PUT_NO_ROOM);
	assert_int_equal(put("her", "b", record_bytes), API_PUT_NO_ROOM);
	assert_true(has("her", "a") && has("me", "a"));
	assert_int_equal(evicted(API_EVICTED_SHARE), 1);
	close_store();
}

/* Spares "large" although it was used longest ago: without it, its owner would be below its share. */
static void spares_a_set_without_which_its_caller_is_below(void **unused)
{
	(void)unused;
	open_shared(10000, 64, 64);
	put("her", "large", 6000);
	pass(SECOND);
	put("her", "small", 1000);
	put("her", "other", 1000);
	pass(SECOND);
	assert_int_equal(put("me", "a", 4000), API_PUT_CREATED);
	assert_true(has("her", "large") && !has("her", "small") && !has("her", "other"));
	assert_int_equal(put("me", "b", 1000), API_PUT_CREATED);
	assert_false(has("her", "large"));
	close_store();
}

static void never_takes_what_is_held(void **unused)
{
	(void)unused;
	open_shared(1 << 20, 4, 4);
	fill("her", 4, 1000);
	struct api_kept *held[4];
	for (int i = 0; i < 4; i++)
		held[i] = api_sets_hold(sets, "her", numbered('s', i), i % 2);
	assert_int_equal(put("me", "a", 1000), API_PUT_NO_ROOM);
	api_kept_release(held[2]);
	assert_int_equal(put("me", "a", 1000), API_PUT_CREATED);
	assert_false(has("her", "s2"));
	assert_int_equal(put("me", "b", 1000), API_PUT_NO_ROOM);
	for (int i = 0; i < 4; i++)
		if (i != 2)
			api_kept_release(held[i]);
	close_store();
}

/* A caller's old sets stay while it is within its share; beyond it, they are evicted first. */
static void forgets_own_only_beyond_a_share(void **unused)
{
	(void)unused;
	open_shared(1 << 20, 8, 8);
	fill("me", 3, 1000);
	pass(10 * SECOND);
	fill("her", 5, 1000);
	assert_int_equal(put("me", "t", 1000), API_PUT_CREATED);
	assert_int_equal(count_sets("me", 3), 3);
	assert_int_equal(count_sets("her", 5), 4);
	assert_int_equal(put("me", "u", 1000), API_PUT_CREATED);
	assert_int_equal(count_sets("me", 3), 2);
	assert_int_equal(count_sets("her", 5), 4);
	close_store();
}

/* A caller's own sets are evicted only as far as it exceeds its share; the rest of the room comes from others. */
static void forgets_own_and_takes_the_rest(void **unused)
{
	(void)unused;
	open_shared(10000, 64, 64);
	fill("me", 4, 1000);
	pass(10 * SECOND);
	fill("her", 6, 1000);
	assert_int_equal(put("me", "t", 2000), API_PUT_CREATED);
	assert_int_equal(count_sets("me", 4), 3);
	assert_int_equal(count_sets("her", 6), 5);
	close_store();
}

static void a_caller_that_left_is_not_counted(void **unused)
{
	(void)unused;
	open_shared(1 << 20, 6, 6);
	fill("gone", 1, 1000);
	fill("her", 5, 1000);
	remove_set("gone", "s0");
	assert_int_equal(fill("me", 6, 1000), 3);
	assert_int_equal(count_sets("her", 5), 3);
	assert_int_equal(put("refused", "a", 2 << 20), API_PUT_TOO_LARGE);
	assert_int_equal(fill("her", 5, 1000), 0);
	remove_set("me", "s0");
	remove_set("me", "s1");
	remove_set("me", "s2");
	assert_int_equal(put("her", "t", 1000), API_PUT_CREATED);
	assert_int_equal(put("her", "u", 1000), API_PUT_CREATED);
	close_store();
}

static void a_set_grows_into_an_equal_share(void **unused)
{
	(void)unused;
	open_shared(10000, 64, 64);
	put("me", "a", 1000);
	fill("her", 9, 1000);
	struct api_kept *kept = api_sets_hold(sets, "me", "a", true);
	assert_true(api_kept_grow(kept, 4000));
	assert_int_equal(count_sets("her", 9), 5);
	assert_false(api_kept_grow(kept, 1));
	assert_int_equal(count_sets("her", 9), 5);
	api_kept_release(kept);
	close_store();
}

static void replacing_takes_what_it_grows_by(void **unused)
{
	(void)unused;
	open_shared(10000, 64, 64);
	put("me", "a", 1000);
	fill("her", 9, 1000);
	assert_int_equal(put("me", "a", 5001), API_PUT_NO_ROOM);
	assert_int_equal(put("me", "a", 5000), API_PUT_REPLACED);
	assert_int_equal(count_sets("her", 9), 5);
	close_store();
}

/* There would be room for a name, but not for its bytes. */
static void evicts_nothing_of_others_for_a_put_that_fails(void **unused)
{
	(void)unused;
	open_shared(10000, 4, 4);
	fill("her", 3, 1000);
	put("me", "a", 5000);
	assert_int_equal(put("me", "b", 3001), API_PUT_NO_ROOM);
	assert_int_equal(count_sets("her", 3), 3);
	assert_int_equal(put("me", "b", 3000), API_PUT_CREATED);
	assert_int_equal(count_sets("her", 3), 2);
	close_store();
}

/* ---- a model of ownership ---- */

enum { OWNERS = 4, OWNED = 9, MODEL_STEPS = 30000 };

struct owned {
	bool is_there, is_held;
	size_t bytes;
	int64_t used_ms;
	struct api_kept *held;
};

struct model {
	struct api_sets_limits limits;
	struct owned owned[OWNERS][OWNED];
};

static const char *const owners[OWNERS] = {"one", "two", "three", "four"};

struct sum {
	size_t n, bytes;
};

static struct sum sum_of(const struct model *m, int owner)
{
	struct sum sum = {0};
	for (int i = 0; i < OWNED; i++) {
		sum.n += m->owned[owner][i].is_there;
		sum.bytes += m->owned[owner][i].is_there ? m->owned[owner][i].bytes : 0;
	}
	return sum;
}

/* @param newcomer  is counted even without sets */
static struct sum share_of(const struct model *m, int newcomer)
{
	size_t n = 0;
	for (int owner = 0; owner < OWNERS; owner++)
		n += owner == newcomer || sum_of(m, owner).n > 0;
	return (struct sum){m->limits.n / n, m->limits.bytes / n};
}

/* Finds the sets of the model that are no longer in the store, except the one that was put. @return their number */
static int compare(const struct model *m, const struct owned *put, bool is_gone[OWNERS][OWNED])
{
	int n = 0;
	for (int owner = 0; owner < OWNERS; owner++)
		for (int i = 0; i < OWNED; i++) {
			const struct owned *owned = &m->owned[owner][i];
			const bool is_there = has(owners[owner], numbered('s', i));
			assert_true(!is_there || owned->is_there || owned == put);
			n += is_gone[owner][i] = owned->is_there && !is_there;
		}
	return n;
}

static void expect_limits(const struct model *m)
{
	struct sum all = {0};
	for (int owner = 0; owner < OWNERS; owner++) {
		const struct sum sum = sum_of(m, owner);
		assert_true(sum.n <= m->limits.n_per_caller && sum.bytes <= m->limits.bytes_per_caller);
		all.n += sum.n;
		all.bytes += sum.bytes;
	}
	assert_true(all.n <= m->limits.n && all.bytes <= m->limits.bytes);
	const struct api_sets_counts now = api_sets_counts(sets);
	assert_int_equal(now.n, all.n);
	assert_int_equal(now.bytes, all.bytes);
}

/* Whether the store may evict that set for that caller regardless of shares. */
static bool is_unused(const struct owned *owned, bool is_own)
{
	return clock_ms - owned->used_ms >= (is_own ? 10 : 60) * SECOND;
}

/* A caller loses sets that it used recently only as far as it exceeds its share, and only as far as the other caller
 * lacks room. */
static void expect_fair(const struct model *before, int owner, const bool is_gone[OWNED], struct sum after,
                        struct sum share)
{
	const struct sum had = sum_of(before, owner);
	struct sum kept = had; /* without the sets that are unused anyway */
	size_t largest = 0;
	for (int i = 0; i < OWNED; i++) {
		const struct owned *owned = &before->owned[owner][i];
		if (!is_gone[i] || is_unused(owned, false))
			continue;
		kept.n--;
		kept.bytes -= owned->bytes;
		largest = owned->bytes > largest ? owned->bytes : largest;
	}
	const bool by_names = after.n <= share.n && kept.n >= share.n;
	const bool by_bytes = after.bytes <= share.bytes && kept.bytes + largest > share.bytes;
	assert_true(kept.n == had.n || by_names || by_bytes);
}

static bool somebody_holds(const struct model *m)
{
	for (int owner = 0; owner < OWNERS; owner++)
		for (int i = 0; i < OWNED; i++)
			if (m->owned[owner][i].is_held)
				return true;
	return false;
}

/* Whether everything fits without evictions. */
static bool fits(const struct model *m, int owner, struct sum after)
{
	struct sum all = after;
	for (int other = 0; other < OWNERS; other++)
		if (other != owner) {
			all.n += sum_of(m, other).n;
			all.bytes += sum_of(m, other).bytes;
		}
	return all.n <= m->limits.n && all.bytes <= m->limits.bytes && after.n <= m->limits.n_per_caller &&
	       after.bytes <= m->limits.bytes_per_caller;
}

static void expect_put(struct model *m, int owner, int i, size_t bytes)
{
	struct owned *owned = &m->owned[owner][i];
	const struct sum had = sum_of(m, owner), share = share_of(m, owner);
	const struct sum after = {had.n + !owned->is_there, had.bytes + bytes - (owned->is_there ? owned->bytes : 0)};
	const bool is_new = !owned->is_there, is_possible = bytes <= m->limits.bytes_per_caller;
	const enum api_put result = put(owners[owner], numbered('s', i), bytes);
	bool is_gone[OWNERS][OWNED];
	const int n_gone = compare(m, owned, is_gone);
	if (result != API_PUT_CREATED && result != API_PUT_REPLACED) {
		assert_int_equal(result, is_possible ? API_PUT_NO_ROOM : API_PUT_TOO_LARGE);
		assert_int_equal(n_gone, 0);
		assert_true(!is_possible || !fits(m, owner, after));
		/* an equal share is always available, except for held sets and the limits per caller */
		assert_true(!is_possible || somebody_holds(m) || after.n > share.n || after.bytes > share.bytes ||
		            after.n > m->limits.n_per_caller || after.bytes > m->limits.bytes_per_caller);
		return;
	}
	assert_int_equal(result, is_new ? API_PUT_CREATED : API_PUT_REPLACED);
	if (fits(m, owner, after))
		assert_int_equal(n_gone, 0);
	struct sum ends = after;
	for (int j = 0; j < OWNED; j++)
		if (is_gone[owner][j]) {
			assert_true(is_unused(&m->owned[owner][j], true) && !m->owned[owner][j].is_held);
			/* others' sets go first only if the caller is within its share */
			assert_true(after.n > share.n || after.bytes > share.bytes || after.n > m->limits.n_per_caller ||
			            after.bytes > m->limits.bytes_per_caller || somebody_holds(m));
			ends.n--;
			ends.bytes -= m->owned[owner][j].bytes;
		}
	for (int other = 0; other < OWNERS; other++) {
		for (int j = 0; j < OWNED; j++)
			assert_false(is_gone[other][j] && m->owned[other][j].is_held);
		if (other != owner)
			expect_fair(m, other, is_gone[other], ends, share);
	}
	for (int k = 0; k < OWNERS * OWNED; k++)
		if (is_gone[k / OWNED][k % OWNED])
			m->owned[k / OWNED][k % OWNED] = (struct owned){0};
	*owned = (struct owned){.is_there = true, .bytes = bytes, .used_ms = clock_ms};
}

static void do_in_model(struct model *m, unsigned *seed)
{
	const int owner = rand_r(seed) % OWNERS, i = rand_r(seed) % OWNED, what = rand_r(seed) % 16;
	struct owned *owned = &m->owned[owner][i];
	const char *name = numbered('s', i);
	if (what == 0 && rand_r(seed) % 8 == 0)
		pass(rand_r(seed) % 2 ? 10 * SECOND : MINUTE);
	else if (what == 0)
		pass(rand_r(seed) % SECOND);
	else if (what == 1 && owned->is_there && !owned->is_held) {
		owned->held = api_sets_hold(sets, owners[owner], name, true);
		owned->is_held = true;
		owned->used_ms = clock_ms;
	} else if (what <= 4 && owned->is_held) {
		api_kept_release(owned->held);
		owned->is_held = false;
		owned->used_ms = clock_ms;
	} else if (what == 5 && owned->is_there && !owned->is_held) {
		remove_set(owners[owner], name);
		*owned = (struct owned){0};
	} else if (what <= 7 && owned->is_there) {
		use(owners[owner], name);
		owned->used_ms = clock_ms;
	} else if (!owned->is_held)
		expect_put(m, owner, i, record_bytes + (size_t)(rand_r(seed) % (rand_r(seed) % 8 ? 600 : 4000)));
	expect_limits(m);
}

static void let_all_go(struct model *m)
{
	for (int k = 0; k < OWNERS * OWNED; k++)
		if (m->owned[k / OWNED][k % OWNED].is_held)
			api_kept_release(m->owned[k / OWNED][k % OWNED].held);
}

static void agrees_with_a_model(void **unused)
{
	(void)unused;
	static const struct api_sets_limits limits[] = {
		{.bytes = 1 << 20, .bytes_per_caller = 1 << 20, .n = 12, .n_per_caller = 9, .idle_seconds = 86400},
		{.bytes = 9000, .bytes_per_caller = 9000, .n = 64, .n_per_caller = 64, .idle_seconds = 86400},
		{.bytes = 7001, .bytes_per_caller = 4000, .n = 14, .n_per_caller = 7, .idle_seconds = 86400},
		{.bytes = 6000, .bytes_per_caller = 6000, .n = 11, .n_per_caller = 11, .idle_seconds = 86400},
	};
	for (unsigned k = 0; k < 4; k++) {
		struct model m = {.limits = limits[k]};
		unsigned seed = k + 1;
		open_store(limits[k]);
		for (int step = 0; step < MODEL_STEPS / 4; step++)
			do_in_model(&m, &seed);
		assert_true(evicted(API_EVICTED_SHARE) > 0 && api_sets_counts(sets).n_refused > 0);
		let_all_go(&m);
		close_store();
	}
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

/* A set counts as in use from the put until it is released. */
static void is_in_use_from_the_put_on(void **unused)
{
	(void)unused;
	open_store(plenty);
	struct api_kept *kept = make(1000);
	assert_int_equal(api_sets_put(sets, NULL, "a", kept, NULL), API_PUT_CREATED);
	pass(901 * SECOND);
	api_sets_expire(sets);
	assert_true(has(NULL, "a"));
	api_kept_release(kept);
	pass(900 * SECOND);
	assert_true(has(NULL, "a"));
	pass(1);
	assert_false(has(NULL, "a"));
	close_store();
}

/* Describing a set is not use. */
static void describing_a_set_does_not_count_as_use(void **unused)
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

/* ---- lists and counts ---- */

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

/* ---- lack of memory ---- */

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

/* ---- accounts ---- */

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

/* The account of a request whose set evicts another one. */
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
			struct api_kept *again = api_sets_hold(sets, caller, name, false);
			look(kept);
			api_kept_grow(kept, (size_t)(rand_r(seed) % 100));
			api_kept_release(again);
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
	open_store((struct api_sets_limits){
		.bytes = 5000, .bytes_per_caller = 3000, .n = 7, .n_per_caller = 7, .idle_seconds = 100});
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
		cmocka_unit_test(names_with_the_same_beginning_differ),
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
		cmocka_unit_test(evicts_nothing_for_a_put_that_fails),
		cmocka_unit_test(keeps_each_caller_to_a_share),
		cmocka_unit_test(limits_the_number),
		cmocka_unit_test(counts_what_it_replaces_as_room),
		cmocka_unit_test(makes_room_of_all_that_a_caller_has),
		cmocka_unit_test(grows),
		cmocka_unit_test(grows_after_it_was_forgotten),
		cmocka_unit_test(keeps_each_caller_to_a_share_of_names),
		cmocka_unit_test(gives_an_equal_share_of_names_at_once),
		cmocka_unit_test(takes_the_least_recently_used_of_those_above),
		cmocka_unit_test(gives_an_equal_share_of_bytes_at_once),
		cmocka_unit_test(shares_are_rounded_down),
		cmocka_unit_test(more_callers_than_names_take_nothing),
		cmocka_unit_test(a_set_beyond_a_share_takes_nothing_at_once),
		cmocka_unit_test(spares_a_set_without_which_its_caller_is_below),
		cmocka_unit_test(never_takes_what_is_held),
		cmocka_unit_test(forgets_own_only_beyond_a_share),
		cmocka_unit_test(forgets_own_and_takes_the_rest),
		cmocka_unit_test(a_caller_that_left_is_not_counted),
		cmocka_unit_test(a_set_grows_into_an_equal_share),
		cmocka_unit_test(replacing_takes_what_it_grows_by),
		cmocka_unit_test(evicts_nothing_of_others_for_a_put_that_fails),
		cmocka_unit_test(agrees_with_a_model),
		cmocka_unit_test(forgets_what_is_idle),
		cmocka_unit_test(is_idle_only_after_its_last_use_ends),
		cmocka_unit_test(is_in_use_from_the_put_on),
		cmocka_unit_test(describing_a_set_does_not_count_as_use),
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
