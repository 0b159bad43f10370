/**
 * A fast way through plain skeletons: objects, arrays, true, false, null, marks, and short strings of ASCII without
 * escapes. jansson takes one hundred instructions a byte, which for a small request is the dearest step of all; it
 * remains the judge of everything else, and the oracle.
 */
#ifndef API_SKELETON_H
#define API_SKELETON_H

#include <jansson.h>
#include <stddef.h>

/* @return the tree that jansson would make of it; NULL: not plain, or not well-formed, or out of memory: ask jansson */
json_t *api_skeleton_read(const char *text, size_t bytes);

#endif
