/**
 * GET /errors/{code}: what a problem's type leads to, a page made of the code's section in docs/troubleshooting.md.
 */
#ifndef API_ERRORS_H
#define API_ERRORS_H

#include "api/contract/route.h"

extern const struct api_operation api_get_error;

bool api_error_exists(const struct api_match *match);

#endif
