/**
 * A path that leads nowhere: what was probably meant.
 */
#ifndef API_LOST_H
#define API_LOST_H

#include "api/base/fault.h"
#include "api/contract/route.h"

/* A 404 that names the nearest path, or the nearest name on a row that has a list of them. @return false */
bool api_fault_lost(const struct api_match *match, struct api_fault *fault);

#endif
