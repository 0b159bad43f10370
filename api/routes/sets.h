/**
 * Functions that routes about contacts share. The contacts come from the request, or from the set that the path names.
 */
#ifndef API_ROUTES_SETS_H
#define API_ROUTES_SETS_H

#include "api/compute/job.h"

/**
 * Runs api_job_run. On routes of sets it does so for the set that the path names, if it has the version that the
 * request requires; this adds the version to the response, and counts as use.
 * @return false with *fault: for sets also 422 (no name), 404, 412
 */
bool api_run(const struct api_call *call, const struct api_steps *steps, void *more);

/* Whether it takes long to read the document of the set named in the path and to spend contact_ns on each of its
 * contacts. False if there is no such set. */
bool api_set_is_large(const struct api_service *service, const struct api_request *request, uint64_t contact_ns);
/* Whether a request that prepares or sums the set's contacts is certainly large, however short its body is. */
bool api_set_query_is_large(const struct api_service *service, const struct api_request *request);

#endif
