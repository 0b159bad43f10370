#include "api/sets/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <xxhash.h>

#include "api/base/account.h"

enum {
	RECENT_MS = 10000, /* sets used within that time are not evicted to make room for their own caller */
	SHARED_MS = 60000, /* sets unused for that long are evicted to make room for other callers */
};

/* A link of a circular list; the list's head is also one. */
struct ring {
	struct ring *before, *after;
};

/* The limited quantities. */
struct amount {
	size_t names, bytes;
};

/* A caller. Its record lives as long as it has sets, named or held. */
struct caller {
	char name[API_CALLER_BYTES];
	uint64_t hash;
	struct caller *next;   /* next in its bucket, or in the list to be freed */
	struct ring sets;      /* sets with a name, least recently used first */
	size_t n_sets;         /* named or held */
	struct amount has;     /* its bytes include all sets, named or held */
	struct amount planned; /* while room is made: `has` after the evictions chosen so far */
	uint64_t plan;         /* number of the plan to which `planned` belongs */
};

/* The store's record of a set; it lives as long as the set. */
struct api_entry {
	char name[API_SET_NAME_BYTES];
	struct api_kept *kept;
	struct caller *caller;
	size_t n_holders; /* number of holders, of which the store is one while the set has its name */
	int64_t used_ms;
	bool is_named;
	bool is_used;           /* set by a hold that counts as use, until only the store holds it */
	struct api_entry *next; /* next in its bucket */
	struct api_entry *also; /* next in the list of sets to be evicted, or freed */
	uint64_t plan;          /* number of the last plan that has chosen it */
	enum api_eviction reason;
	struct ring all, own; /* ordered by last use: among all sets, and among the caller's */
};

struct api_sets {
	struct api_sets_limits limits;
	int64_t (*now_ms)(void);
	uint64_t seed; /* random, so that nobody can choose names that share a bucket */
	size_t n_buckets;
	pthread_mutex_t lock; /* protects everything below */
	struct api_entry **entries;
	struct caller **callers;
	struct ring all;
	size_t n_callers;
	uint64_t n_plans;
	struct api_sets_counts counts;
};

/* Records to be freed after the lock is released. */
struct grave {
	struct api_entry *entries;
	struct caller *callers;
};

#define ENTRY_OF(link, member) ((struct api_entry *)(void *)((char *)(link)-offsetof(struct api_entry, member)))

/* ---- rings ---- */

static void ring_clear(struct ring *ring)
{
	ring->before = ring->after = ring;
}

static void ring_append(struct ring *ring, struct ring *link)
{
	link->before = ring->before;
	link->after = ring;
	ring->before->after = link;
	ring->before = link;
}

static void ring_remove(struct ring *link)
{
	link->before->after = link->after;
	link->after->before = link->before;
}

/* ---- the lock ---- */

/* The time is read under the lock, so that the rings are ordered by it. */
static int64_t lock(struct api_sets *sets)
{
	pthread_mutex_lock(&sets->lock);
	return sets->now_ms();
}

/* The account of the thread that frees a set belongs to another request, which must not be credited. */
static void bury(struct api_sets *sets, struct grave *grave)
{
	struct api_pool *pool = sets->limits.pool;
	struct api_account *account = api_account_current;
	api_account_current = NULL;
	for (struct api_entry *entry = grave->entries, *also; entry; entry = also) {
		also = entry->also;
		entry->kept->free(entry->kept);
		api_pool_give(pool, entry, sizeof *entry);
	}
	for (struct caller *caller = grave->callers, *next; caller; caller = next) {
		next = caller->next;
		api_pool_give(pool, caller, sizeof *caller);
	}
	api_account_current = account;
}

static void unlock(struct api_sets *sets, struct grave *grave)
{
	pthread_mutex_unlock(&sets->lock);
	bury(sets, grave);
}

/* ---- tables ---- */

static struct caller **caller_place(const struct api_sets *sets, const char *name, uint64_t hash)
{
	struct caller **place = &sets->callers[hash & (sets->n_buckets - 1)];
	while (*place && strcmp((*place)->name, name) != 0)
		place = &(*place)->next;
	return place;
}

