/**
 * From a request's target to its row in a table of routes.
 */
#ifndef API_MATCH_H
#define API_MATCH_H

#include "api/contract/route.h"

/* What api_match does, with a table of the caller's. */
void api_match_in(const struct api_table *table, const char *target, struct api_match *match);

#endif
