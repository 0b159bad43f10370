/**
 * frictiond health: checks whether a server with the same options is healthy, as a container's health check. It
 * replaces curl and spares the user a second copy of host, port and scheme.
 */
#ifndef SERVER_HEALTH_H
#define SERVER_HEALTH_H

#include <stdio.h>

#include "server/settings/options.h"

/**
 * Prints its finding in one line, to `out` if the server is healthy, else to `err`. After options->timeout_seconds the
 * process ends by itself, with that line on standard error and SRV_CODE_FAILED, even if it is waiting for something.
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
 * The status of a response whose status line has arrived.
 * @param text  [n]
 * @return 0 if the text is not an HTTP/1 response
 */
int srv_health_status(const char *text, size_t n);

#endif
