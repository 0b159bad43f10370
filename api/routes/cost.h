/**
 * What requests cost, as rows of the table say it (struct api_operation, is_large): beyond about 100 us they must not be
 * computed on a thread that serves connections.
 */
#ifndef API_COST_H
#define API_COST_H

#include "api/api.h"

/* An estimate from what a body carries and asks for; looks at no more than 64 KiB. */
bool api_cost_of_body(const struct api_service *service, const struct api_request *request);
/* Whether it may ask for blocks, which take by far the most, or for many points of a line or products; of a body that is
 * no longer than 64 KiB. */
bool api_cost_may_be_heavy(const struct api_request *request);
/* Every request is large: /v1/check takes some 10 us for each contact. */
bool api_cost_always(const struct api_service *service, const struct api_request *request);

#endif