static struct caller *find_caller(const struct api_sets *sets, const char *name)
{
	name = name ? name : "";
	return *caller_place(sets, name, XXH3_64bits_withSeed(name, strlen(name), sets->seed));
}

static struct caller *create_caller(struct api_pool *pool, const char *name, uint64_t hash)
{
	struct caller *caller = api_pool_take(pool, sizeof *caller);
	if (!caller)
		return NULL;
	*caller = (struct caller){.hash = hash};
	strncpy(caller->name, name, sizeof caller->name - 1);
	ring_clear(&caller->sets);
	return caller;
}

/* @return NULL when out of memory */
static struct caller *find_or_create_caller(struct api_sets *sets, const char *name)
{
	name = name ? name : "";
	const uint64_t hash = XXH3_64bits_withSeed(name, strlen(name), sets->seed);
	struct caller **place = caller_place(sets, name, hash);
	if (!*place) {
		*place = create_caller(sets->limits.pool, name, hash);
		sets->n_callers += *place != NULL;
	}
	return *place;
}

static void forget_caller_if_empty(struct api_sets *sets, struct caller *caller, struct grave *grave)
{
	if (caller->n_sets > 0)
		return;
	*caller_place(sets, caller->name, caller->hash) = caller->next;
	sets->n_callers--;
	caller->next = grave->callers;
	grave->callers = caller;
}

static struct api_entry **entry_place(const struct api_sets *sets, const struct caller *caller, const char *name)
{
	const uint64_t hash = XXH3_64bits_withSeed(name, strlen(name), caller->hash);
	struct api_entry **place = &sets->entries[hash & (sets->n_buckets - 1)];
	while (*place && ((*place)->caller != caller || strcmp((*place)->name, name) != 0))
		place = &(*place)->next;
	return place;
}

static struct api_entry *find(const struct api_sets *sets, const char *caller_name, const char *name)
{
	const struct caller *caller = find_caller(sets, caller_name);
	return caller ? *entry_place(sets, caller, name) : NULL;
}

/* ---- use ---- */

static void renew(struct api_entry *entry, int64_t now)
{
	entry->used_ms = now;
	ring_remove(&entry->all);
	ring_remove(&entry->own);
	ring_append(&entry->kept->sets->all, &entry->all);
	ring_append(&entry->caller->sets, &entry->own);
}

static void drop(struct api_entry *entry, struct grave *grave)
{
	struct api_sets *sets = entry->kept->sets;
	if (--entry->n_holders > 0)
		return;
	sets->counts.bytes -= entry->kept->bytes;
	entry->caller->has.bytes -= entry->kept->bytes;
	entry->caller->n_sets--;
	forget_caller_if_empty(sets, entry->caller, grave);
	entry->also = grave->entries;
	grave->entries = entry;
}

static void forget(struct api_entry *entry, struct grave *grave)
{
	struct api_sets *sets = entry->kept->sets;
	*entry_place(sets, entry->caller, entry->name) = entry->next;
	ring_remove(&entry->all);
	ring_remove(&entry->own);
	entry->is_named = false;
	entry->caller->has.names--;
	sets->counts.n--;
	drop(entry, grave);
}

static void evict(struct api_entry *entry, enum api_eviction reason, struct grave *grave)
{
	entry->kept->sets->counts.n_evicted[reason]++;
	forget(entry, grave);
}

static bool is_idle(const struct api_sets *sets, const struct api_entry *entry, int64_t now)
{
	return !entry->is_used && now - entry->used_ms > 1000 * sets->limits.idle_seconds;
}

static void expire(struct api_sets *sets, int64_t now, struct grave *grave)
{
	for (struct ring *link = sets->all.after, *after; link != &sets->all; link = after) {
		struct api_entry *entry = ENTRY_OF(link, all);
		after = link->after;
		if (is_idle(sets, entry, now))
			evict(entry, API_EVICTED_IDLE, grave);
		else if (!entry->is_used)
			return;
	}
}

/* ---- room ---- */

