/**
 * The output position_jacobian of /v1/evaluate.
 */
#ifndef API_JACOBIAN_H
#define API_JACOBIAN_H

#include "api/compute/job.h"

/* "position_jacobian" of the answer, if it was asked for. @return false with the fault set */
bool api_evaluate_position_jacobian(struct api_job *job);

#endif
