/**
 * Suggests a path in place of one that no route has.
 */
#ifndef API_SUGGEST_PATH_H
#define API_SUGGEST_PATH_H

#include "api/base/fault.h"
#include "api/contract/route.h"

/* Sets a 404 with the nearest path, or with the nearest name if the row has a list of names. @return false */
bool api_suggest_path(const struct api_match *match, struct api_fault *fault);

#endif
