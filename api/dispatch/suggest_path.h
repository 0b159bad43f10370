/**
 * Suggestions for a path that no route has.
 */
#ifndef API_SUGGEST_PATH_H
#define API_SUGGEST_PATH_H

#include "api/base/fault.h"
#include "api/contract/route.h"

/* A 404 with the nearest path, or the nearest name if the row has a list of names. @return false */
bool api_suggest_path(const struct api_match *match, struct api_fault *fault);

#endif
