/**
 * frictiond check FILE: reads and evaluates a request and compares its derivatives with central differences, without a
 * server.
 */
#ifndef SERVER_CHECK_H
#define SERVER_CHECK_H

#include <stdio.h>

#include "server/settings/options.h"

/**
 * @param options  with SRV_CHECK
 * @param out      receives the report, or the response of POST /v1/check
 * @param err      receives the request's fault and its place
 * @return SRV_CODE_OK: derivatives, and claims, agree; SRV_CODE_FAILED: they do not; SRV_CODE_BAD: could not be checked
 */
int srv_check(const struct srv_options *options, FILE *out, FILE *err);

#endif