/* A plan of evictions: the excess over the limits, and the sets chosen for eviction. */
struct plan {
	struct api_sets *sets;
	const struct caller *caller; /* the caller that needs room */
	int64_t now;
	struct amount share;    /* an equal share of the limits */
	struct amount after;    /* amounts that the caller will have */
	struct amount own, all; /* excess over the limits, of the caller's sets and of all sets */
	struct api_entry *first, *last;
};

static size_t less(size_t amount, size_t by)
{
	return amount > by ? amount - by : 0;
}

static bool is_nothing(struct amount amount)
{
	return amount.names == 0 && amount.bytes == 0;
}

static bool is_enough(const struct plan *plan)
{
	return is_nothing(plan->own) && is_nothing(plan->all);
}

static void reduce(struct amount *amount, size_t bytes)
{
	amount->names = less(amount->names, 1);
	amount->bytes = less(amount->bytes, bytes);
}

static struct amount *planned(const struct plan *plan, struct caller *caller)
{
	if (caller->plan != plan->sets->n_plans) {
		caller->plan = plan->sets->n_plans;
		caller->planned = caller->has;
	}
	return &caller->planned;
}

static bool may_go(const struct plan *plan, const struct api_entry *entry)
{
	return entry->n_holders == 1 && entry->plan != plan->sets->n_plans;
}

static void choose(struct plan *plan, struct api_entry *entry, enum api_eviction reason)
{
	const size_t bytes = entry->kept->bytes;
	if (entry->caller == plan->caller) {
		reduce(&plan->own, bytes);
		reduce(&plan->after, bytes);
	}
	reduce(planned(plan, entry->caller), bytes);
	reduce(&plan->all, bytes);
	entry->plan = plan->sets->n_plans;
	entry->reason = reason;
	entry->also = NULL;
	if (plan->last)
		plan->last->also = entry;
	else
		plan->first = entry;
	plan->last = entry;
}

/* Whether names (or bytes) must be evicted for a caller that stays within its share. */
static bool is_due(size_t too_much, size_t after, size_t share)
{
	return too_much > 0 && after <= share;
}

static bool names_are_due(const struct plan *plan)
{
	return is_due(plan->all.names, plan->after.names, plan->share.names);
}

static bool bytes_are_due(const struct plan *plan)
{
	return is_due(plan->all.bytes, plan->after.bytes, plan->share.bytes);
}

/* Chooses the caller's own sets, least recently used first. until_due: only until the caller is within its share */
static void choose_own(struct plan *plan, bool until_due)
{
	const struct ring *own = &plan->caller->sets;
	for (const struct ring *link = own->after; link != own; link = link->after) {
		struct api_entry *entry = ENTRY_OF(link, own);
		if (is_enough(plan) || plan->now - entry->used_ms < RECENT_MS)
			return;
		if (until_due && is_nothing(plan->own) && (names_are_due(plan) || bytes_are_due(plan)))
			return;
		if (may_go(plan, entry))
			choose(plan, entry, API_EVICTED_OWN);
	}
}

/* Whether the caller of a set exceeds its share of names or of bytes; only what is due counts.
 * @param least  bytes that the caller must keep */
static bool is_above(const struct plan *plan, const struct api_entry *entry, size_t least)
{
	const struct amount *has = planned(plan, entry->caller);
	return (names_are_due(plan) && has->names > plan->share.names) ||
	       (bytes_are_due(plan) && has->bytes > plan->share.bytes && has->bytes - entry->kept->bytes >= least);
}

static bool is_shared(const struct plan *plan, const struct api_entry *entry)
{
	return plan->now - entry->used_ms >= SHARED_MS;
}

static void choose_above(struct plan *plan, size_t least)
{
	const struct ring *all = &plan->sets->all;
	for (const struct ring *link = all->after; link != all; link = link->after) {
		struct api_entry *entry = ENTRY_OF(link, all);
		if (!names_are_due(plan) && !bytes_are_due(plan))
			return;
		if (may_go(plan, entry) && entry->caller != plan->caller && is_above(plan, entry, least))
			choose(plan, entry, is_shared(plan, entry) ? API_EVICTED_OTHERS : API_EVICTED_SHARE);
	}
}

