/**
 * GET /openapi.json.
 */
#ifndef API_DESCRIPTION_H
#define API_DESCRIPTION_H

#include "api/contract/route.h"

extern const struct api_operation api_get_description;

#endif
