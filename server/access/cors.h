/** Which web pages may use the service and read answers (the CORS protocol of the Fetch standard): its own, and those
 * of a list of origins that is given at the start. */
#ifndef SERVER_CORS_H
#define SERVER_CORS_H

#include "server/access/hosts.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * Whether this is a list: "*", or origins as browsers send them (https://a.example, http://localhost:3000), separated
 * by commas.
 * @param culprit  set to the first entry that is not an origin, of *n characters
 */
bool srv_cors_is_list(const char *origins, const char **culprit, int *n);

/* @param origin  the header's value, or NULL */
bool srv_cors_allows(const char *origins, const char *origin);

/* Whether a page belongs to the service, which it calls by this name and reaches with TLS or without. */
bool srv_cors_is_own(const char *origin, const struct srv_host *host, bool tls);

/* The list is "*": every page may read answers. */
bool srv_cors_allows_all(const char *origins);

#endif
