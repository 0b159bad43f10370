/**
 * A collision set's document. It and a question that is asked about it (api_check_set_question) are the two parts of a
 * request of /v1/evaluate, each by itself: whatever passes would pass as a whole, and gives the same batch and question.
 */
#ifndef API_VALIDATE_SET_H
#define API_VALIDATE_SET_H

#include "api/validate/question.h"

/**
 * The lagged part alone. n_vertices: rows of positions, else of the fields per vertex, else the member n_vertices, else 0;
 * the member must agree.
 * @param lagged_velocities  set to those of the document, [n_vertices, dim]; NULL if it has none
 * @return false with check->fault filled in
 */
bool api_check_set(struct api_check *check, struct api_lagged *lagged, const double **lagged_velocities,
                   struct api_set_facts *facts);

#endif
