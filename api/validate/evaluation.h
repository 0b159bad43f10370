/**
 * A checked request of POST /v1/evaluate: what to prepare, at which velocities, and what to put into the answer.
 */
#ifndef API_EVALUATION_H
#define API_EVALUATION_H

#include "api/validate/check.h"

enum api_evaluate_output { API_POTENTIAL, API_GRADIENT, API_HESSIAN, API_COLLISIONS };
enum api_hessian_format { API_TRIPLETS, API_CSR, API_FACTORS };
#define API_N_EVALUATE_OUTPUTS 4

/* All arrays are borrowed from the document and from the check's arena. */
struct api_evaluation {
	struct fric_batch batch;
	bool has_group[FRIC_N_TYPES];
	const double *velocities;        /* [n_vertices, dim] */
	const double *lagged_velocities; /* the velocities, unless sent */
	bool outputs[API_N_EVALUATE_OUTPUTS];
	bool collision_outputs[FRIC_N_OUTPUTS];
	int format, triangle, projection; /* enums of API_… and FRIC_… */
};

/**
 * The only door to the core: after true, every index is in range and every number has its sign.
 * @return false with check->fault filled in
 */
bool api_check_evaluation(struct api_check *check, struct api_evaluation *evaluation);

#endif