static void choose_idle(struct plan *plan)
{
	const struct ring *all = &plan->sets->all;
	for (const struct ring *link = all->after; link != all; link = link->after) {
		struct api_entry *entry = ENTRY_OF(link, all);
		if (is_enough(plan) || !is_shared(plan, entry))
			return;
		if (may_go(plan, entry) && entry->caller != plan->caller)
			choose(plan, entry, API_EVICTED_OTHERS);
	}
}

static struct plan plan_for(struct api_sets *sets, const struct caller *caller, struct amount more, size_t leaving,
                            int64_t now)
{
	const struct api_sets_limits *limits = &sets->limits;
	const size_t names = caller->has.names + more.names, bytes = caller->has.bytes + more.bytes;
	sets->n_plans++;
	return (struct plan){
		.sets = sets,
		.caller = caller,
		.now = now,
		.share = {limits->n / sets->n_callers, limits->bytes / sets->n_callers},
		.after = {names, less(bytes, leaving)},
		.own = {less(names, limits->n_per_caller), less(bytes, limits->bytes_per_caller + leaving)},
		.all = {less(sets->counts.n + more.names, limits->n),
	            less(sets->counts.bytes + more.bytes, limits->bytes + leaving)},
	};
}

/* Makes room for `more` of a caller's amounts. @return false, with nothing evicted, if that is impossible */
static bool make_room(struct api_sets *sets, const struct caller *caller, struct amount more, size_t leaving,
                      int64_t now, struct grave *grave)
{
	struct plan plan = plan_for(sets, caller, more, leaving, now);
	choose_own(&plan, true);
	choose_above(&plan, plan.share.bytes);
	choose_above(&plan, 0);
	choose_own(&plan, false);
	choose_idle(&plan);
	if (!is_enough(&plan))
		return false;
	for (struct api_entry *entry = plan.first, *also; entry; entry = also) {
		also = entry->also;
		evict(entry, entry->reason, grave);
	}
	return true;
}

static bool fits_alone(const struct api_sets *sets, size_t bytes, size_t more)
{
	const struct api_sets_limits *limits = &sets->limits;
	const size_t most = limits->bytes < limits->bytes_per_caller ? limits->bytes : limits->bytes_per_caller;
	return limits->n > 0 && limits->n_per_caller > 0 && bytes <= most && more <= most - bytes;
}

static void add_bytes(struct api_entry *entry, size_t bytes)
{
	entry->kept->sets->counts.bytes += bytes;
	entry->caller->has.bytes += bytes;
}

/* ---- put ---- */

static void give_name(struct api_sets *sets, struct caller *caller, struct api_entry *entry, int64_t now)
{
	struct api_entry **bucket = entry_place(sets, caller, entry->name);
	entry->caller = caller;
	entry->n_holders = 2;
	entry->is_named = entry->is_used = true;
	entry->used_ms = now;
	entry->kept->sets = sets;
	entry->kept->entry = entry;
	*bucket = entry;
	ring_append(&sets->all, &entry->all);
	ring_append(&caller->sets, &entry->own);
	caller->n_sets++;
	caller->has.names++;
	sets->counts.n++;
	add_bytes(entry, entry->kept->bytes);
}

static enum api_put put(struct api_sets *sets, struct caller *caller, struct api_entry *entry,
                        const struct api_kept *old, int64_t now, struct grave *grave)
{
	struct api_entry *current = *entry_place(sets, caller, entry->name);
	if ((current ? current->kept : NULL) != old)
		return API_PUT_CHANGED;
	const size_t leaving = current && current->n_holders == 2 ? old->bytes : 0;
	const struct amount more = {current ? 0 : 1, entry->kept->bytes};
	if (!make_room(sets, caller, more, leaving, now, grave))
		return API_PUT_NO_ROOM;
	if (current) {
		memcpy(entry->kept->before, old->version, sizeof old->version);
		forget(current, grave);
	}
	give_name(sets, caller, entry, now);
	return current ? API_PUT_REPLACED : API_PUT_CREATED;
}

