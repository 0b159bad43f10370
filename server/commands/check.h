/**
 * frictiond check FILE: a request is read, evaluated and compared with central differences, without a server.
 */
#ifndef SERVER_CHECK_H
#define SERVER_CHECK_H

#include <stdio.h>

#include "server/settings/options.h"

/**
 * @param options  with SRV_CHECK
 * @param out      the report, or the answer of POST /v1/check
 * @param err      what is wrong with the request, and where
 * @return SRV_CODE_OK: agrees; SRV_CODE_FAILED: does not; SRV_CODE_BAD: could not be checked
 */
int srv_check(const struct srv_options *options, FILE *out, FILE *err);

#endif
