/**
 * The outputs that have a file of their own. Each function adds its members to the answer, and returns false with
 * job->fault after a fault.
 */
#ifndef API_OUTPUTS_H
#define API_OUTPUTS_H

#include "api/compute/matrix.h"

bool api_evaluate_hessian(struct api_job *job);
bool api_evaluate_line(struct api_job *job);
bool api_evaluate_longest_step(struct api_job *job);
bool api_evaluate_products(struct api_job *job);
bool api_evaluate_position_jacobian(struct api_job *job);

/* Adds the Hessian's pattern without numbers, for job->query.triangle. @param format  triplets, csr or bsr */
bool api_render_hessian_places(struct api_job *job, const char *format, json_t *object);

#endif
