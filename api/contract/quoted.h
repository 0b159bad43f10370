/**
 * JSON in the program's own tables, written with ' for ".
 */
#ifndef API_QUOTED_H
#define API_QUOTED_H

#include <jansson.h>

/**
 * Strings without escapes. jansson is not asked: without memory for a longer token it leaves out a byte of it (2.14), and
 * may then read past its end.
 * @return NULL when out of memory; a text that is no JSON is a mistake of the caller's, treated alike
 */
json_t *api_quoted_read(const char *text);

#endif
