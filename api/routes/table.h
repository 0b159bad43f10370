/**
 * The routes. A new one is a row here and a file with its handlers and its operations; all else follows.
 */
#ifndef API_TABLE_H
#define API_TABLE_H

#include "api/contract/route.h"

extern const struct api_table api_routes;

#endif
