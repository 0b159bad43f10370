/**
 * Cost estimates of requests. A thread that serves connections computes small requests itself; a request that would
 * keep it busy for longer goes to the queue. The cost is estimated twice: before anything is decoded, from the length
 * of the body and the set named in the path (is_large of an operation), and once the request is decoded, from the
 * actual work (api_cost_admit).
 */
#ifndef API_COST_H
#define API_COST_H

#include <stdint.h>

#include "api/api.h"
#include "api/base/fault.h"
#include "core/fric.h"

struct api_set;

/* Estimates per contact at vertices, in nanoseconds on one thread. Small requests run in short loops, where nothing
 * is vectorised. */
enum {
	API_COST_SUMS = 200,         /* preparation, potential and gradient */
	API_COST_MATRIX = 300,       /* block of a matrix, without printing numbers */
	API_COST_STEP = 30,          /* one step of a line */
	API_COST_PRODUCT = 60,       /* one vector of a product */
	API_COST_BARRIER = 200,      /* features and distances at current positions, potential and gradient there */
	API_COST_BLOCK = 300,        /* projected block of the barrier, in addition to that of a matrix */
	API_COST_LONGEST_STEP = 500, /* how far a contact can move */
	API_COST_DERIVATIVES = 4000, /* derivatives with respect to all fields */
	API_COST_PAIR = 200,         /* a pair of primitives: its distance, and sorting it among contacts */
};

/* The amounts of work of a request; unknown ones are 0. */
struct api_work {
	size_t n_contacts[FRIC_N_TYPES];
	size_t n_vertices, n_bodies;
	size_t document_bytes; /* length of a set's document that must be read again */
	uint64_t contact_ns;   /* per contact at vertices; a contact of bodies takes several times as long */
	uint64_t pairs_ns;     /* for pairs of primitives */
	uint64_t n_numbers;    /* numbers in the answer */
	uint64_t n_nodes;      /* members and entries of the answer, excluding numbers in arrays */
	bool prints_text;      /* the answer is JSON */
};

void api_work_add_batch(struct api_work *work, const struct fric_batch *batch);
/* Adds the work for the contacts, vertices and bodies of a set. */
void api_work_add_set(struct api_work *work, const struct api_set *set);
/* Adds the work for a set, and for reading and checking its document again. */
void api_work_add_document(struct api_work *work, const struct api_set *set);
/* Adds the work for all pairs of a mesh, pair_ns each. How many are close is unknown, so only small meshes are small
 * requests. */
void api_work_add_mesh(struct api_work *work, const struct fric_surface *surface, uint64_t pair_ns);
/* Adds the work for listing n sets. */
void api_work_add_list(struct api_work *work, size_t n);
/* Adds the work for the whole block of every contact, with the indices of each number. */
void api_work_add_matrix(struct api_work *work, size_t dim);
uint64_t api_work_contacts(const struct api_work *work);
uint64_t api_work_ns(const struct api_work *work);

/* The most work that a thread that serves connections may do for a request. */
enum { API_SMALL_NS = 150000 };

/* Whether the work exceeds API_SMALL_NS. */
bool api_work_is_large(const struct api_work *work);
/* Whether the service may compute this much work. Otherwise the request is deferred. @return false with
 * fault->deferred */
bool api_cost_admit(const struct api_service *service, const struct api_work *work, struct api_fault *fault);

/* ---- before a body is decoded ---- */

/* Whether reading the body already takes too long. */
bool api_cost_of_body(const struct api_service *service, const struct api_request *request);
/* Estimates that a request is always large: /v1/check takes some 10 us per contact. */
bool api_cost_always(const struct api_service *service, const struct api_request *request);

#endif
