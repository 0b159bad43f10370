/**
 * POST /v1/evaluate.
 */
#ifndef API_EVALUATE_H
#define API_EVALUATE_H

#include "api/contract/route.h"

extern const struct api_operation api_post_evaluate;

struct api_job;
struct api_work;

/* What outputs ask for, of whatever contacts: a step of a job (job.h). */
bool api_evaluate(struct api_job *job);
/* What that costs. */
void api_evaluate_weigh(const struct api_job *job, struct api_work *work);

#endif
