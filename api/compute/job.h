/**
 * A request about contacts from body to answer: what /v1/evaluate, /v1/check and the routes of sets have in common.
 */
#ifndef API_JOB_H
#define API_JOB_H

#include "api/codec/render.h"
#include "api/contract/route.h"
#include "api/dispatch/cost.h"
#include "api/sets/set.h"
#include "api/validate/question.h"

/* A request that examples show: a vertex on a floor, at half of eps_v. */
#define API_ONE_VERTEX \
	"'dim': 3, 'velocities': [[0.25, 0, 0]], 'friction': {'eps_v': 0.5, 'mu': 0.5}, " \
	"'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1], 'normal_force': 8}}"

enum { API_MAX_SKIPPED = 100000 }; /* skipped contacts that an answer lists, a kilobyte each; more is 413 */

struct api_job;

/* The phases of a job but for the last, which prints the answer. Each returns false with the fault set. */
struct api_steps {
	/* Reads the body, checks it. NULL: there is none. */
	bool (*decode)(struct api_job *job);
	/* Has contacts and what is asked of them. */
	bool (*prepare)(struct api_job *job);
	/* Computes and renders the results. */
	bool (*compute)(struct api_job *job);
	/* Adds what the steps after the first work through. NULL: so little, or so much, that nobody needs to know. */
	void (*weigh)(const struct api_job *job, struct api_work *work);
	bool is_measured; /* in metrics, which are about evaluations alone */
};

/* Everything that one request owns; released in one place. */
struct api_job {
	const struct api_call *call;
	const struct api_service *service; /* of the call, like request and fault */
	const struct api_request *request;
	struct fric_context context;
	struct api_arena arena;
	struct api_document document;
	struct api_lagged lagged; /* where the request brings a lagged part, or its set's has been opened */
	struct api_question question;
	struct api_set_facts facts;           /* of the contacts */
	const struct fric_contacts *contacts; /* the two below, or the set's */
	struct fric_contacts *own_contacts;
	struct fric_state *own_state;
	struct api_set *set;              /* whose contacts they are; borrowed. NULL: of none */
	struct api_document set_document; /* of api_job_open_set */
	struct api_lagged_velocities set_velocities;
	const double *slip_velocities; /* [n_dofs] of asked.state, where the set does not have it */
	struct fric_question asked;    /* of the contacts */
	struct api_render render;      /* the answer, begun before compute is called */
	struct api_fault *fault;
	struct fric_error error; /* of the last call into the core */
	struct api_measure measure;
	int64_t step_began;
	void *more; /* what else compute needs */
};

/**
 * Decode, prepare, compute, encode, each timed for Server-Timing.
 * @param more  handed on to the steps
 * @param set   whose contacts these are; NULL: the steps see to that. Borrowed
 * @return false with call->fault set
 */
bool api_job_run(const struct api_call *call, const struct api_steps *steps, struct api_set *set, void *more);

/* ---- steps ---- */

/* Of a request that brings everything. */
bool api_job_decode_whole(struct api_job *job);
bool api_job_prepare_whole(struct api_job *job);
/* Of a question about job->set. */
bool api_job_decode_question(struct api_job *job);
bool api_job_prepare_question(struct api_job *job);

/* Contacts, vertices and bodies of the set, or of the lagged part: preparing and evaluating them, and a gradient. */
void api_job_weigh(const struct api_job *job, struct api_work *work);
/* Of the set or the lagged part, once decoded. */
size_t api_job_dim(const struct api_job *job);

/* ---- for steps ---- */

/* The body's document. */
bool api_job_read(struct api_job *job);

/* For checks of its document. */
struct api_check api_job_check(struct api_job *job);
/* The query, by rules and by what `check` finds beyond them. Arrays that a client sends in it are in the arena. */
bool api_job_query(struct api_job *job, const struct api_object *rules,
                   void (*check)(struct api_job *job, struct api_check *check, const struct api_field *query));

/* The set's document, from which contacts were prepared: lagged and set_velocities. */
bool api_job_open_set(struct api_job *job);

/* Whether a call into the core succeeded, which was given job->error; otherwise that becomes the fault. */
bool api_job_core(struct api_job *job, enum fric_code code);
/* DOFs of all vertices and bodies. */
size_t api_job_n_dofs(const struct api_job *job);
/* One vector over all DOFs, of which bodies come last. @return one of the two where the other one is empty; else in the
 * arena, NULL with a fault */
const double *api_job_join(struct api_job *job, const double *vertices, const double *bodies);
/* [n * size] of the job's arena; NULL with a fault. */
void *api_job_array(struct api_job *job, size_t n, size_t size);
/* A pattern (sets/set.h), which lives as long as the answer; NULL with a fault. To be asked for once of a Hessian, and once
 * of the Jacobian. */
const struct fric_pattern *api_job_pattern(struct api_job *job, int places);
/* "n_vertices", "n_bodies" and "n_collisions" of the answer. */
void api_job_counts(struct api_job *job);
/* "gradient" and, where there are bodies, "body_gradient" as members of an object. @param gradient  [n_dofs] */
void api_render_gradient(struct api_job *job, json_t *object, const double *gradient);
/* "skipped", if skipping was asked for. */
void api_job_skipped(struct api_job *job);
/* Whether an answer can list all that are skipped. */
bool api_job_may_skip(struct api_job *job);
/* "n_bodies", if bodies were sent. */
void api_render_bodies(struct api_render *render, json_t *object, const struct api_set_facts *facts);
/* An entry of such a list. */
void api_render_one_skipped(struct api_render *render, json_t *list, const struct api_skipped *skipped);

#endif
