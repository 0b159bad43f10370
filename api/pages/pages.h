/**
 * Pages: limits of the service, its description, the explorer, the documentation, and one for each error code.
 */
#ifndef API_PAGES_H
#define API_PAGES_H

#include "api/contract/route.h"

extern const struct api_operation api_get_info, api_get_health, api_get_readiness;
extern const struct api_operation api_get_description;

extern const struct api_operation api_get_page, api_get_file;
/* Whether a file has this path. */
bool api_page_exists(const struct api_match *match);
/* Adds the headers that restrict a page in a browser. */
void api_page_headers(struct api_response *response);

extern const struct api_operation api_get_docs, api_get_doc;
/* Whether the documentation has this file. */
bool api_doc_exists(const struct api_match *match);
/* Lists the files of the documentation. Leaves the kind as it is. */
bool api_doc_name(int i, const char **name, enum api_function_kind *kind);

extern const struct api_operation api_get_error;
/* Whether this error code exists. */
bool api_error_exists(const struct api_match *match);

#endif
