/** Which web pages may use the service and read answers (the Fetch standard's CORS protocol): its own, and those of a list of
 * origins, given at the start. */
#ifndef SERVER_CORS_H
#define SERVER_CORS_H

#include "server/access/hosts.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * Whether a list can be meant: "*", or origins as browsers send them (https://a.example, http://localhost:3000),
 * separated by commas.
 * @param culprit  set to the first entry that cannot, of *n characters
 */
bool srv_cors_is_list(const char *origins, const char **culprit, int *n);

/* @param origin  the header's value, or NULL */
bool srv_cors_allows(const char *origins, const char *origin);

/* Whether a page is of the service that it calls by this name, and reaches with TLS or without. */
bool srv_cors_is_own(const char *origin, const struct srv_host *host, bool tls);

/* The list is "*": answers are for all pages alike. */
bool srv_cors_allows_all(const char *origins);

#endif
