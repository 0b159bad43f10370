/**
 * The description of the service in OpenAPI 3.1: GET /openapi.json. Fields come from the tables that the checks read,
 * statuses from the one that problems are made of, limits from the service, routes from those there are.
 */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include "api/api.h"

/**
 * The same service gives the same bytes.
 * @param bytes  set to the length
 * @return malloc'd text, NUL-terminated; NULL when out of memory
 */
char *api_openapi_print(const struct api_service *service, size_t *bytes);

#endif
