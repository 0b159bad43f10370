/**
 * A collision set: what was prepared from a lagged document, and what follows from the stencils alone, made when it is
 * first needed. Everything that a question reads of it stays as it is from the moment the set is in the store, so any
 * number of questions may be asked at the same time.
 */
#ifndef API_SET_H
#define API_SET_H

#include "api/sets/rest.h"
#include "api/sets/store.h"
#include "api/validate/question.h"

/* Memory of the pool that knows how much was taken through it. Stays where it is as long as anything lies in it. */
struct api_counted {
	struct fric_memory memory;
	struct api_pool *pool;
	atomic_size_t bytes;
};

/* Patterns by which they are kept: of a Hessian's triangle (enum fric_triangle), or of the Jacobian by positions. */
enum { API_JACOBIAN_PLACES = 3, API_N_PLACES };

/* The pattern of a matrix, shared by the sets that have the same stencils and by answers that are under way. */
struct api_shared_pattern {
	atomic_size_t n_holders;
	struct api_counted counted;
	struct fric_pattern *pattern;
};

/* A contact that was skipped. */
struct api_skipped {
	enum fric_type type;
	size_t index; /* in its group */
	enum fric_code code;
};

enum { API_FIRST_SKIPPED = 16 };

struct api_set {
	struct api_kept kept; /* first */
	struct api_pool *pool;
	struct api_counted counted; /* of contacts, state and schedule */
	struct api_set_facts facts;
	char stencils[API_VERSION_BYTES]; /* the same where patterns are */
	struct fric_contacts *contacts;
	bool has_lagged_velocities;                         /* of all DOFs */
	double *lagged_velocities, *lagged_body_velocities; /* what is there if both vertices and bodies may have them */
	struct fric_state *state;                           /* along those; NULL: none of either, or no contact needs one */
	struct api_skipped first_skipped[API_FIRST_SKIPPED]; /* in the order of groups */
	size_t n_first_skipped;
	struct api_rest document;
	/* Made on first use; NULL before that. At most one thread at a time makes what is to be kept. */
	_Atomic(struct fric_schedule *) schedule;
	_Atomic(struct api_shared_pattern *) patterns[API_N_PLACES];
	atomic_flag makes_schedule, keeps_pattern[API_N_PLACES];
};

/**
 * Prepares contacts. What it holds is to be completed by api_set_finish before it is put into the store.
 * @param context            its memory is not used: the set's own counts
 * @param lagged_velocities  of the document
 * @return NULL with *fault
 */
struct api_set *api_set_create(const struct fric_context *context, struct api_pool *pool,
                               const struct fric_batch *batch, const struct api_lagged_velocities *lagged_velocities,
                               const struct api_set_facts *facts, struct api_fault *fault);
/**
 * Puts the document to rest, takes over from `old` what depends on the stencils alone, and adds up what the set takes.
 * @param document  is rewritten, see api_rest_write
 * @param old       NULL: there is none
 */
bool api_set_finish(struct api_set *set, struct api_document *document, struct api_arena *arena,
                    const struct api_set *old, struct api_fault *fault);
/* Of one that did not get into the store. */
void api_set_free(struct api_set *set);

static inline struct api_set *api_set_of(struct api_kept *kept)
{
	return (struct api_set *)(void *)kept;
}

/* Makes a pattern of either kind. */
enum fric_code api_places_create(const struct fric_context *context, const struct fric_contacts *contacts, int places,
                                 struct fric_pattern **pattern, struct fric_error *error);
/**
 * The pattern of a triangle, or of the Jacobian. Kept with the set if there is room for it.
 * @return held, to be released; NULL with *fault
 */
struct api_shared_pattern *api_set_pattern(struct api_set *set, const struct fric_context *context, int places,
                                           struct api_fault *fault);
void api_pattern_release(struct api_shared_pattern *pattern);

/* The set's schedule, made for this context if there is none yet; NULL: one thread evaluates, or there is no room. */
const struct fric_schedule *api_set_schedule(struct api_set *set, const struct fric_context *context);

#endif
