/**
 * Outputs of /v1/evaluate along directions that the question brings.
 */
#ifndef API_DIRECTIONAL_H
#define API_DIRECTIONAL_H

#include "api/compute/job.h"

/* "line" of the answer, if it was asked for. @return false with the fault set */
bool api_evaluate_line(struct api_job *job);

/* "hessian_products" of the answer, if they were asked for. @return false with the fault set */
bool api_evaluate_products(struct api_job *job);

#endif
