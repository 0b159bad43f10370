/**
 * Estimates of what requests cost. A thread that serves connections computes small requests itself; a request that would keep it
 * busy for longer goes through the queue. That is judged twice: from the length of the body and the set that the path
 * names, before anything is decoded (is_large of an operation); and from all that a request works through, once it is
 * decoded (api_cost_admit). So nothing is guessed from the letters of a body.
 */
#ifndef API_COST_H
#define API_COST_H

#include <stdint.h>

#include "api/api.h"
#include "api/base/fault.h"
#include "core/fric.h"

struct api_set;

/* Estimates for one contact at vertices, in nanoseconds on one thread: small requests run in short loops, where nothing
 * is vectorised. */
enum {
	API_COST_SUMS = 200,         /* preparing it; potential and gradient */
	API_COST_MATRIX = 300,       /* its block of a matrix, beside the numbers that are printed */
	API_COST_STEP = 30,          /* one step of a line */
	API_COST_PRODUCT = 60,       /* one product */
	API_COST_DERIVATIVES = 4000, /* by all fields */
};

/* What a request works through; unknown parts are 0. */
struct api_work {
	size_t n_contacts[FRIC_N_TYPES];
	size_t n_vertices, n_bodies;
	size_t document_bytes; /* of a set's document that is read again */
	uint64_t contact_ns;   /* for each contact at vertices; a contact of bodies takes several times as long */
	uint64_t n_numbers;    /* of the answer */
	uint64_t n_nodes;      /* members and entries of the answer that are no numbers of an array */
	bool prints_text;      /* the answer is JSON */
};

void api_work_add_batch(struct api_work *work, const struct fric_batch *batch);
/* Contacts, vertices and bodies of a set. */
void api_work_add_set(struct api_work *work, const struct api_set *set);
/* The whole block of every contact, with the indices of each number. */
void api_work_add_matrix(struct api_work *work, size_t dim);
uint64_t api_work_contacts(const struct api_work *work);
uint64_t api_work_ns(const struct api_work *work);

/* What may be computed where connections are served. */
enum { API_SMALL_NS = 150000 };

/* Whether it is more than that. */
bool api_work_is_large(const struct api_work *work);
/* Whether the service may compute it; if not, the request is deferred. @return false with fault->deferred */
bool api_cost_admit(const struct api_service *service, const struct api_work *work, struct api_fault *fault);

/* ---- before a body is decoded ---- */

/* A body that takes long to read. */
bool api_cost_of_body(const struct api_service *service, const struct api_request *request);
/* Every request is large: /v1/check takes some 10 us for each contact. */
bool api_cost_always(const struct api_service *service, const struct api_request *request);
/* None is, as far as can be told by then. */
bool api_cost_unknown(const struct api_service *service, const struct api_request *request);

#endif
