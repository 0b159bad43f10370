/**
 * Checks that the filter of reader.h is in effect. That depends on the dynamic linker; a program that is linked
 * differently (statically, or against a library that calls other functions) would silently run without it.
 */
#ifndef SERVER_SELFTEST_H
#define SERVER_SELFTEST_H

#include <stdbool.h>

/**
 * Sends a smuggled request through the HTTP library, within this process and without a port. Call it before there are
 * any connections.
 * @param tls  also through TLS, with the server's certificate, which must have been read
 * @return false if the filter did not act or memory ran out; the reason is logged
 */
bool srv_selftest(bool tls);

#endif
