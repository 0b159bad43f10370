/**
 * A request with a batch from body to answer: what /v1/evaluate and /v1/check have in common.
 */
#ifndef API_JOB_H
#define API_JOB_H

#include "api/api.h"
#include "api/codec/render.h"
#include "api/validate/question.h"

/* A request that examples show: a vertex on a floor, at half of eps_v. */
#define API_ONE_VERTEX \
	"'dim': 3, 'velocities': [[0.25, 0, 0]], 'friction': {'eps_v': 0.5, 'mu': 0.5}, " \
	"'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1], 'normal_force': 8}}"

enum { API_MAX_SKIPPED = 100000 }; /* skipped contacts that an answer lists, a kilobyte each; more is 413 */

/* Everything that one request owns; released in one place. */
struct api_job {
	const struct api_service *service;
	const struct api_request *request;
	struct api_response *response;
	struct fric_context context;
	struct api_arena arena;
	struct api_document document;
	struct api_lagged lagged;
	struct api_question question;
	struct fric_contacts *contacts;
	struct fric_state *state;
	struct fric_question asked; /* of the contacts */
	struct api_render render;   /* the answer, begun before compute is called */
	struct api_fault *fault;
	struct api_measure measure;
	int64_t step_began;
	void *more; /* what else compute needs */
};

/* Computes and renders the results of the route, from contacts and question. @return false with
 * the fault set */
typedef bool api_compute(struct api_job *job);

/**
 * Decode, prepare, compute, encode, each timed for Server-Timing.
 * @param more  handed on to compute
 * @return false with *fault set
 */
bool api_job_run(const struct api_service *service, const struct api_request *request, api_compute *compute, void *more,
                 struct api_fault *fault, struct api_response *response);

/* Whether a call into the core succeeded; otherwise its error becomes the fault. */
bool api_job_core(struct api_job *job, enum fric_code code, const struct fric_error *error);
/* [n * size] of the job's arena; NULL with a fault. */
void *api_job_array(struct api_job *job, size_t n, size_t size);
/* "n_vertices" and "n_collisions" of the answer. */
void api_job_counts(struct api_job *job);
/* "skipped", if skipping was asked for. */
void api_job_skipped(struct api_job *job);

#endif
