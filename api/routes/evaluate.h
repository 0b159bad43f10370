/**
 * POST /v1/evaluate.
 */
#ifndef API_EVALUATE_H
#define API_EVALUATE_H

#include <jansson.h>

#include "api/contract/route.h"

extern const struct api_operation api_post_evaluate;

struct api_job;

/* "gradient" and, where there are bodies, "body_gradient" as members of an object. @param gradient  [n_dofs] */
void api_render_gradient(struct api_job *job, json_t *object, const double *gradient);

/* What outputs ask for, of whatever contacts: a step of a job (job.h). */
bool api_evaluate(struct api_job *job);

#endif
