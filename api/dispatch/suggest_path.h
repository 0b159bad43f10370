/**
 * A path that leads nowhere: what was probably meant.
 */
#ifndef API_SUGGEST_PATH_H
#define API_SUGGEST_PATH_H

#include "api/base/fault.h"
#include "api/contract/route.h"

/* A 404 that names the nearest path, or the nearest name on a row that has a list of them. @return false */
bool api_suggest_path(const struct api_match *match, struct api_fault *fault);

#endif