/* Puts a set into the store. It counts towards its caller's limits, so all other sets of the caller may have to go. */
static enum api_put put_for(struct api_sets *sets, const char *caller_name, struct api_entry *entry,
                            const struct api_kept *old, int64_t now, struct grave *grave)
{
	struct caller *caller = find_or_create_caller(sets, caller_name);
	if (!caller)
		return API_PUT_NO_MEMORY;
	caller->n_sets++;
	const enum api_put result = put(sets, caller, entry, old, now, grave);
	caller->n_sets--;
	forget_caller_if_empty(sets, caller, grave);
	return result;
}

static enum api_put put_locked(struct api_sets *sets, const char *caller_name, struct api_entry *entry,
                               const struct api_kept *old, struct grave *grave)
{
	const int64_t now = lock(sets);
	expire(sets, now, grave);
	const enum api_put result = fits_alone(sets, entry->kept->bytes, 0)
	                                ? put_for(sets, caller_name, entry, old, now, grave)
	                                : API_PUT_TOO_LARGE;
	sets->counts.n_created += result == API_PUT_CREATED;
	sets->counts.n_replaced += result == API_PUT_REPLACED;
	sets->counts.n_refused += result == API_PUT_NO_ROOM || result == API_PUT_TOO_LARGE;
	return result;
}

enum api_put api_sets_put(struct api_sets *sets, const char *caller, const char *name, struct api_kept *kept,
                          const struct api_kept *old)
{
	struct grave grave = {0};
	struct api_entry *entry = api_pool_take(sets->limits.pool, sizeof *entry);
	if (!entry)
		return API_PUT_NO_MEMORY;
	*entry = (struct api_entry){.kept = kept};
	strncpy(entry->name, name, sizeof entry->name - 1);
	kept->bytes += sizeof *entry;
	const enum api_put result = put_locked(sets, caller, entry, old, &grave);
	unlock(sets, &grave);
	if (result == API_PUT_CREATED || result == API_PUT_REPLACED)
		return result;
	kept->bytes -= sizeof *entry;
	api_pool_give(sets->limits.pool, entry, sizeof *entry);
	return result;
}

bool api_kept_grow(struct api_kept *kept, size_t bytes)
{
	struct api_sets *sets = kept->sets;
	struct api_entry *entry = kept->entry;
	struct grave grave = {0};
	const int64_t now = lock(sets);
	expire(sets, now, &grave);
	const bool grows = fits_alone(sets, kept->bytes, bytes) &&
	                   make_room(sets, entry->caller, (struct amount){.bytes = bytes}, 0, now, &grave);
	if (grows) {
		kept->bytes += bytes;
		add_bytes(entry, bytes);
	}
	sets->counts.n_refused += !grows;
	unlock(sets, &grave);
	return grows;
}

/* ---- hold and release ---- */

static struct api_kept *hold(struct api_entry *entry, bool uses, int64_t now)
{
	entry->n_holders++;
	if (uses) {
		entry->is_used = true;
		renew(entry, now);
	}
	return entry->kept;
}

static void count_use(struct api_sets *sets, bool hit)
{
	sets->counts.n_hits += hit;
	sets->counts.n_misses += !hit;
}

struct api_kept *api_sets_hold(struct api_sets *sets, const char *caller, const char *name, bool uses)
{
	struct grave grave = {0};
	const int64_t now = lock(sets);
	struct api_entry *entry = find(sets, caller, name);
	if (entry && is_idle(sets, entry, now)) {
		evict(entry, API_EVICTED_IDLE, &grave);
		entry = NULL;
	}
	struct api_kept *kept = entry ? hold(entry, uses, now) : NULL;
	if (uses)
		count_use(sets, kept);
	unlock(sets, &grave);
	return kept;
}

static void release(struct api_entry *entry, int64_t now, struct grave *grave)
{
	if (entry->is_named && entry->is_used && entry->n_holders == 2) {
		entry->is_used = false;
		renew(entry, now);
	}
	drop(entry, grave);
}

