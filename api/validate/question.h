/**
 * The question of a request: at which velocities contacts are evaluated, and what goes into the answer.
 */
#ifndef API_QUESTION_H
#define API_QUESTION_H

#include "api/validate/lagged.h"

enum api_evaluate_output { API_POTENTIAL, API_GRADIENT, API_HESSIAN, API_COLLISIONS };
enum api_hessian_format { API_TRIPLETS, API_CSR, API_FACTORS };
#define API_N_EVALUATE_OUTPUTS 4

/* All arrays are borrowed from the document and from the check's arena. */
struct api_question {
	const double *velocities;        /* [n_vertices, dim] */
	const double *lagged_velocities; /* the velocities, unless sent */
	bool outputs[API_N_EVALUATE_OUTPUTS];
	bool collision_outputs[FRIC_N_OUTPUTS];
	int format, triangle, projection; /* enums of API_… and FRIC_… */
};

/**
 * A request of POST /v1/evaluate, which has both: the only door to the core. After true, every index is in range and every
 * number has its sign.
 * @return false with check->fault filled in
 */
bool api_check_evaluation(struct api_check *check, struct api_lagged *lagged, struct api_question *question);

#endif
