/**
 * Functions shared by routes about contacts, which a request brings, or a set in the path has.
 */
#ifndef API_ROUTES_SETS_H
#define API_ROUTES_SETS_H

#include "api/compute/job.h"

/**
 * Runs api_job_run, on routes of sets for the set that the path names, if it is the version that the request wants. Then
 * it always adds the version to the response, and counts as use.
 * @return false with *fault: for sets also 422 (no name), 404, 412
 */
bool api_run(const struct api_call *call, const struct api_steps *steps, void *more);

/* Whether reading the document of the set named in the path, and spending contact_ns on each of its contacts, takes
 * long. False if there is no such set. */
bool api_set_is_large(const struct api_service *service, const struct api_request *request, uint64_t contact_ns);
/* Whether a request that prepares or sums the set's contacts is certainly costly, however short its body. */
bool api_set_query_is_large(const struct api_service *service, const struct api_request *request);

#endif
