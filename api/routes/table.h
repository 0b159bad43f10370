/**
 * The table of routes. To add a route, add a row to the table and a file with its handlers and operations; everything
 * else follows.
 */
#ifndef API_TABLE_H
#define API_TABLE_H

#include "api/contract/route.h"

extern const struct api_table api_routes;

#endif
