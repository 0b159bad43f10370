/**
 * Validates and repairs UTF-8 text (RFC 3629).
 */
#ifndef API_UTF8_H
#define API_UTF8_H

#include <stdbool.h>

/* Whether jansson accepts the text as a string. */
bool api_is_utf8(const char *text);

/* Replaces each broken character with one '?'. A client's bytes need not be UTF-8 (in a path or a header), and "%.200s"
 * may cut a character in two; jansson would then refuse to print the whole problem. */
void api_mend_utf8(char *text);

#endif
