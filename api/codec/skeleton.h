/**
 * A fast reader of plain skeletons: objects, arrays, true, false, null, marks, and short ASCII strings without escapes.
 * jansson takes a hundred instructions per byte, which makes it the most expensive step of a small request. It reads
 * everything else, and is the oracle.
 */
#ifndef API_SKELETON_H
#define API_SKELETON_H

#include <jansson.h>
#include <stddef.h>

/* @return the tree that jansson would make of it; NULL if it is not plain, malformed, or out of memory: then use
 *         jansson */
json_t *api_skeleton_read(const char *text, size_t bytes);

#endif
