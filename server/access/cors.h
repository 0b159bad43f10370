/**
 * Decides which web pages may use the service and read its responses (the CORS protocol of the Fetch standard): its own
 * pages, and those whose origins are configured.
 */
#ifndef SERVER_CORS_H
#define SERVER_CORS_H

#include "server/access/hosts.h"

#include <stdbool.h>

/**
 * Whether the text is a list: "*", or origins as browsers send them (https://a.example, http://localhost:3000),
 * separated by commas.
 * @param culprit  set to the first entry that is not an origin, of *n characters
 */
bool srv_cors_is_list(const char *origins, const char **culprit, int *n);

/* @param origin  the header's value, or NULL */
bool srv_cors_allows(const char *origins, const char *origin);

/* Whether the page was served by this service. host: the name by which the client called the service; tls: whether the
 * request arrived by TLS. */
bool srv_cors_is_own(const char *origin, const struct srv_host *host, bool tls);

/* Whether the list is "*", which allows every page. */
bool srv_cors_allows_all(const char *origins);

#endif
