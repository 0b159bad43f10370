/**
 * JSON in the program's own tables, with ' instead of ".
 */
#ifndef API_QUOTED_H
#define API_QUOTED_H

#include <jansson.h>

/**
 * Parses such a text; strings must not contain escapes. Avoids jansson's parser, which drops a byte of a longer token
 * when out of memory (2.14), and may then read past its end.
 * @return NULL when out of memory; text that is not JSON is the caller's mistake, and treated alike
 */
json_t *api_quoted_read(const char *text);

#endif
