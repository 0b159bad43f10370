/**
 * A fast reader of plain skeletons: objects, arrays, true, false, null, marks, and short ASCII strings without escapes.
 * It exists because jansson takes a hundred instructions per byte, which makes parsing the most expensive step of a
 * small request. jansson reads all other texts, and is the oracle for this reader.
 */
#ifndef API_SKELETON_H
#define API_SKELETON_H

#include <jansson.h>
#include <stddef.h>

/* @return the tree that jansson would return; NULL if the text is not plain or malformed, or when out of memory: then
 *         use jansson */
json_t *api_skeleton_read(const char *text, size_t bytes);

/**
 * Parses JSON of the program's own tables, with ' instead of " and with numbers of any kind. jansson's parser is not
 * used, because when out of memory it (2.14) drops a byte of a longer token and may then read past its end.
 * @return NULL when out of memory; also NULL for text that is not plain, which is a mistake of the caller
 */
json_t *api_quoted_read(const char *text);

#endif
