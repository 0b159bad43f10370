/**
 * UTF-8 (RFC 3629): whether a text is, and making it so.
 */
#ifndef API_UTF8_H
#define API_UTF8_H

#include <stdbool.h>

/* What jansson accepts as a string. */
bool api_is_utf8(const char *text);

/* A client's bytes need not be UTF-8 (in a path or a header), and a "%.200s" may cut a character in two; jansson would then
 * refuse to print the whole problem. One '?' replaces what is left of each broken character. */
void api_mend_utf8(char *text);

#endif
