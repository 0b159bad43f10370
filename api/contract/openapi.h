/**
 * The OpenAPI 3.1 description of the service. Fields come from the tables that the checks use, statuses from the table
 * of problems, limits from the service, and everything else from the table of routes.
 */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include "api/contract/route.h"

/**
 * Prints the description. The same service and table give the same bytes.
 * @param bytes  set to the length
 * @return malloc'd text, NUL-terminated; NULL when out of memory
 */
char *api_openapi_print(const struct api_service *service, const struct api_table *table, size_t *bytes);

#endif
