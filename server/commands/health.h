/**
 * frictiond health: asks the server that has the same options whether it is healthy, for what watches a container. It
 * needs no curl, and no second copy of host, port and scheme.
 */
#ifndef SERVER_HEALTH_H
#define SERVER_HEALTH_H

#include <stdio.h>

#include "server/settings/options.h"

/**
 * One line says what was found, on `out` if the server is healthy, else on `err`. After options->timeout_seconds the
 * process ends by itself, with that line on standard error and SRV_CODE_FAILED, whatever it is waiting for.
 *
 * The server is contacted at its Unix-domain socket if it has one, else at its own address, or on loopback if it
 * listens on all addresses. Under TLS the certificate is not verified (name, issuer, age): nothing secret is sent, and
 * killing a process does not renew its certificate. The handshake has to succeed.
 *
 * @param options  of the server, with SRV_HEALTH
 * @return SRV_CODE_OK, or SRV_CODE_FAILED
 */
int srv_health(const struct srv_options *options, FILE *out, FILE *err);

/**
 * The status of an answer whose head, or at least status line, has arrived.
 * @param text  [n]
 * @return 0: it is not an answer of HTTP/1
 */
int srv_health_status(const char *text, size_t n);

#endif
