/**
 * Reads the query of a target as a document, so that parameters are checked like the fields of a body.
 */
#ifndef API_URL_QUERY_H
#define API_URL_QUERY_H

#include "api/base/arena.h"
#include "api/base/fault.h"
#include "api/codec/document.h"
#include "api/contract/fields.h"

/**
 * Reads a query such as "y=1,2&mu_s=1&mu_transition=cubic". Comma-separated numbers become arrays (a single one becomes
 * a number, except in the first parameter), "true" and "false" become booleans, and other words become strings.
 * @param url_query  after the '?', percent-encoded; a literal '+' is a plus sign
 * @param rules      the parameters of the route; the first one is always a list
 * @param document   filled in on success; arrays are in the arena; json_decref(root) frees the rest, also after a fault
 */
bool api_url_query_document(const char *url_query, const struct api_object *rules, struct api_arena *arena,
                            struct api_document *document, struct api_fault *fault);

/* Refuses a URL query on a request with a body, where it would be a second source of parameters. @return false with a
 * 422 if there is one */
bool api_url_query_refuse(const char *url_query, struct api_fault *fault);

/* Decodes %XX in place. @return false for a broken escape, or for %00 */
bool api_percent_decode(char *text);

#endif
