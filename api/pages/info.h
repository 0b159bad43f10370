/**
 * GET /v1/info, /healthz and /readyz: what the server is, and whether it is well.
 */
#ifndef API_INFO_H
#define API_INFO_H

#include "api/contract/route.h"

extern const struct api_operation api_get_info, api_get_health, api_get_readiness;

#endif
