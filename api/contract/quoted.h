/**
 * Reads JSON in the program's own tables, where ' stands for ".
 */
#ifndef API_QUOTED_H
#define API_QUOTED_H

#include <jansson.h>

/**
 * Parses such a text. Strings must not contain escapes. jansson's parser is not used, because when out of memory it
 * (2.14) drops a byte of a longer token and may then read past its end.
 * @return NULL when out of memory; also NULL for text that is not JSON, which is a mistake of the caller
 */
json_t *api_quoted_read(const char *text);

#endif
