/**
 * Steps of jobs that need nothing else to be known of them. Of /v1/evaluate, and of the same about a set; and of where the
 * entries of a set's Hessian are.
 */
#ifndef API_STEPS_H
#define API_STEPS_H

#include "api/compute/job.h"
#include "api/sets/identity.h"

extern const struct api_steps api_evaluate_whole, api_evaluate_set;

/* The tag of the answer that a request gets: of its stencils, format, triangle and media type. job->more of the steps. */
enum { API_TAG_BYTES = API_VERSION_BYTES + 32 };
/* The answer is empty if the client has it already, by that tag. */
extern const struct api_steps api_pattern_steps;

#endif
