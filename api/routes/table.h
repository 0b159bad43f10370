/**
 * The table of routes. A new route needs a row there, and a file with its handlers and operations; everything else
 * follows from the row.
 */
#ifndef API_TABLE_H
#define API_TABLE_H

#include "api/contract/route.h"

extern const struct api_table api_routes;

#endif
