/**
 * A collision set: contacts prepared from a lagged document, and data that depends on the stencils only, which is made
 * when first needed. Everything that queries read stays unchanged once the set is in the store, so any number of
 * queries can use it at the same time.
 */
#ifndef API_SET_H
#define API_SET_H

#include "api/sets/archive.h"
#include "api/sets/counted.h"
#include "api/sets/neighbours.h"
#include "api/sets/store.h"
#include "api/validate/query.h"

/* Indices of patterns: a Hessian's triangle (enum fric_triangle), or the Jacobian with respect to positions. */
enum { API_JACOBIAN_PLACES = 3, API_N_PLACES };

/* The pattern of a matrix, shared by sets with the same stencils and by responses being sent. */
struct api_shared_pattern {
	atomic_size_t n_holders;
	struct api_counted counted;
	struct fric_pattern *pattern;
};

struct api_skipped {
	enum fric_type type;
	size_t index; /* within its group */
	enum fric_code code;
};

enum { API_FIRST_SKIPPED = 16 };

struct api_set {
	struct api_kept kept; /* must be the first member */
	struct api_pool *pool;
	struct api_counted counted; /* allocator of contacts, state and schedule */
	struct api_set_facts facts;
	char stencils[API_VERSION_BYTES]; /* equal for sets that can share patterns */
	struct fric_contacts *contacts;
	bool has_lagged_velocities;                         /* velocities for all DOFs were sent */
	double *lagged_velocities, *lagged_body_velocities; /* the parts that were sent, if both vertices and bodies
	                                                     * could have them */
	struct fric_state *state; /* for the lagged velocities; NULL: there are none, or no contact needs a state */
	struct api_skipped first_skipped[API_FIRST_SKIPPED]; /* in the order of groups */
	size_t n_first_skipped;
	struct api_archive document;
	struct api_neighbours *neighbours; /* of a set from a mesh; NULL: contacts were sent */
	/* Made on first use, NULL until then. Only one thread at a time makes a schedule that is kept. */
	_Atomic(struct fric_schedule *) schedule;
	_Atomic(struct api_shared_pattern *) patterns[API_N_PLACES];
	atomic_flag makes_schedule, keeps_pattern[API_N_PLACES];
};

/**
 * Prepares contacts. Complete it with api_set_finish before putting it into the store.
 * @param context            its allocator is not used, because the set has its own, which counts
 * @param lagged_velocities  from the document
 * @param neighbours         from which the batch was made; or NULL. The set releases them, also after a fault
 * @return NULL with *fault
 */
struct api_set *api_set_create(const struct fric_context *context, struct api_pool *pool,
                               const struct fric_batch *batch, const struct api_lagged_velocities *lagged_velocities,
                               const struct api_set_facts *facts, struct api_neighbours *neighbours,
                               struct api_fault *fault);
/**
 * Stores the document, takes over from `old` the data that depends only on the stencils, and adds up the set's memory.
 * @param document  is rewritten, see api_archive_write
 * @param old       NULL: no previous set
 */
bool api_set_finish(struct api_set *set, struct api_document *document, struct api_arena *arena,
                    const struct api_set *old, struct api_fault *fault);
/* Frees a set that is not in the store. */
void api_set_free(struct api_set *set);

static inline struct api_set *api_set_of(struct api_kept *kept)
{
	return (struct api_set *)(void *)kept;
}

/* Makes a pattern of a Hessian or of the Jacobian. */
enum fric_code api_places_create(const struct fric_context *context, const struct fric_contacts *contacts, int places,
                                 struct fric_pattern **pattern, struct fric_error *error);
/**
 * Provides the pattern of a triangle or of the Jacobian, which is kept with the set if there is room for it.
 * @return held, to be released; NULL with *fault
 */
struct api_shared_pattern *api_set_pattern(struct api_set *set, const struct fric_context *context, int places,
                                           struct api_fault *fault);
void api_pattern_release(struct api_shared_pattern *pattern);

/* The set's schedule, which is made for this context on first use. NULL: evaluation uses one thread, or there is no
 * room. */
const struct fric_schedule *api_set_schedule(struct api_set *set, const struct fric_context *context);

#endif
