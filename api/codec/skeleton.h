/**
 * A fast reader of plain skeletons: objects, arrays, true, false, null, marks, and short ASCII strings without escapes.
 * jansson takes a hundred instructions a byte, which for a small request is the most expensive step of all; it judges
 * everything else, and is the oracle.
 */
#ifndef API_SKELETON_H
#define API_SKELETON_H

#include <jansson.h>
#include <stddef.h>

/* @return the tree that jansson would make of it; NULL if it is not plain, not well-formed, or memory ran out: ask
 * jansson */
json_t *api_skeleton_read(const char *text, size_t bytes);

#endif
