/**
 * What the outputs of a question ask for.
 */
#ifndef API_EVALUATE_H
#define API_EVALUATE_H

#include "api/compute/job.h"

extern const struct api_steps api_evaluate_whole, api_evaluate_set;

#endif
