/**
 * POST /v1/evaluate from body to answer.
 */
#ifndef API_EVALUATE_H
#define API_EVALUATE_H

#include "api/api.h"
#include "api/problem.h"

bool api_evaluate(const struct api_service *service, const struct api_request *request, struct api_fault *fault,
                  struct api_response *response);

#endif
