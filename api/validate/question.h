/**
 * The question of a request: at which velocities contacts are evaluated, and what goes into the answer.
 */
#ifndef API_QUESTION_H
#define API_QUESTION_H

#include "api/validate/lagged.h"

enum api_hessian_format { API_TRIPLETS, API_CSR, API_BSR, API_FACTORS };
enum api_jacobian_format { API_JACOBIAN_CSR, API_JACOBIAN_TRIPLETS };

/* All arrays are borrowed from the document and from the check's arena. */
struct api_question {
	const double *velocities;             /* [n_vertices, dim] */
	const double *lagged_velocities;      /* the velocities, unless sent */
	const double *body_velocities;        /* [n_bodies, 6], [n_bodies, 3] in 2D; NULL without bodies */
	const double *lagged_body_velocities; /* the same, unless sent */
	bool outputs[API_N_EVALUATE_OUTPUTS];
	bool collision_outputs[FRIC_N_OUTPUTS];
	int format, triangle, projection; /* enums of API_… and FRIC_… */
	bool without_pattern;             /* of the Hessian: values alone */
	const double *direction;          /* [n_vertices, dim] of the line; NULL: there is none */
	const double *body_direction;     /* the same of the bodies, as body_velocities */
	const double *steps;              /* [n_steps] */
	size_t n_steps;
	const double *vectors; /* [n_vectors, n_dof]; NULL: there are none */
	size_t n_vectors;
	bool sent_lagged_velocities, sent_lagged_body_velocities;
	int jacobian_format;           /* enum api_jacobian_format */
	bool jacobian_without_pattern; /* values alone */
};

/**
 * A request of POST /v1/evaluate, which has both: the only door to the core. After true, every index is in range and every
 * number has its sign.
 * @return false with check->fault filled in
 */
bool api_check_evaluation(struct api_check *check, struct api_lagged *lagged, struct api_question *question);

/* What a question has to know of the set that it is asked about (set.h). */
struct api_set_facts {
	size_t dim, n_vertices, n_bodies;
	bool has_bodies; /* they were sent, perhaps none */
	bool has_group[FRIC_N_TYPES];
	bool skip_degenerate;
	bool lacks_positions; /* planes have an origin but vertices no positions: there can be no distances */
	bool has_positions;   /* of vertices */
};

/* Of what was checked. */
void api_state_facts(const struct api_lagged *lagged, struct api_set_facts *facts);

/**
 * The question alone.
 * @param question  lagged_velocities is NULL unless sent: then the set's apply or, if it has none, velocities
 * @return false with check->fault filled in
 */
bool api_check_set_question(struct api_check *check, const struct api_set_facts *facts, struct api_question *question);

/**
 * A request of any kind.
 * @param facts     of the set that it is asked about; NULL: it has a lagged part
 * @param lagged    filled in without facts; else it may be NULL
 * @param question  of a set's document: lagged velocities alone
 * @param root      set to the request, for the fields that its kind has besides; root->node is no object if there is nothing more
 *                  to check
 */
bool api_check_request(struct api_check *check, enum api_request_kind kind, const struct api_set_facts *facts,
                       struct api_lagged *lagged, struct api_question *question, struct api_field *root);

#endif
