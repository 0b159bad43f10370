/**
 * Collision sets as resources: /v1/sets and /v1/sets/{name}. What is asked of them is in questions.h.
 */
#ifndef API_ROUTES_SETS_H
#define API_ROUTES_SETS_H

#include "api/contract/route.h"
#include "api/sets/set.h"

extern const struct api_operation api_get_sets, api_get_set, api_put_set, api_patch_set, api_delete_set;

/**
 * The set that a request is about, if it is the version that the request wants; adds the version to the answer in any
 * case.
 * @param uses  it counts as use
 * @return held, to be released with api_kept_release; NULL with *fault: 422 (no name), 404, 412
 */
struct api_set *api_set_of_request(const struct api_service *service, const struct api_request *request, bool uses,
                                   struct api_fault *fault, struct api_response *response);

/* Whether the set that the path names is large: to read its document, and to take contact_ns for each of its contacts.
 * False if there is none. */
bool api_set_is_large(const struct api_service *service, const struct api_request *request, uint64_t contact_ns);

#endif
