/**
 * Steps of jobs that need no other declarations: /v1/evaluate, also for a set, and the pattern of a set's Hessian.
 */
#ifndef API_STEPS_H
#define API_STEPS_H

#include "api/compute/job.h"
#include "api/sets/identity.h"

extern const struct api_steps api_evaluate;

/* The entity tag of a pattern names its stencils, format, triangle and media type. The steps find it in job->more. */
enum { API_TAG_BYTES = API_VERSION_BYTES + 32 };
/* The answer is empty if the client already has the pattern with this tag. */
extern const struct api_steps api_pattern_steps;

#endif
