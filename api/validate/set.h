/**
 * A collision set's document. It and a question that is asked about it (api_check_set_question) are the two parts of a
 * request of /v1/evaluate, each by itself: whatever passes would pass as a whole, and gives the same batch and question.
 */
#ifndef API_VALIDATE_SET_H
#define API_VALIDATE_SET_H

#include "api/validate/question.h"

/* Those of the document; NULL: it has none, or there is nothing to have any. */
struct api_lagged_velocities {
	const double *vertices; /* [n_vertices, dim] */
	const double *bodies;   /* [n_bodies, 6], [n_bodies, 3] in 2D */
};

/**
 * The lagged part alone. n_vertices: rows of positions, else of the fields per vertex, else the member n_vertices, else 0;
 * the member must agree.
 * @return false with check->fault filled in
 */
bool api_check_set(struct api_check *check, struct api_lagged *lagged, struct api_lagged_velocities *velocities,
                   struct api_set_facts *facts);

#endif
