/**
 * A request about contacts from body to answer: the parts that /v1/evaluate, /v1/check and the routes of sets share.
 */
#ifndef API_JOB_H
#define API_JOB_H

#include "api/codec/render.h"
#include "api/contract/route.h"
#include "api/dispatch/cost.h"
#include "api/sets/set.h"
#include "api/validate/query.h"

/* A request for examples: a vertex on a floor, at half of eps_v. */
#define API_ONE_VERTEX \
	"'dim': 3, 'velocities': [[0.25, 0, 0]], 'friction': {'eps_v': 0.5, 'mu': 0.5}, " \
	"'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1], 'normal_force': 8}}"

enum { API_MAX_SKIPPED = 100000 }; /* skipped contacts that an answer may list, a kilobyte each; more get 413 */

struct api_job;

/* The phases of a job except for the last, which prints the answer. Each returns false with the fault set. */
struct api_steps {
	/* Reads and checks the body. NULL: the request has no body. */
	bool (*decode)(struct api_job *job);
	/* Provides the contacts, and the query to evaluate them at. */
	bool (*prepare)(struct api_job *job);
	/* Computes and renders the results. */
	bool (*compute)(struct api_job *job);
	/* Adds up the work of the steps after decoding. NULL: the request is always small, or always large. */
	void (*weigh)(const struct api_job *job, struct api_work *work);
	bool is_measured; /* counted in metrics, which cover evaluations only */
};

/* Everything that belongs to one request. It is released in one place. */
struct api_job {
	const struct api_call *call;
	const struct api_service *service; /* copied from the call, like request and fault */
	const struct api_request *request;
	struct fric_context context;
	struct api_arena arena;
	struct api_document document;
	struct api_lagged lagged; /* set if the request has a lagged part, or by api_job_open_set */
	struct api_query query;
	struct api_set_facts facts;           /* facts about the contacts */
	const struct fric_contacts *contacts; /* own_contacts, or the contacts of the set */
	struct fric_contacts *own_contacts;
	const struct fric_contacts *pairs; /* contacts for the longest step, prepared with the barrier; NULL: none yet */
	struct fric_contacts *own_pairs;
	struct fric_state *own_state;
	struct fric_current *own_current;      /* where the barrier acts; NULL: it is not asked for */
	struct api_set *set;                   /* owner of the contacts, borrowed; NULL: own_contacts */
	struct api_neighbours *own_neighbours; /* of a lagged part with a mesh */
	struct api_document set_document;      /* set by api_job_open_set */
	struct api_lagged_velocities set_velocities;
	const double *slip_velocities; /* [n_dofs] velocities of asked.state, unless the set provides the state */
	struct fric_query asked;       /* input of the core's evaluations */
	struct fric_query of_friction; /* the same without a barrier, for derivatives */
	struct api_render render;      /* the answer, begun before compute is called */
	struct api_fault *fault;
	struct fric_error error; /* from the last call into the core */
	struct api_measure measure;
	int64_t step_began;
	void *more; /* used by the steps only */
};

/**
 * Runs decode, prepare, compute and encode, and measures each for Server-Timing.
 * @param more  passed to the steps
 * @param set   owner of the contacts; NULL: the steps provide contacts. Borrowed
 * @return false with call->fault set
 */
bool api_job_run(const struct api_call *call, const struct api_steps *steps, struct api_set *set, void *more);

/* ---- steps ---- */

/* Decodes a request with both lagged part and query, or a query to job->set. */
bool api_job_decode(struct api_job *job);
/* Checks the document that was read, as a request or a query of these kinds. */
bool api_job_check_document(struct api_job *job, enum api_request_kind whole, enum api_request_kind of_set);
bool api_job_prepare(struct api_job *job);

/* Adds the work of preparing and evaluating the contacts, vertices and bodies of the set or the lagged part, with a
 * gradient. */