void api_kept_release(struct api_kept *kept)
{
	struct grave grave = {0};
	if (!kept)
		return;
	struct api_sets *sets = kept->sets;
	if (!sets) {
		kept->free(kept);
		return;
	}
	release(kept->entry, lock(sets), &grave);
	unlock(sets, &grave);
}

bool api_sets_remove(struct api_sets *sets, const char *caller, const char *name, const struct api_kept *old)
{
	struct grave grave = {0};
	lock(sets);
	struct api_entry *entry = find(sets, caller, name);
	const bool is_there = entry && entry->kept == old;
	if (is_there)
		forget(entry, &grave);
	sets->counts.n_removed += is_there;
	unlock(sets, &grave);
	return is_there;
}

void api_sets_expire(struct api_sets *sets)
{
	struct grave grave = {0};
	expire(sets, lock(sets), &grave);
	unlock(sets, &grave);
}

/* ---- list ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct api_listed *)a)->name, ((const struct api_listed *)b)->name);
}

static void list(const struct caller *caller, struct api_listed *listed)
{
	for (const struct ring *link = caller->sets.after; link != &caller->sets; link = link->after) {
		struct api_entry *entry = ENTRY_OF(link, own);
		memcpy(listed->name, entry->name, sizeof entry->name);
		listed->bytes = entry->kept->bytes;
		listed->kept = entry->kept;
		entry->n_holders++;
		listed++;
	}
}

bool api_sets_list(struct api_sets *sets, const char *caller_name, struct api_arena *arena, struct api_listed **listed,
                   size_t *n, size_t *bytes)
{
	struct grave grave = {0};
	expire(sets, lock(sets), &grave);
	const struct caller *caller = find_caller(sets, caller_name);
	*n = caller ? caller->has.names : 0;
	*bytes = caller ? caller->has.bytes : 0;
	*listed = api_arena_array(arena, *n, sizeof **listed);
	if (*listed && caller)
		list(caller, *listed);
	unlock(sets, &grave);
	if (*listed)
		qsort(*listed, *n, sizeof **listed, by_name);
	return *listed;
}

/* ---- counts ---- */

size_t api_sets_of_caller(struct api_sets *sets, const char *caller_name)
{
	pthread_mutex_lock(&sets->lock);
	const struct caller *caller = find_caller(sets, caller_name);
	const size_t n = caller ? caller->has.names : 0;
	pthread_mutex_unlock(&sets->lock);
	return n;
}

struct api_sets_counts api_sets_counts(struct api_sets *sets)
{
	pthread_mutex_lock(&sets->lock);
	const struct api_sets_counts counts = sets->counts;
	pthread_mutex_unlock(&sets->lock);
	return counts;
}

const struct api_sets_limits *api_sets_limits(const struct api_sets *sets)
{
	return &sets->limits;
}

static uint64_t choose_seed(const void *otherwise)
{
	uint64_t seed;
	return getrandom(&seed, sizeof seed, GRND_NONBLOCK) == sizeof seed ? seed : (uint64_t)(uintptr_t)otherwise;
}

struct api_sets *api_sets_create(const struct api_sets_limits *limits, int64_t (*now_ms)(void))
{
	struct api_sets *sets = calloc(1, sizeof *sets);
	if (!sets)
		return NULL;
	sets->limits = *limits;
	sets->now_ms = now_ms;
	sets->seed = choose_seed(sets);
	for (sets->n_buckets = 1; sets->n_buckets < limits->n; sets->n_buckets *= 2)
		;
	ring_clear(&sets->all);
	pthread_mutex_init(&sets->lock, NULL);
	sets->entries = calloc(sets->n_buckets, sizeof(struct api_entry *));
	sets->callers = calloc(sets->n_buckets, sizeof(struct caller *));
	if (sets->entries && sets->callers)
		return sets;
	api_sets_free(sets);
	return NULL;
}

void api_sets_free(struct api_sets *sets)
{
	struct grave grave = {0};
	if (!sets)
		return;
	while (sets->all.after != &sets->all)
		forget(ENTRY_OF(sets->all.after, all), &grave);
	bury(sets, &grave);
	pthread_mutex_destroy(&sets->lock);
	free(sets->entries);
	free(sets->callers);
	free(sets);
}
