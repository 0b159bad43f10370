/**
 * Collision sets by caller and name: which are kept, and for how long. What a set holds is its maker's business: here it
 * has a version and takes a number of bytes. A set never changes once it is in the store; who has asked for one holds it
 * until it is released, whatever happens to its name meanwhile.
 *
 * Every function may be called from several threads at once. None holds the store's lock while a set is freed.
 */
#ifndef API_STORE_H
#define API_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/base/arena.h"
#include "api/sets/identity.h"

enum { API_SET_NAME_BYTES = 65, API_CALLER_BYTES = 128 };

struct api_sets_limits {
	size_t bytes;            /* of all sets together */
	size_t bytes_per_caller; /* of one caller's */
	size_t n;                /* sets of all callers */
	size_t n_per_caller;     /* of one caller */
	long long idle_seconds;  /* unused for longer: forgotten */
	struct api_pool *pool;   /* of the store's own records; outlives it. NULL: malloc */
};

/* First member of what is kept. All zero before it is put but for free, bytes and version. */
struct api_kept {
	void (*free)(struct api_kept *kept); /* called once, when nobody holds it any more; on any thread */
	atomic_size_t
		bytes; /* all that it takes; the store adds its record of it, and from then on api_kept_grow alone adds */
	char version[API_VERSION_BYTES];
	char before[API_VERSION_BYTES]; /* set by api_sets_put: of the set that it replaced; "" if the name was free */
	/* Private. */
	struct api_sets *sets;
	struct api_entry *entry;
};

struct api_sets;

/**
 * @param now_ms  a clock that never goes back
 * @return NULL when out of memory
 */
struct api_sets *api_sets_create(const struct api_sets_limits *limits, int64_t (*now_ms)(void));
/* Forgets all. After everything was released; NULL is harmless. */
void api_sets_free(struct api_sets *sets);
const struct api_sets_limits *api_sets_limits(const struct api_sets *sets);

/* A caller is the name of its token, shorter than API_CALLER_BYTES, or NULL where there are no tokens. A name is one as
 * api_is_set_name says. */

/**
 * The set of a name, to be given back with api_kept_release; NULL if there is none (any more).
 * @param uses  it counts as use, as a hit or a miss, and defers forgetting
 */
struct api_kept *api_sets_hold(struct api_sets *sets, const char *caller, const char *name, bool uses);
/* One more holder of what the caller holds already. */
struct api_kept *api_kept_hold(struct api_kept *kept);
/* The last one to release a set ends its use, so that it was used until now. NULL is harmless, and what was never in the
 * store is freed. */
void api_kept_release(struct api_kept *kept);

enum api_put {
	API_PUT_CREATED,
	API_PUT_REPLACED,
	API_PUT_CHANGED,   /* the name no longer stands for `old` */
	API_PUT_NO_ROOM,   /* now: nothing that may be forgotten would make enough */
	API_PUT_TOO_LARGE, /* ever */
	API_PUT_NO_MEMORY,
};

/**
 * Gives a name to a set, in place of `old`, if it still stands for that one. Makes room with sets that nobody holds,
 * the least recently used first:
 * 1. If the caller will have no more than an equal share (the limit divided by the number of callers that have sets,
 *    this one included): sets of callers that have more than that, however recently they were used. A set that leaves
 *    its caller an equal share goes before one that does not. This holds for names and for bytes, each by itself. So a
 *    caller can always have an equal share, but for what is held.
 * 2. The caller's own sets, unused for 10 seconds, until the caller is within its share and 1. applies.
 * 3. Sets of others, unused for 60 seconds.
 * Forgets nothing if that would not be enough. What is replaced or forgotten lives, and counts, until its last holder
 * releases it; the one hold on `old` that the caller of this function has is not counted against the room.
 * @param kept  on success it belongs to the store, and the caller holds it, too; else it remains the caller's
 * @param old   held by the caller; NULL: the name must be free
 */
enum api_put api_sets_put(struct api_sets *sets, const char *caller, const char *name, struct api_kept *kept,
                          const struct api_kept *old);
/* Forgets a name if it still stands for `old`. */
bool api_sets_remove(struct api_sets *sets, const char *caller, const char *name, const struct api_kept *old);

/* Room for more bytes in a set that is held: makes room as a put does. @return false if there is none; nothing has changed */
bool api_kept_grow(struct api_kept *kept, size_t bytes);

/* Forgets what has not been used for too long. */
void api_sets_expire(struct api_sets *sets);

struct api_listed {
	char name[API_SET_NAME_BYTES];
	size_t bytes;          /* that it took when it was listed */
	struct api_kept *kept; /* held */
};
/**
 * A caller's sets by name, in byte order.
 * @param listed  set to [n] of the arena, each to be released
 * @param bytes   set to what the caller's sets take, the forgotten ones that are still held included
 * @return false when out of memory
 */
bool api_sets_list(struct api_sets *sets, const char *caller, struct api_arena *arena, struct api_listed **listed,
                   size_t *n, size_t *bytes);

enum api_eviction {
	API_EVICTED_IDLE,
	API_EVICTED_OWN,
	API_EVICTED_OTHERS, /* unused for 60 seconds, for another caller */
	API_EVICTED_SHARE,  /* used since then, of a caller above its equal share, for one within it */
	API_N_EVICTIONS
};
struct api_sets_counts {
	size_t n, bytes; /* now */
	uint64_t n_created, n_replaced, n_removed, n_hits, n_misses, n_evicted[API_N_EVICTIONS];
	uint64_t n_refused; /* puts and growths for which there was no room */
};
struct api_sets_counts api_sets_counts(struct api_sets *sets);

#endif
