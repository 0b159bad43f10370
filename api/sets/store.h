/**
 * The store of collision sets by caller and name: which sets are kept, and for how long. The store treats a set as an
 * opaque object with a version and a size in bytes. A set never changes once it is in the store. A holder may use a set
 * until releasing it, whatever happens to its name meanwhile.
 *
 * Every function may be called from several threads at once. The store is not locked while a set is freed.
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
	size_t bytes;            /* total of all sets */
	size_t bytes_per_caller; /* total of one caller's sets */
	size_t n;                /* number of all sets */
	size_t n_per_caller;     /* number of sets of one caller */
	long long idle_seconds;  /* sets unused for longer are forgotten */
	struct api_pool *pool;   /* source of the store's own records, which outlives it; NULL: malloc */
};

/* First member of a set. Before it is put, everything is zero except free, bytes and version. */
struct api_kept {
	void (*free)(struct api_kept *kept); /* called once, on any thread, when the last holder has released the set */
	atomic_size_t bytes; /* memory of the set. The store adds its record; later only api_kept_grow adds to it */
	char version[API_VERSION_BYTES];
	char before[API_VERSION_BYTES]; /* written by api_sets_put: version of the set that it replaced; "" if the name
	                                 * was free */
	/* Used by the store only. */
	struct api_sets *sets;
	struct api_entry *entry;
};

struct api_sets;

/**
 * @param now_ms  a monotonic clock
 * @return NULL when out of memory
 */
struct api_sets *api_sets_create(const struct api_sets_limits *limits, int64_t (*now_ms)(void));
/* Forgets all sets. Call it after everything has been released; sets may be NULL. */
void api_sets_free(struct api_sets *sets);
const struct api_sets_limits *api_sets_limits(const struct api_sets *sets);

/* A caller is identified by the name of its token, shorter than API_CALLER_BYTES; NULL if there are no tokens. Names of
 * sets satisfy api_is_set_name. */

/**
 * Holds the set of a name, to be released with api_kept_release; NULL if there is none.
 * @param uses  whether this counts as a use, hit or miss, and postpones expiry
 */
struct api_kept *api_sets_hold(struct api_sets *sets, const char *caller, const char *name, bool uses);
/* Releases a set. Its last release ends its use, at the current time. A set that was never in the store is freed. kept
 * may be NULL. */
void api_kept_release(struct api_kept *kept);

enum api_put {
	API_PUT_CREATED,
	API_PUT_REPLACED,
	API_PUT_CHANGED,   /* the name no longer refers to `old` */
	API_PUT_NO_ROOM,   /* temporary: evicting all that may be evicted would not make enough room */
	API_PUT_TOO_LARGE, /* permanent: exceeds the limits by itself */
	API_PUT_NO_MEMORY,
};

/**
 * Gives a name to a set, replacing `old` if the name still refers to that. Makes room by evicting sets that nobody
 * holds, least recently used first:
 * 1. If the caller will have no more than an equal share (the limit divided by the number of callers with sets,
 *    this one included): sets of callers that have more than that, however recently they were used. Sets that leave
 *    their caller an equal share go before those that do not. This applies to names and to bytes separately. So a
 *    caller can always have an equal share, unless sets are held.
 * 2. The caller's own sets, unused for 10 seconds, until the caller is within its share and 1. applies.
 * 3. Sets of others, unused for 60 seconds.
 * Evicts nothing if that would not be enough. A replaced or evicted set lives, and counts, until its last holder
 * releases it. The hold on `old` by the caller of this function does not count against the room.
 * @param kept  on success it belongs to the store, and the caller of this function holds it, too; otherwise unchanged
 * @param old   held by the caller of this function; NULL: the name must be free
 */
enum api_put api_sets_put(struct api_sets *sets, const char *caller, const char *name, struct api_kept *kept,
                          const struct api_kept *old);
/* Forgets a name if it still refers to `old`. */
bool api_sets_remove(struct api_sets *sets, const char *caller, const char *name, const struct api_kept *old);

/* Adds bytes to a set that is held. Makes room as api_sets_put does. @return false, with nothing changed, if there is
 * no room */
bool api_kept_grow(struct api_kept *kept, size_t bytes);

/* Forgets sets that have not been used for too long. */
void api_sets_expire(struct api_sets *sets);

struct api_listed {
	char name[API_SET_NAME_BYTES];
	size_t bytes;          /* memory when it was listed */
	struct api_kept *kept; /* held */
};
/**
 * Lists a caller's sets by name, in byte order.
 * @param listed  set to [n] in the arena, each to be released
 * @param bytes   set to the memory of the caller's sets, including forgotten ones that are still held
 * @return false when out of memory
 */
bool api_sets_list(struct api_sets *sets, const char *caller, struct api_arena *arena, struct api_listed **listed,
                   size_t *n, size_t *bytes);

/* The number of a caller's sets, including expired ones. */
size_t api_sets_of_caller(struct api_sets *sets, const char *caller);

enum api_eviction {
	API_EVICTED_IDLE,
	API_EVICTED_OWN,
	API_EVICTED_OTHERS, /* unused for 60 seconds, evicted for another caller */
	API_EVICTED_SHARE,  /* used more recently; evicted from a caller above its equal share for one within it */
	API_N_EVICTIONS
};
struct api_sets_counts {
	size_t n, bytes; /* current number and memory */
	uint64_t n_created, n_replaced, n_removed, n_hits, n_misses, n_evicted[API_N_EVICTIONS];
	uint64_t n_refused; /* puts and growths that failed for lack of room */
};
struct api_sets_counts api_sets_counts(struct api_sets *sets);

#endif
