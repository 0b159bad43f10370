/**
 * Decompresses what gzip has compressed (RFC 1951, RFC 1952). Only for bytes that were compiled into the program: they
 * are not checked against their checksum.
 */
#ifndef API_INFLATE_H
#define API_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * @param gzip   [n] one member whose header has no optional fields
 * @param text   [bytes] set to the decompressed bytes
 * @return whether there are exactly so many
 */
bool api_inflate(const char *gzip, size_t n, char *text, size_t bytes);

#endif
