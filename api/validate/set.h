/**
 * A collision set's document, and a question that is asked about it: the two parts of a request of /v1/evaluate, each by
 * itself. Whatever passes here would pass as a whole, and gives the same batch and question.
 */
#ifndef API_VALIDATE_SET_H
#define API_VALIDATE_SET_H

#include "api/validate/question.h"

/* What a question has to know of the set that it is asked about. */
struct api_set_facts {
	size_t dim, n_vertices;
	bool has_group[FRIC_N_TYPES];
	bool skip_degenerate;
	bool lacks_positions; /* planes have an origin but vertices no positions: there can be no distances */
};

/**
 * The lagged part alone. n_vertices: rows of positions, else of the fields per vertex, else the member n_vertices, else 0;
 * the member must agree.
 * @param lagged_velocities  set to those of the document, [n_vertices, dim]; NULL if it has none
 * @return false with check->fault filled in
 */
bool api_check_set(struct api_check *check, struct api_lagged *lagged, const double **lagged_velocities,
                   struct api_set_facts *facts);

/**
 * The question alone.
 * @param question  lagged_velocities is NULL unless sent: then the set's apply or, if it has none, velocities
 * @return false with check->fault filled in
 */
bool api_check_set_question(struct api_check *check, const struct api_set_facts *facts, struct api_question *question);

#endif
