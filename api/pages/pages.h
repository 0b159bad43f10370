/**
 * What the service says about itself, by the files that define it: info, description, the explorer, and a page for each code of
 * an error.
 */
#ifndef API_PAGES_H
#define API_PAGES_H

#include "api/contract/route.h"

extern const struct api_operation api_get_info, api_get_health, api_get_readiness;
extern const struct api_operation api_get_description;

extern const struct api_operation api_get_page, api_get_file;
/* Whether there is a file of this path. */
bool api_page_exists(const struct api_match *match);
/* What the answer for a browser says besides. */
void api_page_headers(struct api_response *response);

extern const struct api_operation api_get_error;
/* Whether there is an error of this code. */
bool api_error_exists(const struct api_match *match);

#endif
