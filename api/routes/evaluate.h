/**
 * POST /v1/evaluate.
 */
#ifndef API_EVALUATE_H
#define API_EVALUATE_H

#include "api/contract/route.h"

extern const struct api_operation api_post_evaluate;

#endif
