/**
 * GET / and /explorer/{file}: the explorer.
 */
#ifndef API_PAGES_H
#define API_PAGES_H

#include "api/contract/route.h"

extern const struct api_operation api_get_page, api_get_file;

/* What keeps a page from doing, or being made to do, anything but show itself and ask this service. */
void api_page_headers(struct api_response *response);

/* Whether one of its files is at the path. */
bool api_page_exists(const struct api_match *match);

#endif
