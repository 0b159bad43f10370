/**
 * frictiond health: asks the server that has the same options whether it is well, for whoever watches a container.
 * Without curl, and without a second copy of host, port and scheme.
 */
#ifndef SERVER_HEALTH_H
#define SERVER_HEALTH_H

#include <stdio.h>

#include "server/settings/options.h"

/**
 * One line says what was found, on `out` if the server is well, else on `err`. After options->timeout_seconds the
 * process ends by itself, with that line on standard error and SRV_CODE_FAILED, whatever it is waiting for.
 *
 * The question goes to the server's own address; where that is all addresses, to loopback. Under TLS the certificate is
 * not judged, by name, by issuer or by age: nothing secret is said, and a process that serves an old certificate would
 * not be helped by being killed. The handshake has to succeed.
 *
 * @param options  of the server, with SRV_HEALTH
 * @return SRV_CODE_OK, or SRV_CODE_FAILED
 */
int srv_health(const struct srv_options *options, FILE *out, FILE *err);

/**
 * The status of an answer whose head has come in whole, or whose status line has.
 * @param text  [n]
 * @return 0: it is not an answer of HTTP/1
 */
int srv_health_status(const char *text, size_t n);

#endif
