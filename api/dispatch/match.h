/**
 * Finds the row of a table of routes that matches a request's target.
 */
#ifndef API_MATCH_H
#define API_MATCH_H

#include "api/contract/route.h"

/* As api_match, for any table. */
void api_match_in(const struct api_table *table, const char *target, struct api_match *match);

#endif
