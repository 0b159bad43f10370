/**
 * What routes below /v1/sets/{name} have in common.
 */
#ifndef API_ROUTES_SETS_H
#define API_ROUTES_SETS_H

#include "api/compute/job.h"

/**
 * api_job_run of the set that a request is about, if it is the version that the request wants; adds the version to the
 * answer in any case. This counts as use.
 * @return false with *fault: also 422 (no name), 404, 412
 */
bool api_set_run(const struct api_call *call, const struct api_steps *steps, void *more);

/* Whether the set that the path names is large: to read its document, and to take contact_ns for each of its contacts.
 * False if there is none. */
bool api_set_is_large(const struct api_service *service, const struct api_request *request, uint64_t contact_ns);
/* Whether a request is certainly costly that prepares or sums up the set's contacts, however short its body. */
bool api_set_question_is_large(const struct api_service *service, const struct api_request *request);

#endif