void api_job_weigh(const struct api_job *job, struct api_work *work);
/* Whether the set's document is read to prepare the query. */
bool api_job_opens_set(const struct api_job *job);
/* The dimension of the set or of the decoded lagged part. */
size_t api_job_dim(const struct api_job *job);

/* ---- helpers for steps ---- */

/* Reads the body into job->document. */
bool api_job_read(struct api_job *job);

/* Begins a check of job->document. */
struct api_check api_job_check(struct api_job *job);
/* Reads the URL's query by its rules and with the additional `check`. Its arrays are in the arena. */
bool api_job_url_query(struct api_job *job, const struct api_object *rules,
                       void (*check)(struct api_job *job, struct api_check *check, const struct api_field *url_query));

/* Whether the document of a held set may be read here. This is checked again because the set of that name may have
 * been replaced since the head was judged.
 * @return false: the request is deferred */
bool api_job_admit_document(const struct api_job *job, const struct api_set *set);
/* Reads the document from which the set's contacts were prepared, if that is admitted and has not been done. Fills in
 * lagged and set_velocities. */
bool api_job_open_set(struct api_job *job);

/* Whether a call into the core succeeded; otherwise job->error, which the call has filled in, becomes the fault. */
bool api_job_core(struct api_job *job, enum fric_code code);
/* The largest number of pairs of a mesh that are found. */
size_t api_job_most_pairs(const struct api_job *job);
/* The number of DOFs of all vertices and bodies. */
size_t api_job_n_dofs(const struct api_job *job);
/* Joins two vectors into one over all DOFs, with bodies last. NULL stands for zeros.
 * @return one of the two if the other is empty, else an array in the arena; NULL with a fault */
const double *api_job_join(struct api_job *job, const double *vertices, const double *bodies);
/* Allocates [n * size] in the job's arena. @return NULL with a fault */
void *api_job_array(struct api_job *job, size_t n, size_t size);
/* The positions where the barrier acts, [n_vertices, dim]: the query's, else the lagged ones. NULL with a fault */
const double *api_job_current_positions(struct api_job *job);
/* Provides a pattern (sets/set.h) that lives as long as the answer, or NULL with a fault. Call it at most once for a
 * Hessian and at most once for the Jacobian. */
const struct fric_pattern *api_job_pattern(struct api_job *job, int places);
/* Checks the size of a result before anything is computed.
 * @param field  the request's field that the fault points to
 * @param what   the result
 * @return false with the fault at that field */
bool api_job_fits(struct api_job *job, const char *field, const char *what, size_t bytes);
/* Adds "n_vertices", "n_bodies" and "n_collisions" to the answer. */
void api_job_counts(struct api_job *job);
/* Adds "gradient" and, with bodies, "body_gradient" to an object. @param gradient  [n_dofs] */
void api_render_gradient(struct api_job *job, json_t *object, const double *gradient);
/* Adds "worst" to an object: a contact's group, its index in it, and its stencil; null if the index is negative.
 * @param worst  set to its object
 * @return false with a fault */
bool api_render_worst(struct api_job *job, json_t *object, enum fric_type type, int64_t index,
                      const int32_t stencil[FRIC_MAX_STENCIL], json_t **worst);
/* Evaluates an output of one group, as fric_contact_output. @return false with a fault */
bool api_job_output(struct api_job *job, enum fric_type type, enum fric_output output, double *values);
/* Adds "skipped" if on_degenerate is "skip". */
void api_job_skipped(struct api_job *job);
/* Whether the skipped contacts are few enough to be listed. If not, sets a fault. */
bool api_job_may_skip(struct api_job *job);
/* Adds "n_bodies" if bodies were sent. */
void api_render_bodies(struct api_render *render, json_t *object, const struct api_set_facts *facts);
/* Adds an entry to the list of skipped contacts. */
void api_render_one_skipped(struct api_render *render, json_t *list, const struct api_skipped *skipped);

#endif
