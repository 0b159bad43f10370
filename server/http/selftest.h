/**
 * Whether the filter of reader.h is in its place. It depends on what the dynamic linker prefers; a program that is
 * linked differently (statically, or against a library that calls other functions) would serve without it, unnoticed.
 */
#ifndef SERVER_SELFTEST_H
#define SERVER_SELFTEST_H

#include <stdbool.h>

/**
 * Sends a smuggled request through the HTTP library, in this process and without a port. Before any connection.
 * @param tls  through TLS as well, with the server's certificate, which has been read
 * @return false: the filter did not see it, or there was no memory; the log says so
 */
bool srv_selftest(bool tls);

#endif
